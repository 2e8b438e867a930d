//! Loading an image through the load port (platform facts, section 16; specification, section 9).
//!
//! The protocol as a state machine over a small port: on the MEGA65 [`LoadPort::send`] is a DMA job from the SD buffer to
//! the data register, on the PC a copy. No byte of the image passes through this module.

use core::fmt;

use crate::header::Header;
use crate::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD};
use crate::registers::{LOAD_ERROR, LOAD_READY};

/// The load registers, as a program reaches them.
pub trait LoadPort {
    /// Reads the control register: [`LOAD_READY`], [`LOAD_ERROR`].
    fn control(&mut self) -> u8;
    /// Sets the pointer and commits: what is pending goes to the old pointer first.
    fn commit(&mut self, address: u32, clear_error: bool);
    /// Sends `length` bytes of the current sector, from `offset` on, to the data register.
    fn send(&mut self, offset: u32, length: u32);
}

/// Why loading failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// ERROR: data fell outside the memory. The offset is of the last byte sent.
    Port {
        /// Bytes of the file sent so far.
        offset: u32,
    },
    /// The file goes on after the end of the image.
    TooLong {
        /// Length the header states.
        expected: u32,
    },
    /// The file ended early.
    Truncated {
        /// Bytes received.
        received: u32,
        /// Length the header states.
        expected: u32,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port { offset } => {
                write!(f, "the load port reports ERROR after {offset} bytes: the image does not fit this memory")
            }
            Self::TooLong { expected } => write!(f, "the file is longer than the {expected} bytes its header states"),
            Self::Truncated { received, expected } => {
                write!(f, "the file ends after {received} of {expected} bytes: copy it again")
            }
        }
    }
}

impl core::error::Error for LoadError {}

/// What the port says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The next sector may be sent.
    Yes,
    /// Ask again.
    NotYet,
}

/// The state of one load.
#[derive(Debug)]
pub struct Loader {
    sent: u32,
    total: u32,
}

impl Loader {
    /// Begins a load: the pointer goes to the header's place and ERROR is cleared.
    pub fn begin(header: &Header, port: &mut impl LoadPort) -> Self {
        port.commit(MEMORY_BASE, true);
        Self { sent: 0, total: header.file_len() }
    }

    /// Bytes sent so far.
    #[must_use]
    pub const fn sent(&self) -> u32 {
        self.sent
    }

    /// Bytes in the whole file.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.total
    }

    /// Whether every byte has been sent; [`Loader::finish`] is next.
    #[must_use]
    pub const fn complete(&self) -> bool {
        self.sent == self.total
    }

    /// Asks for READY. The caller bounds how often it asks.
    ///
    /// # Errors
    /// [`LoadError::Port`] where ERROR stands.
    pub fn ready(&self, port: &mut impl LoadPort) -> Result<Ready, LoadError> {
        let control = port.control();
        if control & LOAD_ERROR != 0 {
            return Err(LoadError::Port { offset: self.sent });
        }
        Ok(if control & LOAD_READY == 0 { Ready::NotYet } else { Ready::Yes })
    }

    /// Sends the next `length` bytes of the file (a sector; the PC may send any length). Call after [`Ready::Yes`].
    ///
    /// # Errors
    /// [`LoadError::TooLong`]; nothing of this sector is then sent.
    pub fn sector(&mut self, port: &mut impl LoadPort, length: u32) -> Result<(), LoadError> {
        if length.wrapping_sub(1) >= self.total - self.sent {
            return if length == 0 { Ok(()) } else { Err(LoadError::TooLong { expected: self.total }) };
        }
        let mut from = 0;
        loop {
            let left = length - from;
            let part = if self.sent > HEADER_LEN { left } else { self.part(port, left) };
            port.send(from, part);
            self.sent += part;
            from += part;
            if from == length {
                return Ok(());
            }
        }
    }

    /// How many of the next `left` bytes go to where the pointer is, once it is behind the header.
    #[inline(never)]
    fn part(&self, port: &mut impl LoadPort, left: u32) -> u32 {
        let header_left = HEADER_LEN - self.sent;
        if header_left == 0 {
            port.commit(PAYLOAD, false);
        }
        if header_left > 0 && left > header_left { header_left } else { left }
    }

    /// Commits once more, so that nothing stays in the ring. READY and ERROR are then read with [`Loader::ready`].
    ///
    /// # Errors
    /// [`LoadError::Truncated`] where bytes are missing.
    pub fn finish(&self, port: &mut impl LoadPort) -> Result<(), LoadError> {
        port.commit(MEMORY_BASE, false);
        if self.sent < self.total {
            return Err(LoadError::Truncated { received: self.sent, expected: self.total });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::step;
    use crate::header::{Architecture, DESCRIPTION_LEN, offset};
    use crate::map::TOKENS;

    /// Memory that stores what is sent, byte by byte, and keeps the commits.
    struct Recorder<'a> {
        sector: &'a [u8],
        pointer: u32,
        memory: Vec<Option<u8>>,
        commits: Vec<(u32, bool)>,
    }

    impl LoadPort for Recorder<'_> {
        fn control(&mut self) -> u8 {
            LOAD_READY
        }
        fn commit(&mut self, address: u32, clear_error: bool) {
            self.pointer = address;
            self.commits.push((address, clear_error));
        }
        fn send(&mut self, offset: u32, length: u32) {
            for &b in &self.sector[offset as usize..(offset + length) as usize] {
                self.memory[(self.pointer - MEMORY_BASE) as usize] = Some(b);
                self.pointer += 1;
            }
        }
    }

    fn header(payload_len: u32) -> Header {
        Header {
            flags: 0,
            code: PAYLOAD,
            data: PAYLOAD,
            scratch: PAYLOAD + payload_len,
            tokens: TOKENS,
            vocab: PAYLOAD,
            n_vocab: 1,
            context: 1,
            bos: 1,
            eos: 2,
            payload_len,
            output: PAYLOAD + payload_len,
            output_len: 1,
            memory_needed: 0x10000,
            architecture: Architecture::Llama,
            tokenizer: PAYLOAD,
            description: [0; DESCRIPTION_LEN],
        }
    }

    #[test]
    fn every_sector_size_puts_every_byte_in_its_place() {
        let h = header(1000);
        let file: Vec<u8> = h.encode().into_iter().chain((0..1000u32).map(|i| (i * 7) as u8)).collect();
        for size in [1, 7, 255, 256, 257, 511, 512, 513, 2000].into_iter().step_by(step(9)) {
            let mut r = Recorder { sector: &[], pointer: 0, memory: vec![None; 0x8000], commits: vec![] };
            let mut l = Loader::begin(&h, &mut r);
            for part in file.chunks(size) {
                r.sector = part;
                l.sector(&mut r, part.len() as u32).unwrap();
            }
            assert!(l.complete());
            l.finish(&mut r).unwrap();
            assert_eq!(r.commits, [(MEMORY_BASE, true), (PAYLOAD, false), (MEMORY_BASE, false)], "size {size}");
            for (i, &b) in file.iter().enumerate() {
                let i = i as u32;
                let at = if i < HEADER_LEN { MEMORY_BASE + i } else { PAYLOAD + i - HEADER_LEN };
                assert_eq!(r.memory[(at - MEMORY_BASE) as usize], Some(b), "byte {i} at size {size}");
            }
        }
        assert_eq!(offset::MAGIC, 0);
    }

    #[test]
    fn lengths_are_compared_with_the_header() {
        let h = header(300);
        let data = vec![0; 600];
        let mut r = Recorder { sector: &data, pointer: 0, memory: vec![None; 0x8000], commits: vec![] };
        let mut l = Loader::begin(&h, &mut r);
        assert_eq!(l.sector(&mut r, 557), Err(LoadError::TooLong { expected: 556 }));
        l.sector(&mut r, 512).unwrap();
        assert_eq!(l.finish(&mut r), Err(LoadError::Truncated { received: 512, expected: 556 }));
    }
}
