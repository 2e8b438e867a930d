//! The text of tokens: what a token prints, and which texts are looked up.

use std::collections::HashMap;

use ssnail_gguf::{Vocab, token_type};
use ssnail_shared::header::TokenizerKind;

/// U+2581, which SentencePiece and WordPiece vocabularies write for a space.
const SPACE_MARK: &[u8] = "\u{2581}".as_bytes();
/// Texts that are special whatever their type says.
const SPECIAL: [&[u8]; 8] = [b"<s>", b"</s>", b"<unk>", b"[CLS]", b"[SEP]", b"[PAD]", b"[UNK]", b"[MASK]"];
/// Tokens that stand for no text.
pub(crate) fn special(vocab: &Vocab<'_>, id: usize) -> bool {
    let by_type =
        matches!(vocab.token_types.get(id), Some(&(token_type::UNKNOWN | token_type::CONTROL | token_type::UNUSED)));
    by_type || SPECIAL.contains(&vocab.tokens[id])
}

/// The bytes that a token prints.
pub(crate) fn piece(kind: TokenizerKind, token: &[u8], unmap: &HashMap<char, u8>) -> Vec<u8> {
    match kind {
        TokenizerKind::Bpe => mapped(token, unmap).unwrap_or_else(|| token.to_vec()),
        TokenizerKind::Spm => match byte_token(token) {
            Some(byte) => vec![byte],
            None => spaces(token),
        },
        TokenizerKind::WordPiece => spaces(token),
    }
}

/// The byte of a token written `<0xNN>`.
pub(crate) fn byte_token(token: &[u8]) -> Option<u8> {
    let digits = token.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    if digits.len() != 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A copy with every space mark replaced by a space.
fn spaces(token: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(token.len());
    let mut rest = token;
    while let Some((&first, tail)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(SPACE_MARK) {
            out.push(b' ');
            rest = after;
        } else {
            out.push(first);
            rest = tail;
        }
    }
    out
}

/// The bytes behind GPT-2's printable characters; `None` if one of them is no such character.
pub(crate) fn mapped(token: &[u8], unmap: &HashMap<char, u8>) -> Option<Vec<u8>> {
    std::str::from_utf8(token).ok()?.chars().map(|c| unmap.get(&c).copied()).collect()
}

/// GPT-2's character of each byte, inverted: printable Latin-1 stands for itself, the 68 others are
/// numbered from U+0100.
pub(crate) fn byte_map() -> HashMap<char, u8> {
    let mut next = 0x100;
    (0..=255u8)
        .map(|byte| {
            let itself = matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
            let c = if itself {
                char::from(byte)
            } else {
                next += 1;
                char::from_u32(next - 1).unwrap_or('?')
            };
            (c, byte)
        })
        .collect()
}

/// Only texts that a keyboard of the machine can type are looked up.
pub(crate) fn in_index(piece: &[u8]) -> bool {
    !piece.is_empty() && piece.iter().all(|b| matches!(b, 9 | 10 | 32..=126))
}
