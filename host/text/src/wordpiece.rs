//! BERT's WordPiece: words by white space, punctuation and Han characters, each the longest pieces from its front.

use std::collections::HashMap;

use ssnail_shared::tokenizer::class;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory as C, UnicodeGeneralCategory};

use crate::imitate::Imitate;
use crate::letters::class_of;
use crate::pieces::{Kind, Pieces};

/// BERT gives up on longer words.
const MAX_WORD: usize = 100;

#[derive(Clone, Debug)]
pub(crate) struct WordPiece {
    ids: HashMap<Vec<u8>, u32>,
    longest: usize,
    lowercase: bool,
}

impl WordPiece {
    pub(crate) fn new(pieces: &Pieces) -> Self {
        let mut ids = HashMap::new();
        let mut longest = 0;
        let mut cased = false;
        for (id, kind) in pieces.kinds() {
            let piece = pieces.get(id);
            if matches!(kind, Kind::Normal) && !piece.is_empty() {
                longest = longest.max(piece.len());
                cased |= piece.iter().any(u8::is_ascii_uppercase);
                ids.entry(piece.to_vec()).or_insert(id);
            }
        }
        Self { ids, longest, lowercase: !cased }
    }

    /// Whether capitals are lower-cased and accents taken off; not so if the vocabulary has pieces with capitals.
    pub(crate) fn lowercase(&self) -> bool {
        self.lowercase
    }

    /// Tokenizes a stretch of text. Hands over ids, or none for a word that has no pieces.
    pub(crate) fn encode(&self, text: &str, pieces: &Pieces, imitate: Imitate, emit: &mut impl FnMut(Option<u32>)) {
        let text = self.normalise(text, imitate);
        let mut word = String::new();
        for c in text.chars() {
            let role = if imitate.words { reference_role(c) } else { role(c) };
            if role != Role::Word {
                self.word(&word, pieces, imitate, emit);
                word.clear();
            }
            if role != Role::Between {
                word.push(c);
            }
            if role == Role::Alone {
                self.word(&word, pieces, imitate, emit);
                word.clear();
            }
        }
        self.word(&word, pieces, imitate, emit);
    }

    fn normalise(&self, text: &str, imitate: Imitate) -> String {
        let kept = text.chars().filter(|&c| imitate.words || !is_absent(c));
        if !imitate.lowercase.unwrap_or(self.lowercase) {
            return kept.collect();
        }
        if imitate.no_normal_form {
            return kept.map(|c| c.to_ascii_lowercase()).collect();
        }
        kept.nfd().filter(|c| c.general_category() != C::NonspacingMark).flat_map(char::to_lowercase).collect()
    }

    fn word(&self, word: &str, pieces: &Pieces, imitate: Imitate, emit: &mut impl FnMut(Option<u32>)) {
        if word.is_empty() {
            return;
        }
        let found =
            if word.chars().count() > MAX_WORD && !imitate.words { None } else { self.split(word, pieces, imitate) };
        match found {
            Some(ids) => ids.into_iter().for_each(|id| emit(Some(id))),
            None => emit(None),
        }
    }

    fn split(&self, word: &str, pieces: &Pieces, imitate: Imitate) -> Option<Vec<u32>> {
        let key = format!(" {word}");
        let mut ids = Vec::new();
        let mut rest = key.as_bytes();
        while !rest.is_empty() {
            let most = rest.len().min(self.longest);
            let (id, len) = (1..=most).rev().find_map(|len| {
                let id = *self.ids.get(rest.get(..len)?)?;
                (!imitate.ascii_pieces || pieces.is_indexed(id)).then_some((id, len))
            })?;
            ids.push(id);
            rest = rest.get(len..)?;
        }
        Some(ids)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    Between,
    Alone,
}

fn role(c: char) -> Role {
    if c.is_whitespace() {
        Role::Between
    } else if c.is_ascii_punctuation() || class_of(c) & class::PUNCTUATION != 0 || is_han(c) {
        Role::Alone
    } else {
        Role::Word
    }
}

fn reference_role(c: char) -> Role {
    match c {
        '\t'..='\r' | ' ' => Role::Between,
        '_' | '0'..='9' | 'A'..='Z' | 'a'..='z' | '\u{80}'.. => Role::Word,
        _ => Role::Alone,
    }
}

/// Characters that BERT takes out before anything else.
fn is_absent(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => matches!(c.general_category(), C::Control | C::Format | C::PrivateUse | C::Surrogate),
    }
}

/// The blocks that BERT calls Chinese: ideographs, not kana or hangul.
fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}'
        | '\u{2b740}'..='\u{2b81f}'
        | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1f}')
}
