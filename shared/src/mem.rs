//! Memory seen through 28-bit addresses.

use core::fmt;

use crate::sampler::{self, Candidate, Changed, Digit, Run, Weights};

/// An access that leaves the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// First address of the access.
    pub address: u32,
    /// Its length in bytes.
    pub length: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "address fault: ${:07X} (+{})", self.address, self.length)
    }
}

impl core::error::Error for Fault {}

/// Memory that can be read: an image in RAM, a file, or far memory behind `[bp],Z`.
pub trait ReadMemory {
    /// Fills `out` from `address` on.
    ///
    /// # Errors
    /// A [`Fault`] where any byte lies outside; `out` is then unspecified.
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault>;

    /// Whether `length` bytes from `address` on exist. As it stands for memory without holes: it asks for both ends.
    ///
    /// # Errors
    /// A [`Fault`] with this address and length.
    fn check(&self, address: u32, length: u32) -> Result<(), Fault> {
        let fault = Fault { address, length };
        if length == 0 {
            return self.read(address, &mut []).map_err(|_| fault);
        }
        let last = address.checked_add(length - 1).ok_or(fault)?;
        let mut b = [0; 1];
        self.read(address, &mut b).and_then(|()| self.read(last, &mut b)).map_err(|_| fault)
    }

    /// One byte.
    ///
    /// # Errors
    /// As [`ReadMemory::read`].
    fn read_u8(&self, address: u32) -> Result<u8, Fault> {
        let mut b = [0; 1];
        self.read(address, &mut b)?;
        Ok(b[0])
    }

    /// A little-endian half word.
    ///
    /// # Errors
    /// As [`ReadMemory::read`].
    fn read_u16(&self, address: u32) -> Result<u16, Fault> {
        let mut b = [0; 2];
        self.read(address, &mut b)?;
        Ok(u16::from_le_bytes(b))
    }

    /// A little-endian word.
    ///
    /// # Errors
    /// As [`ReadMemory::read`].
    fn read_u32(&self, address: u32) -> Result<u32, Fault> {
        let mut b = [0; 4];
        self.read(address, &mut b)?;
        Ok(u32::from_le_bytes(b))
    }

    /// F32 values, one after the other.
    ///
    /// # Errors
    /// As [`ReadMemory::read`].
    fn read_floats(&self, address: u32, out: &mut [f32]) -> Result<(), Fault> {
        let mut at = address;
        for v in out {
            *v = f32::from_bits(self.read_u32(at)?);
            at = at.wrapping_add(4);
        }
        Ok(())
    }

    /// A little-endian word, without the reason where there is none: what two registers can hand back, for loops that
    /// read a great many.
    fn word(&self, address: u32) -> Option<u32> {
        self.read_u32(address).ok()
    }

    /// The byte at place `level` (0: the highest) of the key ([`crate::sampler::key_of`]) that is the `need`-th largest of
    /// those F32 of a run whose bits begin with the `level` bytes of `prefix`; `changed` tokens count with their new bits.
    /// A machine may have a faster way to the same; more than `need` and 100 in `inside` may be fewer than there are.
    fn digit(&self, run: Run, changed: &Changed<'_>, prefix: u32, level: u32, need: u32) -> Digit {
        sampler::digit(self, run, changed, prefix, level, need)
    }

    /// Puts those F32 of a run whose key is at least `least` into `room`, numbered from `first`; minus infinity has a key,
    /// too. Stops at a value that is not finite (with `least` beyond all finite keys perhaps only at a later one) and where
    /// `room` is full. How many F32 were passed, and how many stored. A
    /// machine may have a faster way to the same.
    fn collect(&self, run: Run, first: u32, least: u32, room: &mut [Candidate]) -> (u32, usize) {
        sampler::collect(self, run, first, least, room)
    }

    /// A copy of the run in faster memory, which [`ReadMemory::change`] may change, where the machine has room for it.
    fn stage(&self, run: Run) -> Option<Run> {
        let _ = run;
        None
    }

    /// Changes a word of a copy that [`ReadMemory::stage`] made.
    fn change(&self, address: u32, word: u32) {
        let _ = (address, word);
    }

    /// Puts weights in the place of the candidates' keys; their sum. A machine may have a faster way to the same.
    fn weigh(&self, weights: &Weights, room: &mut [Candidate]) -> u64 {
        weights.weigh(room)
    }
}

/// Memory that can be written as well. On the MEGA65 writes go through the load port.
pub trait Memory: ReadMemory {
    /// Stores `data` from `address` on.
    ///
    /// # Errors
    /// A [`Fault`] where any byte lies outside; nothing is then written.
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault>;

    /// A little-endian word.
    ///
    /// # Errors
    /// As [`Memory::write`].
    fn write_u32(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        self.write(address, &value.to_le_bytes())
    }

    /// F32 values, one after the other.
    ///
    /// # Errors
    /// As [`Memory::write`]; those before the first that lies outside have been written then.
    fn write_floats(&mut self, address: u32, values: &[f32]) -> Result<(), Fault> {
        let mut at = address;
        for v in values {
            self.write_u32(at, v.to_bits())?;
            at = at.wrapping_add(4);
        }
        Ok(())
    }
}

/// A slice of bytes that begins at some address: an image file's parts, a test's memory.
#[derive(Debug)]
pub struct SliceMemory<T> {
    base: u32,
    bytes: T,
}

impl<T: AsRef<[u8]>> SliceMemory<T> {
    /// `bytes[0]` is at address `base`.
    pub const fn new(base: u32, bytes: T) -> Self {
        Self { base, bytes }
    }

    /// Gives the bytes back.
    pub fn into_inner(self) -> T {
        self.bytes
    }

    fn range(&self, address: u32, length: usize) -> Result<core::ops::Range<usize>, Fault> {
        let fault = Fault { address, length: u32::try_from(length).unwrap_or(u32::MAX) };
        let start = address.checked_sub(self.base).and_then(|d| usize::try_from(d).ok()).ok_or(fault)?;
        let end = start.checked_add(length).ok_or(fault)?;
        if end > self.bytes.as_ref().len() {
            return Err(fault);
        }
        Ok(start..end)
    }
}

impl<T: AsRef<[u8]>> ReadMemory for SliceMemory<T> {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        let range = self.range(address, out.len())?;
        out.copy_from_slice(&self.bytes.as_ref()[range]);
        Ok(())
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Memory for SliceMemory<T> {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        let range = self.range(address, data.len())?;
        self.bytes.as_mut()[range].copy_from_slice(data);
        Ok(())
    }
}
