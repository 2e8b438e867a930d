use core::fmt;

use crate::mem::Fault;

/// The receiver of the ids takes no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkFull;

/// Why a text was not tokenized, or a piece not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A table lies where memory cannot be read.
    Memory(Fault),
    /// A table contradicts itself; the image is damaged and must be made or loaded again.
    Damaged {
        /// What is wrong, by its name in the specification.
        field: &'static str,
        /// Where it stands.
        address: u32,
        /// What was found there.
        found: u32,
    },
    /// The text needs more scratch than there is.
    TextTooLong {
        /// Bytes of text that the scratch has room for.
        capacity: u32,
    },
    /// The receiver of the ids is full; the ids before it are those of the text's beginning.
    TooManyTokens {
        /// Ids that it took.
        taken: u32,
    },
    /// The id is not in the vocabulary.
    NoSuchToken {
        /// The id.
        id: u32,
        /// Tokens in the vocabulary.
        n_vocab: u32,
    },
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Memory(fault)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Memory(fault) => write!(f, "tokenizer tables: {fault}"),
            Self::Damaged { field, address, found } => {
                write!(f, "{field} at ${address:07X} is ${found:X}; the image is damaged, load or convert it again")
            }
            Self::TextTooLong { capacity } => write!(f, "text too long: there is room for {capacity} bytes"),
            Self::TooManyTokens { taken } => write!(f, "text too long: only {taken} tokens fit"),
            Self::NoSuchToken { id, n_vocab } => write!(f, "token {id} is not in the vocabulary of {n_vocab}"),
        }
    }
}

impl core::error::Error for Error {}
