//! 80x50 characters: the clock's line at the top, below it a text that scrolls.

use crate::hw::{copy, fill, peek, poke, IO};

const COLUMNS: u32 = 80;
const ROWS: u32 = 50;
/// First row of the scrolling part.
const TOP: u32 = 2;
/// Screen codes, in bank 1.
const CODES: u32 = 0x1_2000;
const COLOURS: u32 = 0x0FF8_0000;
const CELLS: u32 = COLUMNS * ROWS;
/// Attribute bit: inverse.
const INVERSE: u8 = 0x20;
const HOT: u32 = IO + 0x05D;

/// Colours of the default palette.
#[derive(Clone, Copy)]
pub enum Colour {
    /// White.
    Text = 1,
    /// Light green.
    Typed = 13,
    /// Cyan.
    Note = 3,
    /// Pink.
    Fault = 10,
}

/// The screen and the place where the next character goes.
pub struct Screen {
    row: u32,
    column: u32,
}

impl Screen {
    /// Sets every register that the text needs and clears the screen.
    pub fn open() -> Self {
        // Those that set others first, then hot registers off, then what they do not decide.
        poke(HOT, peek(HOT) | 0x80);
        for (at, value) in [(0x031u16, 0xE8u8), (0x016, 0xC9), (0x018, 0x26), (0x011, 0x1B)] {
            poke(IO + u32::from(at), value);
        }
        poke(HOT, peek(HOT) & 0x7F);
        let [c0, c1, c2, c3] = CODES.to_le_bytes();
        for (at, value) in [
            (0x015u16, 0u8),
            (0x01A, 0),
            (0x020, 6),
            (0x021, 0),
            (0x054, 0x40),
            (0x058, COLUMNS as u8),
            (0x059, 0),
            (0x05A, 0x78),
            (0x05B, 0),
            (0x05E, COLUMNS as u8),
            (0x060, c0),
            (0x061, c1),
            (0x062, c2),
            (0x063, peek(IO + 0x063) & 0xC0 | c3),
            (0x064, 0),
            (0x065, 0),
            // The lower-case half of the font.
            (0x068, 0x00),
            (0x069, 0x18),
            (0x06A, 0x00),
            (0x07B, ROWS as u8 - 1),
        ] {
            poke(IO + u32::from(at), value);
        }
        fill(CODES, b' ', CELLS);
        fill(COLOURS, Colour::Text as u8, CELLS);
        fill(COLOURS, Colour::Note as u8 | INVERSE, COLUMNS);
        Self { row: TOP, column: 0 }
    }

    /// Writes into the top line.
    pub fn title(&self, column: u32, text: &[u8]) {
        for (at, &character) in (CODES + column..CODES + COLUMNS).zip(text) {
            poke(at, code(character));
        }
    }

    /// Writes text; goes on in the next row where one is full.
    pub fn print(&mut self, text: &[u8], colour: Colour) {
        for &character in text {
            if self.column >= COLUMNS {
                self.end_line();
            }
            let at = self.row * COLUMNS + self.column;
            poke(CODES + at, code(character));
            poke(COLOURS + at, colour as u8);
            self.column += 1;
        }
    }

    /// Writes a number, right-aligned in `width` columns.
    pub fn number(&mut self, number: u32, width: usize, colour: Colour) {
        let mut digits = [b' '; 10];
        let (mut rest, mut first) = (number, digits.len());
        for (place, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            first = place;
            if rest == 0 {
                break;
            }
        }
        let first = first.min(digits.len().saturating_sub(width));
        self.print(digits.get(first..).unwrap_or(&[]), colour);
    }

    /// Begins a row; scrolls where there is none.
    pub fn end_line(&mut self) {
        self.column = 0;
        if self.row < ROWS - 1 {
            self.row += 1;
            return;
        }
        let (first, length) = (TOP * COLUMNS, (ROWS - 1 - TOP) * COLUMNS);
        for base in [CODES, COLOURS] {
            copy(base + first, base + first + COLUMNS, length);
        }
        fill(CODES + first + length, b' ', COLUMNS);
        fill(COLOURS + first + length, Colour::Text as u8, COLUMNS);
    }

    /// Takes the last character of the row back.
    pub fn back(&mut self) {
        if self.column > 0 {
            self.column -= 1;
            poke(CODES + self.row * COLUMNS + self.column, b' ');
        }
    }

    /// Shows or hides the cursor behind the text.
    pub fn cursor(&mut self, shown: bool) {
        if self.column < COLUMNS {
            let colour = if shown { Colour::Typed as u8 | INVERSE } else { Colour::Text as u8 };
            poke(COLOURS + self.row * COLUMNS + self.column, colour);
        }
    }
}

/// Screen code of an ASCII character in the lower-case set.
fn code(ascii: u8) -> u8 {
    match ascii {
        b'a'..=b'z' => ascii - 0x60,
        0x7B..=0x7E => ascii - 0x20,
        b'@' | b'['..=b'_' => ascii - 0x40,
        0x20..=0x5A => ascii,
        _ => b'.',
    }
}
