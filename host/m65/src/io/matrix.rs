//! Which keys are held down: nine columns of eight rows, numbered as the C64 does, the C65's ninth
//! column behind them.

use crate::io::keyboard::{Key, modifier};
use crate::io::keymap::{ASCII, PETSCII, POSITIONS};

/// Columns of the matrix.
pub const COLUMNS: usize = 9;

const LEFT_SHIFT: u8 = 15;
const RIGHT_SHIFT: u8 = 52;
const CTRL: u8 = 58;
const MEGA: u8 = 61;
const ALT: u8 = 66;
/// Positions of the cursor keys that exist once in the matrix.
const RIGHT: u8 = 2;
const DOWN: u8 = 7;

/// Keys held down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// One bit for each row of a column, 1 = down.
    columns: [u8; COLUMNS],
}

impl Matrix {
    /// Holds the key at a position; others are ignored.
    pub fn hold(&mut self, position: u8) {
        if let Some(column) = self.columns.get_mut(usize::from(position / 8)) {
            *column |= 1 << (position % 8);
        }
    }

    /// Whether the key at a position is down.
    pub fn is_down(&self, position: u8) -> bool {
        self.columns.get(usize::from(position / 8)).is_some_and(|c| c >> (position % 8) & 1 != 0)
    }

    /// The rows of one column as `$D613` reads them: 0 = pressed.
    pub fn column(&self, column: u8) -> u8 {
        !self.columns.get(usize::from(column)).copied().unwrap_or(0)
    }

    /// The rows of all columns whose bit in `selected` is 0, as `$DC01` reads them.
    pub fn scan(&self, selected: u8) -> u8 {
        let down = (0..8).filter(|n| selected >> n & 1 == 0).fold(0, |rows, n| rows | self.columns[n]);
        !down
    }

    /// Adds the keys that make an event.
    pub fn hold_event(&mut self, key: &Key) {
        if let Some(position) = position(key) {
            self.hold(position);
        }
        for (bit, at) in
            [(modifier::SHIFT, LEFT_SHIFT), (modifier::CTRL, CTRL), (modifier::MEGA, MEGA), (modifier::ALT, ALT)]
        {
            if key.modifiers & bit != 0 {
                self.hold(at);
            }
        }
    }

    /// Adds what another matrix holds.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
            *mine |= theirs;
        }
    }

    /// Modifier bits of the keys held, as in `$D611`.
    pub fn modifiers(&self) -> u8 {
        let bits = [
            (LEFT_SHIFT, modifier::SHIFT),
            (RIGHT_SHIFT, modifier::RIGHT_SHIFT),
            (CTRL, modifier::CTRL),
            (MEGA, modifier::MEGA),
            (ALT, modifier::ALT),
        ];
        bits.into_iter().filter(|&(at, _)| self.is_down(at)).fold(0, |all, (_, bit)| all | bit)
    }

    /// Bits 0 and 1 of `$D60F`: the keys cursor left and cursor up, which press shift and the
    /// opposite direction in the matrix.
    pub fn cursor(&self) -> u8 {
        let shift = self.is_down(LEFT_SHIFT);
        u8::from(shift && self.is_down(RIGHT)) | u8::from(shift && self.is_down(DOWN)) << 1
    }
}

/// Row of the tables that modifiers choose.
fn level(modifiers: u8) -> usize {
    let first = |bits: u8| modifiers & bits != 0;
    if first(modifier::MEGA) {
        3
    } else if first(modifier::ALT) {
        4
    } else if first(modifier::SHIFT | modifier::RIGHT_SHIFT) {
        1
    } else if first(modifier::CTRL) {
        2
    } else {
        0
    }
}

/// Position of the key that makes an event; `None` for codes that no key has.
pub fn position(key: &Key) -> Option<u8> {
    find(key.ascii, level(key.modifiers)).or_else(|| (0..ASCII.len()).find_map(|level| find(key.ascii, level)))
}

fn find(ascii: u8, level: usize) -> Option<u8> {
    ASCII[level].iter().position(|&code| code != 0 && code == ascii).map(|n| n as u8)
}

/// The event of the key at a position pressed with modifiers; `None` for modifiers and for
/// positions without a key.
pub fn event(position: u8, modifiers: u8) -> Option<Key> {
    let codes = |table: &[[u8; POSITIONS]; 5]| table[level(modifiers)].get(usize::from(position)).copied();
    let (ascii, petscii) = (codes(&ASCII)?, codes(&PETSCII)?);
    (ascii != 0 || petscii != 0).then_some(Key { ascii, petscii, modifiers })
}

/// The event of an ASCII code: its key, with MEGA or shift if need be. Braces have both; with MEGA
/// their PETSCII code is right too.
pub fn typed(ascii: u8) -> Option<Key> {
    [0, modifier::MEGA, modifier::SHIFT].into_iter().find_map(|m| event(find(ascii, level(m))?, m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn every_key_that_can_be_typed_has_a_position_and_comes_back_from_it() {
        let names = ["RETURN", "DEL", "HOME", "RIGHT", "DOWN", "ESC", "TAB", "RUN/STOP", "HELP", "F1", "F7", "F14"];
        let named = names.into_iter().map(|name| keys::named(name).unwrap());
        for key in (' '..='~').map(|c| keys::character(c).unwrap()).chain(named) {
            let at = position(&key).unwrap_or_else(|| panic!("{key:?}"));
            assert_eq!(event(at, key.modifiers), Some(key));
        }
    }

    /// Positions that the C64's programmers know.
    #[test]
    fn well_known_positions() {
        let at = |text: &str| position(&keys::parse(text).unwrap()[0]);
        let known = [
            ("<DEL>", 0),
            ("<RETURN>", 1),
            ("a", 10),
            ("<SHIFT-A>", 10),
            (" ", 60),
            ("<RUN/STOP>", 63),
            ("q", 62),
            ("1", 56),
            ("!", 56),
            ("<F1>", 4),
            ("<F2>", 4),
            ("<UP>", 7),
            ("<LEFT>", 2),
            ("<CTRL-C>", 20),
            ("/", 55),
        ];
        for (text, position) in known {
            assert_eq!(at(text), Some(position), "{text}");
        }
    }

    #[test]
    fn columns_and_scans() {
        let mut matrix = Matrix::default();
        matrix.hold_event(&keys::parse("<LEFT>").unwrap()[0]);
        assert_eq!((matrix.column(0), matrix.column(1), matrix.column(8), matrix.column(9)), (0xfb, 0x7f, 0xff, 0xff));
        assert_eq!((matrix.scan(0xfe), matrix.scan(0xfd), matrix.scan(0), matrix.scan(0xff)), (0xfb, 0x7f, 0x7b, 0xff));
        assert_eq!((matrix.modifiers(), matrix.cursor()), (modifier::SHIFT, 1));
    }
}
