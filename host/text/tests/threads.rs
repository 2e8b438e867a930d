//! Faults that others had with tokenizers; each test is named after its row in the list of public threads.
#![allow(clippy::unwrap_used)]

mod common;

use ssnail_gguf::{Vocab, token_type};
use ssnail_shared::utf8::Utf8Stream;
use ssnail_text::{Error, Options, Tokenizer, Warning};

const BARE: Options = Options { special: false, parse_special: false, first: true };

fn spm<'v>(tokens: &[&'v str], scores: &[f32]) -> Vocab<'v> {
    Vocab {
        model: Some("llama"),
        tokens: tokens.iter().map(|t| t.as_bytes()).collect(),
        scores: scores.to_vec(),
        ..Vocab::default()
    }
}

fn bpe<'v>(tokens: &[&'v str], merges: &[&'v str]) -> Vocab<'v> {
    Vocab {
        model: Some("gpt2"),
        pre: Some("gpt-2"),
        tokens: tokens.iter().map(|t| t.as_bytes()).collect(),
        merges: merges.iter().map(|m| m.as_bytes()).collect(),
        ..Vocab::default()
    }
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    tokenizer.encode(text, BARE).ids
}

#[test]
fn r31_the_space_goes_once_before_the_text_and_only_if_wanted() {
    let mut vocab = spm(&["<unk>", "<s>", "</s>", "▁", "a", "▁a"], &[0.0, 0.0, 0.0, -9.0, -9.0, -1.0]);
    let tokenizer = Tokenizer::new(&vocab).unwrap();
    let special = Options { parse_special: true, ..BARE };
    assert_eq!(ids(&tokenizer, "a"), [5]);
    assert_eq!(ids(&tokenizer, " a"), [3, 5]);
    assert_eq!(tokenizer.encode("a</s>a", special).ids, [5, 2, 4]);
    assert_eq!(tokenizer.encode("</s>a", special).ids, [2, 4]);
    assert_eq!(tokenizer.encode("a", Options { first: false, ..BARE }).ids, [4]);
    assert_eq!(ids(&tokenizer, ""), []);
    vocab.add_space_prefix = Some(false);
    assert_eq!(ids(&Tokenizer::new(&vocab).unwrap(), "a"), [4]);
}

#[test]
fn r33_one_begin_token_if_the_vocabulary_has_one() {
    let mut vocab = bpe(&["a", ",", "<s>"], &[]);
    let encode = |vocab: &Vocab<'_>, text: &str| {
        let tokenizer = Tokenizer::new(vocab).unwrap();
        let made = tokenizer.encode(text, Options { parse_special: true, ..Options::default() });
        (made.ids, made.double_begin, tokenizer.warnings().to_vec())
    };
    assert_eq!(encode(&vocab, "a"), (vec![0], false, vec![]));
    vocab.bos = Some(2);
    assert_eq!(encode(&vocab, "a"), (vec![0], false, vec![]));
    vocab.add_bos = Some(true);
    assert_eq!(encode(&vocab, "a"), (vec![2, 0], false, vec![]));
    assert_eq!(encode(&vocab, "<s>a"), (vec![2, 2, 0], true, vec![]));
    vocab.bos = None;
    assert_eq!(encode(&vocab, "a"), (vec![0], false, vec![Warning::NoBos]));
    vocab.add_bos = None;
    vocab.pre = Some("llama-bpe");
    assert_eq!(encode(&vocab, "a"), (vec![0], false, vec![]));
    vocab.bos = Some(2);
    assert_eq!(encode(&vocab, "a"), (vec![2, 0], false, vec![]));
    vocab.bos = Some(3);
    let outside = |key| Warning::OutsideVocabulary { key, id: 3, n: 3 };
    assert_eq!(encode(&vocab, "a"), (vec![0], false, vec![outside("bos_token_id")]));
    // Not even token 1, which stands for a key that is absent.
    vocab.model = Some("llama");
    let (ids, _, warnings) = encode(&vocab, "a");
    assert!(!ids.contains(&1) && !ids.contains(&3), "{ids:?}");
    assert_eq!(warnings[0], outside("bos_token_id"));
    let words = Vocab {
        model: Some("bert"),
        tokens: vec![b"[CLS]", b"[SEP]", b"\xe2\x96\x81a"],
        cls: Some(3),
        separator: Some(3),
        ..Vocab::default()
    };
    let expected = vec![outside("seperator_token_id"), outside("cls_token_id")];
    assert_eq!(encode(&words, "a"), (vec![0, 2, 1], false, expected));
}

#[test]
fn r34_tokens_that_no_merges_reach_are_reported() {
    let tokenizer = Tokenizer::new(&bpe(&["a", "b", "ab", "ba", "aba"], &["a b", "b a", "b aba"])).unwrap();
    assert_eq!(tokenizer.orphans(), [4]);
    for (file, count) in [("vocab/ggml-vocab-gpt-2.gguf", 0), ("vocab/vocab-smollm2.gguf", 0)] {
        let Some(tokenizer) = common::tokenizer(file) else { return };
        assert_eq!(tokenizer.orphans().len(), count, "{file}");
    }
}

#[test]
fn r35_pairs_merge_by_rank_not_from_left_to_right() {
    let tokenizer = Tokenizer::new(&bpe(&["a", "b", "c", "ab", "bc"], &["b c", "a b"])).unwrap();
    assert_eq!(ids(&tokenizer, "abc"), [0, 4]);
    let Some(tokenizer) = common::tokenizer("vocab/ggml-vocab-gpt-2.gguf") else { return };
    let words: [(&str, &[u32]); 3] =
        [(" brutalist", &[12399, 396]), (" unhappiness", &[14274, 42661]), (" tokenization", &[11241, 1634])];
    for (word, wanted) in words {
        assert_eq!(ids(&tokenizer, word), wanted, "{word}");
    }
}

#[test]
fn r36_nothing_is_dropped_without_being_counted() {
    let mut vocab = spm(&["<unk>", "<s>", "</s>", "▁", "a"], &[0.0, 0.0, 0.0, -9.0, -9.0]);
    let lost = |vocab: &Vocab<'_>, text: &str| {
        let made = Tokenizer::new(vocab).unwrap().encode(text, BARE);
        (made.ids, made.lost)
    };
    assert_eq!(lost(&vocab, "aé"), (vec![3, 4, 0, 0], 2));
    assert_eq!(Tokenizer::new(&vocab).unwrap().warnings(), [Warning::MissingBytes(256)]);
    vocab.tokens.push(b"<0xC3>");
    vocab.scores.push(0.0);
    assert_eq!(lost(&vocab, "aé"), (vec![3, 4, 5, 0], 1));
    assert_eq!(lost(&bpe(&["a", "?"], &[]), "ab"), (vec![0, 1], 1));
    assert_eq!(lost(&bpe(&["a"], &[]), "ab"), (vec![0], 1));
}

#[test]
fn r37_bert_folds_case_accents_punctuation_and_han_before_it_looks_words_up() {
    let tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁hokkaido", "▁–", "▁東", "▁京", "▁cafe", "s", "▁no", "▁."];
    let vocab = Vocab {
        model: Some("bert"),
        tokens: tokens.iter().map(|t| t.as_bytes()).collect(),
        token_types: vec![3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1],
        ..Vocab::default()
    };
    let tokenizer = Tokenizer::new(&vocab).unwrap();
    assert_eq!(tokenizer.encode("Hokkaidō–東京", Options::default()).ids, [2, 4, 5, 6, 7, 3]);
    assert_eq!(ids(&tokenizer, "CAFÉS cafe\u{301} x no."), [8, 9, 8, 1, 10, 11]);
    let word = "s".repeat(100);
    assert_eq!(ids(&tokenizer, &word), [1]);
    let long = format!("cafe{word}");
    assert_eq!(ids(&tokenizer, &long[..100]).len(), 97);
    assert_eq!(ids(&tokenizer, &long[..101]), [1]);
}

#[test]
fn r38_control_tokens_typed_as_text_stay_text() {
    for file in ["vocab/ggml-vocab-gpt-2.gguf", "vocab/vocab-smollm2.gguf", "vocab/vocab-stories260K-spm512.gguf"] {
        let Some(tokenizer) = common::tokenizer(file) else { return };
        for text in ["</s>", "<s>", "<unk>", "<|endoftext|>", "<|im_start|>", "<0x41>"] {
            let made = ids(&tokenizer, text);
            assert!(made.len() > 1 && made.iter().all(|&id| !tokenizer.pieces().get(id).is_empty()), "{file} {text}");
            assert_eq!(String::from_utf8(tokenizer.decode(&made)).unwrap().trim_start(), text);
        }
    }
    let Some(tokenizer) = common::tokenizer("vocab/vocab-smollm2.gguf") else { return };
    let parse = Options { parse_special: true, ..BARE };
    assert_eq!(tokenizer.encode("<|im_start|>user", parse).ids, [1, 4093]);
}

#[test]
fn added_tokens_are_found_the_longest_first_but_fillers_are_not() {
    let mut vocab = bpe(&["a", "<x>", "<x><y>", "[PAD3]", "[", "P", "A", "D", "3", "]"], &[]);
    vocab.token_types = vec![token_type::USER_DEFINED; 10];
    let tokenizer = Tokenizer::new(&vocab).unwrap();
    assert_eq!(ids(&tokenizer, "a<x><x><y>a"), [0, 1, 2, 0]);
    assert_eq!(ids(&tokenizer, "[PAD3]"), [4, 5, 6, 7, 8, 9]);
}

#[test]
fn r41_characters_split_over_tokens_come_out_whole() {
    let Some(tokenizer) = common::tokenizer("vocab/ggml-vocab-gpt-2.gguf") else { return };
    let text = "🦙 é 한 😀!";
    let ids = ids(&tokenizer, text);
    assert!(ids.iter().any(|&id| std::str::from_utf8(tokenizer.pieces().get(id)).is_err()));
    let mut stream = Utf8Stream::new();
    let mut out = String::new();
    for id in ids {
        for &byte in tokenizer.pieces().get(id) {
            stream.push(byte, |c| out.push(c));
        }
    }
    stream.finish(|c| out.push(c));
    assert_eq!(out, text);
}

#[test]
fn unknown_names_are_said_and_unknown_families_refused() {
    let mut vocab = bpe(&["a"], &[]);
    vocab.pre = Some("tomorrow");
    let warnings = Tokenizer::new(&vocab).unwrap().warnings().to_vec();
    assert_eq!(warnings, [Warning::UnknownPreTokenizer("tomorrow".into())]);
    vocab.pre = None;
    assert_eq!(Tokenizer::new(&vocab).unwrap().warnings(), [Warning::NoPreTokenizer]);
    vocab.model = Some("rwkv");
    assert_eq!(Tokenizer::new(&vocab).unwrap_err(), Error::UnknownModel("rwkv".into()));
    vocab.model = None;
    vocab.tokens.clear();
    assert_eq!(Tokenizer::new(&vocab).unwrap_err(), Error::NoTokens);
}
