//! What is on the screen: text, terminal output, a picture.

mod codes;
mod picture;
mod terminal;

use crate::board::Board;
use crate::io::vic::{ATTRIBUTES, Vic, register};

pub use codes::Encoding;
pub use terminal::Terminal;

/// One character cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Screen code, 13 bits with wide cells.
    pub code: u16,
    /// Palette index of the character.
    pub colour: u8,
    /// Drawn inverse by its attribute.
    pub reverse: bool,
    /// Row 7 of the cell is solid.
    pub underline: bool,
    /// Blinks.
    pub blink: bool,
    /// Colours come from the alternate palette bank.
    pub alternate: bool,
}

/// The text screen as the VIC-IV is set up to show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Cells per row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// Row after row.
    pub cells: Vec<Cell>,
    /// Palette index behind the characters.
    pub background: u8,
    /// How screen codes map to characters.
    pub encoding: Encoding,
}

/// Largest geometry that is shown; larger settings are cut.
const MAX_COLUMNS: u32 = 160;
const MAX_ROWS: u32 = 100;

impl Screen {
    /// The screen of a board.
    pub fn of(board: &Board) -> Self {
        let vic = &board.vic;
        let columns = vic.columns().clamp(1, MAX_COLUMNS);
        let rows = vic.rows().clamp(1, MAX_ROWS);
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| cell(board, row, column))).collect();
        Self {
            columns: columns as usize,
            rows: rows as usize,
            cells,
            background: vic.raw(register::BACKGROUND),
            encoding: Encoding::of(board),
        }
    }

    /// One row as text, blanks at its end removed.
    pub fn row(&self, row: usize) -> String {
        let cells = self.cells.chunks(self.columns).nth(row).unwrap_or_default();
        let text: String = cells.iter().map(|c| self.encoding.character(c.code)).collect();
        text.trim_end().to_owned()
    }

    /// All rows, each ended by a line feed, blanks at their ends removed.
    pub fn text(&self) -> String {
        (0..self.rows).map(|row| self.row(row) + "\n").collect()
    }

    /// A picture of 720x464 pixels as PNG file: text area, border, sprites.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn png(&self, board: &Board) -> Result<Vec<u8>, png::EncodingError> {
        picture::png(self, board)
    }

    /// True if `text` stands in one row, or across rows that it fills to the last column.
    pub fn contains(&self, text: &str) -> bool {
        if text.is_empty() || self.text().contains(text) {
            return true;
        }
        let joined: String = self.cells.iter().map(|c| self.encoding.character(c.code)).collect();
        joined.contains(text)
    }
}

fn cell(board: &Board, row: u32, column: u32) -> Cell {
    let vic = &board.vic;
    let wide = vic.wide_cells();
    let offset = row * vic.line_step() + column * if wide { 2 } else { 1 };
    let screen = |n: u32| chip(board, vic.screen_address().wrapping_add(offset + n));
    let colour = |n: u32| {
        let at = (vic.colour_offset() + offset + n) as usize;
        board.colour_ram().get(at).copied().unwrap_or(0)
    };
    let (code, value) = if wide {
        (u16::from(screen(0)) | u16::from(screen(1) & 0x1f) << 8, colour(1))
    } else {
        (u16::from(screen(0)), colour(0))
    };
    attributes(vic, code, value)
}

fn attributes(vic: &Vic, code: u16, value: u8) -> Cell {
    let on = vic.raw(register::CONTROL_B) & ATTRIBUTES != 0;
    let bit = |n: u8| on && value >> n & 1 != 0;
    let (reverse, bold) = (bit(5), bit(6));
    Cell {
        code,
        colour: value & 15 | if bold && !reverse { 16 } else { 0 },
        reverse: reverse && !bold,
        underline: bit(7),
        blink: bit(4),
        alternate: reverse && bold,
    }
}

/// Chip RAM as the VIC sees it.
fn chip(board: &Board, address: u32) -> u8 {
    board.chip_ram().get(address as usize).copied().unwrap_or(0xff)
}

/// The eight rows of a character's glyph.
fn glyph(board: &Board, code: u16) -> [u8; 8] {
    let start = board.vic.charset_address().wrapping_add(u32::from(code) * 8);
    std::array::from_fn(|n| {
        let at = start.wrapping_add(n as u32);
        match at {
            0x1000..0x2000 | 0x9000..0xa000 => board.char_ram()[at as usize & 0xfff],
            _ => chip(board, at),
        }
    })
}
