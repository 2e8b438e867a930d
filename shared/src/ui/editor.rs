//! A line editor with history.

use super::{COLUMNS, Style, Surface};

/// Characters that a line may have: three rows of the screen, less the mark in front.
pub const LINE_MAX: usize = 237;
/// Lines that are remembered.
pub const HISTORY: usize = 16;

/// A key, apart from the codes of any keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printable ASCII character.
    Character(u8),
    /// RETURN.
    Return,
    /// DEL: the character before the cursor.
    Delete,
    /// INST: room for a character.
    Insert,
    /// Cursor left.
    Left,
    /// Cursor right.
    Right,
    /// Cursor up: an older line.
    Up,
    /// Cursor down: a newer line.
    Down,
    /// HOME: start of the line.
    Home,
    /// End of the line.
    End,
    /// CLR: an empty line.
    Clear,
    /// RUN/STOP or ESC.
    Stop,
    /// HELP or F1.
    Help,
    /// F5.
    PageUp,
    /// F7.
    PageDown,
}

impl Key {
    /// The key behind a code of $D610 (platform facts, section 7); `None` for codes that mean nothing here.
    #[must_use]
    pub const fn from_ascii(code: u8) -> Option<Self> {
        Some(match code {
            0x0D => Self::Return,
            0x14 => Self::Delete,
            0x94 => Self::Insert,
            0x9D => Self::Left,
            0x1D => Self::Right,
            0x91 => Self::Up,
            0x11 => Self::Down,
            0x13 => Self::Home,
            0x05 => Self::End,
            0x93 => Self::Clear,
            0x03 | 0xA3 | 0x1B => Self::Stop,
            0x1F | 0xF1 => Self::Help,
            0xF5 => Self::PageUp,
            0xF7 => Self::PageDown,
            0x20..=0x7E => Self::Character(code),
            _ => return None,
        })
    }
}

/// What a key did to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Draw the line again from this character on.
    Changed(u8),
    /// Only the cursor moved.
    Moved,
    /// The line is complete.
    Entered,
    /// Nothing: the line is full, or the key is not the editor's.
    Ignored,
}

/// The line being typed, and the lines before it.
#[derive(Debug)]
pub struct Editor {
    line: [u8; LINE_MAX],
    len: u8,
    cursor: u8,
    history: [[u8; LINE_MAX]; HISTORY],
    history_len: [u8; HISTORY],
    /// Lines entered so far.
    entered: u16,
    /// How far back the line shown comes from; 0: it is new.
    back: u8,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new()
    }
}

impl Editor {
    /// An empty line, no history.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: [0; LINE_MAX],
            len: 0,
            cursor: 0,
            history: [[0; LINE_MAX]; HISTORY],
            history_len: [0; HISTORY],
            entered: 0,
            back: 0,
        }
    }

    /// The line as it stands.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line[..usize::from(self.len)]
    }

    /// Characters before the cursor.
    #[must_use]
    pub const fn cursor(&self) -> u8 {
        self.cursor
    }

    /// Begins a new line after [`Edit::Entered`]; the old one is remembered unless it is empty or the same as the last.
    pub fn accept(&mut self) {
        if self.len > 0 && !self.is_last() {
            let slot = usize::from(self.entered) % HISTORY;
            self.history[slot] = self.line;
            self.history_len[slot] = self.len;
            self.entered = self.entered.wrapping_add(1);
        }
        self.len = 0;
        self.cursor = 0;
        self.back = 0;
    }

    fn is_last(&self) -> bool {
        if self.entered == 0 {
            return false;
        }
        let slot = (usize::from(self.entered) - 1) % HISTORY;
        self.history[slot][..usize::from(self.history_len[slot])] == *self.line()
    }

    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Edit {
        match key {
            Key::Character(b) => self.insert(b, true),
            Key::Insert => self.insert(b' ', false),
            Key::Delete => {
                if self.cursor == 0 {
                    return Edit::Ignored;
                }
                let at = usize::from(self.cursor);
                self.line.copy_within(at..usize::from(self.len), at - 1);
                self.cursor -= 1;
                self.len -= 1;
                Edit::Changed(self.cursor)
            }
            Key::Left if self.cursor > 0 => self.move_to(self.cursor - 1),
            Key::Right if self.cursor < self.len => self.move_to(self.cursor + 1),
            Key::Home => self.move_to(0),
            Key::End => self.move_to(self.len),
            Key::Clear => {
                self.len = 0;
                self.cursor = 0;
                Edit::Changed(0)
            }
            Key::Up => self.recall(true),
            Key::Down => self.recall(false),
            Key::Return => Edit::Entered,
            _ => Edit::Ignored,
        }
    }

    fn move_to(&mut self, cursor: u8) -> Edit {
        self.cursor = cursor;
        Edit::Moved
    }

    fn insert(&mut self, b: u8, advance: bool) -> Edit {
        if usize::from(self.len) == LINE_MAX {
            return Edit::Ignored;
        }
        let at = usize::from(self.cursor);
        self.line.copy_within(at..usize::from(self.len), at + 1);
        self.line[at] = b;
        self.len += 1;
        if advance {
            self.cursor += 1;
        }
        Edit::Changed(at as u8)
    }

    fn recall(&mut self, older: bool) -> Edit {
        let stored = if usize::from(self.entered) < HISTORY { self.entered as u8 } else { HISTORY as u8 };
        if older && self.back < stored {
            self.back += 1;
        } else if !older && self.back > 0 {
            self.back -= 1;
        } else {
            return Edit::Ignored;
        }
        if self.back == 0 {
            self.len = 0;
        } else {
            let slot = (usize::from(self.entered) - usize::from(self.back)) % HISTORY;
            self.line = self.history[slot];
            self.len = self.history_len[slot];
        }
        self.cursor = self.len;
        Edit::Changed(0)
    }

    /// Draws the line after the two characters of its mark, over rows from `row` on, from character `from` on.
    pub fn draw<S: Surface>(&self, surface: &mut S, row: u8, from: u8) {
        if from == 0 {
            surface.text(row, 0, b"> ", Style::Title);
        }
        let mut i = usize::from(from);
        while i <= LINE_MAX {
            let at = i + 2;
            let (r, c) = ((at / usize::from(COLUMNS)) as u8, (at % usize::from(COLUMNS)) as u8);
            let b = if i < usize::from(self.len) { self.line[i] } else { b' ' };
            let style = if i == usize::from(self.cursor) { Style::Marked } else { Style::Typed };
            surface.put(row + r, c, b, style);
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::rng::Rng;

    fn typed(e: &mut Editor, text: &str) {
        for b in text.bytes() {
            e.key(Key::Character(b));
        }
    }

    #[test]
    fn any_keys_do_what_a_string_would() {
        let mut rng = Rng::new(6);
        for _ in 0..cases(200) {
            let mut e = Editor::new();
            let (mut model, mut cursor) = (Vec::new(), 0);
            for _ in 0..600 {
                let b = b' ' + (rng.next_u32() % 95) as u8;
                let (key, change) = match rng.next_u32() % 9 {
                    0 => (Key::Left, 0),
                    1 => (Key::Right, 1),
                    2 => (Key::Delete, 2),
                    3 if rng.next_u32() % 20 == 0 => (Key::Home, 3),
                    4 if rng.next_u32() % 20 == 0 => (Key::End, 4),
                    5 if rng.next_u32() % 10 == 0 => (Key::Insert, 5),
                    _ => (Key::Character(b), 6),
                };
                e.key(key);
                match change {
                    0 if cursor > 0 => cursor -= 1,
                    1 if cursor < model.len() => cursor += 1,
                    2 if cursor > 0 => {
                        cursor -= 1;
                        model.remove(cursor);
                    }
                    3 => cursor = 0,
                    4 => cursor = model.len(),
                    5 if model.len() < LINE_MAX => model.insert(cursor, b' '),
                    6 if model.len() < LINE_MAX => {
                        model.insert(cursor, b);
                        cursor += 1;
                    }
                    _ => {}
                }
                assert_eq!(e.line(), model);
                assert_eq!(usize::from(e.cursor()), cursor);
            }
        }
    }

    #[test]
    fn history_goes_back_and_forth() {
        let mut e = Editor::new();
        for i in 0..20 {
            typed(&mut e, &format!("line {i}"));
            assert_eq!(e.key(Key::Return), Edit::Entered);
            e.accept();
        }
        typed(&mut e, "line 19");
        e.accept();
        e.accept();
        assert_eq!(e.key(Key::Down), Edit::Ignored);
        for i in (4..20).rev() {
            assert_eq!(e.key(Key::Up), Edit::Changed(0));
            assert_eq!(e.line(), format!("line {i}").as_bytes());
        }
        assert_eq!(e.key(Key::Up), Edit::Ignored);
        e.key(Key::Down);
        assert_eq!(e.line(), b"line 5");
        for _ in 0..20 {
            e.key(Key::Down);
        }
        assert_eq!(e.line(), b"");
    }

    #[test]
    fn codes_of_the_keyboard() {
        assert_eq!(Key::from_ascii(b'a'), Some(Key::Character(b'a')));
        assert_eq!(Key::from_ascii(0x1B), Some(Key::Stop));
        assert_eq!(Key::from_ascii(0xF5), Some(Key::PageUp));
        assert_eq!(Key::from_ascii(0), None);
        assert_eq!(Key::from_ascii(0xFF), None);
    }
}
