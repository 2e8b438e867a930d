//! Work memory of the tokenizer, and how it is laid out.

use super::Error;
use super::split::{Letter, Letters};
use crate::mem::Memory;

/// Words of scratch that one byte of text needs.
pub const WORDS_PER_BYTE: u32 = 6;

/// Words that a caller lends the tokenizer: a slice, or far memory through [`FarScratch`].
pub trait Scratch {
    /// How many words there are.
    fn words(&self) -> u32;

    /// Word `i`.
    ///
    /// # Errors
    /// Where `i` is outside, or the memory behind it fails.
    fn get(&self, i: u32) -> Result<u32, Error>;

    /// Stores word `i`.
    ///
    /// # Errors
    /// As [`Scratch::get`].
    fn set(&mut self, i: u32, value: u32) -> Result<(), Error>;
}

impl Scratch for [u32] {
    fn words(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    #[inline]
    fn get(&self, i: u32) -> Result<u32, Error> {
        let word = usize::try_from(i).ok().and_then(|i| <[u32]>::get(self, i));
        word.copied().ok_or(Error::TextTooLong { capacity: self.words() / WORDS_PER_BYTE })
    }

    #[inline]
    fn set(&mut self, i: u32, value: u32) -> Result<(), Error> {
        let capacity = self.words() / WORDS_PER_BYTE;
        let word = usize::try_from(i).ok().and_then(|i| self.get_mut(i));
        *word.ok_or(Error::TextTooLong { capacity })? = value;
        Ok(())
    }
}

/// Scratch in memory behind 28-bit addresses.
#[derive(Debug)]
pub struct FarScratch<'m, M> {
    memory: &'m mut M,
    base: u32,
    words: u32,
}

impl<'m, M: Memory> FarScratch<'m, M> {
    /// `words` words from address `base` on.
    pub const fn new(memory: &'m mut M, base: u32, words: u32) -> Self {
        Self { memory, base, words }
    }

    fn address(&self, i: u32) -> Result<u32, Error> {
        if i >= self.words {
            return Err(Error::TextTooLong { capacity: self.words / WORDS_PER_BYTE });
        }
        Ok(self.base.wrapping_add(i << 2))
    }
}

impl<M: Memory> Scratch for FarScratch<'_, M> {
    fn words(&self) -> u32 {
        self.words
    }

    fn get(&self, i: u32) -> Result<u32, Error> {
        Ok(self.memory.read_u32(self.address(i)?)?)
    }

    fn set(&mut self, i: u32, value: u32) -> Result<(), Error> {
        let address = self.address(i)?;
        Ok(self.memory.write_u32(address, value)?)
    }
}

/// A scratch seen as one slot for each byte of text.
pub(super) struct Slots<'s, S: ?Sized> {
    scratch: &'s mut S,
    capacity: u32,
}

/// No slot.
pub(super) const NO_SLOT: u32 = 0x00FF_FFFF;

/// The words of a slot. A slot is a byte of text, and the symbol (a token so far) that begins at it.
#[derive(Clone, Copy)]
pub(super) enum Field {
    /// The byte in bits 24 to 31, and below it the slot of the symbol behind this one.
    ByteNext = 0,
    Previous = 1,
    /// Token of the symbol.
    Id = 2,
    /// Priority of merging this symbol with the one behind it.
    Priority = 3,
    /// Token that this merge would make.
    Product = 4,
    /// Node of the tournament tree; no relation to the slot's byte.
    Tree = 5,
}

impl<'s, S: Scratch + ?Sized> Slots<'s, S> {
    pub(super) fn new(scratch: &'s mut S) -> Self {
        let capacity = scratch.words() / WORDS_PER_BYTE;
        Self { scratch, capacity: if capacity < NO_SLOT { capacity } else { NO_SLOT } }
    }

    pub(super) fn get(&self, slot: u32, field: Field) -> Result<u32, Error> {
        self.scratch.get(slot * WORDS_PER_BYTE + field as u32)
    }

    pub(super) fn set(&mut self, slot: u32, field: Field, value: u32) -> Result<(), Error> {
        self.scratch.set(slot * WORDS_PER_BYTE + field as u32, value)
    }

    pub(super) fn byte(&self, slot: u32) -> Result<u8, Error> {
        Ok((self.get(slot, Field::ByteNext)? >> 24) as u8)
    }

    pub(super) fn set_byte(&mut self, slot: u32, byte: u8) -> Result<(), Error> {
        if slot >= self.capacity {
            return Err(Error::TextTooLong { capacity: self.capacity });
        }
        self.set(slot, Field::ByteNext, u32::from(byte) << 24 | NO_SLOT)
    }

    pub(super) fn next(&self, slot: u32) -> Result<u32, Error> {
        Ok(self.get(slot, Field::ByteNext)? & NO_SLOT)
    }

    pub(super) fn set_next(&mut self, slot: u32, next: u32) -> Result<(), Error> {
        let byte = self.get(slot, Field::ByteNext)? & !NO_SLOT;
        self.set(slot, Field::ByteNext, byte | next)
    }
}

/// The bytes in the slots as a text to split: bytes above 126 are in no class, as the reference tools have it for
/// controls; UTF-8 bytes count as letters, so that a word stays whole.
impl<S: Scratch + ?Sized> Letters for Slots<'_, S> {
    type Error = Error;

    fn letter(&mut self, at: u32) -> Result<Letter, Error> {
        let byte = self.byte(at)?;
        let mut letter = Letter::ascii(byte);
        if byte >= 0x80 {
            letter.class = super::class::LOWER;
        }
        Ok(letter)
    }
}
