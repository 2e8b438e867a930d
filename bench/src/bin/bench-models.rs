//! The models that `make bench` measures and nobody publishes: random weights, and other formats of a given file.
//!
//! ```text
//! bench-models random q8_0|f32|f16 OUT          a llama of random weights: 99 MB as Q8_0, 29 million otherwise
//! bench-models formats IN OUT MATRICES [EMBEDDING]   the same model with its matrices in another format
//! bench-models context IN OUT N                 the same model, said to be trained on N tokens
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result, bail};
use ssnail_gguf::{Gguf, GgufWriter, OwnedValue, Value, ValueType};
use ssnail_quant::{GgmlType, decode, encode};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["random", kind, out] => random(format(kind)?, out),
        ["formats", model, out, matrices] => formats(model, out, format(matrices)?, format(matrices)?),
        ["formats", model, out, matrices, embedding] => formats(model, out, format(matrices)?, format(embedding)?),
        ["context", model, out, n] => context(model, out, n.parse()?),
        _ => bail!("random FORMAT OUT | formats IN OUT MATRICES [EMBEDDING] | context IN OUT N"),
    }
}

fn format(name: &str) -> Result<GgmlType> {
    GgmlType::from_name(name).filter(|t| t.is_native()).with_context(|| format!("{name}: no format to write"))
}

fn save(writer: &GgufWriter<'_>, out: &str) -> Result<()> {
    // A run that was broken off leaves no half model behind.
    let partial = format!("{out}.partial");
    let mut file = BufWriter::new(File::create(&partial).with_context(|| partial.clone())?);
    writer.write_to(&mut file)?;
    file.flush()?;
    drop(file);
    std::fs::rename(&partial, out).with_context(|| out.to_owned())
}

fn encoded(kind: GgmlType, values: &[f32]) -> Result<Vec<u8>> {
    let bytes = kind.row_bytes(values.len() as u64).with_context(|| format!("{} weights as {kind}", values.len()))?;
    let mut data = vec![0; bytes as usize];
    encode(kind, values, &mut data)?;
    Ok(data)
}

/// Weights evenly spread around zero, the same in every run.
struct Noise(u64);

impl Noise {
    fn take(&mut self, count: u64, width: f32) -> Vec<f32> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0) * width
        };
        (0..count).map(|_| next()).collect()
    }
}

fn random(kind: GgmlType, out: &str) -> Result<()> {
    let (dim, hidden, layers, heads) = if kind == GgmlType::Q8_0 { (768, 2048, 13, 12) } else { (512, 1408, 9, 8) };
    let mut w = GgufWriter::new();
    w.key("general.architecture", "llama").key("general.name", "random weights");
    for (key, value) in [
        ("context_length", 1024),
        ("embedding_length", dim as u32),
        ("feed_forward_length", hidden as u32),
        ("block_count", layers),
        ("attention.head_count", heads),
        ("attention.head_count_kv", heads),
        ("rope.dimension_count", dim as u32 / heads),
        ("vocab_size", VOCABULARY as u32),
    ] {
        w.key(format!("llama.{key}"), value);
    }
    w.key("llama.attention.layer_norm_rms_epsilon", 1e-5f32);
    vocabulary(&mut w);
    let mut noise = Noise(8);
    let mut matrix = |w: &mut GgufWriter<'_>, name: &str, columns: u64, rows: u64| -> Result<()> {
        // The width that keeps the size of what flows through.
        let weights = noise.take(columns * rows, (3.0 / columns as f32).sqrt());
        w.tensor(name, &[columns, rows], kind, encoded(kind, &weights)?);
        Ok(())
    };
    matrix(&mut w, "token_embd.weight", dim, VOCABULARY)?;
    let ones = vec![1.0; dim as usize];
    for n in 0..layers {
        let name = |part: &str| format!("blk.{n}.{part}.weight");
        w.f32_tensor(name("attn_norm"), &[dim], &ones).f32_tensor(name("ffn_norm"), &[dim], &ones);
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"] {
            matrix(&mut w, &name(part), dim, dim)?;
        }
        matrix(&mut w, &name("ffn_gate"), dim, hidden)?;
        matrix(&mut w, &name("ffn_up"), dim, hidden)?;
        matrix(&mut w, &name("ffn_down"), hidden, dim)?;
    }
    w.f32_tensor("output_norm.weight", &[dim], &ones);
    matrix(&mut w, "output.weight", dim, VOCABULARY)?;
    save(&w, out)
}

const VOCABULARY: u64 = 512;

/// A SentencePiece vocabulary: three special tokens, the bytes, and words that mean nothing.
fn vocabulary(w: &mut GgufWriter<'_>) {
    let special = ["<unk>", "<s>", "</s>"].map(str::to_owned);
    let bytes = (0..256).map(|b| format!("<0x{b:02X}>"));
    let words = (0..VOCABULARY - 259).map(|n| format!("\u{2581}w{n}"));
    let tokens: Vec<String> = special.into_iter().chain(bytes).chain(words).collect();
    let types = [2, 3, 3].into_iter().chain([6; 256]).chain([1; VOCABULARY as usize - 259]).collect::<Vec<i32>>();
    let scores: Vec<f32> = (0..VOCABULARY).map(|n| -(n as f32)).collect();
    w.key("tokenizer.ggml.model", "llama")
        .key("tokenizer.ggml.tokens", &tokens[..])
        .key("tokenizer.ggml.token_type", types)
        .key("tokenizer.ggml.scores", scores)
        .key("tokenizer.ggml.unknown_token_id", 0u32)
        .key("tokenizer.ggml.bos_token_id", 1u32)
        .key("tokenizer.ggml.eos_token_id", 2u32);
}

fn formats(model: &str, out: &str, matrices: GgmlType, embedding: GgmlType) -> Result<()> {
    let gguf = Gguf::open(model)?;
    let mut w = GgufWriter::new();
    copy_keys(&gguf, &mut w)?;
    for tensor in gguf.tensors() {
        let data = gguf.data(tensor)?;
        let kind = match tensor.name() {
            "token_embd.weight" => embedding,
            _ if tensor.dims().len() > 1 => matrices,
            _ => {
                w.tensor(tensor.name(), tensor.dims(), tensor.ggml_type(), data);
                continue;
            }
        };
        let mut values = vec![0.0; tensor.elements() as usize];
        decode(tensor.ggml_type(), data, &mut values)?;
        w.tensor(tensor.name(), tensor.dims(), kind, encoded(kind, &values).with_context(|| tensor.name().to_owned())?);
    }
    save(&w, out)
}

fn context(model: &str, out: &str, n: u32) -> Result<()> {
    let gguf = Gguf::open(model)?;
    let mut w = GgufWriter::new();
    copy_keys(&gguf, &mut w)?;
    w.key(format!("{}.context_length", gguf.need_str("general.architecture")?), n);
    for tensor in gguf.tensors() {
        w.tensor(tensor.name(), tensor.dims(), tensor.ggml_type(), gguf.data(tensor)?);
    }
    save(&w, out)
}

/// Copies what a runtime needs to know; lists of types that no key of a decoder has are left out.
fn copy_keys(gguf: &Gguf<'_>, w: &mut GgufWriter<'_>) -> Result<()> {
    for key in gguf.keys() {
        let Some(value) = gguf.get(key) else { continue };
        let narrow = |n: u64| u32::try_from(n).with_context(|| key.to_owned());
        let value = match value {
            // The writer always aligns to 32.
            _ if key == "general.alignment" => continue,
            Value::Unsigned(n, ValueType::U64) => OwnedValue::U64(n),
            Value::Unsigned(n, _) => OwnedValue::U32(narrow(n)?),
            Value::Signed(n, _) => OwnedValue::I64(n),
            Value::Float(x, _) => OwnedValue::F32(x as f32),
            Value::Bool(b) => OwnedValue::Bool(b),
            Value::String(s) => OwnedValue::String(s.to_vec()),
            Value::Array(list) => match list.element_type() {
                ValueType::String => {
                    OwnedValue::Strings(list.strings().unwrap_or_default().into_iter().map(<[u8]>::to_vec).collect())
                }
                ValueType::F32 => OwnedValue::F32s(list.floats().unwrap_or_default()),
                ValueType::I32 => {
                    let numbers = list.integers().unwrap_or_default();
                    OwnedValue::I32s(numbers.into_iter().map(i32::try_from).collect::<Result<_, _>>()?)
                }
                _ => continue,
            },
        };
        w.key(key, value);
    }
    Ok(())
}
