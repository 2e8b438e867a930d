//! Tokens that are looked for in a text before it is tokenized.

use std::collections::HashMap;

use ssnail_gguf::Vocab;

use crate::pieces::{Kind, Pieces};

/// A stretch of a text that is tokenized, or a token that stood in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    Text(&'t str),
    Token(u32),
}

/// The texts to look for, by first byte, the longest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    texts: HashMap<u8, Vec<(Vec<u8>, u32, bool)>>,
}

impl Added {
    pub(crate) fn new(vocab: &Vocab<'_>, pieces: &Pieces) -> Self {
        let mut texts: HashMap<u8, Vec<_>> = HashMap::new();
        for ((id, kind), &text) in pieces.kinds().zip(&vocab.tokens) {
            let special = match kind {
                Kind::Special => true,
                Kind::Added => false,
                _ => continue,
            };
            if let (Some(&first), Ok(_)) = (text.first(), std::str::from_utf8(text)) {
                texts.entry(first).or_default().push((text.to_vec(), id, special));
            }
        }
        for list in texts.values_mut() {
            list.sort_by_key(|(text, id, _)| (std::cmp::Reverse(text.len()), *id));
        }
        Self { texts }
    }

    /// Takes a text apart; special tokens are found only if `special`.
    pub(crate) fn parts<'t>(&self, text: &'t str, special: bool) -> Vec<Part<'t>> {
        let mut parts = Vec::new();
        let bytes = text.as_bytes();
        let mut start = 0;
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let candidates = rest.first().and_then(|first| self.texts.get(first)).map_or(&[][..], Vec::as_slice);
            let found =
                candidates.iter().find(|(token, _, is_special)| (special || !is_special) && rest.starts_with(token));
            match found {
                Some((token, id, _)) => {
                    parts.extend(text.get(start..at).filter(|t| !t.is_empty()).map(Part::Text));
                    parts.push(Part::Token(*id));
                    at += token.len();
                    start = at;
                }
                None => at += 1,
            }
        }
        parts.extend(text.get(start..).filter(|t| !t.is_empty()).map(Part::Text));
        parts
    }
}
