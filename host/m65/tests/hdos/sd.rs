//! The SD controller, by programs.

use crate::card::content;
use crate::common::{program, run};
use ssnail_disk::block::{BlockDevice, MemDevice, read_sector};
use ssnail_m65::Machine;
use ssnail_m65::Model;
use ssnail_m65::io::card::{Card, Effect, Fault, Trigger};

const COMMAND: u32 = 0x0ffd_3680;

fn image() -> MemDevice {
    let mut dev = MemDevice::new(4096);
    for lba in 0..64 {
        dev.write(lba, &content(u64::from(lba) + 1, 512)).unwrap();
    }
    dev
}

fn machine() -> Machine {
    let mut machine = Machine::new(Model::R3);
    machine.board.storage.card = Some(Card::new(image()));
    machine
}

fn wait(machine: &mut Machine, cycles: u64) {
    machine.board.cycles += cycles;
}

fn set_sector(machine: &mut Machine, lba: u32) {
    for (at, byte) in (COMMAND + 1..).zip(lba.to_le_bytes()) {
        machine.write_flat(at, byte);
    }
}

fn buffer(machine: &mut Machine) -> Vec<u8> {
    machine.write_flat(COMMAND + 9, 0x80);
    (0..512).map(|i| machine.read_flat(0x0ffd_6e00 + i)).collect()
}

#[test]
fn a_program_reads_a_sector_without_hdos() {
    let source = "
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA #37
        STA $D681
        LDA #0
        STA $D682
        STA $D683
        STA $D684
        TAX
        TAY
        LDA #$02
        STA $D680
wait:   INX
        BNE next
        INY
next:   LDA $D680
        AND #3
        BNE wait
        STX $4200
        STY $4201
        LDA $D680
        STA $4202
        LDA #$80
        TSB $D689
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
        RTS
list:   .byte $0B, $80, $FF, $00
        .byte $00
        .word 512
        .word $6E00
        .byte $0D
        .word $4000
        .byte 0, 0, 0, 0";
    let mut m = program(Model::R3, source);
    m.board.storage.card = Some(Card::new(image()));
    run(&mut m, 10);
    assert_eq!(m.board.chip_ram()[0x4000..0x4200], content(38, 512));
    let polls = u16::from_le_bytes([m.board.peek(0x4200), m.board.peek(0x4201)]);
    assert!(polls > 500, "{polls} polls: the card takes its time");
    assert_eq!(m.board.peek(0x4202) & 0x67, 0);
    assert_eq!(m.board.peek(0x4202) & 0x10, 0x10, "SDHC");
}

#[test]
fn the_buffer_is_old_until_the_transfer_ends() {
    let mut m = machine();
    set_sector(&mut m, 5);
    m.write_flat(COMMAND, 2);
    assert_eq!(m.read_flat(COMMAND) & 3, 3);
    assert_eq!(buffer(&mut m), [0; 512]);
    wait(&mut m, 20_736);
    assert_eq!(m.read_flat(COMMAND) & 0x63, 0);
    assert_eq!(buffer(&mut m), content(6, 512));
}

#[test]
fn a_command_in_between_and_a_missing_sector_are_errors() {
    let mut m = machine();
    set_sector(&mut m, 5);
    m.write_flat(COMMAND, 2);
    m.write_flat(COMMAND, 2);
    assert_eq!(m.read_flat(COMMAND) & 0x60, 0x60);
    wait(&mut m, 30_000);
    assert_eq!(buffer(&mut m), content(6, 512), "the first one went on");
    m.write_flat(COMMAND, 0x44);
    assert_eq!(m.read_flat(COMMAND) & 0x60, 0);
    set_sector(&mut m, 4096);
    m.write_flat(COMMAND, 2);
    assert_eq!(m.read_flat(COMMAND) & 0x63, 3);
    wait(&mut m, 30_000);
    assert_eq!(m.read_flat(COMMAND) & 0x63, 0x60);
    assert_eq!(buffer(&mut m), content(6, 512));
    set_sector(&mut m, 7);
    m.write_flat(COMMAND, 2);
    assert_eq!(m.read_flat(COMMAND) & 0x40, 0x40, "no command but a reset clears the card's error");
    m.write_flat(COMMAND, 0);
    m.write_flat(COMMAND, 1);
    assert_eq!(m.read_flat(COMMAND) & 0x67, 3);
    wait(&mut m, 2_000_000);
    m.write_flat(COMMAND, 2);
    wait(&mut m, 30_000);
    assert_eq!(m.read_flat(COMMAND) & 0x63, 0);
    assert_eq!(buffer(&mut m), content(8, 512));
}

#[test]
fn a_silent_card_stays_busy_until_reset() {
    let mut m = machine();
    let fault = Fault { trigger: Trigger::Sector(9), effect: Effect::Silence, times: 1 };
    m.board.storage.card.as_mut().unwrap().inject(fault);
    set_sector(&mut m, 9);
    m.write_flat(COMMAND, 2);
    wait(&mut m, 1 << 40);
    assert_eq!(m.read_flat(COMMAND) & 3, 3);
    m.write_flat(COMMAND, 0x10);
    assert_eq!(m.read_flat(COMMAND) & 7, 4);
    m.write_flat(COMMAND, 0x11);
    assert_eq!(m.read_flat(COMMAND) & 0x67, 3, "the card is made ready");
    wait(&mut m, 2_000_000);
    assert_eq!(m.read_flat(COMMAND) & 0x67, 0);
    m.write_flat(COMMAND, 2);
    wait(&mut m, 30_000);
    assert_eq!(buffer(&mut m), content(10, 512), "and then it answers");
    // The other slot is empty.
    m.write_flat(COMMAND, 0xc1);
    m.write_flat(COMMAND, 2);
    wait(&mut m, 1 << 40);
    assert_eq!(m.read_flat(COMMAND) & 0x83, 0x83);
}

#[test]
fn writing_needs_a_gate() {
    let mut m = machine();
    let data = content(99, 512);
    m.write_flat(COMMAND + 9, 0x80);
    for (at, byte) in (0x0ffd_6e00..).zip(&data) {
        m.write_flat(at, *byte);
    }
    for (lba, gates) in [
        (20u32, [(None, false), (Some(0x4d), false), (Some(0x57), true)]),
        (0, [(None, false), (Some(0x57), false), (Some(0x4d), true)]),
    ] {
        for (gate, written) in gates {
            set_sector(&mut m, lba);
            if let Some(gate) = gate {
                m.write_flat(COMMAND, gate);
            }
            m.write_flat(COMMAND, 3);
            wait(&mut m, 50_000);
            assert_eq!(m.read_flat(COMMAND) & 0x63, 0);
            let now = read_sector(m.board.storage.card.as_mut().unwrap(), lba).unwrap();
            assert_eq!(now[..] == data[..], written, "sector {lba}, gate {gate:02x?}");
        }
    }
    // The gate closes by itself.
    set_sector(&mut m, 21);
    m.write_flat(COMMAND, 0x57);
    wait(&mut m, 50_000);
    m.write_flat(COMMAND, 3);
    let now = read_sector(m.board.storage.card.as_mut().unwrap(), 21).unwrap();
    assert_eq!(now[..], content(22, 512));
}

#[test]
fn image_registers_are_the_hypervisors() {
    let mut m = machine();
    for register in 0x0a..=0x13 {
        m.write_flat(COMMAND + register, 0xff);
        assert_eq!(m.read_flat(COMMAND + register), 0);
    }
}
