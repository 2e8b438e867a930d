//! The floppy controller with an image from the host, by programs.

use crate::card::content;
use crate::common::{program, run};
use ssnail_m65::{Machine, Model};

const CONTROL: u32 = 0x0ffd_3080;

fn image() -> Vec<u8> {
    content(77, 819_200)
}

fn wait(machine: &mut Machine) {
    for _ in 0..100 {
        if machine.read_flat(CONTROL + 2) & 0x80 == 0 {
            return;
        }
        machine.board.cycles += 1_000_000;
    }
    panic!("busy for ever");
}

fn command(machine: &mut Machine, track: u8, side: u8, sector: u8, command: u8) -> u8 {
    for (register, value) in [(0, 0x60 | side << 3), (4, track), (5, sector), (6, side), (1, command)] {
        machine.write_flat(CONTROL + register, value);
    }
    wait(machine);
    machine.read_flat(CONTROL + 2)
}

fn buffer(machine: &mut Machine) -> Vec<u8> {
    machine.write_flat(0x0ffd_3689, 0);
    (0..512).map(|i| machine.read_flat(0x0ffd_6c00 + i)).collect()
}

#[test]
fn a_program_reads_a_sector() {
    let source = "
        LDA #$68           ; motor, light, side 1
        STA $D080
ready:  LDA $D082
        BMI ready
        LDA #39
        STA $D084
        LDA #3
        STA $D085
        LDA #1
        STA $D086
        LDA #$40
        STA $D081
busy:   LDA $D082
        BMI busy
        STA $4200
        LDA #$80
        TRB $D689
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
        LDA $D083
        STA $4201
        LDA #$01           ; pointers to the start
        STA $D081
        LDA $D087
        STA $4202
        LDA $D087
        STA $4203
        RTS
list:   .byte $0B, $80, $FF, $00
        .byte $00
        .word 512
        .word $6C00
        .byte $0D
        .word $4000
        .byte 0, 0, 0, 0";
    let mut m = program(Model::R3, source);
    m.insert_disk(&image(), false).unwrap();
    run(&mut m, 10);
    let at = (39 * 20 + 10 + 2) * 512;
    assert_eq!(m.board.chip_ram()[0x4000..0x4200], image()[at..at + 512]);
    // Request, protected, at track 0; neither "not found" nor a bad sum.
    assert_eq!(m.board.peek(0x4200), 0x43);
    assert_eq!(m.board.peek(0x4201), 0xa9, "found, disk in, changed");
    assert_eq!([m.board.peek(0x4202), m.board.peek(0x4203)], image()[at..at + 2]);
}

#[test]
fn every_block_is_where_dos_looks_for_it() {
    let data = image();
    let mut m = Machine::new(Model::R3);
    m.insert_disk(&data, false).unwrap();
    for (track, sector) in [(1u8, 0u8), (1, 19), (1, 20), (1, 39), (40, 0), (40, 3), (80, 39)] {
        let (side, half) = (sector / 20, sector % 20);
        let status = command(&mut m, track - 1, side, half / 2 + 1, 0x40);
        assert_eq!(status & 0x18, 0);
        let block = &data[(usize::from(track - 1) * 40 + usize::from(sector)) * 256..][..256];
        assert!(buffer(&mut m)[usize::from(half % 2) * 256..][..256] == *block, "{track}/{sector}");
    }
    command(&mut m, 80, 0, 5, 0x40);
    assert_eq!(buffer(&mut m), data[..512], "outside the disk: its first sector");
}

#[test]
fn writing_stays_on_the_disk_that_allows_it() {
    let data = image();
    for writable in [false, true] {
        let mut m = Machine::new(Model::R3);
        m.insert_disk(&data, writable).unwrap();
        command(&mut m, 5, 0, 1, 0x40);
        m.write_flat(CONTROL + 1, 0x01);
        for byte in 0..=255u8 {
            m.write_flat(CONTROL + 7, byte);
        }
        let status = command(&mut m, 5, 0, 2, 0x80);
        assert_eq!(status & 0x12, if writable { 0 } else { 0x12 });
        command(&mut m, 0, 0, 1, 0x40);
        command(&mut m, 5, 0, 2, 0x40);
        let written: Vec<u8> = (0..=255u8).chain(data[51_456..51_712].iter().copied()).collect();
        let expected = if writable { &written[..] } else { &data[51_712..52_224] };
        assert!(buffer(&mut m) == *expected);
    }
}

#[test]
fn empty_drives_find_nothing() {
    let mut m = Machine::new(Model::R3);
    assert_eq!(command(&mut m, 1, 0, 1, 0x40) & 0x10, 0x10);
    assert_eq!(command(&mut m, 1, 0, 1, 0x80) & 0x10, 0x10);
    assert_eq!(m.read_flat(CONTROL + 3) & 8, 0, "no disk");
    m.insert_disk(&image(), true).unwrap();
    m.write_flat(CONTROL, 0x61);
    m.write_flat(CONTROL + 1, 0x40);
    wait(&mut m);
    assert_eq!(m.read_flat(CONTROL + 2) & 0x10, 0x10, "nothing in drive 1");
    assert_eq!(m.read_flat(0x0ffd_368b), 0x07);
    assert!(m.insert_disk(&[0; 1000], true).is_err());
}

#[test]
fn heads_step_and_motors_take_time() {
    let mut m = Machine::new(Model::R3);
    m.insert_disk(&image(), true).unwrap();
    m.write_flat(CONTROL, 0x60);
    assert_eq!(m.read_flat(CONTROL + 2) & 1, 1);
    m.write_flat(CONTROL + 1, 0x18);
    assert_eq!(m.read_flat(CONTROL + 2) & 0x81, 0x80);
    wait(&mut m);
    m.write_flat(CONTROL + 1, 0x10);
    wait(&mut m);
    assert_eq!(m.read_flat(CONTROL + 2) & 1, 1);
    let before = m.board.cycles;
    m.write_flat(CONTROL + 1, 0x20);
    wait(&mut m);
    assert!(m.board.cycles - before >= 40_500_000);
}
