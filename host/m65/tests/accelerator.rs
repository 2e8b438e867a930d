//! The accelerator behind its registers, driven by 45GS02 code.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{program, run};
use ssnail_m65::diagnostics::Report;
use ssnail_m65::expansion::Defect;
use ssnail_m65::scenario::dump;
use ssnail_m65::{Machine, Model};
use ssnail_shared::isa::{Instruction, Opcode};
use ssnail_shared::map::{MEMORY_BASE, PAYLOAD};
use ssnail_shared::registers as reg;

/// Register block at [$20]; loads `count` bytes from $4000 to PAYLOAD through the port by DMA,
/// runs the job there, and leaves ERROR at $3F00, polls of BUSY (16 bits) at $3F01, control at
/// $3F03. Gives up after 65536 polls with $FF at $3F00.
const LOAD_AND_RUN: &str = "
        BASE = $20
        LDA #$00
        STA $20
        LDA #$75
        STA $21
        LDA #$FD
        STA $22
        LDA #$0F
        STA $23
        LDA #$00
        STA $24
        STA $25
        LDZ #$14           ; pointer $8005000, clear ERROR
        LDA #$00
        STA [BASE],Z
        INZ
        LDA #$50
        STA [BASE],Z
        INZ
        LDA #$00
        STA [BASE],Z
        INZ
        LDA #$48
        STA [BASE],Z
        JSR ready
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
        LDZ #$17
        LDA #$08
        STA [BASE],Z       ; commit
        JSR ready
        LDZ #$08
        LDA #$00
        STA [BASE],Z
        INZ
        LDA #$50
        STA [BASE],Z
        INZ
        LDA #$00
        STA [BASE],Z
        INZ
        LDA #$08
        STA [BASE],Z
        LDZ #$03
        LDA #1
        STA [BASE],Z       ; GO
        LDX #0
        LDY #0
busy:   LDZ #$04
        LDA [BASE],Z
        BEQ done
        INX
        BNE busy
        INY
        BNE busy
        BRA failed
done:   LDZ #$05
        LDA [BASE],Z
        STA $3F00
        STX $3F01
        STY $3F02
        LDZ #$17
        LDA [BASE],Z
        STA $3F03
        RTS
ready:  LDZ #$17
        LDX #0
        LDY #0
.wait:  LDA [BASE],Z
        BMI .ok
        INX
        BNE .wait
        INY
        BNE .wait
        PLA
        PLA
        BRA failed
.ok:    RTS
failed: LDA #$FF
        STA $3F00
        RTS
list:   .byte $0B, $81, $FF, $00
        .byte $00
        .word 512
        .word $4000
        .byte 0
        .word $7518
        .byte $0D, $08, 0, 0";

/// COPY of 32 bytes and HALT.
fn copy_job() -> Vec<u8> {
    let copy = Instruction { x: PAYLOAD + 0x100, y: PAYLOAD + 0x1000, z: 32, ..Instruction::new(Opcode::Copy) };
    [copy, Instruction::new(Opcode::Halt)].iter().flat_map(Instruction::encode).collect()
}

fn machine(model: Model) -> Machine {
    let mut machine = program(model, LOAD_AND_RUN);
    let ram = machine.board.chip_ram_mut();
    for (n, byte) in ram[0x4000..0x4200].iter_mut().enumerate() {
        *byte = n as u8 ^ (n >> 8) as u8;
    }
    let job = copy_job();
    ram[0x4000..0x4000 + job.len()].copy_from_slice(&job);
    machine
}

fn result(machine: &Machine) -> (u8, u16, u8) {
    let at = |a| machine.board.peek(a);
    (at(0x3f00), u16::from(at(0x3f01)) | u16::from(at(0x3f02)) << 8, at(0x3f03))
}

#[test]
fn a_job_loaded_by_dma_is_busy_and_ends() {
    for model in [Model::R3, Model::R6] {
        let mut machine = machine(model);
        // 64 bytes moved and two instructions fetched at 20 KB/s take some milliseconds.
        machine.board.expansion.accelerator.bandwidth = Some(20_000);
        // Loading 512 bytes at that rate: 25 ms.
        run(&mut machine, 60);
        let (error, polls, control) = result(&machine);
        assert_eq!((error, control), (0, 0x80));
        assert!(polls > 100, "{polls}");
        let loaded = dump(&machine, PAYLOAD, 512).unwrap();
        assert_eq!(loaded, machine.board.chip_ram()[0x4000..0x4200]);
        let copied = dump(&machine, PAYLOAD + 0x1000, 32).unwrap();
        assert_eq!(copied[..], loaded[0x100..0x120]);
        assert_eq!(machine.board.diagnostics.count(Report::LoadPortOverflow), 0);
    }
}

#[test]
fn at_full_speed_the_job_is_over_before_the_first_poll() {
    let mut machine = machine(Model::R3);
    machine.board.expansion.accelerator.bandwidth = None;
    run(&mut machine, 10);
    assert_eq!(result(&machine), (0, 0, 0x80));
}

/// A script that branches to itself.
#[test]
fn a_job_without_end_does_not_stop_the_emulation() {
    let mut machine = program(Model::R3, "x: BRA x");
    machine.board.expansion.accelerator.bandwidth = None;
    let script = Instruction { op: Opcode::Beq, a: 15, b: 15, x: PAYLOAD, y: 0, z: 0 }.encode();
    machine.board.expansion.slice_mut(PAYLOAD, 16).unwrap().copy_from_slice(&script);
    for (register, byte) in (reg::JOB..).zip(PAYLOAD.to_le_bytes()) {
        machine.write_flat(reg::BASE + register, byte);
    }
    machine.write_flat(reg::BASE + reg::GO, reg::GO_START);
    machine.run_frame();
    assert_eq!(machine.read_flat(reg::BASE + reg::STATUS), reg::STATUS_BUSY);
    assert_eq!(machine.frame(), 1);
}

#[test]
fn the_cpu_sees_what_the_port_wrote_where_the_board_has_it() {
    // On R4 to R6 the port's $8000000 is SDRAM: visible with SELSDRAM only.
    for (model, plain, selected) in [(Model::R3, 0x5a, 0x5a), (Model::R6, 0xff, 0x5a)] {
        let source = "
            LDA #$04
            STA $10
            LDA #$00
            STA $11
            STA $12
            LDA #$08
            STA $13
            LDZ #0
            LDA [$10],Z
            STA $3F00
            LDA #$10
            TSB $D7FE
            LDA [$10],Z
            STA $3F01
            RTS";
        let mut machine = program(model, source);
        machine.board.expansion.slice_mut(MEMORY_BASE + 4, 1).unwrap()[0] = 0x5a;
        run(&mut machine, 2);
        assert_eq!([machine.board.peek(0x3f00), machine.board.peek(0x3f01)], [plain, selected], "{model}");
    }
}

/// Without a core: asking for it is no fault, using it is.
#[test]
fn a_core_may_be_looked_for() {
    for (register, faults) in [(reg::ID, 0), (reg::VERSION, 1), (reg::STATUS, 1)] {
        let [low, middle, high, top] = (reg::BASE + register).to_le_bytes();
        let mut machine = program(
            Model::R3,
            &format!(
                "
                LDA #{low}
                STA $10
                LDA #{middle}
                STA $11
                LDA #{high}
                STA $12
                LDA #{top}
                STA $13
                LDZ #0
                LDA [$10],Z
                RTS"
            ),
        );
        machine.board.expansion.accelerator.defect = Defect::Absent;
        run(&mut machine, 2);
        assert_eq!(machine.board.diagnostics.count(Report::UnmappedRead), faults, "register {register}");
    }
}

#[test]
fn defects_show_as_a_program_would_meet_them() {
    let with = |defect| {
        let mut machine = machine(Model::R3);
        machine.board.expansion.accelerator.defect = defect;
        run(&mut machine, 2000);
        machine
    };
    let absent = with(Defect::Absent);
    assert_eq!(absent.board.peek(0x3f00), 0xff, "unmapped reads have bit 7 set, but BUSY never clears");
    assert!(absent.board.diagnostics.count(Report::UnmappedRead) > 0);
    assert_eq!(result(&with(Defect::NeverReady)).0, 0xff);
    assert_eq!(result(&with(Defect::LoadError)).2, 0xc0);
    assert_eq!(result(&with(Defect::Hangs)).0, 0xff);
    assert_eq!(result(&with(Defect::JobError(4))).0, 4);
}

#[test]
fn data_without_waiting_for_ready_is_lost_and_reported() {
    let source = "
        STA $D707
        .byte $0B, $81, $FF, $00
        .byte $00
        .word 3000
        .word $4000
        .byte 0
        .word $7518
        .byte $0D, $08, 0, 0
        RTS";
    let mut machine = program(Model::R3, source);
    machine.board.expansion.accelerator.bandwidth = Some(1_000_000);
    run(&mut machine, 2);
    assert!(machine.board.diagnostics.count(Report::LoadPortOverflow) > 1000);
}
