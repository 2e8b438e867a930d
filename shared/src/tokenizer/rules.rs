//! Where the image tokenizer may be better than the reference tools.

use crate::header::TokenizerKind;

/// What becomes of characters outside ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonAscii {
    /// Each becomes a question mark.
    Question,
    /// Each is folded as the display folds it ([`crate::fold`]): typed quotes and accented letters keep their meaning.
    Fold,
    /// Their UTF-8 bytes are looked up; a byte without a token in the byte table is searched for among the first pieces.
    /// WordPiece, which has no tokens for bytes, folds: the accents that it takes off are most of what it loses.
    Bytes,
}

impl NonAscii {
    /// The choice that a kind of tokenizer can follow.
    #[must_use]
    pub const fn for_kind(self, kind: TokenizerKind) -> Self {
        match (self, kind) {
            (Self::Bytes, TokenizerKind::WordPiece) => Self::Fold,
            (choice, _) => choice,
        }
    }
}

/// The choices that the recorded vectors leave open, or that a caller may make against them.
///
/// [`Rules::REFERENCE`] gives the reference tools' ids, byte for byte; [`Rules::REAL`] comes as close to the model's own
/// tokenizer as the tables of an image allow. What neither can mend stays: equal SentencePiece scores (the image merges
/// the lower id, really it is the leftmost pair), BPE pairs whose product another pair makes too, and pieces with
/// characters outside ASCII, which the sorted index does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// SentencePiece: a text that goes on from another gets a space before it, like the first one.
    pub space_on_later: bool,
    /// SentencePiece: an empty text still is its space.
    pub space_on_empty: bool,
    /// Characters outside ASCII.
    pub non_ascii: NonAscii,
    /// Bytes without an entry in the byte table (carriage return and the other controls in BPE) are searched for among
    /// the first pieces, and become the unknown token or `?` where there is none ([`super::Tables::substitute`]);
    /// otherwise they are dropped.
    pub keep_bytes: bool,
    /// GPT-2's rule is the true one: `\n\n` before a word is two chunks.
    pub true_split: bool,
    /// WordPiece as BERT has it: `_` is punctuation, control characters are not there, and a word of more than 100
    /// characters is unknown.
    pub true_words: bool,
}

impl Rules {
    /// As the reference tools tokenize.
    pub const REFERENCE: Self = Self {
        space_on_later: true,
        space_on_empty: true,
        non_ascii: NonAscii::Question,
        keep_bytes: false,
        true_split: false,
        true_words: false,
    };

    /// As the model's own tokenizer does, as far as the tables reach.
    pub const REAL: Self = Self {
        space_on_later: false,
        space_on_empty: false,
        non_ascii: NonAscii::Bytes,
        keep_bytes: true,
        true_split: true,
        true_words: true,
    };

    /// For text typed by a person: [`Rules::REAL`], with other characters folded to ASCII, which small models know best.
    pub const TYPED: Self = Self { non_ascii: NonAscii::Fold, ..Self::REAL };
}
