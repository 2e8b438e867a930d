//! GGUF reader, safe on hostile input, and a small writer.
//!
//! [`Gguf::open`] maps a file into memory, reads its header (metadata and tensor directory) and checks it
//! completely: after that, keys are looked up by type ([`Gguf::u32`], [`Gguf::str`] and so on), the
//! vocabulary is read with [`Gguf::vocab`] and weights are slices of the file ([`Gguf::data`]).
//! Versions 2 and 3 are read, with any valid alignment. No length in a file is trusted: nothing is
//! allocated for it before the bytes are known to be there. Every refusal names the key or tensor, the byte
//! and the reason.
//!
//! [`Gguf::parse`] reads from memory; [`Gguf::parse_prefix`] reads the header from the first part of a
//! file, whose weights may be elsewhere. [`GgufWriter`] writes version 3.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod cursor;
mod error;
mod file;
mod map;
mod meta;
mod parse;
mod stream;
mod tensor;
mod value;
mod vocab;
mod write;

pub use error::{Error, Item};
pub use file::Gguf;
pub use stream::{read_bounded, read_to_limit};
pub use tensor::{MAX_DIMS, TensorInfo};
pub use value::{Array, ArrayIter, Value, ValueType};
pub use vocab::{Vocab, token_type};
pub use write::{GgufWriter, OwnedValue};
