//! The tokenizer's tables in an image, every word checked when it is read.

use super::{Error, Split};
use crate::header::{Header, NO_TOKEN, TOKENIZER_BLOCK_LEN, TOKENIZER_WIDE, TokenizerBlock};
use crate::map::PAYLOAD;
use crate::mem::{Fault, ReadMemory};

/// Bytes below this can begin an index piece; one boundary more closes the last.
const BOUNDS: usize = 128;

/// Tokens among which the single bytes of a byte-level vocabulary are found; Tekken has 1,000 special tokens before them.
const BYTES_WITHIN: u32 = 2048;

/// The vocabulary of an image, opened for reading.
#[derive(Clone, Debug)]
pub struct Tables<'m, M: ?Sized> {
    memory: &'m M,
    pub(super) block: TokenizerBlock,
    split: Split,
    /// Vocabulary table, and the first address behind its pieces.
    pub(super) vocab: u32,
    pub(super) pieces_len: u32,
    /// Where the pieces that begin with a byte begin in the index.
    first: [u32; BOUNDS],
    /// Where those begin that have a space before the byte.
    spaced: [u32; BOUNDS],
    /// Bytes that have been searched for among the first pieces and not found, a bit each.
    absent: [u32; 8],
    probes: u32,
}

/// How a piece compares with a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Less,
    Equal,
    Greater,
}

/// Bytes to look for in the index.
pub(super) trait Key {
    fn len(&self) -> u32;
    fn byte(&self, i: u32) -> u8;

    /// Four bytes from `at` on, the first in the highest place, zeros behind the end: words compare as texts do.
    fn word(&self, at: u32) -> u32 {
        let mut word = 0;
        let mut i = at;
        while i < at + 4 {
            word <<= 8;
            if i < self.len() {
                word |= u32::from(self.byte(i));
            }
            i += 1;
        }
        word
    }
}

impl<'m, M: ReadMemory + ?Sized> Tables<'m, M> {
    /// Finds the tables through `header` and checks that they lie inside its payload.
    ///
    /// # Errors
    /// The first field that cannot be right, or a fault of the memory.
    pub fn open(memory: &'m M, header: &Header) -> Result<Self, Error> {
        let mut bytes = [0; TOKENIZER_BLOCK_LEN as usize];
        memory.read(header.tokenizer, &mut bytes)?;
        let at = header.tokenizer;
        let Some(block) = TokenizerBlock::decode(&bytes) else {
            return damaged("tokenizer kind", at, u32::from(bytes[0]));
        };
        let Some(split) = Split::from_u16(block.split) else {
            return damaged("splitting rule", at + 2, u32::from(block.split));
        };
        let n = block.n_vocab;
        if n == 0 || n != header.n_vocab || n >= 1 << 26 {
            return damaged("tokenizer vocabulary size", at + 4, n);
        }
        if block.index_len > n {
            return damaged("index length", at + 12, block.index_len);
        }
        let inside = |field, offset, address: u32, len: u32| {
            let end = header.payload_end();
            if address < PAYLOAD || address > end || end - address < len {
                return damaged(field, at + offset, address);
            }
            Ok(())
        };
        inside("index address", 8, block.index, block.index_len * 4)?;
        inside(
            "priorities address",
            16,
            block.priorities,
            if block.flags & TOKENIZER_WIDE != 0 { n * 4 } else { n * 2 },
        )?;
        inside("byte table address", 20, block.bytes, 1024)?;
        for (field, offset, id) in
            [("begin token", 24, block.begin), ("end token", 28, block.end), ("unknown token", 32, block.unknown)]
        {
            if id >= n && id != NO_TOKEN {
                return damaged(field, at + offset, id);
            }
        }
        let vocab = header.vocab;
        let end = header.payload_end();
        if vocab < PAYLOAD || vocab > end || end - vocab < 4 * (n + 1) {
            return damaged("vocabulary table", vocab, n);
        }
        let pieces_len = memory.read_u32(vocab + 4 * n)?;
        if pieces_len < 4 * (n + 1) || pieces_len > end - vocab {
            return damaged("vocabulary table length", vocab + 4 * n, pieces_len);
        }
        let mut tables = Self {
            memory,
            block,
            split,
            vocab,
            pieces_len,
            first: [0; BOUNDS],
            spaced: [0; BOUNDS],
            absent: [0; 8],
            probes: 0,
        };
        tables.find_bounds()?;
        tables.probes = 0;
        Ok(tables)
    }

    /// The tokenizer block.
    #[must_use]
    pub const fn block(&self) -> &TokenizerBlock {
        &self.block
    }

    /// The splitting rule of the tokenizer block.
    #[must_use]
    pub const fn split(&self) -> Split {
        self.split
    }

    /// Index entries compared with a text so far; the measure of a tokenizer's cost.
    #[must_use]
    pub const fn probes(&self) -> u32 {
        self.probes
    }

    /// Hands the bytes of token `id` to `sink`, in parts.
    ///
    /// # Errors
    /// An id outside the vocabulary, or a damaged table.
    pub fn piece(&self, id: u32, mut sink: impl FnMut(&[u8])) -> Result<(), Error> {
        let (mut address, mut left) = self.piece_range(id)?;
        let mut part = [0; 16];
        while left != 0 {
            let n = if left < 16 { left } else { 16 };
            let Some(out) = part.get_mut(..n as usize) else { break };
            self.memory.read(address, out)?;
            sink(out);
            address += n;
            left -= n;
        }
        Ok(())
    }

    /// Length in bytes of the piece of token `id`.
    ///
    /// # Errors
    /// As [`Tables::piece`].
    pub fn piece_len(&self, id: u32) -> Result<u32, Error> {
        Ok(self.piece_range(id)?.1)
    }

    /// The token that the byte table gives a byte, if any.
    ///
    /// # Errors
    /// A damaged entry.
    pub fn byte_token(&self, byte: u8) -> Result<Option<u32>, Error> {
        let address = self.block.bytes + 4 * u32::from(byte);
        let id = self.word(address)?;
        if id == NO_TOKEN {
            return Ok(None);
        }
        if id >= self.block.n_vocab {
            return damaged("byte table", address, id);
        }
        Ok(Some(id))
    }

    /// The token that stands for a byte that no token has: the unknown token, if it is one (images of vocabularies without
    /// one name token 0, which then is ordinary text), otherwise the question mark, if there is one.
    ///
    /// # Errors
    /// A damaged table.
    pub fn substitute(&self) -> Result<Option<u32>, Error> {
        let unknown = self.block.unknown;
        if unknown != NO_TOKEN && self.piece_len(unknown)? == 0 {
            return Ok(Some(unknown));
        }
        self.byte_token(b'?')
    }

    /// The first of the tokens whose piece is this one byte: what the byte table leaves out. Byte-level vocabularies
    /// begin with their bytes, so [`BYTES_WITHIN`] tokens are looked at, and those once for a byte that none has.
    pub(super) fn search_byte(&mut self, byte: u8) -> Result<Option<u32>, Error> {
        let bit = 1 << (byte & 31);
        let absent = self.absent.get(usize::from(byte >> 5)).copied().unwrap_or(0);
        let most = if self.block.n_vocab < BYTES_WITHIN { self.block.n_vocab } else { BYTES_WITHIN };
        let end = if absent & bit != 0 { 0 } else { most };
        for id in 0..end {
            let (address, len) = self.piece_range(id)?;
            if len == 1 && self.memory.read_u8(address)? == byte {
                return Ok(Some(id));
            }
        }
        if let Some(absent) = self.absent.get_mut(usize::from(byte >> 5)) {
            *absent |= bit;
        }
        Ok(None)
    }

    /// Merge priority of a token; the lowest merges first.
    pub(super) fn priority(&self, id: u32) -> Result<Option<u32>, Error> {
        if id >= self.block.n_vocab {
            return Err(Error::NoSuchToken { id, n_vocab: self.block.n_vocab });
        }
        if self.block.flags & TOKENIZER_WIDE != 0 {
            let p = self.word(self.block.priorities + 4 * id)?;
            Ok((p != u32::MAX).then_some(p))
        } else {
            let p = self.memory.read_u16(self.block.priorities + 2 * id)?;
            Ok((p != u16::MAX).then_some(u32::from(p)))
        }
    }

    /// The token whose piece is `key`, by binary search over the index.
    pub(super) fn find(&mut self, key: &impl Key) -> Result<Option<u32>, Error> {
        let len = key.len();
        let head = key.word(0);
        let (mut low, mut high) = self.range(head, len);
        while low < high {
            let middle = low + (high - low) / 2;
            let id = self.index(middle)?;
            self.probes = self.probes.wrapping_add(1);
            match self.compare(id, key, len, head)? {
                Order::Less => low = middle + 1,
                Order::Equal => return Ok(Some(id)),
                Order::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// Token and length of the longest piece that `key` begins with. The pieces that share the first bytes of `key` are
    /// one stretch of the index; it narrows byte by byte, and a piece of exactly those bytes stands at its front.
    pub(super) fn longest_prefix(&mut self, key: &impl Key) -> Result<Option<(u32, u32)>, Error> {
        let mut best = None;
        let (mut low, mut high) = (0, self.block.index_len);
        let mut depth = 0;
        if key.len() != 0 {
            let head = key.word(0);
            (low, high) = self.range(head, key.len());
            depth = if (head >> 24) as u8 == b' ' && key.len() > 1 { 2 } else { 1 };
            // The range of a space and a letter passes over the piece that is the space alone.
            if depth == 2 {
                let (space, len) = self.front(self.bound(&self.first, b' '))?;
                if len == 1 {
                    best = space.map(|id| (id, 1));
                }
            }
        }
        while low < high {
            let (id, len) = self.front(low)?;
            if len == depth {
                best = id.map(|id| (id, depth));
                low += 1;
            }
            if depth >= key.len() {
                break;
            }
            let byte = key.byte(depth);
            low = self.lower_bound(low, high, depth, byte)?;
            high = match byte.checked_add(1) {
                Some(above) => self.lower_bound(low, high, depth, above)?,
                None => high,
            };
            depth += 1;
        }
        Ok(best)
    }

    /// Token and piece length of an index entry; none behind the end.
    fn front(&self, at: u32) -> Result<(Option<u32>, u32), Error> {
        if at >= self.block.index_len {
            return Ok((None, 0));
        }
        let id = self.index(at)?;
        Ok((Some(id), self.piece_range(id)?.1))
    }

    /// First entry in `low..high` whose byte at `depth` is at least `byte`; a piece too short for it counts as smaller.
    fn lower_bound(&mut self, mut low: u32, mut high: u32, depth: u32, byte: u8) -> Result<u32, Error> {
        while low < high {
            let middle = low + (high - low) / 2;
            let id = self.index(middle)?;
            self.probes = self.probes.wrapping_add(1);
            let (address, len) = self.piece_range(id)?;
            if len <= depth || self.memory.read_u8(address + depth)? < byte {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn find_bounds(&mut self) -> Result<(), Error> {
        let mut from = 0;
        for byte in 1..BOUNDS as u8 {
            from = self.lower_bound(from, self.block.index_len, 0, byte)?;
            if let Some(bound) = self.first.get_mut(usize::from(byte)) {
                *bound = from;
            }
        }
        from = self.bound(&self.first, b' ');
        let end = self.bound(&self.first, b' ' + 1);
        for byte in 0..BOUNDS as u8 {
            from = self.lower_bound(from, end, 1, byte)?;
            if let Some(bound) = self.spaced.get_mut(usize::from(byte)) {
                *bound = from;
            }
        }
        Ok(())
    }

    fn bound(&self, bounds: &[u32; BOUNDS], byte: u8) -> u32 {
        bounds.get(usize::from(byte)).copied().unwrap_or(self.block.index_len)
    }

    /// The stretch of the index that can hold a key of `len` bytes that begins with those of `head`.
    fn range(&self, head: u32, len: u32) -> (u32, u32) {
        let first = (head >> 24) as u8;
        let second = (head >> 16) as u8;
        let (bounds, byte, end) = if first == b' ' && len > 1 {
            (&self.spaced, second, self.bound(&self.first, b' ' + 1))
        } else {
            (&self.first, first, self.block.index_len)
        };
        if len == 0 || byte > 127 {
            return (end, end);
        }
        (self.bound(bounds, byte), if byte == 127 { end } else { self.bound(bounds, byte + 1) })
    }

    pub(super) fn index(&self, at: u32) -> Result<u32, Error> {
        let address = self.block.index + 4 * at;
        let id = self.word(address)?;
        if id >= self.block.n_vocab {
            return damaged("index entry", address, id);
        }
        Ok(id)
    }

    pub(super) fn word(&self, address: u32) -> Result<u32, Error> {
        self.memory.word(address).ok_or(Error::Memory(Fault { address, length: 4 }))
    }

    /// Address and length of a piece.
    pub(super) fn piece_range(&self, id: u32) -> Result<(u32, u32), Error> {
        if id >= self.block.n_vocab {
            return Err(Error::NoSuchToken { id, n_vocab: self.block.n_vocab });
        }
        let address = self.vocab + 4 * id;
        let start = self.word(address)?;
        let end = self.word(address + 4)?;
        if start > end || end > self.pieces_len {
            return damaged("vocabulary offset", address, start);
        }
        Ok((self.vocab + start, end - start))
    }

    /// Compares a piece with a key whose length and first word are known.
    fn compare(&self, id: u32, key: &impl Key, key_len: u32, head: u32) -> Result<Order, Error> {
        let (address, len) = self.piece_range(id)?;
        let mut wanted = head;
        let mut done = 0;
        loop {
            let left = len - done;
            let mut found = 0;
            if left != 0 {
                // What lies behind the piece is read and masked away: at least the other tables stand there.
                found = self.word(address + done)?.swap_bytes();
                if left < 4 {
                    found &= !(u32::MAX >> (8 * left));
                }
            }
            if found < wanted {
                return Ok(Order::Less);
            }
            if found > wanted {
                return Ok(Order::Greater);
            }
            if left <= 4 || key_len <= done + 4 {
                break;
            }
            done += 4;
            wanted = key.word(done);
        }
        if len < key_len {
            return Ok(Order::Less);
        }
        Ok(if len > key_len { Order::Greater } else { Order::Equal })
    }
}

pub(super) fn damaged<T>(field: &'static str, address: u32, found: u32) -> Result<T, Error> {
    Err(Error::Damaged { field, address, found })
}
