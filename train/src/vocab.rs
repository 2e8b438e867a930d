//! The vocabulary: a SentencePiece-style table trained by byte pair encoding, and its encoder.
//!
//! Ids 0, 1, 2 are `<unk> <s> </s>`, 3..259 the byte tokens, then the merged pieces in the order they were learned
//! (score −0, −1, −2 …: all different, so that merging by score and merging by priority agree), then the single
//! characters of the text. Other printable characters are reached through the byte tokens.

use std::collections::{BTreeMap, HashMap};

/// The mark for a space, U+2581.
pub const SPACE: char = '\u{2581}';
/// Id of `<s>`, which begins every story.
pub const BOS: u32 = 1;
/// Id of `</s>`, which ends every story.
pub const EOS: u32 = 2;
const FIRST_PIECE: usize = 259;

/// A piece of the vocabulary, as GGUF stores it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Text with U+2581 for spaces.
    pub text: String,
    /// Merge priority: higher merges first.
    pub score: f32,
    /// GGUF token type: 1 normal, 2 unknown, 3 control, 6 byte.
    pub kind: u32,
}

/// Vocabulary with its look-up.
#[derive(Clone, Debug)]
pub struct Vocab {
    /// Pieces by id.
    pub pieces: Vec<Piece>,
    ids: HashMap<String, u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Mark,
}

/// The units within which pieces are learned: a run of letters or a run of marks, the space before it included.
fn units(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut last: Option<Class> = None;
    let mut space = false;
    for c in std::iter::once(' ').chain(text.chars()) {
        if c == ' ' {
            if space {
                out.push(SPACE.to_string());
            }
            (space, last) = (true, None);
            continue;
        }
        let class = if c.is_alphanumeric() { Class::Letter } else { Class::Mark };
        match out.last_mut() {
            Some(unit) if last == Some(class) && !space => unit.push(c),
            _ => {
                let mut unit = String::new();
                if space {
                    unit.push(SPACE);
                }
                unit.push(c);
                out.push(unit);
            }
        }
        (space, last) = (false, Some(class));
    }
    out
}

impl Vocab {
    /// A vocabulary from its pieces.
    pub fn new(pieces: Vec<Piece>) -> Self {
        let normal = pieces.iter().enumerate().filter(|(_, p)| p.kind == 1);
        let ids = normal.map(|(i, p)| (p.text.clone(), i as u32)).collect();
        Vocab { pieces, ids }
    }

    /// Learns `size` pieces from `lines`. Ties of frequency go to the pair that sorts first, so the result depends on
    /// the text alone.
    pub fn train<'a>(lines: impl Iterator<Item = &'a str>, size: usize) -> Self {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in lines {
            for unit in units(line) {
                *counts.entry(unit).or_default() += 1;
            }
        }
        let mut words: Vec<(Vec<String>, u64)> =
            counts.iter().map(|(w, n)| (w.chars().map(String::from).collect(), *n)).collect();
        let chars: std::collections::BTreeSet<String> = words.iter().flat_map(|w| w.0.iter().cloned()).collect();
        let mut pieces = special_pieces();
        let merges = size.saturating_sub(FIRST_PIECE + chars.len());
        let mut learned: Vec<String> = Vec::new();
        while learned.len() < merges {
            let mut pairs: BTreeMap<(&str, &str), u64> = BTreeMap::new();
            for (word, n) in &words {
                for pair in word.windows(2) {
                    if let [a, b] = pair {
                        *pairs.entry((a, b)).or_default() += n;
                    }
                }
            }
            let Some((a, b)) = pairs
                .iter()
                .max_by(|x, y| x.1.cmp(y.1).then_with(|| y.0.cmp(x.0)))
                .map(|((a, b), _)| ((*a).to_owned(), (*b).to_owned()))
            else {
                break;
            };
            let joined = format!("{a}{b}");
            for (word, _) in &mut words {
                let mut i = 0;
                while i + 1 < word.len() {
                    if word[i] == a && word[i + 1] == b {
                        word[i] = joined.clone();
                        word.remove(i + 1);
                    }
                    i += 1;
                }
            }
            // Another pair may have spelled the same piece already.
            if !learned.contains(&joined) {
                learned.push(joined);
            }
        }
        for text in learned.into_iter().chain(chars) {
            let score = -((pieces.len() - FIRST_PIECE) as f32);
            pieces.push(Piece { text, score, kind: 1 });
        }
        Vocab::new(pieces)
    }

    fn join(&self, a: &str, b: &str) -> Option<(String, f32)> {
        let joined = format!("{a}{b}");
        let id = *self.ids.get(&joined)?;
        let score = self.pieces.get(id as usize)?.score;
        Some((joined, score))
    }

    /// Ids of a text, without BOS: a space is put before it, characters without a piece become byte tokens, and the
    /// adjacent pair whose joined piece has the highest score is merged, leftmost first, until none is left.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        // No piece has a space inside, so words can be merged one by one.
        let mut out = Vec::new();
        let spaced = format!("{SPACE}{}", text.replace(' ', &SPACE.to_string()));
        let mut start = 0;
        let cuts = spaced.match_indices(SPACE).map(|m| m.0).skip(1).chain(std::iter::once(spaced.len()));
        for cut in cuts {
            self.encode_word(spaced.get(start..cut).unwrap_or(""), &mut out);
            start = cut;
        }
        out
    }

    fn encode_word(&self, word: &str, out: &mut Vec<u32>) {
        let mut parts: Vec<String> = word.chars().map(String::from).collect();
        loop {
            let mut best: Option<(usize, String, f32)> = None;
            for (i, pair) in parts.windows(2).enumerate() {
                if let [a, b] = pair
                    && let Some((joined, score)) = self.join(a, b)
                    && best.as_ref().is_none_or(|x| score > x.2)
                {
                    best = Some((i, joined, score));
                }
            }
            let Some((i, joined, _)) = best else { break };
            parts[i] = joined;
            parts.remove(i + 1);
        }
        for part in parts {
            match self.ids.get(&part) {
                Some(id) => out.push(*id),
                None => out.extend(part.bytes().map(|b| u32::from(b) + 3)),
            }
        }
    }

    /// Text of ids, the space before the first word removed; control tokens print nothing.
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for id in ids {
            match self.pieces.get(*id as usize) {
                Some(p) if p.kind == 1 => bytes.extend(p.text.replace(SPACE, " ").bytes()),
                Some(p) if p.kind == 6 => bytes.push((*id - 3) as u8),
                _ => {}
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.strip_prefix(' ').map(str::to_owned).unwrap_or(text)
    }
}

fn special_pieces() -> Vec<Piece> {
    let mut pieces: Vec<Piece> = [("<unk>", 2), ("<s>", 3), ("</s>", 3)]
        .into_iter()
        .map(|(text, kind)| Piece { text: text.to_owned(), score: 0.0, kind })
        .collect();
    pieces.extend((0..=255u8).map(|b| Piece { text: format!("<0x{b:02X}>"), score: 0.0, kind: 6 }));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{Split, story};

    fn sample() -> (Vec<String>, Vocab) {
        let lines: Vec<String> = (0..200).map(|i| story(3, Split::Train, i).unwrap().line()).collect();
        let vocab = Vocab::train(lines.iter().map(String::as_str), 512);
        (lines, vocab)
    }

    #[test]
    fn text_survives_the_round_trip_and_every_printable_character_is_reachable() {
        let (lines, vocab) = sample();
        assert_eq!(vocab.pieces.len(), 512);
        for line in &lines {
            assert_eq!(&vocab.decode(&vocab.encode(line)), line);
        }
        let all: String = (32..127u8).map(char::from).collect();
        assert_eq!(vocab.decode(&vocab.encode(&all)), all);
    }

    /// The rule of the image tokenizer: lowest priority over the whole text, leftmost on ties.
    fn by_priority(vocab: &Vocab, text: &str) -> Vec<u32> {
        let piece = |s: &str| vocab.pieces.iter().position(|p| p.kind == 1 && p.text.replace(SPACE, " ") == s);
        let mut order: Vec<usize> =
            (259..vocab.pieces.len()).filter(|i| vocab.pieces[*i].text.chars().count() > 1).collect();
        order.sort_by(|a, b| vocab.pieces[*b].score.total_cmp(&vocab.pieces[*a].score).then(a.cmp(b)));
        let mut parts: Vec<String> = format!(" {text}").chars().map(String::from).collect();
        loop {
            let ranks = parts.windows(2).enumerate().filter_map(|(i, p)| {
                let id = piece(&p.concat())?;
                Some((order.iter().position(|o| *o == id)?, i))
            });
            let Some((_, i)) = ranks.min() else { break };
            parts[i] = parts[i..i + 2].concat();
            parts.remove(i + 1);
        }
        parts.iter().map(|p| piece(p).map_or(u32::from(p.as_bytes()[0]) + 3, |i| i as u32)).collect()
    }

    #[test]
    fn merging_by_score_equals_merging_by_priority() {
        let (lines, vocab) = sample();
        for text in lines.iter().map(String::as_str).take(3).chain(["Tell me, 2 snails & a Qat?", "  \"--\" .", ""]) {
            assert_eq!(vocab.encode(text), by_priority(&vocab, text), "{text:?}");
        }
    }
}
