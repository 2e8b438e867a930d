//! HDOS of the emulated machine: any calls, on any damaged card.
//!
//! An input is the number of calls, the calls (function, X, Y, Z each), and damage to the card.

use crate::card::damaged;
use ssnail_m65::hdos::{LongNames, Options, function};
use ssnail_m65::io::card::Card;
use ssnail_m65::{Machine, Model};

/// Page of names.
const NAMES: u8 = 0x16;
/// Where the call stands: STA $D640, CLV, RTS.
const CALL: u16 = 0x2001;
const CALL_CODE: [u8; 5] = [0x8D, 0x40, 0xD6, 0xB8, 0x60];
/// Most calls of an input.
const MOST: usize = 40;

const NAME: [&[u8]; 6] = [b"A\0", b"A.D81\0", b"SSNAIL\0", b"ALONGNAM.SSN\0", b"..\0", b"*\0"];

pub fn run(data: &[u8]) {
    let Some((&count, rest)) = data.split_first() else { return };
    let (calls, damage) = rest.split_at(rest.len().min(4 * (usize::from(count) % MOST)));
    let long_names = [LongNames::Off, LongNames::Capitals, LongNames::AsStored][usize::from(count / 64) % 3];
    let mut machine = Machine::new(Model::R3);
    machine.insert_card(Card::new(damaged(damage)), Options { long_names, ..Options::default() });
    let p = machine.cpu.p();
    machine.cpu.set_p(p | 0x04);
    for call in calls.as_chunks::<4>().0 {
        let [number, x, y, z] = *call;
        // Every other number is a call; names come from their page, or from anywhere.
        let number = number & 0x7E;
        let ram = machine.board.chip_ram_mut();
        let mut y = y;
        if number == function::SETNAME && z < 0xC0 {
            let name = NAME[usize::from(z) % NAME.len()];
            let start = usize::from(NAMES) << 8;
            ram[start..start + name.len()].copy_from_slice(name);
            y = NAMES;
        }
        ram[usize::from(CALL)..usize::from(CALL) + CALL_CODE.len()].copy_from_slice(&CALL_CODE);
        let cpu = &mut machine.cpu;
        (cpu.pc, cpu.a, cpu.x, cpu.y, cpu.z) = (CALL, number, x, y, z);
        let stopped = machine.step();
        assert_eq!(stopped, None, "call ${number:02X}");
        // A call that wrote over the processor's port has hidden the trap's register: nothing answers then.
        let answered = machine.cpu.pc == CALL + 4;
        if number == function::READFILE && answered {
            let got = u16::from_le_bytes([machine.cpu.x, machine.cpu.y]);
            let ok = machine.cpu.p() & 1 != 0;
            assert!(!ok || got <= 512, "READFILE gave {got} bytes");
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let calls = |list: &[[u8; 4]]| [&[list.len() as u8][..], &list.concat()].concat();
    use function::*;
    vec![
        calls(&[
            [GETDEFAULTDRIVE, 0, 0, 0],
            [CDROOTDIR, 0, 0, 0],
            [OPENDIR, 0, 0, 0],
            [READDIR, 0, 0x17, 0],
            [READDIR, 0, 0x17, 0],
            [CLOSEDIR, 0, 0, 0],
        ]),
        calls(&[
            [SETNAME, 0, 0, 2],
            [FINDFILE, 0, 0, 0],
            [CHDIR, 0, 0, 0],
            [SETNAME, 0, 0, 3],
            [FINDFILE, 0, 0, 0],
            [OPENFILE, 0, 0, 0],
            [READFILE, 0, 0, 0],
            [READFILE, 0, 0, 0],
            [CLOSEALL, 0, 0, 0],
        ]),
        calls(&[
            [SETNAME, 0, 0, 0],
            [FINDFILE, 0, 0, 0],
            [OPENFILE, 0, 0, 0],
            [READFILE, 0, 0, 0],
            [READFILE, 0, 0, 0],
        ]),
        calls(&[[SETNAME, 0, 0, 0], [LOADFILE_ATTIC, 0x34, 0x12, 1]]),
        calls(&(0..36).map(|n| [2 * n, 0, NAMES, 0]).collect::<Vec<_>>()),
    ]
}
