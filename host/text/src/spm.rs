//! SentencePiece's BPE: characters merged by the score of what they make.

use std::collections::HashMap;

use ssnail_gguf::Vocab;

use crate::imitate::Imitate;
use crate::merge::Row;
use crate::pieces::{Kind, Pieces};

/// No token.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Spm {
    ids: HashMap<Vec<u8>, u32>,
    longest: usize,
    /// Scores, so that a higher one is a lower number.
    ranks: Vec<u32>,
    bytes: [u32; 256],
    collapse: bool,
}

impl Spm {
    pub(crate) fn new(vocab: &Vocab<'_>, pieces: &Pieces) -> Self {
        let mut ids = HashMap::new();
        let mut bytes = [NONE; 256];
        let mut longest = 0;
        for (id, kind) in pieces.kinds() {
            let piece = pieces.get(id);
            match (kind, piece) {
                (Kind::Byte, &[byte]) => {
                    if let Some(entry) = bytes.get_mut(usize::from(byte)).filter(|entry| **entry == NONE) {
                        *entry = id;
                    }
                }
                (Kind::Normal | Kind::Added, [_, ..]) => {
                    longest = longest.max(piece.len());
                    ids.entry(piece.to_vec()).or_insert(id);
                }
                _ => {}
            }
        }
        let ranks = (0..pieces.len()).map(|id| rank(vocab.scores.get(id).copied().unwrap_or(0.0))).collect();
        Self { ids, longest, ranks, bytes, collapse: vocab.remove_extra_whitespaces == Some(true) }
    }

    /// Byte tokens that the vocabulary lacks.
    pub(crate) fn missing_bytes(&self) -> usize {
        self.bytes.iter().filter(|&&id| id == NONE).count()
    }

    /// Tokenizes a stretch of text; `spaced` puts a space before it. Hands over ids, or none for a byte without a token.
    pub(crate) fn encode(
        &self,
        text: &str,
        spaced: bool,
        pieces: &Pieces,
        imitate: Imitate,
        emit: &mut impl FnMut(Option<u32>),
    ) {
        let mut text = if spaced { format!(" {text}") } else { text.to_owned() };
        if !imitate.ascii_pieces {
            text = text.replace('\u{2581}', " ");
        }
        if self.collapse && !imitate.no_normal_form {
            text = collapse(&text, spaced);
        }
        let text = text.as_bytes();
        let known = |id: u32| !imitate.ascii_pieces || pieces.is_indexed(id);
        let lookup = |start: usize, end: usize| {
            let piece = text.get(start..end).filter(|piece| piece.len() <= self.longest)?;
            self.ids.get(piece).copied().filter(|&id| known(id))
        };
        let starts =
            (1..=text.len()).filter(|&at| imitate.ascii_pieces || text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80));
        let mut last = 0;
        let ends = starts.map(|end| {
            let start = std::mem::replace(&mut last, end);
            (end, lookup(start, end).unwrap_or(NONE))
        });
        let mut row = Row::new(ends);
        row.merge(|start, end, _, _| {
            let id = lookup(start, end)?;
            let rank = self.ranks.get(id as usize).copied()?;
            Some(((rank, if imitate.lower_id { id } else { 0 }), id))
        });
        for (start, end, id) in row.symbols() {
            if id != NONE {
                emit(Some(id));
                continue;
            }
            for &byte in text.get(start..end).unwrap_or(&[]) {
                let id = self.bytes.get(usize::from(byte)).copied();
                emit(id.filter(|&id| id != NONE));
            }
        }
    }
}

/// A number that is lower the higher the score is; NaN is the worst.
fn rank(score: f32) -> u32 {
    let bits = if score.is_nan() { f32::NEG_INFINITY.to_bits() } else { (score + 0.0).to_bits() };
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    !ordered
}

/// Runs of spaces become one, and none stay at the ends but the space put before the text.
fn collapse(text: &str, spaced: bool) -> String {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let joined = words.join(" ");
    if spaced && !joined.is_empty() { format!(" {joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_turn_the_order_of_scores_around() {
        let scores = [f32::INFINITY, 4.0, 1e-30, 0.0, -0.5, -1.0, -1e9, f32::NEG_INFINITY];
        let ranks: Vec<u32> = scores.iter().map(|&s| rank(s)).collect();
        assert!(ranks.is_sorted_by(|a, b| a < b));
        assert_eq!(rank(-0.0), rank(0.0));
        assert_eq!(rank(f32::NAN), rank(f32::NEG_INFINITY));
    }
}
