//! Errors: which key or tensor, at which byte, and why.

use std::fmt;
use std::path::PathBuf;

use crate::value::ValueType;

/// What a complaint is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The fixed 24 bytes at the start of the file.
    Header,
    /// A metadata key, by name.
    Key(String),
    /// A metadata entry whose name is not known yet, counted from 0.
    Entry(u64),
    /// A tensor, by name.
    Tensor(String),
    /// A tensor whose name is not known yet, counted from 0.
    TensorEntry(u64),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Header => write!(f, "header"),
            Item::Key(name) => write!(f, "key {}", name.escape_debug()),
            Item::Entry(n) => write!(f, "metadata entry {n}"),
            Item::Tensor(name) => write!(f, "tensor {}", name.escape_debug()),
            Item::TensorEntry(n) => write!(f, "tensor entry {n}"),
        }
    }
}

/// Why a GGUF file, or a request to it, is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused the file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An error of [`Error::Malformed`] and the like, with the file it is about.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<Error>,
    },
    /// The bytes are not a GGUF file, or not one that can be read here.
    #[error("{item}, byte {offset}: {reason}")]
    Malformed {
        /// Which part of the file.
        item: Item,
        /// Where in the file, counted from its start.
        offset: u64,
        /// What was found and what was expected.
        reason: String,
    },
    /// Only a prefix of the file was given, and it ends before the header does.
    #[error("{item}, byte {offset}: the first {have} bytes do not hold the whole header; at least {need} are needed")]
    PrefixTooShort {
        /// Which part of the header was being read.
        item: Item,
        /// Where.
        offset: u64,
        /// Bytes given.
        have: u64,
        /// A lower bound of the bytes needed to get further.
        need: u64,
    },
    /// The weights were asked for, but only a prefix of the file without them was given.
    #[error("tensor {name}: its data, bytes {start} to {end}, is not in the part of the file that was read")]
    DataNotLoaded {
        /// The tensor.
        name: String,
        /// First byte of its data in the file.
        start: u64,
        /// One past its last byte.
        end: u64,
    },
    /// A key that is needed is absent.
    #[error("key {key} is missing: the metadata ends at byte {end} without it")]
    MissingKey {
        /// The key.
        key: String,
        /// One past the last byte of the metadata.
        end: u64,
    },
    /// A key holds a value of another type than is needed.
    #[error("key {key}, byte {offset}: {expected} expected, {found} found")]
    WrongType {
        /// The key.
        key: String,
        /// Where its value begins in the file.
        offset: u64,
        /// What was needed, in words.
        expected: &'static str,
        /// The type in the file.
        found: ValueType,
    },
    /// A key holds a number or text that does not fit where it is needed.
    #[error("key {key}, byte {offset}: {reason}")]
    BadValue {
        /// The key.
        key: String,
        /// Where its value begins in the file.
        offset: u64,
        /// What was found and what was expected.
        reason: String,
    },
    /// A tensor that is needed is absent.
    #[error("tensor {name} is missing")]
    MissingTensor {
        /// The tensor.
        name: String,
    },
}

impl Error {
    /// How many bytes of the file would be needed to read further, when only a prefix was given.
    ///
    /// A lower bound; the next attempt may ask for more.
    pub fn bytes_needed(&self) -> Option<u64> {
        match self {
            Error::PrefixTooShort { need, .. } => Some(*need),
            Error::InFile { source, .. } => source.bytes_needed(),
            _ => None,
        }
    }
}
