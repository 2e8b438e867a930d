//! The bytes of every token, and what kind of token it is (spec section 5).

use ssnail_gguf::{Vocab, token_type};

use crate::bytes;
use crate::tokenizer::Model;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Normal,
    /// Begin, end, unknown, padding: no text, and never made from typed text.
    Special,
    /// Matched in a text before it is tokenized.
    Added,
    /// SentencePiece: one byte, written `<0xNN>`.
    Byte,
}

/// Names that make a token special whatever its type says.
const SPECIAL: [&[u8]; 8] = [b"<s>", b"</s>", b"<unk>", b"[CLS]", b"[SEP]", b"[PAD]", b"[UNK]", b"[MASK]"];

/// The pieces of a vocabulary: bytes of every token, in one block.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    kinds: Vec<Kind>,
}

impl Pieces {
    /// Reads the pieces as `model` writes them.
    #[must_use]
    pub fn new(vocab: &Vocab<'_>, model: Model) -> Self {
        let mut pieces = Self::default();
        for (id, &text) in vocab.tokens.iter().enumerate() {
            let token_type = vocab.token_types.get(id).copied().unwrap_or(token_type::NORMAL);
            let (kind, piece) = Self::read(id, text, token_type, model);
            pieces.bytes.extend_from_slice(&piece);
            pieces.ends.push(pieces.bytes.len());
            pieces.kinds.push(kind);
        }
        pieces
    }

    fn read(id: usize, text: &[u8], token_type: i32, model: Model) -> (Kind, Vec<u8>) {
        let special = [token_type::UNKNOWN, token_type::CONTROL, token_type::UNUSED].contains(&token_type);
        if special || SPECIAL.contains(&text) {
            return (Kind::Special, Vec::new());
        }
        // Fillers that pad a vocabulary to the rows of its matrix are no text that anyone wants matched.
        let filler = text == format!("[PAD{id}]").as_bytes();
        let kind = if token_type == token_type::USER_DEFINED && !filler { Kind::Added } else { Kind::Normal };
        let utf8 = std::str::from_utf8(text);
        if model == Model::Bpe {
            return (kind, utf8.ok().and_then(bytes::bytes_of).unwrap_or_else(|| text.to_vec()));
        }
        if let (Model::Spm, Some(byte)) = (model, byte_token(text)) {
            return (Kind::Byte, vec![byte]);
        }
        (kind, utf8.map_or_else(|_| text.to_vec(), |text| text.replace('\u{2581}', " ").into_bytes()))
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a token; empty for special tokens and ids that there are none of.
    #[must_use]
    pub fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(id).and_then(|&end| self.bytes.get(start..end)).unwrap_or(&[])
    }

    /// What a token is for; none for ids outside the vocabulary.
    #[must_use]
    pub fn kind(&self, id: u32) -> Option<Kind> {
        self.kinds.get(id as usize).copied()
    }

    /// Ids and kinds of all tokens.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (u32, Kind)> + '_ {
        (0..).zip(self.kinds.iter().copied())
    }

    /// Whether an image's index may hold this token: text of printable ASCII, tabs and line feeds only.
    #[must_use]
    pub fn is_indexed(&self, id: u32) -> bool {
        let piece = self.get(id);
        let text = matches!(self.kind(id), Some(Kind::Normal | Kind::Added));
        text && !piece.is_empty() && piece.iter().copied().all(is_indexed_byte)
    }
}

/// Whether a byte can stand in an image's index.
pub(crate) const fn is_indexed_byte(byte: u8) -> bool {
    matches!(byte, 9 | 10 | 32..=126)
}

/// The byte of `<0xNN>`.
fn byte_token(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    if digits.len() != 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_as_each_model_writes_them() {
        let read = |text: &str, kind, model| Pieces::read(7, text.as_bytes(), kind, model);
        assert_eq!(read("Ġthe", 1, Model::Bpe), (Kind::Normal, b" the".to_vec()));
        assert_eq!(read("a b", 1, Model::Bpe), (Kind::Normal, b"a b".to_vec()));
        assert_eq!(read("<0x0A>", 1, Model::Spm), (Kind::Byte, b"\n".to_vec()));
        assert_eq!(read("<0xG0>", 1, Model::Spm), (Kind::Normal, b"<0xG0>".to_vec()));
        assert_eq!(read("<0x+1>", 6, Model::Spm), (Kind::Normal, b"<0x+1>".to_vec()));
        assert_eq!(read("▁a", 1, Model::WordPiece), (Kind::Normal, b" a".to_vec()));
        assert_eq!(read("<s>", 1, Model::Spm), (Kind::Special, vec![]));
        assert_eq!(read("<|x|>", 3, Model::Bpe), (Kind::Special, vec![]));
        assert_eq!(read("<|x|>", 4, Model::Bpe), (Kind::Added, b"<|x|>".to_vec()));
        assert_eq!(read("[PAD7]", 4, Model::Bpe), (Kind::Normal, b"[PAD7]".to_vec()));
    }
}
