//! Images made from vocabularies against the tokenizers of the vocabularies: they agree, or the difference is explained.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../../shared/tests/common/mod.rs"]
mod images;

use std::collections::HashMap;

use images::{Image, Vocabulary};
use ssnail_gguf::{Vocab, token_type};
use ssnail_shared::header::{Header, NO_TOKEN, TOKENIZER_LOWERCASE, TOKENIZER_WIDE, TokenizerKind};
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::tokenizer::{Rules, Split, Tables};
use ssnail_text::check::{Cause, Report, check};
use ssnail_text::{Kind, Model, Tokenizer};

/// An image's tables for a vocabulary, by the specification and independently of the converter.
fn image_of(vocab: &Vocab<'_>, tokenizer: &Tokenizer, split: Split) -> Image {
    let pieces = tokenizer.pieces();
    let n = vocab.tokens.len() as u32;
    let kind = match tokenizer.model() {
        Model::Spm => TokenizerKind::Spm,
        Model::Bpe => TokenizerKind::Bpe,
        Model::WordPiece => TokenizerKind::WordPiece,
    };
    let mut image = Vocabulary::new(kind, &[]);
    image.split = split as u16;
    image.pieces = (0..n).map(|id| pieces.get(id).to_vec()).collect();
    image.index = (0..n).filter(|&id| pieces.is_indexed(id)).collect();
    image.priorities = vec![None; n as usize];
    image.bytes = (0..n).filter(|&id| pieces.kind(id) == Some(Kind::Byte)).map(|id| (pieces.get(id)[0], id)).collect();
    image.begin = tokenizer.begin().unwrap_or(NO_TOKEN);
    image.end = tokenizer.end().unwrap_or(NO_TOKEN);
    image.unknown = tokenizer.unknown().unwrap_or(0);
    image.flags = TOKENIZER_WIDE | if tokenizer.lowercases() { TOKENIZER_LOWERCASE } else { 0 };
    match kind {
        TokenizerKind::Bpe => {
            let texts: HashMap<&[u8], usize> = vocab.tokens.iter().enumerate().rev().map(|(i, &t)| (t, i)).collect();
            for (rank, line) in vocab.merges.iter().enumerate().rev() {
                let text: Vec<u8> = line.iter().copied().filter(|&b| b != b' ').collect();
                if let Some(&id) = texts.get(&text[..]) {
                    image.priorities[id] = Some(rank as u32);
                }
            }
        }
        TokenizerKind::Spm => {
            let mut order: Vec<u32> = image.sorted().into_iter().filter(|&id| pieces.get(id).len() > 1).collect();
            order.sort_by(|&a, &b| vocab.scores[b as usize].total_cmp(&vocab.scores[a as usize]).then(a.cmp(&b)));
            for (priority, id) in order.into_iter().enumerate() {
                image.priorities[id as usize] = Some(priority as u32);
            }
        }
        TokenizerKind::WordPiece => {}
    }
    image.image()
}

fn compare(vocab: &Vocab<'_>, split: Split, text: &str, rules: Rules) -> Report {
    let tokenizer = Tokenizer::new(vocab).unwrap();
    let image = image_of(vocab, &tokenizer, split);
    let mut tables = Tables::open(&image.memory, &image.header).unwrap();
    check(&mut tables, &tokenizer, text, rules).unwrap()
}

fn causes(report: &Report) -> Vec<Cause> {
    report.causes().into_iter().map(|(cause, _)| cause).collect()
}

fn bpe<'v>(tokens: &'v [&'v str], merges: &'v [&'v str]) -> Vocab<'v> {
    Vocab {
        model: Some("gpt2"),
        pre: Some("gpt-2"),
        tokens: tokens.iter().map(|t| t.as_bytes()).collect(),
        merges: merges.iter().map(|m| m.as_bytes()).collect(),
        ..Vocab::default()
    }
}

#[test]
fn six_tokens_on_which_priorities_of_tokens_and_of_pairs_differ() {
    let vocab = bpe(&["a", "b", "c", "bc", "ab", "abc"], &["b c", "a b", "ab c"]);
    let report = compare(&vocab, Split::Gpt2, "abc\nab\n\nbcabc", Rules::REAL);
    assert_eq!(report.lines, 3);
    let found: Vec<_> = report.differences.iter().map(|d| (d.line, &d.image[..], &d.gguf[..], &d.causes[..])).collect();
    let cause = &[Cause::MergeByProduct][..];
    assert_eq!(found, [(1, &[5][..], &[0, 3][..], cause), (4, &[3, 5][..], &[3, 0, 3][..], cause)]);
}

#[test]
fn each_known_difference_of_bpe_is_named() {
    let tokens = ["a", "Ġ", "ĉ", "č", "ĉĉ", "é", "Ã", "©", "Ã©", "?", "7", "77", "<|x|>", "Ġa", "e"];
    let mut vocab = bpe(&tokens, &["ĉ ĉ", "Ã ©", "7 7", "Ġ a"]);
    vocab.token_types = vec![token_type::NORMAL; tokens.len()];
    vocab.token_types[12] = token_type::USER_DEFINED;
    let run = |text: &str, rules| causes(&compare(&vocab, Split::Reference, text, rules));
    assert_eq!(run("\t\ta", Rules::REFERENCE), [Cause::Splitting]);
    assert_eq!(run("\t\ta", Rules::REAL), []);
    assert_eq!(run("a\ra", Rules::REFERENCE), [Cause::MissingBytes]);
    assert_eq!(run("a\ra", Rules::REAL), []);
    assert_eq!(run("é", Rules::REFERENCE), [Cause::NonAscii]);
    assert_eq!(run("é", Rules::TYPED), [Cause::NonAscii]);
    assert_eq!(run("é", Rules::REAL), [Cause::NonAscii]);
    assert_eq!(run("a<|x|>", Rules::REFERENCE), [Cause::MissingBytes, Cause::AddedTokens]);
    assert_eq!(run("é\t\ta\r", Rules::REFERENCE), [Cause::NonAscii, Cause::MissingBytes, Cause::Splitting]);
    assert_eq!(run("77 a", Rules::REFERENCE), []);
    vocab.pre = Some("smollm");
    assert_eq!(causes(&compare(&vocab, Split::Reference, "77 a", Rules::REAL)), [Cause::Splitting]);
    assert_eq!(causes(&compare(&vocab, Split::Digits, "77 a", Rules::REAL)), []);
}

#[test]
fn whole_chunks_that_merges_do_not_reach_are_named() {
    let mut vocab = bpe(&["a", "b", "ab"], &[]);
    vocab.pre = Some("llama-bpe");
    assert_eq!(causes(&compare(&vocab, Split::Llama3, "ab", Rules::REAL)), [Cause::WholeChunks]);
    assert!(Tokenizer::new(&vocab).unwrap().orphans().is_empty());
    vocab.pre = Some("gpt-2");
    assert_eq!(Tokenizer::new(&vocab).unwrap().orphans(), [2]);
}

#[test]
fn each_known_difference_of_sentencepiece_is_named() {
    let tokens = ["<unk>", "<s>", "▁", "a", "b", "ba", "ab", "é", "?"];
    let mut vocab = Vocab {
        model: Some("llama"),
        tokens: tokens.iter().map(|t| t.as_bytes()).collect(),
        scores: vec![0.0, 0.0, -9.0, -9.0, -9.0, -1.0, -1.0, -9.0, -9.0],
        token_types: vec![2, 3, 1, 1, 1, 1, 1, 1, 1],
        ..Vocab::default()
    };
    let run = |vocab: &Vocab<'_>, text: &str, rules| causes(&compare(vocab, Split::Reference, text, rules));
    assert_eq!(run(&vocab, "aba", Rules::REAL), [Cause::EqualScores]);
    assert_eq!(run(&vocab, "ab", Rules::REAL), []);
    assert_eq!(run(&vocab, "é", Rules::REFERENCE), [Cause::NonAscii]);
    vocab.add_space_prefix = Some(false);
    assert_eq!(run(&vocab, "ab", Rules::REAL), [Cause::SpacePrefix]);
}

#[test]
fn each_known_difference_of_wordpiece_is_named() {
    let tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "▁_", "_a", "▁é", "▁e", "▁?"];
    let vocab = Vocab {
        model: Some("bert"),
        tokens: tokens.iter().map(|t| t.as_bytes()).collect(),
        token_types: vec![3, 3, 3, 3, 1, 1, 1, 1, 1, 1],
        ..Vocab::default()
    };
    let run = |text: &str, rules| causes(&compare(&vocab, Split::Reference, text, rules));
    assert_eq!(run("a_a A", Rules::REFERENCE), [Cause::Words]);
    assert_eq!(run("a_a A", Rules::REAL), []);
    assert_eq!(run("a\u{1}a", Rules::REFERENCE), [Cause::Words]);
    assert_eq!(run("é", Rules::REFERENCE), [Cause::NonAscii]);
    assert_eq!(run("é É", Rules::TYPED), []);
    assert_eq!(run("é É", Rules::REAL), []);
    assert_eq!(run("é ☃", Rules::REAL), [Cause::NonAscii]);
}

#[test]
fn tables_of_another_vocabulary_are_not_explained_away() {
    let one = bpe(&["a", "b", "ab"], &["a b"]);
    let other = Tokenizer::new(&bpe(&["b", "a", "ab"], &["a b"])).unwrap();
    let image = image_of(&one, &Tokenizer::new(&one).unwrap(), Split::Gpt2);
    let mut tables = Tables::open(&image.memory, &image.header).unwrap();
    let report = check(&mut tables, &other, "a", Rules::REFERENCE).unwrap();
    assert_eq!(causes(&report), [Cause::Unexplained]);
}

/// On printable ASCII, tabs and line feeds the image agrees with the real vocabulary in every text.
fn agrees_on_ascii(file: &str, split: Split) {
    let Some(inputs) = common::data("vocab/ascii.inp") else { return };
    let Some(gguf) = common::gguf(&format!("vocab/{file}")) else { return };
    let vocab = gguf.vocab().unwrap();
    let tokenizer = Tokenizer::new(&vocab).unwrap();
    let image = image_of(&vocab, &tokenizer, split);
    let mut tables = Tables::open(&image.memory, &image.header).unwrap();
    let text = String::from_utf8(inputs).unwrap();
    let mut total = Report::default();
    for text in text.split("\n__ggml_vocab_test__\n").filter(|t| !t.is_empty()) {
        let (place, options) = (ssnail_shared::tokenizer::Place::First, ssnail_text::Options::default());
        let ids = ssnail_text::check::image_ids(&mut tables, text, place, Rules::REAL).unwrap();
        assert_eq!(ids, tokenizer.encode(text, options).ids, "{text:?}");
        total.tokens += ids.len();
    }
    total.probes = u64::from(tables.probes());
    println!("{file}: {} tokens, {:.2} probes for each", total.tokens, total.probes_per_token());
    let report = check(&mut tables, &tokenizer, &text, Rules::REAL).unwrap();
    assert_eq!(report.differences, []);
}

#[test]
fn converted_models_agree_on_ascii() {
    let Some(inputs) = common::data("vocab/ascii.inp") else { return };
    let text = String::from_utf8(inputs).unwrap();
    for name in ["stories260K-Q4_0", "paraphrase-MiniLM-L3-v2-v3400-Q4_0", "gpt-nano-sort-F32"] {
        let Some(gguf) = common::gguf(&format!("models/{name}.gguf")) else { return };
        let tokenizer = Tokenizer::from_gguf(&gguf).unwrap();
        let plan = ssnail_convert::plan(&gguf, &ssnail_convert::Options::default()).unwrap();
        let mut image = Vec::new();
        plan.write(&mut image, &mut |_, _| ()).unwrap();
        let payload = image.split_off(HEADER_LEN as usize);
        let header = Header::parse(image[..].try_into().unwrap()).unwrap();
        let memory = SliceMemory::new(PAYLOAD, payload);
        let mut tables = Tables::open(&memory, &header).unwrap();
        let report = check(&mut tables, &tokenizer, &text, Rules::REAL).unwrap();
        assert!(report.lines > 600 && report.differences.is_empty(), "{name}: {:?}", report.causes());
        // The underscore is a letter to the reference tools, and in every second line of this text.
        let reference = check(&mut tables, &tokenizer, &text, Rules::REFERENCE).unwrap();
        let wanted: &[Cause] = if tokenizer.model() == Model::WordPiece { &[Cause::Words] } else { &[] };
        assert_eq!(causes(&reference), wanted, "{name}");
    }
}

#[test]
fn images_of_real_vocabularies_agree_on_ascii() {
    agrees_on_ascii("ggml-vocab-gpt-2.gguf", Split::Gpt2);
    agrees_on_ascii("vocab-smollm2.gguf", Split::Digits);
    agrees_on_ascii("ggml-vocab-qwen2.gguf.xz", Split::Qwen2);
    agrees_on_ascii("vocab-stories260K-spm512.gguf", Split::Reference);
    agrees_on_ascii("ggml-vocab-bert-bge.gguf", Split::Reference);
}
