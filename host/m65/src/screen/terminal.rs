//! The screen as terminal output.

use super::Screen;
use crate::board::Board;
use std::fmt::Write as _;

/// Draws screens to a terminal, sending only rows that changed.
#[derive(Debug, Default)]
pub struct Terminal {
    shown: Vec<String>,
}

impl Terminal {
    /// What to send to show `board`'s screen: cursor movements, colours, text.
    pub fn update(&mut self, board: &Board) -> String {
        let screen = Screen::of(board);
        let rows: Vec<String> = (0..screen.rows).map(|row| screen.ansi_row(board, row)).collect();
        let mut out = String::new();
        if self.shown.len() != rows.len() {
            out.push_str("\x1b[0m\x1b[2J");
            self.shown.clear();
        }
        for (n, row) in rows.iter().enumerate() {
            if self.shown.get(n) != Some(row) {
                let _ = write!(out, "\x1b[{};1H{row}\x1b[0m", n + 1);
            }
        }
        self.shown = rows;
        out
    }
}

impl Screen {
    /// All rows with colour sequences, for a terminal or a log.
    pub fn ansi(&self, board: &Board) -> String {
        (0..self.rows).map(|row| self.ansi_row(board, row) + "\x1b[0m\n").collect()
    }

    fn ansi_row(&self, board: &Board, row: usize) -> String {
        let mut out = String::new();
        let mut style = None;
        for cell in self.cells.chunks(self.columns).nth(row).unwrap_or_default() {
            // The inverse half of the character set, or the attribute; both cancel.
            let inverse = (cell.code & 0x80 != 0) != cell.reverse;
            let wanted = (cell.colour, inverse, cell.underline, cell.blink);
            if style != Some(wanted) {
                style = Some(wanted);
                let [r, g, b] = board.vic.text_colour(cell.colour);
                let [br, bg, bb] = board.vic.text_colour(self.background);
                let _ = write!(out, "\x1b[0;38;2;{r};{g};{b};48;2;{br};{bg};{bb}");
                for (on, code) in [(inverse, ";7"), (cell.underline, ";4"), (cell.blink, ";5")] {
                    if on {
                        out.push_str(code);
                    }
                }
                out.push('m');
            }
            out.push(self.encoding.character(cell.code));
        }
        out
    }
}
