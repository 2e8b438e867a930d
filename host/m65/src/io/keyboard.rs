//! The hardware keyboard queue at `$D610`, `$D619`, `$D60A`, `$D611`.

use std::collections::VecDeque;

/// Modifier bits of `$D611` and of an event.
pub mod modifier {
    /// Left shift.
    pub const SHIFT: u8 = 0x01;
    /// CTRL.
    pub const CTRL: u8 = 0x04;
    /// MEGA.
    pub const MEGA: u8 = 0x08;
    /// ALT.
    pub const ALT: u8 = 0x10;
}

/// One event of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What `$D610` reads; $FF for an event without ASCII code.
    pub ascii: u8,
    /// What `$D619` reads; $FF for none.
    pub petscii: u8,
    /// Modifiers at the time of the event.
    pub modifiers: u8,
}

/// One presented event and four that wait.
pub const DEPTH: usize = 5;

/// The queue.
#[derive(Clone, Debug, Default)]
pub struct Keyboard {
    queue: VecDeque<Key>,
    /// Modifiers held now (`$D611`).
    pub modifiers: u8,
    column: u8,
    /// Events lost because the queue was full.
    pub lost: u64,
}

impl Keyboard {
    /// Adds an event, as pressing a key does; lost when the queue is full.
    pub fn press(&mut self, key: Key) {
        if self.queue.len() < DEPTH {
            self.queue.push_back(key);
        } else {
            self.lost += 1;
        }
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Events that can be added before the queue is full.
    pub fn room(&self) -> usize {
        DEPTH - self.queue.len()
    }

    /// Reads `$D600 + register` if the keyboard has it.
    pub fn read(&self, register: u8) -> Option<u8> {
        let front = self.queue.front();
        Some(match register {
            0x0a => front.map_or(0, |k| k.modifiers & 0x7f | 0x80),
            0x10 => front.map_or(0, |k| k.ascii),
            0x11 => self.modifiers,
            // The matrix: no key is held down.
            0x13 => 0xff,
            0x14 => self.column,
            0x15..=0x17 => 0x7f,
            0x19 => front.map_or(0xff, |k| k.petscii),
            _ => return None,
        })
    }

    /// Writes `$D600 + register`; false if the keyboard has no such register.
    pub fn write(&mut self, register: u8, value: u8) -> bool {
        match register {
            0x0a if value & 0x80 == 0 => self.queue.clear(),
            0x10 | 0x19 => {
                self.queue.pop_front();
            }
            0x14 => self.column = value,
            0x0a | 0x11..=0x13 | 0x15..=0x17 => {}
            _ => return false,
        }
        true
    }
}
