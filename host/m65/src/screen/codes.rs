//! Screen codes and characters.

use super::glyph;
use crate::board::Board;

/// How a screen code becomes a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Upper case and graphics.
    Upper,
    /// Lower and upper case.
    Lower,
    /// A private character set in ASCII order; codes from $80 are its inverse half.
    Ascii,
}

impl Encoding {
    /// What the chosen character set suggests.
    pub fn of(board: &Board) -> Self {
        let address = board.vic.charset_address();
        let built_in = match address {
            0x1000..0x2000 | 0x9000..0xa000 => true,
            // Fonts A, B, C in the ROM area.
            0x2_9000..0x2_a000 | 0x2_d000..0x2_e000 | 0x3_d000..0x3_e000 => true,
            _ => false,
        };
        if built_in {
            return if address & 0x800 != 0 { Self::Lower } else { Self::Upper };
        }
        // A private set: where do the letters stand?
        let letter = |set: u32| -> [u8; 8] {
            let at = (set & 0xfff) as usize;
            board.char_ram().get(at..at + 8).and_then(|g| g.try_into().ok()).unwrap_or_default()
        };
        if glyph(board, 1) == letter(0x808) {
            Self::Lower
        } else if glyph(board, 1) == letter(0x008) {
            Self::Upper
        } else {
            Self::Ascii
        }
    }

    /// The character of a screen code; inverse codes give the character itself.
    pub fn character(self, code: u16) -> char {
        if code > 0xff {
            return '\u{fffd}';
        }
        let code = code as u8 & 0x7f;
        match (self, code) {
            (Self::Ascii, 0x20..=0x7e) => char::from(code),
            (Self::Ascii, _) => ' ',
            (_, 0x00) => '@',
            (Self::Lower, 0x01..=0x1a) => char::from(code + 0x60),
            (Self::Upper, 0x01..=0x1a) => char::from(code + 0x40),
            (_, 0x1b) => '[',
            (_, 0x1c) => '\\',
            (_, 0x1d) => ']',
            (_, 0x1e) => '^',
            (_, 0x1f) => '_',
            (_, 0x20..=0x3f) => char::from(code),
            (Self::Lower, 0x41..=0x5a) => char::from(code),
            (Self::Lower, 0x5b) => '{',
            (Self::Lower, 0x5c) => '|',
            (Self::Lower, 0x5d) => '}',
            (Self::Lower, 0x5e) => '~',
            _ => graphic(code),
        }
    }
}

fn graphic(code: u8) -> char {
    match code {
        0x40 => '─',
        0x42 | 0x5d => '│',
        0x5b => '┼',
        0x6b => '├',
        0x6d => '└',
        0x6e => '┐',
        0x70 => '┌',
        0x71 => '┴',
        0x72 => '┬',
        0x73 => '┤',
        0x7d => '┘',
        0x61 => '▌',
        0x62 => '▄',
        0x63 => '▔',
        0x64 => '▁',
        0x65 => '▏',
        0x66 => '▒',
        0x67 => '▕',
        0x51 => '●',
        0x53 => '♥',
        0x60 => ' ',
        _ => '·',
    }
}
