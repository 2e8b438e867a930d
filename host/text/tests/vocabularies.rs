//! The tokenizers of real vocabularies against ids that independent tokenizers gave.
#![allow(clippy::unwrap_used)]

mod common;

use ssnail_text::{Options, Tokenizer};

const BARE: Options = Options { special: false, parse_special: false, first: true };

/// Compares every text of an input file with its line of ids.
fn compare(tokenizer: &Tokenizer, inputs: &str, outputs: &str) {
    let (Some(inputs), Some(outputs)) = (common::data(inputs), common::data(outputs)) else { return };
    let inputs = String::from_utf8(inputs).unwrap();
    let outputs = String::from_utf8(outputs).unwrap();
    let texts: Vec<&str> = inputs.split("\n__ggml_vocab_test__\n").collect();
    let lines: Vec<&str> = outputs.lines().collect();
    let mut wrong = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let wanted: Vec<u32> = line.split_whitespace().map(|id| id.parse().unwrap()).collect();
        let made = tokenizer.encode(texts[i], BARE);
        if made.ids != wanted {
            wrong.push(format!("{:?}\n  made   {:?}\n  wanted {wanted:?}", texts[i], made.ids));
        }
    }
    // After the last separator stands an empty text, whose empty line some of the files leave out.
    assert!(lines.len() == texts.len() || lines.len() + 1 == texts.len(), "{} lines", lines.len());
    assert!(wrong.is_empty(), "{} of {} texts differ:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

fn vocabulary(file: &str, inputs: &str, ascii: &str) {
    let Some(tokenizer) = common::tokenizer(&format!("vocab/{file}")) else { return };
    compare(&tokenizer, &format!("vocab/{inputs}.inp"), &format!("vocab/{inputs}.out"));
    compare(&tokenizer, "vocab/ascii.inp", &format!("vocab/ascii-{ascii}.out"));
}

/// Texts on which the reference tools' `gguf` ids are not those of the real tokenizers, with the real ids.
const REAL: &[(&str, &str, &[u32])] = &[
    // An empty text has no space put before it.
    ("spm", "", &[1]),
    // BERT takes control characters out; of ASCII only tab, line feed, carriage return and space separate words.
    ("wordpiece", "upon\u{b}time", &[2, 1, 3]),
    ("wordpiece", "\0\u{1}\u{7f}", &[2, 3]),
    // The underscore is punctuation, U+2581 a symbol that is part of a word.
    ("wordpiece", "a_b _ __", &[2, 15, 1, 1, 1, 1, 1, 3]),
    ("wordpiece", "\u{2581}the", &[2, 1, 3]),
];

#[test]
fn ids_of_the_reference_tools_but_for_their_known_faults() {
    let models =
        [("spm", "llama_q4_0"), ("bpe", "gpt2_q4_0"), ("bpe_whitespace", "tok_gpt2_ws"), ("wordpiece", "bert_q4_0")];
    let mut wrong = Vec::new();
    for (name, model) in models {
        let Some(vectors) = common::data(&format!("vectors/tok/{name}.json")) else { return };
        let Some(tokenizer) = common::tokenizer(&format!("vectors/models/{model}.gguf")) else { return };
        let vectors: serde_json::Value = serde_json::from_slice(&vectors).unwrap();
        for case in vectors["cases"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let recorded: Vec<u32> =
                case["gguf"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect();
            let real = REAL.iter().find(|(n, t, _)| *n == name && *t == text).map(|(.., ids)| ids.to_vec());
            if let Some(real) = &real {
                assert_ne!(*real, recorded, "{name}: {text:?} is no exception");
            }
            let made = tokenizer.encode(text, Options::default()).ids;
            if made != real.unwrap_or_else(|| recorded.clone()) {
                wrong.push(format!("{name}: {text:?}\n  made     {made:?}\n  recorded {recorded:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn gpt2() {
    vocabulary("ggml-vocab-gpt-2.gguf", "ggml-vocab-gpt-2.gguf", "gpt-2");
}

#[test]
fn smollm2() {
    vocabulary("vocab-smollm2.gguf", "vocab-smollm2.gguf", "smollm2");
}

#[test]
fn qwen2() {
    vocabulary("ggml-vocab-qwen2.gguf.xz", "ggml-vocab-qwen2.gguf", "qwen2");
}

#[test]
fn stories260k_sentencepiece() {
    vocabulary("vocab-stories260K-spm512.gguf", "vocab-stories260K-spm512.gguf", "stories260K-spm512");
}

#[test]
fn bert_bge() {
    vocabulary("ggml-vocab-bert-bge.gguf", "ggml-vocab-bert-bge.gguf", "bert-bge");
}
