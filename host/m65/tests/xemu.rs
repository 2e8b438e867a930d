//! The same programs in Xemu, where there is one: memory and screen must agree.
//!
//! `XMEGA65` names the emulator, else the search path is asked. Xemu refuses to run as root.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use ssnail_m65::{Machine, Model, Screen, Stop};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where code begins: the address that SYS is given.
const ENTRY: u16 = 8210;
/// Results are compared here.
const RESULTS: std::ops::Range<usize> = 0x4000..0x4800;

/// The emulator, or why the test is skipped.
fn xemu() -> Result<PathBuf, String> {
    let user = Command::new("id").arg("-u").output().map_err(|e| e.to_string())?;
    if user.stdout.starts_with(b"0\n") {
        return Err("Xemu does not run as root".into());
    }
    if let Some(path) = env::var_os("XMEGA65") {
        return Ok(path.into());
    }
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search)
        .map(|folder| folder.join("xmega65"))
        .find(|path| path.is_file())
        .ok_or_else(|| "no xmega65 on PATH, and XMEGA65 is not set".into())
}

/// Set-up that does not depend on how the program was started, and the end that both understand.
fn whole(body: &str) -> String {
    format!(
        "
        SEI
        CLD
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA #65
        STA $00
        LDA #0
        TAB
        TAX
        TAY
        TAZ
        MAP
        EOM
        LDA #$35
        STA $01
{body}
        LDA #0
        STA $D6CF
        LDA #$42
        STA $D6CF
stop:   BRA stop"
    )
}

fn ours(code: &[u8]) -> Machine {
    let mut machine = Machine::new(Model::R3);
    let start = usize::from(ENTRY);
    machine.board.chip_ram_mut()[start..start + code.len()].copy_from_slice(code);
    machine.board.chip_ram_mut()[RESULTS].fill(0);
    machine.sys(ENTRY);
    for _ in 0..100 {
        if let Some(stop) = machine.run_frame() {
            assert_eq!(stop, Stop::Exit(0));
            return machine;
        }
    }
    panic!("still running at ${:04X}", machine.cpu.pc);
}

/// Memory and screen text of the same run in Xemu.
fn theirs(emulator: &Path, code: &[u8]) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut file = vec![0x01, 0x20];
    file.resize(2 + usize::from(ENTRY) - 0x2001, 0);
    file.extend(code);
    std::fs::write(path("p.prg"), file).unwrap();
    let mut child = Command::new(emulator)
        .args(["-skipconfigfile", "-headless", "-sleepless", "-besure", "-testing", "-nosound", "-useinitrom"])
        .arg("-prg")
        .arg(path("p.prg"))
        .args(["-prgmode", "65", "-prgtest", &format!("SYS{ENTRY}"), "-dumpscreen"])
        .arg(path("screen.txt"))
        .arg("-dumpmem")
        .arg(path("memory.bin"))
        .env("XDG_DATA_HOME", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("Xemu did not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let memory = std::fs::read(path("memory.bin")).unwrap();
    let screen = std::fs::read_to_string(path("screen.txt")).unwrap_or_default();
    (memory, screen)
}

const PROGRAMS: [(&str, &str); 4] = [
    (
        "decimal and binary arithmetic with flags",
        "
        SED
        LDX #0
loop:   TXA
        CLC
        ADC #$27
        STA $4000,X
        PHP
        PLA
        ORA #$20
        STA $4100,X
        TXA
        SEC
        SBC #$58
        STA $4200,X
        PHP
        PLA
        ORA #$20
        STA $4300,X
        INX
        BNE loop
        CLD",
    ),
    (
        "Q forms and flat access",
        "
        LDA #$78
        LDX #$56
        LDY #$34
        LDZ #$92
        STQ $10
        STQ $14
        ASLQ $14
        LDQ $10
        CLC
        ADCQ $14
        STQ $4000
        SEC
        SBCQ $10
        STQ $4004
        LDA #$00
        STA $20
        STA $23
        LDA #$40
        STA $21
        LDA #$04
        STA $22
        LDQ $10
        STQ [$20]
        LDZ #1
        LDA [$20],Z
        STA $4008
        LDZ #0
        LDQ [$20],Z
        RORQ Q
        STQ $400C",
    ),
    (
        "DMA, multiplier, divider",
        "
        LDA #201
        STA $D770
        LDA #77
        STA $D774
        LDQ $D778
        STQ $4000
        LDQ $D76C
        STQ $4004
        STA $D707
        .byte $0B, $00, $00
        .word 64
        .word stop
        .byte 0
        .word $4100
        .byte 0, 0, 0, 0",
    ),
    (
        "text on the screen",
        "
        LDA #$E0
        STA $D031
        LDA #$26
        STA $D018
        LDX #0
fill:   LDA #$20
        STA $0800,X
        STA $0900,X
        STA $0A00,X
        STA $0B00,X
        STA $0C00,X
        STA $0D00,X
        STA $0E00,X
        STA $0F00,X
        INX
        BNE fill
        LDX #26
put:    TXA
        STA $084F,X
        DEX
        BNE put",
    ),
];

#[test]
fn programs_agree_with_xemu() {
    let emulator = match xemu() {
        Ok(path) => path,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    for (name, body) in PROGRAMS {
        let code = rv45::asm::assemble(&whole(body), ENTRY).unwrap().bytes;
        let machine = ours(&code);
        let (memory, screen) = theirs(&emulator, &code);
        assert_eq!(machine.board.chip_ram()[RESULTS], memory[RESULTS], "{name}");
        if name.contains("screen") {
            let text = Screen::of(&machine.board).text().to_lowercase();
            for line in text.lines().filter(|l| !l.is_empty()) {
                assert!(screen.to_lowercase().contains(line), "{name}: {line:?} in {screen}");
            }
        }
    }
}

/// The programs themselves, without Xemu.
#[test]
fn programs_give_what_was_worked_out() {
    let results = |body: &str| {
        let code = rv45::asm::assemble(&whole(body), ENTRY).unwrap().bytes;
        ours(&code)
    };
    let word = |m: &Machine, at: usize| u32::from_le_bytes(m.board.chip_ram()[at..at + 4].try_into().unwrap());
    let machine = results(PROGRAMS[1].1);
    let q: u32 = 0x9234_5678;
    assert_eq!(word(&machine, 0x4000), q.wrapping_mul(3));
    assert_eq!(word(&machine, 0x4004), q << 1);
    assert_eq!(machine.board.chip_ram()[0x4008], 0x56);
    assert_eq!(word(&machine, 0x400c) & 0x7fff_ffff, q >> 1);
    let machine = results(PROGRAMS[2].1);
    assert_eq!((word(&machine, 0x4000), word(&machine, 0x4004)), (201 * 77, 201 / 77));
    let machine = results(PROGRAMS[3].1);
    assert_eq!(Screen::of(&machine.board).row(1), "abcdefghijklmnopqrstuvwxyz");
    let machine = results(PROGRAMS[0].1);
    // $45 + $27 and $45 - $58 in decimal.
    assert_eq!((machine.board.chip_ram()[0x4045], machine.board.chip_ram()[0x4245]), (0x72, 0x87));
}
