//! The vocabulary of a file: the `tokenizer.ggml.*` keys in one place.

use crate::error::Error;
use crate::file::Gguf;

/// Values of `tokenizer.ggml.token_type`.
pub mod token_type {
    /// Ordinary text.
    pub const NORMAL: i32 = 1;
    /// The token for what the vocabulary cannot say.
    pub const UNKNOWN: i32 = 2;
    /// Begin, end and the like: never made from typed text.
    pub const CONTROL: i32 = 3;
    /// Added by hand; matched before the tokenizer runs.
    pub const USER_DEFINED: i32 = 4;
    /// Not used.
    pub const UNUSED: i32 = 5;
    /// One byte, written `<0xNN>`.
    pub const BYTE: i32 = 6;
}

/// The vocabulary and the settings of the tokenizer, borrowed from the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vocab<'g> {
    /// `tokenizer.ggml.model`: `llama` (SentencePiece), `gpt2` (byte pairs), `bert` (WordPiece), …
    pub model: Option<&'g str>,
    /// `tokenizer.ggml.pre`: how text is split before byte pairs are merged.
    pub pre: Option<&'g str>,
    /// The text of every token, as bytes; not always UTF-8, empty and repeated ones occur.
    pub tokens: Vec<&'g [u8]>,
    /// [`token_type`] of every token; empty if the file has none.
    pub token_types: Vec<i32>,
    /// Score of every token; empty if the file has none.
    pub scores: Vec<f32>,
    /// Merges `left right`, best first; empty if the file has none.
    pub merges: Vec<&'g [u8]>,
    /// Begin of text.
    pub bos: Option<u32>,
    /// End of text.
    pub eos: Option<u32>,
    /// End of turn.
    pub eot: Option<u32>,
    /// Unknown.
    pub unknown: Option<u32>,
    /// Separator; the key is spelled `seperator_token_id` in GGUF.
    pub separator: Option<u32>,
    /// Classification token of BERT.
    pub cls: Option<u32>,
    /// Padding.
    pub padding: Option<u32>,
    /// Mask of BERT.
    pub mask: Option<u32>,
    /// Whether text begins with `bos`.
    pub add_bos: Option<bool>,
    /// Whether text ends with `eos`.
    pub add_eos: Option<bool>,
    /// Whether a space is put before the text (SentencePiece).
    pub add_space_prefix: Option<bool>,
    /// Whether runs of spaces are shortened (SentencePiece).
    pub remove_extra_whitespaces: Option<bool>,
    /// `tokenizer.chat_template`, as bytes.
    pub chat_template: Option<&'g [u8]>,
}

impl Gguf<'_> {
    /// Reads the vocabulary. A file without one gives empty lists.
    ///
    /// # Errors
    /// A key of the wrong type, or lists of types and scores that are not as long as that of the tokens.
    pub fn vocab(&self) -> Result<Vocab<'_>, Error> {
        let tokens = self.strings("tokenizer.ggml.tokens")?.unwrap_or_default();
        let token_types = self
            .list("tokenizer.ggml.token_type", "an array of integers", |a| a.integers())?
            .unwrap_or_default()
            .into_iter()
            .map(|t| i32::try_from(t).unwrap_or(0))
            .collect::<Vec<_>>();
        let scores = self
            .list("tokenizer.ggml.scores", "an array of floating-point numbers", |a| a.floats())?
            .unwrap_or_default();
        let same_length = |key: &str, len: usize| {
            if len == 0 || len == tokens.len() {
                return Ok(());
            }
            Err(self.bad_value(key, format!("{len} elements for {} tokens", tokens.len())))
        };
        same_length("tokenizer.ggml.token_type", token_types.len())?;
        same_length("tokenizer.ggml.scores", scores.len())?;
        Ok(Vocab {
            model: self.str("tokenizer.ggml.model")?,
            pre: self.str("tokenizer.ggml.pre")?,
            merges: self.strings("tokenizer.ggml.merges")?.unwrap_or_default(),
            bos: self.u32("tokenizer.ggml.bos_token_id")?,
            eos: self.u32("tokenizer.ggml.eos_token_id")?,
            eot: self.u32("tokenizer.ggml.eot_token_id")?,
            unknown: self.u32("tokenizer.ggml.unknown_token_id")?,
            separator: self.u32("tokenizer.ggml.seperator_token_id")?,
            cls: self.u32("tokenizer.ggml.cls_token_id")?,
            padding: self.u32("tokenizer.ggml.padding_token_id")?,
            mask: self.u32("tokenizer.ggml.mask_token_id")?,
            add_bos: self.bool("tokenizer.ggml.add_bos_token")?,
            add_eos: self.bool("tokenizer.ggml.add_eos_token")?,
            add_space_prefix: self.bool("tokenizer.ggml.add_space_prefix")?,
            remove_extra_whitespaces: self.bool("tokenizer.ggml.remove_extra_whitespaces")?,
            chat_template: self.bytes("tokenizer.chat_template")?,
            tokens,
            token_types,
            scores,
        })
    }

    /// A list of byte strings.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is not an array of strings.
    pub fn strings(&self, key: &str) -> Result<Option<Vec<&[u8]>>, Error> {
        let Some(array) = self.array(key)? else {
            return Ok(None);
        };
        if let Some(list) = array.strings() {
            return Ok(Some(list));
        }
        Err(Error::WrongType {
            key: key.to_owned(),
            offset: self.entry(key).map_or(0, |e| e.at),
            expected: "an array of strings",
            found: array.element_type(),
        })
    }
}
