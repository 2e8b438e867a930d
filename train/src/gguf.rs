//! The finished model as GGUF.

use crate::model::{Config, Layout, NORM_EPS, ROPE_BASE};
use crate::vocab::{BOS, EOS, Vocab};
use half::f16;
use ssnail_gguf::GgufWriter;
use ssnail_quant::GgmlType;

/// The file: matrices in F16, gains in F32.
pub fn write(name: &str, c: &Config, w: &[f32], vocab: &Vocab) -> Vec<u8> {
    let n = |x: usize| x as u32;
    let texts: Vec<&str> = vocab.pieces.iter().map(|p| p.text.as_str()).collect();
    let mut g = GgufWriter::new();
    g.key("general.architecture", "llama")
        .key("general.name", name)
        .key("general.license", "MIT OR Apache-2.0")
        .key("general.file_type", 1u32)
        .key("llama.context_length", n(c.ctx))
        .key("llama.embedding_length", n(c.dim))
        .key("llama.block_count", n(c.layers))
        .key("llama.feed_forward_length", n(c.hidden))
        .key("llama.attention.head_count", n(c.heads))
        .key("llama.attention.head_count_kv", n(c.kv_heads))
        .key("llama.attention.layer_norm_rms_epsilon", NORM_EPS)
        .key("llama.rope.dimension_count", n(c.head_dim()))
        .key("llama.rope.freq_base", ROPE_BASE as f32)
        .key("llama.vocab_size", n(c.vocab))
        .key("tokenizer.ggml.model", "llama")
        .key("tokenizer.ggml.tokens", texts.as_slice())
        .key("tokenizer.ggml.scores", vocab.pieces.iter().map(|p| p.score).collect::<Vec<f32>>())
        .key("tokenizer.ggml.token_type", vocab.pieces.iter().map(|p| p.kind as i32).collect::<Vec<i32>>())
        .key("tokenizer.ggml.unknown_token_id", 0u32)
        .key("tokenizer.ggml.bos_token_id", BOS)
        .key("tokenizer.ggml.eos_token_id", EOS)
        .key("tokenizer.ggml.add_bos_token", true)
        .key("tokenizer.ggml.add_eos_token", false)
        .key("tokenizer.ggml.add_space_prefix", true);
    for t in &Layout::new(c).tensors {
        let values = &w[t.range.clone()];
        let (cols, rows) = (t.cols as u64, t.rows as u64);
        if rows == 1 {
            g.f32_tensor(&t.name, &[cols], values);
        } else {
            let data: Vec<u8> = values.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect();
            g.tensor(&t.name, &[cols, rows], GgmlType::F16, data);
        }
    }
    g.to_vec()
}
