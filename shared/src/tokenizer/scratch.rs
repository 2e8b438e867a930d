//! Work memory of the tokenizer, and how it is laid out.

use core::cell::Cell;
use core::convert::Infallible;

use super::Error;
use super::split::{Letter, Letters};
use crate::mem::{Fault, Memory};

/// Words of scratch that one byte of text needs.
pub const WORDS_PER_BYTE: u32 = 6;

/// Words that a caller lends the tokenizer: a slice, or far memory through [`FarScratch`].
///
/// A word that cannot be read is all ones and ends whatever loop asked for it; what went wrong is said by
/// [`Scratch::fault`] in the end, so that the inner loops need not carry it.
pub trait Scratch {
    /// How many words there are.
    fn words(&self) -> u32;

    /// Word `i`; all ones where there is none.
    fn get(&self, i: u32) -> u32;

    /// Stores word `i`, if there is one.
    fn set(&mut self, i: u32, value: u32);

    /// The first access that failed, if one did.
    fn fault(&self) -> Option<Fault> {
        None
    }
}

impl Scratch for [u32] {
    fn words(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    #[inline]
    fn get(&self, i: u32) -> u32 {
        match usize::try_from(i) {
            Ok(i) => <[u32]>::get(self, i).copied().unwrap_or(u32::MAX),
            Err(_) => u32::MAX,
        }
    }

    #[inline]
    fn set(&mut self, i: u32, value: u32) {
        if let Some(word) = usize::try_from(i).ok().and_then(|i| self.get_mut(i)) {
            *word = value;
        }
    }
}

/// Scratch in memory behind 28-bit addresses.
#[derive(Debug)]
pub struct FarScratch<'m, M> {
    memory: &'m mut M,
    base: u32,
    words: u32,
    fault: Cell<Option<Fault>>,
}

impl<'m, M: Memory> FarScratch<'m, M> {
    /// `words` words from address `base` on.
    pub const fn new(memory: &'m mut M, base: u32, words: u32) -> Self {
        Self { memory, base, words, fault: Cell::new(None) }
    }

    fn failed(&self, fault: Fault) {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
    }
}

impl<M: Memory> Scratch for FarScratch<'_, M> {
    fn words(&self) -> u32 {
        self.words
    }

    fn get(&self, i: u32) -> u32 {
        let address = self.base.wrapping_add(i << 2);
        let word = if i < self.words { self.memory.word(address) } else { None };
        if word.is_none() {
            self.failed(Fault { address, length: 4 });
        }
        word.unwrap_or(u32::MAX)
    }

    fn set(&mut self, i: u32, value: u32) {
        if i < self.words {
            let written = self.memory.write_u32(self.base.wrapping_add(i << 2), value);
            if let Err(fault) = written {
                self.failed(fault);
            }
        }
    }

    fn fault(&self) -> Option<Fault> {
        self.fault.get()
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

    pub(super) fn fault(&self) -> Option<Fault> {
        self.scratch.fault()
    }

    pub(super) fn get(&self, slot: u32, field: Field) -> u32 {
        self.scratch.get(slot.wrapping_mul(WORDS_PER_BYTE) + field as u32)
    }

    pub(super) fn set(&mut self, slot: u32, field: Field, value: u32) {
        self.scratch.set(slot.wrapping_mul(WORDS_PER_BYTE) + field as u32, value);
    }

    pub(super) fn byte(&self, slot: u32) -> u8 {
        (self.get(slot, Field::ByteNext) >> 24) as u8
    }

    /// Writes the byte of a slot; the only place where a text can be found too long.
    pub(super) fn set_byte(&mut self, slot: u32, byte: u8) -> Result<(), Error> {
        if slot >= self.capacity {
            return Err(Error::TextTooLong { capacity: self.capacity });
        }
        self.set(slot, Field::ByteNext, u32::from(byte) << 24 | NO_SLOT);
        Ok(())
    }

    pub(super) fn next(&self, slot: u32) -> u32 {
        self.get(slot, Field::ByteNext) & NO_SLOT
    }

    pub(super) fn set_next(&mut self, slot: u32, next: u32) {
        let byte = self.get(slot, Field::ByteNext) & !NO_SLOT;
        self.set(slot, Field::ByteNext, byte | next);
    }
}

/// The bytes in the slots as a text to split: bytes above 126 are in no class, as the reference tools have it for
/// controls; UTF-8 bytes count as letters, so that a word stays whole.
impl<S: Scratch + ?Sized> Letters for Slots<'_, S> {
    type Error = Infallible;

    fn letter(&mut self, at: u32) -> Result<Letter, Infallible> {
        let byte = self.byte(at);
        let mut letter = Letter::ascii(byte);
        if byte >= 0x80 {
            letter.class = super::class::LOWER;
        }
        Ok(letter)
    }
}
