//! Memory map, I/O, DMA and interrupts by small programs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{program, ran, run};
use ssnail_m65::diagnostics::Report;
use ssnail_m65::{Machine, Model, Stop};

fn bytes(machine: &Machine, address: u32, n: u32) -> Vec<u8> {
    (0..n).map(|i| machine.board.peek(address + i)).collect()
}

#[test]
fn rts_returns_to_basic() {
    let machine = ran("LDA #$42\n STA $4000\n RTS");
    assert_eq!(bytes(&machine, 0x4000, 1), [0x42]);
}

#[test]
fn exit_port_carries_a_code() {
    let mut machine = program(Model::R3, "LDA #7\n STA $D6CF\n LDA #$42\n STA $D6CF\nx: BRA x");
    assert_eq!(machine.run_frame(), Some(Stop::Exit(7)));
}

#[test]
fn knock_chooses_what_d000_shows() {
    let machine = ran("
        LDA #0
        STA $D02F          ; C64: no DMA registers, the multiplier is SID space
        LDA #$12
        STA $D770
        LDA #$A5
        STA $D02F
        LDA #$96
        STA $D02F          ; C65: no keyboard queue
        LDA $D611
        STA $4000
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA $D770
        STA $4001
        LDA $D629
        STA $4002
        RTS");
    assert_eq!(bytes(&machine, 0x4000, 3), [0, 0x00, 0x03]);
}

#[test]
fn multiplier_and_divider_near_and_flat() {
    let machine = ran("
        LDA #<1000003
        LDX #>1000003
        LDY #15
        LDZ #0
        STQ $D770
        LDA #100
        STA $D774
        LDA #0
        STA $D775
        STA $D776
        STA $D777
        LDQ $D778
        STQ $4000
        LDQ $D76C
        STQ $4004
        LDQ $D768
        STQ $4008
        RTS");
    let word = |a| u32::from_le_bytes(bytes(&machine, a, 4).try_into().unwrap());
    let a = 15 * 65536 + (1000003 & 0xffff);
    assert_eq!(word(0x4000), a * 100);
    assert_eq!(word(0x4004), a / 100);
    assert_eq!(u64::from(word(0x4008)), (u64::from(a % 100) << 32) / 100);
}

#[test]
fn cpu_port_hides_and_shows_io() {
    let machine = ran("
        LDA #$34
        STA $01            ; all RAM
        LDA #$55
        STA $D020
        LDA #$35
        STA $01
        LDA $D020
        STA $4000
        LDA $00
        STA $4001
        LDA $01
        STA $4002
        LDA #65
        STA $00            ; speed, not direction
        LDA $00
        STA $4003
        LDA #$3F
        STA $01
        RTS");
    assert_eq!(bytes(&machine, 0x4000, 4), [6, 0x2f, 0x35, 0x2f]);
    assert_eq!(bytes(&machine, 0xd020, 1), [0x55]);
}

#[test]
fn rom_is_protected_until_the_trap() {
    let source = "
        LDA #3
        STA $10
        LDA #0
        STA $11
        STA $13
        LDA #3
        STA $12            ; [$10] = $00030003
        LDZ #0
        LDA #$77
        STA [$10],Z
        LDA #$70
        STA $D640
        CLV
        LDA #$78
        STA [$10],Z
        RTS";
    let mut machine = program(Model::R3, source);
    let before = machine.board.peek(0x3_0003);
    run(&mut machine, 2);
    assert_eq!(machine.board.peek(0x3_0003), 0x78);
    assert_ne!(before, 0x78);
    assert_eq!(machine.board.diagnostics.count(Report::RomWrite), 1);
    assert_eq!(machine.board.diagnostics.count(Report::TrapFiller), 0);
}

#[test]
fn colour_ram_and_its_windows() {
    let machine = ran("
        LDA #$0A
        STA $D803          ; 1 KB window
        LDA #$03
        STA $10
        LDA #$F8
        STA $11
        LDA #$01
        STA $12
        LDA #0
        STA $13            ; $1F803 + 1
        LDZ #1
        LDA #$0B
        STA [$10],Z
        LDA #$00
        STA $10
        LDA #$10
        STA $11
        LDA #$F8
        STA $12
        LDA #$0F
        STA $13            ; $FF81000
        LDA #$0C
        LDZ #0
        STA [$10],Z
        RTS");
    assert_eq!(machine.board.colour_ram()[3..5], [0x0a, 0x0b]);
    assert_eq!(bytes(&machine, 0x1_f803, 2), [0x0a, 0x0b]);
    assert_eq!(machine.board.colour_ram()[0x1000], 0x0c);
    assert_ne!(bytes(&machine, 0x2_0800, 1), [0x0c]);
}

#[test]
fn map_shows_other_banks_and_ends_with_eom() {
    let machine = ran("
        LDA #$00
        LDX #$44           ; block 2 ($4000): offset $40000
        LDY #$00
        LDZ #$83
        MAP
        EOM
        LDA #$99
        STA $4010          ; $44010
        LDA #0
        LDX #0
        LDY #0
        LDZ #$83
        MAP
        EOM
        LDA $4010
        STA $4020
        RTS");
    assert_eq!(bytes(&machine, 0x4_4010, 1), [0x99]);
    assert_eq!(bytes(&machine, 0x4010, 1), [0]);
}

#[test]
fn enhanced_dma_copies_with_options_and_chains() {
    let machine = ran("
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
        RTS
list:   .byte $0B, $81, $80, $00      ; F018B, destination MB $80
        .byte $04                     ; copy, chained
        .word 5
        .word data
        .byte 0
        .word $1234
        .byte 0, 0, 0, 0
        .byte $86, $33, $07, $81, 0, $85, 2, $00
        .byte $00                     ; every second byte, $33 not written, in chip RAM
        .word 5
        .word data
        .byte 0
        .word $4000
        .byte 0, 0, 0, 0
data:   .byte $11, $22, $33, $44, $55");
    assert_eq!(bytes(&machine, 0x800_1234, 5), [0x11, 0x22, 0x33, 0x44, 0x55]);
    assert_eq!(bytes(&machine, 0x4000, 9), [0x11, 0, 0x22, 0, 0, 0, 0x44, 0, 0x55]);
}

#[test]
fn inline_dma_continues_behind_its_list() {
    let machine = ran("
        STA $D707
        .byte $0A, $00
        .byte $03                     ; fill, F018A
        .word 300
        .word $5A
        .byte 0
        .word $4000
        .byte 0, 0, 0
        LDA #1
        STA $5000
        RTS");
    assert_eq!(bytes(&machine, 0x5000, 1), [1]);
    assert!(bytes(&machine, 0x4000, 300).iter().all(|&b| b == 0x5a));
    assert_eq!(bytes(&machine, 0x412c, 1), [0]);
}

#[test]
fn plain_dma_decrements_holds_and_wraps() {
    let machine = ran("
        LDA #$D7
        STA $4100
        LDA #1
        STA $D703                     ; F018B by default
        LDA #0
        STA $D702
        LDA #>list
        STA $D701
        LDA #<list
        STA $D700
        RTS
list:   .byte $34                     ; copy backwards, chained
        .word 4
        .word $4003
        .byte 0
        .word $4013
        .byte 0, 0, 0, 0
        .byte $04                     ; into one place
        .word 4
        .word $4000
        .byte 0
        .word $4020
        .byte 0, 8, 0, 0
        .byte $03                     ; fill 4 bytes from $FFFFE: wraps in the megabyte
        .word 4
        .word $66
        .byte 0
        .word $FFFE
        .byte $0F, 0, 0, 0");
    assert_eq!(bytes(&machine, 0x4010, 4), bytes(&machine, 0x4000, 4));
    assert_eq!(bytes(&machine, 0x4021, 1), [0]);
    assert_eq!(machine.board.diagnostics.count(Report::UnmappedWrite), 2);
    // Cells 0 and 1 under the CPU port.
    assert_eq!(bytes(&machine, 0, 2), [0x66, 0x66]);
}

#[test]
fn dma_redirects_io_to_the_current_personality() {
    let machine = ran("
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
        RTS
list:   .byte $0B, $00
        .byte $00
        .word 3
        .word colours
        .byte 0
        .word $D020
        .byte $80, 0, 0, 0
colours: .byte 1, 2, 3");
    assert_eq!([0x20, 0x21, 0x22].map(|r| machine.board.vic.raw(r)), [1, 2, 3]);
}

#[test]
fn attic_ram_on_r3_ends_after_8_mb() {
    let source = "
        LDA #$FE
        STA $10
        LDA #$FF
        STA $11
        LDA #$7F
        STA $12
        LDA #$08
        STA $13            ; $87FFFFE
        LDZ #0
        LDA #$11
        STA [$10],Z
        LDZ #2
        LDA #$22
        STA [$10],Z        ; $8800000
        LDZ #0
        LDA [$10],Z
        STA $4000
        RTS";
    let machine = ran(source);
    assert_eq!(bytes(&machine, 0x4000, 1), [0x11]);
    assert_eq!(machine.board.diagnostics.count(Report::UnmappedWrite), 1);
    assert_eq!(machine.board.expansion.memory().len(), 8 << 20);
}

/// Writes patterns to a few cells from `start` on, a step of 256 bytes apart, reads them back where `look` says so.
fn touches(start: u32, cells: u8, look: bool) -> Machine {
    let [low, middle, high, top] = start.to_le_bytes();
    let read = if look { "LDA [$10],Z" } else { "" };
    ran(&format!(
        "
        LDA #${low:02X}
        STA $10
        LDA #${middle:02X}
        STA $11
        LDA #${high:02X}
        STA $12
        LDA #${top:02X}
        STA $13
        LDX #{cells}
        LDZ #0
again:  LDA #$5A
        STA [$10],Z
        {read}
        LDA #$A5
        STA [$10],Z
        INC $11
        DEX
        BNE again
        RTS"
    ))
}

/// Memory that other boards have: only by writing and reading can a program find out. Whoever stores data there, or
/// writes where no board has memory, has not looked.
#[test]
fn looking_for_memory_is_no_fault() {
    let faults = |machine: &Machine| {
        [Report::UnmappedRead, Report::UnmappedWrite].map(|kind| machine.board.diagnostics.count(kind))
    };
    assert_eq!(faults(&touches(0x880_0000, 3, true)), [0, 0]);
    assert_eq!(faults(&touches(0xbff_f000, 10, true)), [0, 0]);
    assert_eq!(faults(&touches(0x880_0000, 3, false)), [0, 6]);
    assert_eq!(faults(&touches(0x880_0000, 80, true)), [16, 32]);
    assert_eq!(faults(&touches(0x500_0000, 3, true)), [3, 6]);
    assert_eq!(faults(&touches(0xd00_0000, 3, true)), [3, 6]);
}

/// The last bytes of what SDRAM could be are registers, which HyperRAM boards have.
#[test]
fn registers_at_the_end_of_memory_are_not_written_unnoticed() {
    let machine = touches(0xbff_fffe, 1, true);
    assert_eq!(machine.board.diagnostics.count(Report::MemoryControl), 2);
    assert_eq!(touches(0xbff_ffef, 1, true).board.diagnostics.count(Report::MemoryControl), 0);
}

#[test]
fn sdram_select_changes_reads_and_writes_reach_both() {
    let source = "
        LDA #$00
        STA $10
        STA $11
        STA $12
        LDA #$08
        STA $13            ; $8000000
        LDZ #0
        LDA #$11
        STA [$10],Z        ; both
        LDA #$10
        TSB $D7FE          ; SDRAM
        LDA [$10],Z
        STA $4000
        LDA #$80
        STA $12            ; $8800000
        LDA #$22
        STA [$10],Z
        LDA [$10],Z
        STA $4001
        LDA #$10
        TRB $D7FE
        LDA [$10],Z
        STA $4002          ; unmapped in HyperRAM
        RTS";
    let mut machine = program(Model::R6, source);
    run(&mut machine, 2);
    assert_eq!(bytes(&machine, 0x4000, 3), [0x11, 0x22, b'U']);
    let memory = machine.board.expansion.memory();
    assert_eq!(memory.len(), 72 << 20);
    assert_eq!((memory[0], memory[8 << 20], memory[64 << 20]), (0x11, 0x22, 0x11));
    assert_eq!(machine.board.diagnostics.count(Report::UnmappedRead), 1);
}

#[test]
fn timer_interrupts_reach_a_handler() {
    let source = "
        SEI
        LDA #$35
        STA $01
        LDA #0
        TAX
        TAY
        TAZ
        MAP
        EOM
        LDA #<handler
        STA $FFFE
        LDA #>handler
        STA $FFFF
        LDA #$7F
        STA $DC0D
        LDA #<9999
        STA $DC04
        LDA #>9999
        STA $DC05
        LDA #$81
        STA $DC0D
        LDA #$11
        STA $DC0E
        CLI
loop:   INX                ; one-cycle instructions around a longer one
        INX
        BRA loop
handler: PHA
        LDA $DC0D
        INW $20
        PLA
        RTI";
    let mut machine = program(Model::R3, source);
    for _ in 0..50 {
        assert_eq!(machine.run_frame(), None);
    }
    let count = u16::from(machine.board.peek(0x20)) | u16::from(machine.board.peek(0x21)) << 8;
    // One second of periods of 10,000 phi ticks.
    assert!((97..=98).contains(&count), "{count}");
}

#[test]
fn raster_interrupt_comes_once_a_frame() {
    let source = "
        SEI
        LDA #$35
        STA $01
        LDA #0
        TAX
        TAY
        TAZ
        MAP
        EOM
        LDA #<handler
        STA $FFFE
        LDA #>handler
        STA $FFFF
        LDA #$80
        STA $D012
        LDA #1
        STA $D01A
        STA $D019
        CLI
loop:   BRA loop
handler: PHA
        LDA #1
        STA $D019
        INC $20
        PLA
        RTI";
    let mut machine = program(Model::R3, source);
    for _ in 0..50 {
        assert_eq!(machine.run_frame(), None);
    }
    assert_eq!(machine.board.peek(0x20), 50);
}

#[test]
fn traps_skip_a_byte_and_zero_the_frame_counter() {
    let source = "
wait:   LDA $D7FA
        CMP #3
        BNE wait
        LDA #$71           ; no such function
        STA $D640
        NOP                ; should be CLV
        STA $4000
        BCC failed
stuck:  BRA stuck
failed: LDA $D7FA
        STA $4001
        RTS";
    let mut machine = program(Model::R3, source);
    run(&mut machine, 10);
    assert_eq!(bytes(&machine, 0x4000, 2), [0xff, 0]);
    assert_eq!(machine.board.diagnostics.count(Report::TrapFiller), 1);
    assert_eq!(machine.board.diagnostics.count(Report::UnknownTrap), 1);
}

#[test]
fn keyboard_queue_and_its_flush() {
    let source = "
        LDA $D60A
        STA $4000
        LDA $D610
        STA $4001
        LDA $D619
        STA $4002
        STA $D610
        LDA $D610
        STA $4003
        LDA #0
        STA $D60A
        LDA $D610
        STA $4004
        LDA $D619
        STA $4005
        RTS";
    let mut machine = program(Model::R3, source);
    for key in ssnail_m65::keys::parse("A<F5>xyzw").unwrap() {
        machine.board.keyboard.press(key);
    }
    assert_eq!(machine.board.keyboard.lost, 1);
    run(&mut machine, 2);
    assert_eq!(bytes(&machine, 0x4000, 6), [0x81, b'A', 0xc1, 0xf5, 0, 0xff]);
}

#[test]
fn kernal_calls_without_a_rom_are_reported() {
    let machine = ran("LDA #65\n JSR $FFD2\n RTS");
    let (_, address, occurrence) = machine.board.diagnostics.entries().next().unwrap();
    assert_eq!((address, occurrence.count), (0xffd2, 1));
}

#[test]
fn unmapped_reads_name_the_instruction() {
    let machine = ran("
        LDA #0
        STA $10
        STA $11
        STA $13
        LDA #6
        STA $12
        LDZ #0
here:   LDA [$10],Z
        RTS");
    let (report, address, occurrence) = machine.board.diagnostics.entries().next().unwrap();
    assert_eq!((report, address), (Report::UnmappedRead, 0x6_0000));
    assert_eq!(occurrence.pc, 0x2001 + 14);
}

#[test]
fn random_bytes_differ() {
    let machine = ran("
        LDX #0
loop:   LDA $D7EF
        STA $4000,X
        INX
        BNE loop
        RTS");
    let mut seen = bytes(&machine, 0x4000, 256);
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 140, "{}", seen.len());
}
