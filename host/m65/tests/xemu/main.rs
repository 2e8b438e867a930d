//! The same programs in Xemu, where there is one: memory and screen must agree.
//!
//! What differs for known reasons (the fact sheets' lists) is kept out of the programs.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../hdos/card.rs"]
mod card;
mod disk;
mod dma;
mod emulator;
mod instructions;
mod keyboard;
mod programs;
#[path = "../table/mod.rs"]
#[allow(dead_code)]
mod table;

use card::blank;
use ssnail_disk::block::MemDevice;
use ssnail_m65::hdos::{Hdos, Options};
use ssnail_m65::io::card::Card;
use ssnail_m65::{Machine, Model, Stop};
use std::ops::Range;

/// Where code begins: the address that SYS is given.
const ENTRY: u16 = 8210;
/// Results are compared here.
const RESULTS: Range<usize> = 0x4000..0x4800;

/// A card without files.
fn no_files() -> MemDevice {
    blank(1).finish().unwrap()
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

fn assembled(body: &str) -> Vec<u8> {
    rv45::asm::assemble(&whole(body), ENTRY).unwrap_or_else(|e| panic!("{e}")).bytes
}

fn ours(code: &[u8], card: MemDevice) -> Machine {
    let mut machine = Machine::new(Model::R3);
    machine.board.storage.card = Some(Card::new(card));
    machine.set_hypervisor(Box::new(Hdos::new(Options::default())));
    let start = usize::from(ENTRY);
    machine.board.chip_ram_mut()[start..start + code.len()].copy_from_slice(code);
    machine.sys(ENTRY);
    for _ in 0..3000 {
        if let Some(stop) = machine.run_frame() {
            assert_eq!(stop, Stop::Exit(0));
            return machine;
        }
    }
    panic!("still running at ${:04X}", machine.cpu.pc);
}

/// Runs in both and compares memory.
#[track_caller]
fn agree(name: &str, code: &[u8], card: MemDevice, ranges: &[Range<usize>]) -> Option<(Machine, String)> {
    let path = emulator::path()?;
    let machine = ours(code, card.clone());
    let theirs = emulator::run(&path, code, ENTRY, card);
    for range in ranges {
        let ours = &machine.board.chip_ram()[range.clone()];
        emulator::assert_same(ours, &theirs.memory[range.clone()], range.start, name);
    }
    Some((machine, theirs.screen))
}

/// Zeroes the results: the machines do not agree about what is in memory before.
const CLEAR: &str = "
        LDX #0
        LDA #0
clear:  STA $4000,X
        STA $4100,X
        STA $4200,X
        STA $4300,X
        STA $4400,X
        STA $4500,X
        STA $4600,X
        STA $4700,X
        INX
        BNE clear
";
