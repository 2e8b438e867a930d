//! The vocabulary of an image: from text to ids and back, by the tables that the MEGA65 uses as well.

use crate::exit::refused;
use anyhow::Result;
use ssnail_shared::header::Header;
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::tokenizer::{Encoded, Error, Place, Rules, Tables, WORDS_PER_BYTE, encode};
use std::fmt::Display;

/// Bytes that a text may grow by before it is looked up: SentencePiece's space, folded characters.
const ROOM: usize = 16;
/// Folding makes at most this many bytes of one.
const GROWTH: usize = 4;

/// The bytes of the tokens of a vocabulary, one after the other.
#[derive(Debug, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Pieces {
    /// Bytes of a token; none for control tokens and ids without a token.
    pub fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = id.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(id).copied());
        range.and_then(|(start, end)| self.bytes.get(start..end)).unwrap_or_default()
    }
}

/// The tables of an image that lies in `memory`.
pub struct Vocabulary<'m, M> {
    tables: Tables<'m, M>,
    /// Of the image, for messages.
    name: &'m str,
}

impl<'m, M: ReadMemory> Vocabulary<'m, M> {
    /// Finds and checks the tables of the image called `name`.
    ///
    /// # Errors
    /// A refusal that names the image and the damaged field.
    pub fn open(memory: &'m M, header: &Header, name: &'m str) -> Result<Self> {
        let tables = Tables::open(memory, header).and_then(|tables| tables.check().map(|()| tables));
        Ok(Self { tables: tables.map_err(|error| damaged(name, error))?, name })
    }

    /// Ids of a text, and the bytes that no token stands for.
    ///
    /// # Errors
    /// A refusal where a table is damaged.
    pub fn encode(&mut self, text: &[u8], place: Place, rules: Rules) -> Result<(Vec<u32>, Encoded)> {
        let slots = text.len().saturating_mul(GROWTH) + ROOM;
        let mut scratch = vec![0; slots * WORDS_PER_BYTE as usize];
        let mut ids = Vec::new();
        let encoded = encode(&mut self.tables, text, place, rules, scratch.as_mut_slice(), |id| {
            ids.push(id);
            Ok(())
        });
        Ok((ids, encoded.map_err(|error| damaged(self.name, error))?))
    }

    /// Bytes of a token; none for control tokens and for rows of the matrix that have no token.
    ///
    /// # Errors
    /// A refusal where a table is damaged.
    pub fn piece(&self, id: u32) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.tables.piece(id, |part| bytes.extend_from_slice(part)) {
            Ok(()) | Err(Error::NoSuchToken { .. }) => Ok(bytes),
            Err(error) => Err(damaged(self.name, error)),
        }
    }

    /// The bytes of every token, read once.
    ///
    /// # Errors
    /// A refusal where a table is damaged, or its pieces overlap (a small file could fill any memory that way).
    pub fn pieces(&self, header: &Header) -> Result<Pieces> {
        let mut pieces = Pieces::default();
        for id in 0..header.n_vocab {
            let piece = self.piece(id)?;
            pieces.bytes.extend_from_slice(&piece);
            if pieces.bytes.len() > header.payload_len as usize {
                let why = format!(
                    "vocabulary table at ${:07X}: its pieces overlap at token {id}; the image is damaged, convert it again",
                    header.vocab
                );
                return Err(damaged(self.name, why));
            }
            pieces.ends.push(pieces.bytes.len());
        }
        Ok(pieces)
    }

    /// Text of some tokens; bytes that are no characters become U+FFFD.
    ///
    /// # Errors
    /// As [`Vocabulary::piece`].
    pub fn text(&self, ids: &[u32]) -> Result<String> {
        let mut bytes = Vec::new();
        for &id in ids {
            bytes.extend(self.piece(id)?);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn damaged(name: &str, error: impl Display) -> anyhow::Error {
    refused(format_args!("{name}: {error}"))
}
