//! The tokenizers of GGUF vocabularies: SentencePiece, byte-level BPE and WordPiece, as the models were trained with.
//!
//! [`Tokenizer::new`] takes a [`ssnail_gguf::Vocab`]; [`Tokenizer::encode`] gives ids, [`Tokenizer::decode`] bytes. The
//! rules for splitting text are those of [`ssnail_shared::tokenizer::Split`], here over all of Unicode. [`check`] compares
//! the tokenizer of an image with that of the file that it was made from, and says where they differ and why.
//!
//! This crate runs on the PC only.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod added;
mod bpe;
mod bytes;
pub mod check;
mod imitate;
mod letters;
mod merge;
mod pieces;
mod pre;
mod spm;
mod tokenizer;
mod wordpiece;

pub use imitate::Imitate;
pub use letters::chunks;
pub use pieces::{Kind, Pieces};
pub use pre::{PreTokenizer, pre_tokenizer};
pub use tokenizer::{Encoding, Error, Model, Options, Tokenizer, Warning};
