//! The vocabulary as a whole: offsets that never fall, an index in the order that the search relies on, a byte table of
//! tokens that exist.

use super::tables::damaged;
use super::{Error, Tables};
use crate::header::NO_TOKEN;
use crate::mem::ReadMemory;

/// Longest piece, in bytes: the text of a token is shown without a pause.
pub const PIECE_MAX: u32 = 4096;

impl<M: ReadMemory + ?Sized> Tables<'_, M> {
    /// Reads every offset of the vocabulary and every piece of the index (specification, section 5): the pieces follow
    /// each other, none longer than [`PIECE_MAX`], and those of the index are in ascending order, none twice and none
    /// empty. Without that a search misses pieces, and a text becomes other tokens than it should, which nobody sees. The
    /// tokens of the byte table exist.
    ///
    /// # Errors
    /// The first entry that is wrong.
    #[inline(never)]
    pub fn check(&self) -> Result<(), Error> {
        match self.wrong()? {
            Some((field, address)) => damaged(field, address, self.word(address)?),
            None => Ok(()),
        }
    }

    /// The first entry that is wrong, and where it stands.
    fn wrong(&self) -> Result<Option<(&'static str, u32)>, Error> {
        let n = self.block.n_vocab;
        let mut least = 4 * (n + 1);
        let mut address = self.vocab;
        while address <= self.vocab + 4 * n {
            let offset = self.word(address)?;
            if offset < least || offset > self.pieces_len {
                return Ok(Some(("vocabulary offset", address)));
            }
            if offset - least > PIECE_MAX {
                return Ok(Some(("piece length", address)));
            }
            least = offset;
            address += 4;
        }
        let mut before = (self.vocab, self.vocab);
        address = self.block.index;
        while address < self.block.index + 4 * self.block.index_len {
            let id = self.word(address)?;
            if id >= n {
                return Ok(Some(("index entry", address)));
            }
            let entry = self.vocab + 4 * id;
            let piece = (self.vocab + self.word(entry)?, self.vocab + self.word(entry + 4)?);
            if !self.ascends(before, piece)? {
                return Ok(Some(("index order", address)));
            }
            before = piece;
            address += 4;
        }
        address = self.block.bytes;
        while address < self.block.bytes + 1024 {
            let id = self.word(address)?;
            if id >= n && id != NO_TOKEN {
                return Ok(Some(("byte table", address)));
            }
            address += 4;
        }
        Ok(None)
    }

    /// Whether the second piece, from the first to the second address, comes strictly after the first.
    fn ascends(&self, (mut a, a_end): (u32, u32), (mut b, b_end): (u32, u32)) -> Result<bool, Error> {
        while a != a_end && b != b_end {
            // Of a word its first byte: words are what memory gives fastest.
            let (x, y) = (self.word(a)? as u8, self.word(b)? as u8);
            if x != y {
                return Ok(x < y);
            }
            a += 1;
            b += 1;
        }
        Ok(b != b_end)
    }
}
