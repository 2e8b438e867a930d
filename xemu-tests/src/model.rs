//! Images of the test data's models.

use crate::data;
use ssnail_convert::{Options, WeightPolicy, plan};
use ssnail_gguf::{Gguf, GgufWriter, OwnedValue, Value};
use ssnail_shared::rng::Rng;
use std::path::Path;

/// Converts a model of the test data (`models/NAME.gguf`) with a weight format of `ssnail convert`.
pub fn image(name: &str, wtype: &str) -> Option<Vec<u8>> {
    image_with(name, &Options { wtype: policy(wtype), ..Options::default() })
}

/// Converts with options of one's own.
pub fn image_with(name: &str, options: &Options) -> Option<Vec<u8>> {
    let path = data()?.join("models").join(format!("{name}.gguf"));
    if !path.is_file() {
        println!("skipped: no {}", path.display());
        return None;
    }
    Some(convert(&Gguf::open(&path).expect("a model"), options))
}

/// The storyteller that comes with the project, in Q8_0.
pub fn storyteller() -> Vec<u8> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/storyteller.gguf"));
    let gguf = Gguf::open(path).expect("the storyteller");
    convert(&gguf, &Options { wtype: policy("q8_0"), ..Options::default() })
}

/// Converts an open model.
pub fn convert(gguf: &Gguf<'_>, options: &Options) -> Vec<u8> {
    let plan = plan(gguf, options).unwrap_or_else(|e| panic!("{e}"));
    let mut image = Vec::new();
    plan.write(&mut image, &mut |_, _| {}).expect("memory takes everything");
    image
}

/// A weight policy by its name.
pub fn policy(wtype: &str) -> WeightPolicy {
    wtype.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// Columns of the tiny model.
const DIM: u64 = 32;
const FFN: u64 = 64;
/// Positions of the tiny encoder.
const ENCODER_CONTEXT: u64 = 64;

/// A file with the tokenizer of another, and how many tokens that has.
fn with_vocabulary_of<'a>(source: &Gguf<'_>) -> (GgufWriter<'a>, u64) {
    let mut w = GgufWriter::new();
    for key in source.keys().filter(|key| key.starts_with("tokenizer.ggml.")) {
        if let Some(value) = source.get(key).and_then(owned) {
            w.key(key, value);
        }
    }
    (w, source.vocab().expect("a vocabulary").tokens.len() as u64)
}

/// As many values between -1 and 1.
fn values(random: &mut Rng, count: u64) -> Vec<f32> {
    (0..count).map(|_| (random.next_u32() >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

/// A llama of one layer with random weights and a whole vocabulary of the test data (`vocab/NAME.gguf`).
pub fn tiny_with_vocabulary(name: &str, wtype: &str) -> Option<Vec<u8>> {
    let path = data()?.join("vocab").join(format!("{name}.gguf"));
    if !path.is_file() {
        println!("skipped: no {}", path.display());
        return None;
    }
    let source = Gguf::open(&path).expect("a vocabulary");
    let (mut w, n) = with_vocabulary_of(&source);
    w.key("general.architecture", "llama").key("general.name", "tiny");
    for (key, value) in [
        ("block_count", 1u32),
        ("context_length", 256),
        ("embedding_length", DIM as u32),
        ("feed_forward_length", FFN as u32),
        ("attention.head_count", 1),
        ("attention.head_count_kv", 1),
    ] {
        w.key(format!("llama.{key}"), value);
    }
    w.key("llama.attention.layer_norm_rms_epsilon", 1e-5f32);
    let mut random = Rng::new(1);
    let mut matrix = |w: &mut GgufWriter<'_>, name: &str, columns: u64, rows: u64| {
        w.f32_tensor(name, &[columns, rows], &values(&mut random, columns * rows));
    };
    matrix(&mut w, "token_embd.weight", DIM, n);
    for (name, columns, rows) in [
        ("attn_q", DIM, DIM),
        ("attn_k", DIM, DIM),
        ("attn_v", DIM, DIM),
        ("attn_output", DIM, DIM),
        ("ffn_gate", DIM, FFN),
        ("ffn_up", DIM, FFN),
        ("ffn_down", FFN, DIM),
    ] {
        matrix(&mut w, &format!("blk.0.{name}.weight"), columns, rows);
    }
    for name in ["blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight"] {
        w.f32_tensor(name, &[DIM], &[1.0; DIM as usize]);
    }
    let file = w.to_vec();
    let gguf = Gguf::parse(&file).expect("a file just written");
    Some(convert(&gguf, &Options { wtype: policy(wtype), ..Options::default() }))
}

/// An encoder of one layer with random weights and the vocabulary of the test data's encoder: small enough for a machine
/// without the core.
pub fn tiny_encoder() -> Option<Vec<u8>> {
    let path = data()?.join("models/paraphrase-MiniLM-L3-v2-v3400-Q4_0.gguf");
    if !path.is_file() {
        println!("skipped: no {}", path.display());
        return None;
    }
    let source = Gguf::open(&path).expect("an encoder");
    let (mut w, n) = with_vocabulary_of(&source);
    w.key("general.architecture", "bert").key("general.name", "tiny encoder");
    for (key, value) in [
        ("block_count", 1u32),
        ("context_length", ENCODER_CONTEXT as u32),
        ("embedding_length", DIM as u32),
        ("feed_forward_length", FFN as u32),
        ("attention.head_count", 1),
        ("pooling_type", 1),
        ("vocab_size", n as u32),
    ] {
        w.key(format!("bert.{key}"), value);
    }
    w.key("bert.attention.layer_norm_epsilon", 1e-12f32).key("bert.attention.causal", false);
    let mut random = Rng::new(2);
    for (name, columns, rows) in [
        ("token_embd.weight", DIM, n),
        ("position_embd.weight", DIM, ENCODER_CONTEXT),
        ("token_types.weight", DIM, 2),
        ("blk.0.attn_q.weight", DIM, DIM),
        ("blk.0.attn_k.weight", DIM, DIM),
        ("blk.0.attn_v.weight", DIM, DIM),
        ("blk.0.attn_output.weight", DIM, DIM),
        ("blk.0.ffn_up.weight", DIM, FFN),
        ("blk.0.ffn_down.weight", FFN, DIM),
    ] {
        w.f32_tensor(name, &[columns, rows], &values(&mut random, columns * rows));
    }
    for norm in ["token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"] {
        w.f32_tensor(format!("{norm}.weight"), &[DIM], &[1.0; DIM as usize]);
    }
    for (name, length) in [
        ("token_embd_norm", DIM),
        ("blk.0.attn_output_norm", DIM),
        ("blk.0.layer_output_norm", DIM),
        ("blk.0.attn_q", DIM),
        ("blk.0.attn_k", DIM),
        ("blk.0.attn_v", DIM),
        ("blk.0.attn_output", DIM),
        ("blk.0.ffn_up", FFN),
        ("blk.0.ffn_down", DIM),
    ] {
        w.f32_tensor(format!("{name}.bias"), &[length], &values(&mut random, length));
    }
    let file = w.to_vec();
    let gguf = Gguf::parse(&file).expect("a file just written");
    Some(convert(&gguf, &Options { wtype: policy("q8_0"), ..Options::default() }))
}

/// A value as the writer takes it.
fn owned(value: Value<'_>) -> Option<OwnedValue> {
    Some(match value {
        Value::Unsigned(n, _) => OwnedValue::U32(n as u32),
        Value::Signed(n, _) => OwnedValue::I32(n as i32),
        Value::Float(x, _) => OwnedValue::F32(x as f32),
        Value::Bool(b) => OwnedValue::Bool(b),
        Value::String(s) => OwnedValue::String(s.to_vec()),
        Value::Array(a) => match (a.strings(), a.integers(), a.floats()) {
            (Some(list), ..) => OwnedValue::Strings(list.into_iter().map(<[u8]>::to_vec).collect()),
            (_, Some(list), _) => OwnedValue::I32s(list.into_iter().map(|n| n as i32).collect()),
            (.., Some(list)) => OwnedValue::F32s(list),
            _ => return None,
        },
    })
}
