//! One way to look at and type to a MEGA65, whoever emulates it.

use crate::xemu::Xemu;
use ssnail_m65::screen::Encoding;
use ssnail_m65::{Scenario, keys};

/// First cell of colour RAM.
const COLOURS: u32 = 0x0ff8_0000;
/// VIC-IV registers from the line step to the last row.
const VIC: u32 = 0x0ffd_3058;
const VIC_LEN: u32 = 0x24;
/// Words in a row that shows how fast something went, or what a clock said.
const TIMES: [&str; 6] = ["lines |", "KB/s", "tokens/s", "s left", "s a token", "seed "];

/// A text screen.
#[derive(Clone, PartialEq, Eq)]
pub struct Look {
    /// Cells in a row.
    pub columns: usize,
    /// Screen codes.
    pub codes: Vec<u8>,
    /// Colour and attributes of each cell.
    pub colours: Vec<u8>,
}

impl Look {
    /// Its rows as text, in the lower-case character set.
    pub fn rows(&self) -> Vec<String> {
        let row = |codes: &[u8]| -> String {
            codes
                .iter()
                .map(|&code| Encoding::Lower.character(u16::from(code)))
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        self.codes.chunks(self.columns.max(1)).map(row).collect()
    }

    /// Whether a text is in one of its rows.
    pub fn contains(&self, text: &str) -> bool {
        self.rows().iter().any(|row| row.contains(text))
    }

    /// The rows that are not empty.
    pub fn text(&self) -> String {
        self.rows().into_iter().filter(|row| !row.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// How another screen differs from this one, row by row; figures that depend on time may differ.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        if self.columns != other.columns || self.codes.len() != other.codes.len() {
            let size = |l: &Self| format!("{} x {}", l.columns, l.codes.len() / l.columns.max(1));
            return vec![format!("{} here, {} there", size(self), size(other))];
        }
        let columns = self.columns.max(1);
        let colours = self.colours.chunks(columns).zip(other.colours.chunks(columns));
        let rows = self.rows().into_iter().zip(other.rows()).zip(colours).enumerate();
        rows.filter_map(|(n, ((ours, theirs), (our_colours, their_colours)))| {
            let timed = TIMES.iter().any(|word| ours.contains(word));
            if ours != theirs && !(timed && without_numbers(&ours) == without_numbers(&theirs)) {
                Some(format!("row {n}: `{ours}` here, `{theirs}` there"))
            } else if our_colours != their_colours && !timed {
                Some(format!("row {n}: colours of `{ours}`: {our_colours:02x?} here, {their_colours:02x?} there"))
            } else {
                None
            }
        })
        .collect()
    }
}

/// A text with every number replaced by `#`.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if !c.is_ascii_digit() && c != '.' {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

/// A machine with a program in it.
pub trait Emulated {
    /// The screen now.
    fn look(&mut self) -> Look;
    /// Lets it run for some frames.
    fn wait(&mut self);
    /// Types a text with escapes as a person would: the screen stands still before a line is begun.
    ///
    /// # Errors
    /// The program takes no key.
    fn type_text(&mut self, text: &str) -> Result<(), String>;
    /// Presses keys now, whatever the program does.
    ///
    /// # Errors
    /// The program takes no key.
    fn press(&mut self, text: &str) -> Result<(), String>;
}

impl Emulated for Scenario {
    fn look(&mut self) -> Look {
        let board = &self.machine.board;
        let (start, columns) = (board.vic.screen_address() as usize, board.vic.line_step() as usize);
        let cells = columns * board.vic.rows() as usize;
        let colours = board.vic.colour_offset() as usize;
        let part = |memory: &[u8], at: usize| memory.get(at..at + cells).unwrap_or_default().to_vec();
        Look { columns, codes: part(board.chip_ram(), start), colours: part(board.colour_ram(), colours) }
    }

    fn wait(&mut self) {
        self.frames(10);
    }

    fn type_text(&mut self, text: &str) -> Result<(), String> {
        Self::type_text(self, text).map_err(|e| e.to_string())?;
        const FRAMES: u64 = 20_000;
        for _ in 0..FRAMES {
            if self.untyped() == 0 && self.machine.board.keyboard.is_empty() || self.machine.stopped().is_some() {
                return Ok(());
            }
            self.frame();
        }
        Err("the program takes no key".into())
    }

    fn press(&mut self, text: &str) -> Result<(), String> {
        for key in keys::parse(text).map_err(|e| e.to_string())? {
            self.machine.board.keyboard.press(key);
            self.frames(4);
        }
        Ok(())
    }
}

impl Emulated for Xemu {
    fn look(&mut self) -> Look {
        let vic = self.memory(VIC, VIC_LEN);
        let at = |register: usize| u32::from(vic[register - 0x58]);
        let start = at(0x60) | at(0x61) << 8 | at(0x62) << 16;
        let columns = at(0x58);
        let cells = columns * (at(0x7b) + 1);
        let colours = at(0x64) | at(0x65) << 8;
        Look {
            columns: columns as usize,
            codes: self.memory(start, cells),
            colours: self.memory(COLOURS + colours, cells),
        }
    }

    fn wait(&mut self) {}

    fn type_text(&mut self, text: &str) -> Result<(), String> {
        const RETURN: u8 = 13;
        const LOOKS: usize = 2000;
        let mut line_start = true;
        for key in keys::parse(text).map_err(|e| e.to_string())? {
            if line_start {
                let mut seen = self.look();
                for _ in 0..LOOKS {
                    let now = self.look();
                    if now == seen {
                        break;
                    }
                    seen = now;
                }
            }
            self.press(&key)?;
            line_start = key.ascii == RETURN;
        }
        Ok(())
    }

    fn press(&mut self, text: &str) -> Result<(), String> {
        for key in keys::parse(text).map_err(|e| e.to_string())? {
            Self::press(self, &key)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str) -> Look {
        let codes = text.bytes().map(|b| if b.is_ascii_lowercase() { b - 0x60 } else { b }).collect();
        Look { columns: text.len(), codes, colours: vec![1; text.len()] }
    }

    #[test]
    fn figures_may_differ_only_where_they_are_of_time() {
        assert!(look("20 tokens, 0.7 tokens/s").differences(&look("20 tokens, 3.9 tokens/s")).is_empty());
        assert_eq!(look("20 tokens").differences(&look("21 tokens")).len(), 1);
        assert_eq!(look("ab tokens/s").differences(&look("ac tokens/s")).len(), 1);
        let mut other = look("abc");
        other.colours[1] = 2;
        assert_eq!(look("abc").differences(&other).len(), 1);
        assert_eq!(look("abc").differences(&look("abcd")), ["3 x 1 here, 4 x 1 there"]);
    }
}
