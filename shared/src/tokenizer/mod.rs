//! The image tokenizers (spec sections 5 and 12): SentencePiece, byte-level BPE and WordPiece over the tables of an image.
//!
//! [`Tables::open`] checks where the tables are; [`encode`] turns a text into ids, using a caller's [`Scratch`] of
//! [`WORDS_PER_BYTE`] words for each byte of text; [`Tables::piece`] gives the bytes of an id. Every word read from a
//! table is checked before it is used, so a damaged image gives an [`Error`] that names the field.
//! What no single word shows, an index out of order, is looked for once, by [`Tables::check`].
//!
//! Pairs are looked up once when they become neighbours, and the best pair is kept at the root of a tournament tree:
//! about three look-ups and three walks up the tree for each byte of text, whatever the text.

mod check;
mod encode;
mod error;
mod merge;
mod rules;
mod scratch;
mod split;
mod stage;
mod tables;
mod wordpiece;

pub use check::PIECE_MAX;
pub use encode::{Encoded, Place, encode};
pub use error::{Error, SinkFull};
pub use rules::{NonAscii, Rules};
pub use scratch::{FarScratch, Scratch, WORDS_PER_BYTE};
pub use split::{Letter, Letters, Split, Splitter, class};
pub use tables::Tables;
