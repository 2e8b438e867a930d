//! Which keys are held down: nine columns of eight rows, numbered as the C64 does, the C65's ninth
//! column behind them.

use crate::io::keyboard::{Key, modifier};

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

/// Characters of positions 0 to 63 without shift; 0 where a key has none.
const PLAIN: &[u8; 64] = b"\0\0\0\0\0\0\0\x003wa4zse\x005rd6cftx7yg8bhuv9ij0mkon+pl-.:@,\0*;\0\0=\xaf/1_\x002 \0q\0";
/// Characters that need shift, and the key's own character.
const SHIFTED: &[u8] = b"!1\"2#3$4%5&6'7(8)9{0<,>.?/[:];`__=";
/// Characters that need MEGA.
const WITH_MEGA: &[u8] = b"{:};|.~,\\/";
/// Codes of keys without characters, plain and with their modifier, and their positions.
const NAMED: [(u8, u8, u8); 15] = [
    (0x14, 0x94, 0),
    (0x0d, 0x0d, 1),
    (0x1d, 0x9d, RIGHT),
    (0xf7, 0xf8, 3),
    (0xf1, 0xf2, 4),
    (0xf3, 0xf4, 5),
    (0xf5, 0xf6, 6),
    (0x11, 0x91, DOWN),
    (0x13, 0x93, 51),
    (0x03, 0xa3, 63),
    (0x09, 0x0f, 65),
    (0x1f, 0x1f, 67),
    (0xf9, 0xfa, 68),
    (0xfb, 0xfc, 69),
    (0xfd, 0xfe, 70),
];
const ESC: (u8, u8) = (0x1b, 71);

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

/// Position of the key that makes an event; `None` for those that no table names.
pub fn position(key: &Key) -> Option<u8> {
    if key.modifiers & modifier::CTRL != 0 && (1..=26).contains(&key.ascii) {
        return character(key.ascii + 0x60);
    }
    if key.ascii == ESC.0 {
        return Some(ESC.1);
    }
    // DEL with ALT, right and down with MEGA have codes of their own.
    let code = match key.ascii {
        0x7f => 0x14,
        0xed => 0x1d,
        0xee => 0x11,
        code => code,
    };
    NAMED.iter().find(|(plain, other, _)| [*plain, *other].contains(&code)).map(|n| n.2).or_else(|| character(code))
}

/// Position of a character's key.
fn character(code: u8) -> Option<u8> {
    let pairs = || WITH_MEGA.chunks_exact(2).chain(SHIFTED.chunks_exact(2));
    let find = |own: u8| PLAIN.iter().position(|&c| c != 0 && c == own).map(|n| n as u8);
    let own = code.to_ascii_lowercase();
    find(own).or_else(|| pairs().find(|pair| pair[0] == own).and_then(|pair| find(pair[1])))
}

/// Code of a key pressed together with shift; `None` where the tables have no other one.
pub fn with_shift(code: u8) -> Option<u8> {
    let named = NAMED.iter().find(|n| n.0 == code && n.1 != code).map(|n| n.1);
    named.or_else(|| SHIFTED.chunks_exact(2).find(|pair| pair[1] == code).map(|pair| pair[0]))
}

/// Code of a key pressed together with MEGA.
pub fn with_mega(code: u8) -> Option<u8> {
    WITH_MEGA.chunks_exact(2).find(|pair| pair[1] == code).map(|pair| pair[0])
}

/// The event of the key at a position, without modifiers; `None` for modifiers and for positions
/// without a key.
pub fn event(position: u8) -> Option<Key> {
    let ascii = NAMED.iter().find(|n| n.2 == position).map(|n| n.0).or((position == ESC.1).then_some(ESC.0));
    let ascii = ascii.or_else(|| PLAIN.get(usize::from(position)).copied()).filter(|&c| c != 0)?;
    let petscii = match ascii {
        b'a'..=b'z' => ascii - 0x20,
        0xf1 | 0xf3 | 0xf5 | 0xf7 => 0x85 + (ascii - 0xf1) / 2,
        0xf9 => 0x10,
        0xfb => 0x16,
        0xfd => 0x19,
        0x1f => 0x84,
        _ => ascii,
    };
    Some(Key { ascii, petscii, modifiers: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn every_key_that_can_be_typed_has_a_position_and_comes_back_from_it() {
        for c in (' '..='~').filter(|&c| c != '^') {
            let key = keys::character(c).unwrap();
            let at = position(&key).unwrap_or_else(|| panic!("{c:?}"));
            let plain = event(at).unwrap();
            if key.modifiers == 0 {
                assert_eq!(plain, key, "{c:?}");
            }
        }
        for name in ["RETURN", "DEL", "HOME", "RIGHT", "DOWN", "ESC", "TAB", "RUN/STOP", "HELP", "F1", "F7", "F13"] {
            let key = keys::named(name).unwrap();
            assert_eq!(event(position(&key).unwrap()), Some(key), "{name}");
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
