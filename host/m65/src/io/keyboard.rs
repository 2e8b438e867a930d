//! The keyboard: the queue at `$D610`, `$D619`, `$D60A`, the keys held down at `$D611`, `$D613`.

use std::collections::VecDeque;

use super::matrix::{self, Matrix};

/// Modifier bits of `$D611` and of an event.
pub mod modifier {
    /// Left shift.
    pub const SHIFT: u8 = 0x01;
    /// Right shift.
    pub const RIGHT_SHIFT: u8 = 0x02;
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
/// Frames that a key stays down.
const HOLD_FRAMES: u8 = 3;
/// `$D615-$D617`: no key.
const NO_KEY: u8 = 0x7f;

/// The queue and the keys that are down.
#[derive(Clone, Debug)]
pub struct Keyboard {
    queue: VecDeque<Key>,
    held: Matrix,
    frames: u8,
    virtual_keys: [u8; 3],
    column: u8,
    /// Events lost because the queue was full.
    pub lost: u64,
}

impl Default for Keyboard {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            held: Matrix::default(),
            frames: 0,
            virtual_keys: [NO_KEY; 3],
            column: 0,
            lost: 0,
        }
    }
}

impl Keyboard {
    /// Presses a key: its event is added (lost when the queue is full), and it is held down for
    /// some frames.
    pub fn press(&mut self, key: Key) {
        self.held = Matrix::default();
        self.held.hold_event(&key);
        self.frames = HOLD_FRAMES;
        self.enqueue(key);
    }

    /// Lets a frame pass; keys are released after a few.
    pub fn frame(&mut self) {
        self.frames = self.frames.saturating_sub(1);
        if self.frames == 0 {
            self.held = Matrix::default();
        }
    }

    /// The keys that are down, virtual ones included.
    pub fn matrix(&self) -> Matrix {
        let mut all = self.held;
        all.add(&self.virtual_matrix());
        all
    }

    fn virtual_matrix(&self) -> Matrix {
        let mut matrix = Matrix::default();
        self.virtual_keys.iter().filter(|&&at| at != NO_KEY).for_each(|&at| matrix.hold(at));
        matrix
    }

    /// Presses or releases one of three keys by its position; a new one makes an event.
    fn press_virtual(&mut self, which: usize, position: u8) {
        if std::mem::replace(&mut self.virtual_keys[which], position) == position || position == NO_KEY {
            return;
        }
        let modifiers = self.virtual_matrix().modifiers();
        if let Some(key) = matrix::event(position, modifiers) {
            self.enqueue(key);
        }
    }

    fn enqueue(&mut self, key: Key) {
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
            // Bit 5 would claim real hardware.
            0x0f => self.matrix().cursor(),
            0x11 => self.matrix().modifiers(),
            0x13 => self.matrix().column(self.column),
            0x14 => self.column,
            0x15..=0x17 => self.virtual_keys[usize::from(register - 0x15)],
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
            0x15..=0x17 => self.press_virtual(usize::from(register - 0x15), value & 0x7f),
            0x0a | 0x11..=0x13 => {}
            _ => return false,
        }
        true
    }
}
