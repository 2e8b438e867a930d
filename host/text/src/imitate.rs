//! The known differences between an image's tokenizer and the model's own, each of which can be put on the latter.

use ssnail_shared::tokenizer::Split;

/// What the model's own tokenizer is to do as an image does; [`crate::check`] finds the smallest set that explains a
/// difference. All false and none is the real tokenizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imitate {
    /// BPE splits by this rule, not by the vocabulary's.
    pub split: Option<Split>,
    /// BPE merges by what is made, not by the pair that makes it.
    pub products: bool,
    /// BPE: a chunk that is a token as it stands is merged all the same.
    pub no_whole_chunks: bool,
    /// SentencePiece: of equal scores the lower id goes first, not the leftmost pair.
    pub lower_id: bool,
    /// SentencePiece: the text gets a space before it, or none, whatever the vocabulary wants.
    pub space: Option<bool>,
    /// Only pieces of printable ASCII, tabs and line feeds are known, and single bytes.
    pub ascii_pieces: bool,
    /// BPE drops carriage returns, other control characters and bytes outside ASCII before merging.
    pub drop_bytes: bool,
    /// Bytes without a token become this one, or nothing.
    pub missing: Option<Option<u32>>,
    /// WordPiece: `_` is part of words, control characters are words, and words may have any length.
    pub words: bool,
    /// Added tokens are not looked for in the text.
    pub no_added: bool,
    /// The text is not normalised.
    pub no_normal_form: bool,
    /// WordPiece lower-cases, or does not, whatever the vocabulary wants.
    pub lowercase: Option<bool>,
}
