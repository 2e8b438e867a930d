//! The image tokenizers against recorded ids and against a plain implementation of the rule.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::HashMap;

use common::{Image, Vocabulary};
use proptest::prelude::*;
use ssnail_shared::header::{TOKENIZER_LOWERCASE, TOKENIZER_NO_SPACE_PREFIX, TOKENIZER_WIDE, TokenizerKind};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::tokenizer::{
    Encoded, Error, FarScratch, Letter, Letters, NonAscii, Place, Rules, SinkFull, Split, Splitter, Tables,
    WORDS_PER_BYTE, encode,
};

fn ids_and_count(image: &Image, text: &[u8], place: Place, rules: Rules) -> (Vec<u32>, Encoded) {
    let mut tables = Tables::open(&image.memory, &image.header).unwrap();
    let mut scratch = vec![0; (text.len() * 4 + 8) * WORDS_PER_BYTE as usize];
    let mut ids = Vec::new();
    let made = encode(&mut tables, text, place, rules, &mut scratch[..], |id| {
        ids.push(id);
        Ok(())
    })
    .unwrap();
    assert_eq!(made.tokens as usize, ids.len());
    (ids, made)
}

fn ids(image: &Image, text: &str, place: Place, rules: Rules) -> Vec<u32> {
    ids_and_count(image, text.as_bytes(), place, rules).0
}

#[test]
fn recorded_ids_of_the_vectors() {
    let images =
        [("spm", "llama_q4_0"), ("bpe", "gpt2_q4_0"), ("bpe_whitespace", "tok_gpt2_ws"), ("wordpiece", "bert_q4_0")];
    for (name, image) in images {
        let Some(vectors) = common::json(&format!("vectors/tok/{name}.json")) else { return };
        let Some(image) = Image::load(&format!("vectors/images/{image}.ssnail")) else { return };
        let tables = Tables::open(&image.memory, &image.header).unwrap();
        assert_eq!(u64::from(tables.block().index_len), vectors["n_index"].as_u64().unwrap());
        for case in vectors["cases"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            for (place, key) in [(Place::First, "image_first"), (Place::Later, "image_more")] {
                let wanted: Vec<u32> =
                    case[key].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect();
                assert_eq!(ids(&image, text, place, Rules::REFERENCE), wanted, "{name} {key} {text:?}");
            }
        }
    }
}

struct Ascii<'t>(&'t [u8]);

impl Letters for Ascii<'_> {
    type Error = std::convert::Infallible;

    fn letter(&mut self, at: u32) -> Result<Letter, Self::Error> {
        Ok(Letter::ascii(self.0[at as usize]))
    }
}

fn chunks(split: Split, text: &str) -> Vec<String> {
    let mut splitter = Splitter::new(split, text.len() as u32);
    let mut out = Vec::new();
    while let Ok(Some((a, b))) = splitter.next(&mut Ascii(text.as_bytes())) {
        out.push(text[a as usize..b as usize].to_owned());
    }
    out
}

#[test]
fn recorded_chunks_of_the_reference_rule() {
    let Some(vectors) = common::json("vectors/tok/gpt2_chunks.json") else { return };
    for case in vectors.as_array().unwrap() {
        let text: String = case["text"].as_str().unwrap().chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
        let wanted: Vec<&str> = case["chunks"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        assert_eq!(chunks(Split::Reference, &text), wanted, "{text:?}");
    }
}

#[test]
fn a_blank_line_before_a_word_is_where_the_reference_differs_from_gpt2() {
    assert_eq!(chunks(Split::Reference, "the\n\ncat"), ["the", "\n\n", "cat"]);
    assert_eq!(chunks(Split::Gpt2, "the\n\ncat"), ["the", "\n", "\n", "cat"]);
    assert_eq!(chunks(Split::Digits, "in 2024  7"), ["in", " ", "2", "0", "2", "4", "  ", "7"]);
    assert_eq!(chunks(Split::Qwen2, "a\n\n b (c)\n12"), ["a", "\n\n", " b", " (", "c", ")\n", "1", "2"]);
    assert_eq!(chunks(Split::Llama3, "I'M 1234"), ["I", "'M", " ", "123", "4"]);
}

/// Merging as the specification words it, with a search over all pairs for every step.
fn plain_merge(pieces: &HashMap<Vec<u8>, (u32, u32)>, text: &[u8], bytes: impl Fn(u8) -> Option<u32>) -> Vec<u32> {
    let mut symbols: Vec<(Vec<u8>, u32)> = text.iter().filter_map(|&b| Some((vec![b], bytes(b)?))).collect();
    loop {
        let mut best: Option<(u32, usize, u32)> = None;
        for i in 1..symbols.len() {
            let joined = [&symbols[i - 1].0[..], &symbols[i].0[..]].concat();
            let Some(&(id, priority)) = pieces.get(&joined) else { continue };
            if best.is_none_or(|(p, ..)| priority < p) {
                best = Some((priority, i, id));
            }
        }
        let Some((_, i, id)) = best else { return symbols.into_iter().map(|s| s.1).collect() };
        let (right, _) = symbols.remove(i);
        symbols[i - 1].0.extend(right);
        symbols[i - 1].1 = id;
    }
}

/// Pieces over a few letters, with priorities of which some are equal and some absent.
fn vocabulary(kind: TokenizerKind) -> impl Strategy<Value = Vocabulary> {
    let piece = ("[ abc]{1,6}", prop::option::weighted(0.8, 0..20u32));
    (prop::collection::vec(piece, 0..40), any::<bool>()).prop_map(move |(pieces, wide)| {
        let texts: Vec<&str> = [" ", "a", "b"].into_iter().chain(pieces.iter().map(|p| p.0.as_str())).collect();
        let mut vocabulary = Vocabulary::new(kind, &texts);
        vocabulary.priorities = [None; 3].into_iter().chain(pieces.iter().map(|p| p.1)).collect();
        if wide {
            vocabulary.flags = TOKENIZER_WIDE;
        }
        vocabulary
    })
}

proptest! {
    #![proptest_config(common::properties())]

    #[test]
    fn merging_equals_the_plain_rule(vocabulary in vocabulary(TokenizerKind::Spm), text in "[ abc]{0,40}") {
        let image = vocabulary.image();
        let sorted = vocabulary.sorted();
        let pieces: HashMap<Vec<u8>, (u32, u32)> = sorted
            .iter()
            .filter_map(|&id| Some((vocabulary.pieces[id as usize].clone(), (id, vocabulary.priorities[id as usize]?))))
            .collect();
        let byte = |b: u8| sorted.iter().copied().find(|&id| vocabulary.pieces[id as usize] == [b]);
        let wanted = plain_merge(&pieces, format!(" {text}").as_bytes(), byte);
        prop_assert_eq!(ids(&image, &text, Place::First, Rules::REFERENCE), wanted);
    }

    #[test]
    fn longest_prefixes_equal_the_plain_rule(vocabulary in vocabulary(TokenizerKind::WordPiece), word in "[abc]{1,12}") {
        let image = vocabulary.image();
        let sorted = vocabulary.sorted();
        let key = format!(" {word}");
        let mut wanted = Vec::new();
        let mut at = 0;
        while at < key.len() {
            let longest = sorted.iter().filter(|&&id| key.as_bytes()[at..].starts_with(&vocabulary.pieces[id as usize]));
            match longest.max_by_key(|&&id| vocabulary.pieces[id as usize].len()) {
                Some(&id) => {
                    at += vocabulary.pieces[id as usize].len();
                    wanted.push(id);
                }
                None => {
                    wanted = vec![0];
                    break;
                }
            }
        }
        prop_assert_eq!(ids(&image, &word, Place::First, Rules::REFERENCE), wanted);
    }

    #[test]
    fn far_scratch_gives_the_same_ids(vocabulary in vocabulary(TokenizerKind::Bpe), text in "[ abc]{0,40}") {
        let image = vocabulary.image();
        let mut tables = Tables::open(&image.memory, &image.header).unwrap();
        let mut far = SliceMemory::new(0x4_0000, vec![0xa5u8; 4 * 6 * 64]);
        let mut scratch = FarScratch::new(&mut far, 0x4_0000, 6 * 64);
        let mut out = Vec::new();
        encode(&mut tables, text.as_bytes(), Place::First, Rules::REFERENCE, &mut scratch, |id| {
            out.push(id);
            Ok(())
        })
        .unwrap();
        prop_assert_eq!(out, ids(&image, &text, Place::First, Rules::REFERENCE));
    }

    #[test]
    fn damaged_tables_give_an_error_or_ids_that_exist(
        kind in 0..3u8,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24),
        word in any::<Option<(prop::sample::Index, u32)>>(),
        text in "[ -~\n]{0,30}",
    ) {
        let kind = TokenizerKind::from_u8(kind).unwrap();
        let mut vocabulary = Vocabulary::new(kind, &[" ", "a", "b", "ab", " a", " ab", "e", "the", "", "~", "  "]);
        vocabulary.priorities = (0..11).map(|i| (i > 2).then_some(i % 5)).collect();
        let image = vocabulary.image();
        let mut payload = image.memory.into_inner();
        for (at, byte) in damage {
            let at = at.index(payload.len());
            payload[at] = byte;
        }
        if let Some((at, word)) = word {
            let at = at.index(payload.len() / 4) * 4;
            payload[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let memory = SliceMemory::new(ssnail_shared::map::PAYLOAD, payload);
        let opened = Tables::open(&memory, &image.header);
        if let Ok(mut tables) = opened {
            let mut scratch = vec![0; 6 * 64];
            let mut out = Vec::new();
            let result = encode(&mut tables, text.as_bytes(), Place::First, Rules::REAL, &mut scratch[..], |id| {
                out.push(id);
                Ok(())
            });
            // Words that have no piece are the unknown token, which an image may lack.
            prop_assert!(result.is_err() || out.iter().all(|&id| id < 11 || id == u32::MAX));
            for id in 0..12 {
                let mut n = 0;
                let piece = tables.piece(id, |bytes| n += bytes.len());
                prop_assert!(piece.is_err() || id < 11 && n < 0x2000);
            }
        }
    }
}

#[test]
fn damaged_fields_are_named() {
    let image = Vocabulary::new(TokenizerKind::Bpe, &["a", "b", "ab"]).image();
    let block = image.header.tokenizer - ssnail_shared::map::PAYLOAD;
    let vocab = image.header.vocab - ssnail_shared::map::PAYLOAD;
    let good = image.memory.into_inner();
    let cases = [
        (block, 7, "tokenizer kind"),
        (block + 2, 99, "splitting rule"),
        (block + 4, 4, "tokenizer vocabulary size"),
        (block + 8, 0, "index address"),
        (block + 12, 4, "index length"),
        (block + 16, 0x0fff_ffff, "priorities address"),
        (block + 20, 0x0900_5100, "byte table address"),
        (block + 24, 3, "begin token"),
        (block + 28, 3, "end token"),
        (block + 32, 3, "unknown token"),
        (vocab + 12, 9, "vocabulary table length"),
        (vocab + 4, 12, "vocabulary offset"),
    ];
    for (at, value, wanted) in cases {
        let mut payload = good.clone();
        let word: u32 = value;
        // The block's first two fields share a word.
        let n = if at == block || at == block + 2 { 1 } else { 4 };
        payload[at as usize..at as usize + n].copy_from_slice(&word.to_le_bytes()[..n]);
        let memory = SliceMemory::new(ssnail_shared::map::PAYLOAD, payload);
        match Tables::open(&memory, &image.header).err() {
            Some(Error::Damaged { field, .. }) => assert_eq!(field, wanted),
            other => panic!("{wanted}: {other:?}"),
        }
    }
}

#[test]
fn too_little_scratch_and_a_full_receiver_are_errors() {
    let image = Vocabulary::new(TokenizerKind::Spm, &[" ", "a"]).image();
    let mut tables = Tables::open(&image.memory, &image.header).unwrap();
    let mut scratch = [0; 6 * 5];
    let all = |id: u32| (id < 9).then_some(()).ok_or(SinkFull);
    let mut run = |text: &[u8]| encode(&mut tables, text, Place::First, Rules::REFERENCE, &mut scratch[..], all);
    assert_eq!(run(b"aaaa").unwrap().tokens, 5);
    assert_eq!(run(b"aaaaa"), Err(Error::TextTooLong { capacity: 5 }));
    let mut room = 2;
    let full = encode(&mut tables, b"aaaa", Place::First, Rules::REFERENCE, &mut scratch[..], |_| {
        room -= 1;
        if room < 0 { Err(SinkFull) } else { Ok(()) }
    });
    assert_eq!(full, Err(Error::TooManyTokens { taken: 2 }));
}

#[test]
fn pieces_come_out_whole() {
    let long = "x".repeat(45);
    let image = Vocabulary::new(TokenizerKind::Bpe, &["", "ab", &long]).image();
    let tables = Tables::open(&image.memory, &image.header).unwrap();
    for (id, wanted) in ["", "ab", &long].into_iter().enumerate() {
        let mut piece = Vec::new();
        tables.piece(id as u32, |bytes| piece.extend_from_slice(bytes)).unwrap();
        assert_eq!(piece, wanted.as_bytes());
        assert_eq!(tables.piece_len(id as u32).unwrap() as usize, wanted.len());
    }
    assert_eq!(tables.piece(3, |_| ()), Err(Error::NoSuchToken { id: 3, n_vocab: 3 }));
}

#[test]
fn later_turns_get_no_space_unless_the_reference_is_asked_for() {
    let mut vocabulary = Vocabulary::new(TokenizerKind::Spm, &["<s>", " ", "a", " a"]);
    vocabulary.priorities[3] = Some(0);
    vocabulary.begin = 0;
    let image = vocabulary.image();
    assert_eq!(ids(&image, "a", Place::First, Rules::REAL), [0, 3]);
    assert_eq!(ids(&image, "a", Place::Later, Rules::REAL), [2]);
    assert_eq!(ids(&image, "a", Place::Later, Rules::REFERENCE), [3]);
    assert_eq!(ids(&image, "", Place::First, Rules::REAL), [0]);
    assert_eq!(ids(&image, "", Place::First, Rules::REFERENCE), [0, 1]);
    vocabulary.flags = TOKENIZER_NO_SPACE_PREFIX;
    assert_eq!(ids(&vocabulary.image(), "a", Place::First, Rules::REFERENCE), [0, 2]);
}

#[test]
fn bytes_without_an_entry_are_found_or_counted() {
    let mut vocabulary = Vocabulary::new(TokenizerKind::Bpe, &["?", "a", "b", "\r", "e", "'", ""]);
    vocabulary.index.retain(|&id| id != 3);
    let image = vocabulary.image();
    let run = |text: &str, rules| {
        let (ids, made) = ids_and_count(&image, text.as_bytes(), Place::First, rules);
        (ids, made.lost)
    };
    assert_eq!(run("a\rb", Rules::REFERENCE), (vec![1, 2], 1));
    assert_eq!(run("a\rb", Rules::REAL), (vec![1, 3, 2], 0));
    assert_eq!(run("a\x01b\x01", Rules::REAL), (vec![1, 0, 2, 0], 2));
    vocabulary.unknown = 6;
    let known = vocabulary.image();
    assert_eq!(ids(&known, "a\x01b", Place::First, Rules::REAL), [1, 6, 2]);
    let letters = Vocabulary::new(TokenizerKind::Bpe, &["A", "B"]).image();
    assert_eq!(ids(&letters, "B x", Place::First, Rules::REAL), [1]);
    assert_eq!(run("é’", Rules::REFERENCE), (vec![0, 0], 0));
    assert_eq!(run("é’\r", Rules::TYPED), (vec![4, 5, 3], 0));
    assert_eq!(run("é", Rules { keep_bytes: false, ..Rules::REAL }), (vec![], 2));
    assert_eq!(run("☃", Rules { non_ascii: NonAscii::Question, ..Rules::REAL }), (vec![0], 0));
}

#[test]
fn words_as_bert_has_them_are_a_choice() {
    let long = "a".repeat(101);
    let mut vocabulary = Vocabulary::new(TokenizerKind::WordPiece, &["?", " a", " b", "a", "_", " _", "b"]);
    vocabulary.flags = TOKENIZER_LOWERCASE;
    let image = vocabulary.image();
    assert_eq!(ids(&image, "A_b", Place::First, Rules::REFERENCE), [1, 4, 6]);
    assert_eq!(ids(&image, "A_b", Place::First, Rules::REAL), [1, 5, 2]);
    assert_eq!(ids(&image, "a\x01\x0ba \x1f b", Place::First, Rules::REFERENCE), [1, 0, 1, 0, 2]);
    assert_eq!(ids(&image, "a\x01\x0ba \x1f b", Place::First, Rules::REAL), [1, 3, 2]);
    assert_eq!(ids(&image, &long, Place::First, Rules::REFERENCE).len(), 101);
    assert_eq!(ids(&image, &long, Place::First, Rules::REAL), [0]);
    assert_eq!(ids(&image, &long[1..], Place::First, Rules::REAL).len(), 100);
}

#[test]
fn one_priority_for_a_token_is_not_one_for_a_pair() {
    // Merges (b c), (a b), (ab c): by pairs abc is [a, bc], by products it is [abc].
    let mut vocabulary = Vocabulary::new(TokenizerKind::Bpe, &["a", "b", "c", "bc", "ab", "abc"]);
    vocabulary.priorities = vec![None, None, None, Some(0), Some(1), Some(2)];
    assert_eq!(ids(&vocabulary.image(), "abc", Place::First, Rules::REFERENCE), [5]);
}
