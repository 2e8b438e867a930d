//! VIC-IV text, 80 x 50, and the state it was found in.

#![allow(unsafe_code)]

use super::far::{copy, fill, peek, poke};
use super::IO;
use ssnail_shared::ui::{Style, Surface, COLUMNS};

/// Rows of the screen.
pub const ROWS: u8 = 50;
/// Screen codes, in bank 1 above the overlays' homes.
const SCREEN: u32 = 0x1_E000;
const COLOUR: u32 = 0x0FF8_0000;
const CELLS: u32 = COLUMNS as u32 * ROWS as u32;

/// Registers that the program changes, in the order in which they are put back: those that set others first.
const SAVED: [u16; 27] = [
    0x011, 0x016, 0x018, 0x031, 0x015, 0x01A, 0x020, 0x021, 0x030, 0x054, 0x058, 0x059, 0x05A, 0x05B, 0x05D, 0x05E,
    0x060, 0x061, 0x062, 0x063, 0x064, 0x065, 0x068, 0x069, 0x06A, 0x070, 0x07B,
];

/// What [`SAVED`] read at the start, and the colours under the screen.
struct Found {
    registers: [u8; SAVED.len()],
    colours: [u8; CELLS as usize],
}

static mut FOUND: Found = Found { registers: [0; SAVED.len()], colours: [0; CELLS as usize] };

const HOT: u32 = IO + 0x05D;
const HOT_ENABLED: u8 = 0x80;

/// Sets every register that the text needs, whatever mode the machine was in, and clears the screen.
#[inline(never)]
pub fn open() {
    // SAFETY: this program has one thread and no interrupts; FOUND is used here and in `restore` only.
    let found = unsafe { &mut *(&raw mut FOUND) };
    for (value, at) in found.registers.iter_mut().zip(SAVED) {
        *value = peek(IO + u32::from(at));
    }
    copy(found.colours.as_mut_ptr() as u32, COLOUR, CELLS);
    // The hot ones with hot registers on, so that borders and geometry follow; then what they do not decide.
    poke(HOT, peek(HOT) | HOT_ENABLED);
    for (at, value) in [(0x031u16, 0xE8u8), (0x016, 0xC9), (0x018, 0x26), (0x011, 0x1B)] {
        poke(IO + u32::from(at), value);
    }
    let ntsc_and_hot = peek(HOT) & !HOT_ENABLED;
    poke(HOT, ntsc_and_hot);
    let [s0, s1, s2, s3] = SCREEN.to_le_bytes();
    for (at, value) in [
        (0x015u16, 0u8),
        (0x01A, 0),
        (0x020, 0),
        (0x021, 0),
        (0x054, peek(IO + 0x054) & 0xE8 | 0x40),
        (0x058, COLUMNS),
        (0x059, 0),
        (0x05A, 0x78),
        (0x05B, 0),
        (0x05E, COLUMNS),
        (0x060, s0),
        (0x061, s1),
        (0x062, s2),
        (0x063, peek(IO + 0x063) & 0xC0 | s3),
        (0x064, 0),
        (0x065, 0),
        // The lower-case half of the font in character RAM.
        (0x068, 0x00),
        (0x069, 0x18),
        (0x06A, 0x00),
        (0x07B, ROWS - 1),
    ] {
        poke(IO + u32::from(at), value);
    }
    clear();
}

/// Blanks the screen.
#[inline(never)]
pub fn clear() {
    fill(SCREEN, 0x20, CELLS);
    fill(COLOUR, colour(Style::Text), CELLS);
}

/// Puts back what [`open`] found.
#[inline(never)]
pub fn restore() {
    // SAFETY: as in `open`.
    let found = unsafe { &*(&raw const FOUND) };
    poke(HOT, peek(HOT) | HOT_ENABLED);
    for (value, at) in found.registers.iter().zip(SAVED) {
        if u32::from(at) + IO != HOT {
            poke(IO + u32::from(at), *value);
        }
        // The geometry that the hot ones brought is about to be replaced by what was there.
        if at == 0x031 {
            poke(HOT, peek(HOT) & !HOT_ENABLED);
        }
    }
    poke(HOT, found.registers[14]);
    copy(COLOUR, found.colours.as_ptr() as u32, CELLS);
}

/// Colour of a style; bit 5 is reverse.
const fn colour(style: Style) -> u8 {
    match style {
        Style::Text => 0x01,
        Style::Typed => 0x0D,
        Style::Note => 0x0F,
        Style::Error => 0x0A,
        Style::Title => 0x03,
        Style::Marked => 0x2D,
    }
}

/// Screen code of an ASCII character in the lower-case set.
pub const fn screen_code(ascii: u8) -> u8 {
    match ascii {
        0x60 => 0x27,
        0x61..=0x7A => ascii - 0x60,
        0x7B..=0x7F => ascii - 0x20,
        0x40 | 0x5B..=0x5F => ascii - 0x40,
        0x20..=0x5A => ascii,
        _ => 0x3F,
    }
}

/// The screen of [`open`].
#[derive(Clone, Copy)]
pub struct Screen;

fn cell(row: u8, column: u8) -> u32 {
    u32::from(row) * u32::from(COLUMNS) + u32::from(column)
}

impl Surface for Screen {
    fn put(&mut self, row: u8, column: u8, character: u8, style: Style) {
        if row < ROWS && column < COLUMNS {
            let at = cell(row, column);
            poke(SCREEN + at, screen_code(character));
            poke(COLOUR + at, colour(style));
        }
    }

    fn clear(&mut self, row: u8, column: u8) {
        if row < ROWS && column < COLUMNS {
            let length = u32::from(COLUMNS - column);
            fill(SCREEN + cell(row, column), 0x20, length);
            fill(COLOUR + cell(row, column), colour(Style::Text), length);
        }
    }

    fn scroll_up(&mut self, top: u8, bottom: u8) {
        let length = u32::from(bottom - top) * u32::from(COLUMNS);
        for base in [SCREEN, COLOUR] {
            copy(base + cell(top, 0), base + cell(top + 1, 0), length);
        }
        self.clear(bottom, 0);
    }
}

/// A last message on the top row.
pub fn alarm(text: &[u8]) {
    poke(IO + 0x020, 2);
    Screen.clear(0, 0);
    Screen.text(0, 0, text, Style::Error);
}
