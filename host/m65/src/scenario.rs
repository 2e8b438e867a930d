//! Driving a machine: typing, waiting for text, dumping memory.
//!
//! Keys wait until a person could have typed them: the next one is fed only when the queue is
//! empty, the first of a line only after the screen has stood still for ten frames.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use ssnail_shared::map::MEMORY_BASE;

use crate::io::keyboard::Key;
use crate::keys::{self, KeyError};
use crate::machine::{Machine, Stop};
use crate::screen::Screen;

/// Frames that the screen must stand still before a line is typed.
const STILL_FRAMES: u32 = 10;
const RETURN: u8 = 0x0d;

/// How a wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The text is on the screen.
    Found,
    /// It did not come in time.
    TimedOut,
    /// The program stopped before it came.
    Stopped(Stop),
}

/// A machine with something that types.
pub struct Scenario {
    /// The machine.
    pub machine: Machine,
    keys: VecDeque<Key>,
    line_start: bool,
    still: u32,
    seen: u64,
}

impl Scenario {
    /// A scenario with nothing to type.
    pub fn new(machine: Machine) -> Self {
        Self { machine, keys: VecDeque::new(), line_start: true, still: 0, seen: 0 }
    }

    /// Queues text with escapes (see [`keys::parse`]).
    ///
    /// # Errors
    /// [`KeyError`]; nothing is then queued.
    pub fn type_text(&mut self, text: &str) -> Result<(), KeyError> {
        self.keys.extend(keys::parse(text)?);
        Ok(())
    }

    /// Queues events as they are.
    pub fn type_keys(&mut self, keys: impl IntoIterator<Item = Key>) {
        self.keys.extend(keys);
    }

    /// Keys that have not been fed yet.
    pub fn untyped(&self) -> usize {
        self.keys.len()
    }

    /// Runs one frame, then feeds a key if it is time.
    pub fn frame(&mut self) -> Option<Stop> {
        let stop = self.machine.run_frame();
        let now = self.fingerprint();
        self.still = if now == self.seen { self.still + 1 } else { 0 };
        self.seen = now;
        if self.machine.board.keyboard.is_empty()
            && (!self.line_start || self.still >= STILL_FRAMES)
            && let Some(key) = self.keys.pop_front()
        {
            self.machine.board.keyboard.press(key);
            self.line_start = key.ascii == RETURN;
        }
        stop
    }

    /// Runs `n` frames or to the program's end.
    pub fn frames(&mut self, n: u64) -> Option<Stop> {
        (0..n).find_map(|_| self.frame()).or_else(|| self.machine.stopped())
    }

    /// Runs until `text` is on the screen, at most `frames` frames. Text that is there already is
    /// found at once; text typed earlier must have been fed completely first.
    pub fn until(&mut self, text: &str, frames: u64) -> Outcome {
        for _ in 0..=frames {
            if self.keys.is_empty() && self.screen().contains(text) {
                return Outcome::Found;
            }
            if let Some(stop) = self.frame() {
                return if self.screen().contains(text) { Outcome::Found } else { Outcome::Stopped(stop) };
            }
        }
        Outcome::TimedOut
    }

    /// The screen now.
    pub fn screen(&self) -> Screen {
        Screen::of(&self.machine.board)
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let vic = &self.machine.board.vic;
        let length = (vic.line_step() * vic.rows()) as usize;
        let part = |bytes: &[u8], start: u32| {
            let start = (start as usize).min(bytes.len());
            let end = (start + length).min(bytes.len());
            (start, end)
        };
        let ram = self.machine.board.chip_ram();
        let (start, end) = part(ram, vic.screen_address());
        ram[start..end].hash(&mut hasher);
        let colours = self.machine.board.colour_ram();
        let (start, end) = part(colours, vic.colour_offset());
        colours[start..end].hash(&mut hasher);
        hasher.finish()
    }
}

/// Bytes of memory as the accelerator addresses them from $8000000 on, and as the CPU does below;
/// `None` where the range is not wholly memory.
pub fn dump(machine: &Machine, address: u32, length: u32) -> Option<Vec<u8>> {
    let end = address.checked_add(length)?;
    let board = &machine.board;
    if let Some(offset) = address.checked_sub(MEMORY_BASE)
        && address < crate::board::CHAR_RAM
    {
        let start = offset as usize;
        return board.expansion.memory().get(start..start + length as usize).map(<[u8]>::to_vec);
    }
    let low = end <= crate::board::CHIP_RAM;
    let video = |base: u32, size: u32| address >= base && end <= base + size;
    let known = low
        || video(crate::board::CHAR_RAM, crate::board::CHAR_RAM_LEN)
        || video(crate::board::COLOUR_RAM, crate::board::COLOUR_RAM_LEN);
    known.then(|| (address..end).map(|a| board.peek(a)).collect())
}
