//! Random memory executed as a program: the machine never panics and always comes back.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use proptest::prelude::*;
use ssnail_m65::cpu::Bus;
use ssnail_m65::{Machine, Model, Screen};

/// Fills chip RAM with a mixture of random bytes and common opcodes with I/O addresses.
fn scramble(machine: &mut Machine, mut seed: u64) {
    let pieces: [&[u8]; 10] = [
        &[0x8d, 0x05, 0xd7],
        &[0x8d, 0x07, 0xd7],
        &[0x8d, 0x00, 0xd7],
        &[0x8d, 0x40, 0xd6],
        &[0x8d, 0x31, 0xd0],
        &[0x5c],
        &[0x58],
        &[0xea, 0x92, 0x10],
        &[0x42, 0x42, 0xea, 0xb2, 0x20],
        &[0x8d, 0x2f, 0xd0],
    ];
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed >> 20
    };
    let ram = machine.board.chip_ram_mut();
    let mut at = 0;
    while at < ram.len() {
        let piece = pieces[next() as usize % pieces.len()];
        if next() % 8 == 0 && at + piece.len() <= ram.len() {
            ram[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        } else {
            ram[at] = next() as u8;
            at += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn random_memory_runs_without_panic(seed in 1u64.., pc: u16, q: u32, sp: u16, model in 0..3) {
        let model = [Model::R3, Model::R6, Model::Nexys4Ddr][model as usize];
        let mut machine = Machine::new(model);
        scramble(&mut machine, seed);
        machine.cpu.set_q(q);
        machine.cpu.sp = sp;
        machine.cpu.pc = pc;
        for _ in 0..2 {
            machine.run_frame();
            if machine.stopped().is_some() {
                // Go on behind it.
                machine.sys(pc.wrapping_add(77));
            }
        }
        let screen = Screen::of(&machine.board);
        prop_assert!(screen.text().lines().count() == screen.rows);
        prop_assert!(!screen.ansi(&machine.board).is_empty());
        screen.png(&machine.board).unwrap();
    }

    #[test]
    fn any_flat_address_can_be_read_and_written(addresses in prop::collection::vec(0u32..0x1000_0000, 64), value: u8) {
        let mut machine = Machine::new(Model::R3);
        for address in addresses {
            // The registers around $Dxxx are denser than chance would find them.
            for address in [address, 0x0ffd_0000 | address & 0x3fff, 0x0ffd_7000 | address & 0xfff] {
                if address & 0xfff != 0x705 && address & 0xfff != 0x700 {
                    machine.board.write_flat(address, value);
                }
                machine.board.read_flat(address);
                machine.board.peek(address);
            }
        }
        machine.run_frame();
    }
}

#[test]
fn an_endless_dma_list_is_cut_and_reported() {
    let machine = common::ran(
        "
        LDA #0
        STA $D702
        STA $D704
        LDA #$40
        STA $D701
        LDA #0
        STA $D705
        RTS",
    );
    // $4000 holds zeros: option end, then a copy of 65536 bytes, not chained.
    assert_eq!(machine.board.diagnostics.count(ssnail_m65::diagnostics::Report::DmaEndless), 0);
    let mut machine = Machine::new(Model::R3);
    machine.board.chip_ram_mut()[0x4000..0x5_0000].fill(0x07);
    machine.board.write_flat(0xffd_3701, 0x40);
    machine.board.write_flat(0xffd_3705, 0);
    assert_eq!(machine.board.diagnostics.count(ssnail_m65::diagnostics::Report::DmaEndless), 1);
}
