//! Which machine this is.

use super::far::{peek, poke};
use super::IO;

const MODEL: u32 = IO + 0x629;
const EMULATED: u32 = IO + 0x60F;
const RAM_SELECT: u32 = IO + 0x7FE;
/// Reads of $8000000 and up come from SDRAM.
const SELECT_SDRAM: u8 = 0x10;

/// Name of the board.
pub fn name() -> &'static [u8] {
    match peek(MODEL) {
        0x01 => b"MEGA65 R1",
        0x02 => b"MEGA65 R2",
        0x03 => b"MEGA65 R3",
        0x04 => b"MEGA65 R4",
        0x05 => b"MEGA65 R5",
        0x06 => b"MEGA65 R6",
        0x21 | 0x22 => b"MEGAphone",
        0x40..=0x42 => b"Nexys4",
        0xFD => b"Wukong",
        _ => b"MEGA65",
    }
}

/// Whether an emulator says that it is one.
pub fn is_emulated() -> bool {
    peek(EMULATED) & 0x20 == 0
}

/// Chooses which RAM the processor sees at $8000000.
pub fn select_sdram(on: bool) {
    let value = peek(RAM_SELECT) & !SELECT_SDRAM;
    poke(RAM_SELECT, if on { value | SELECT_SDRAM } else { value });
}

/// As after power-on: the state that every other program expects.
pub fn restore_ram_select() {
    select_sdram(false);
}
