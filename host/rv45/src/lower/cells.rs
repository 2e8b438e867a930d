//! Where the registers, temporaries and constants lie in the base page.

use crate::rv::Reg;

/// The base page's number (register B): the last page that the KERNAL leaves to programs.
pub const BASE_PAGE: u8 = 0x1E;
/// Address of the base page.
pub const BASE: u16 = 0x1E00;

/// Temporaries of 4 bytes.
pub const W0: u8 = 0x80;
/// Second temporary.
pub const W1: u8 = 0x84;
/// Third temporary.
pub const W2: u8 = 0x88;
/// Fourth temporary.
pub const W3: u8 = 0x8C;
/// Pointer for stores relative to sp: its upper half holds the stack's bank.
pub const W4: u8 = 0x90;
/// Scratch of the hand-written routines.
pub const W5: u8 = 0x94;
/// First byte for constants; they may fill the page.
pub const CONSTANTS: u8 = 0x98;

/// Order of the registers' cells. s11..s0 lie one after the other, downwards, so that the restore
/// routine can walk them; x0 comes first and always holds 0.
const ORDER: [u8; 32] = {
    let order = [
        0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        9, 8,
    ];
    let mut slots = [0; 32];
    let mut i = 0;
    while i < 32 {
        slots[order[i] as usize] = i as u8 * 4;
        i += 1;
    }
    slots
};

/// Base-page offset of the lowest byte of register `r`.
pub const fn cell(r: Reg) -> u8 {
    ORDER[(r.0 & 31) as usize]
}

/// Register and byte of a cell, where it is one of a register.
pub fn register_at(offset: u8) -> Option<(Reg, u8)> {
    (0..32).map(Reg).find(|&r| cell(r) == offset & 0xFC).filter(|_| offset < 0x80).map(|r| (r, offset & 3))
}
