//! The load port's data path: a pointer, 256-byte pieces, an error flag (spec section 9).

use std::io::{self, Read};

use ssnail_shared::mem::Memory as _;

use crate::memory::Memory;

/// Bytes between two flushes; flushes fall on its multiples.
pub const PIECE: u32 = 256;

/// What the core holds between the data register and memory.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// Where the next byte goes.
    pointer: u32,
    /// Bytes up to `pointer` that have not reached memory.
    pending: Vec<u8>,
    error: bool,
}

impl Port {
    /// Where the next byte goes.
    #[must_use]
    pub fn pointer(&self) -> u32 {
        self.pointer
    }

    /// Whether data has fallen outside the memory since the flag was cleared.
    #[must_use]
    pub fn error(&self) -> bool {
        self.error
    }

    /// Flushes to the old pointer, then sets the pointer; clears the error flag last if asked.
    pub fn commit(&mut self, memory: &mut Memory, address: u32, clear_error: bool) {
        self.flush(memory);
        self.pointer = address;
        if clear_error {
            self.error = false;
        }
    }

    /// Takes bytes. The same as taking them one by one: a piece is flushed when the pointer reaches its end, and a piece
    /// that leaves the memory is dropped whole.
    pub fn write(&mut self, memory: &mut Memory, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = (PIECE - self.pointer % PIECE) as usize;
            if self.pending.is_empty() && room == PIECE as usize {
                // Whole pieces inside the memory need no ring: one copy.
                let whole = bytes.len() - bytes.len() % PIECE as usize;
                if whole > 0 && memory.write(self.pointer, &bytes[..whole]).is_ok() {
                    self.pointer = self.pointer.wrapping_add(whole as u32);
                    bytes = &bytes[whole..];
                    continue;
                }
            }
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.pending.extend_from_slice(now);
            self.pointer = self.pointer.wrapping_add(now.len() as u32);
            if self.pointer % PIECE == 0 {
                self.flush(memory);
            }
            bytes = later;
        }
    }

    /// Takes `length` bytes from a file, as [`Port::write`] would; whole pieces go to memory without a stop.
    ///
    /// # Errors
    /// What the file says, [`io::ErrorKind::UnexpectedEof`] where it ends early; the bytes before may have been taken.
    pub fn read_from(&mut self, memory: &mut Memory, file: &mut impl Read, length: usize) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            let room = (PIECE - self.pointer % PIECE) as usize;
            let whole = left - left % PIECE as usize;
            if self.pending.is_empty()
                && room == PIECE as usize
                && whole > 0
                && let Some(place) = memory.slice_mut(self.pointer, whole as u64)
            {
                file.read_exact(place)?;
                self.pointer = self.pointer.wrapping_add(whole as u32);
                left -= whole;
                continue;
            }
            let now = room.min(left);
            let mut piece = [0; PIECE as usize];
            file.read_exact(&mut piece[..now])?;
            self.write(memory, &piece[..now]);
            left -= now;
        }
        Ok(())
    }

    fn flush(&mut self, memory: &mut Memory) {
        if self.pending.is_empty() {
            return;
        }
        let from = self.pointer.wrapping_sub(self.pending.len() as u32);
        self.error |= memory.write(from, &self.pending).is_err();
        self.pending.clear();
    }
}
