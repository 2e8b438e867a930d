//! llama: RMSNORM, rotary positions, grouped heads, gated feed-forward.

use ssnail_gguf::{TensorInfo, Value};

use super::reader::Reader;
use super::rope::{self, Rope};
use super::{Body, Dims, OptionalLinear};
use crate::error::ConvertError;

/// Tensors of a llama model.
#[derive(Clone, Debug)]
pub struct Llama {
    /// `vocab` rows of `dim`.
    pub embedding: TensorInfo,
    /// Blocks in order.
    pub layers: Vec<LlamaLayer>,
    /// Gain of the last norm.
    pub output_norm: TensorInfo,
    /// Classifier; `None` if it is the embedding.
    pub output: Option<TensorInfo>,
    /// Rotary positions.
    pub rope: Rope,
}

/// A block: x += o(attention(norm(x))), then x += down(silu(gate(norm(x))) · up(norm(x))).
#[derive(Clone, Debug)]
pub struct LlamaLayer {
    /// Gain before attention.
    pub attn_norm: TensorInfo,
    /// Gain before the feed-forward part.
    pub ffn_norm: TensorInfo,
    /// Queries: heads · head_dim rows of dim.
    pub q: OptionalLinear,
    /// Keys: kv_heads · head_dim rows of dim; pairs of rows are rotated together.
    pub k: OptionalLinear,
    /// Values: as keys.
    pub v: OptionalLinear,
    /// Output of attention: dim rows of heads · head_dim.
    pub o: OptionalLinear,
    /// hidden rows of dim.
    pub gate: OptionalLinear,
    /// hidden rows of dim.
    pub up: OptionalLinear,
    /// dim rows of hidden.
    pub down: OptionalLinear,
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<(Dims, Body), ConvertError> {
    refuse_what_changes_the_output(r)?;
    let key_length = r.optional_size("attention.key_length")?;
    let dims = r.dims("attention.layer_norm_rms_epsilon", key_length)?;
    let value_length = r.optional_size("attention.value_length")?.unwrap_or(dims.head_dim);
    if value_length != dims.head_dim {
        return Err(ConvertError::Unsupported {
            what: format!("{} = {value_length}", r.key("attention.value_length")),
            reason: format!("values must be as long as keys ({})", dims.head_dim),
        });
    }
    if !dims.head_dim.is_multiple_of(2) {
        return Err(ConvertError::Key {
            key: r.key("attention.key_length"),
            reason: format!("heads of {} elements cannot be rotated in pairs", dims.head_dim),
        });
    }
    let rope = rope::read(r, dims.head_dim)?;
    check_window(r, &dims)?;

    let (dim, q, kv, hidden) = (dims.dim, dims.q_dim(), dims.kv_dim(), dims.hidden);
    let embedding = r.tensor("token_embd.weight".into(), &[dim, dims.vocab]);
    let layers = (0..dims.layers)
        .map(|n| {
            let name = |part: &str| format!("blk.{n}.{part}");
            r.ignore(&name("attn_rot_embd"));
            r.ignore(&name("attn_rot_embd.weight"));
            LlamaLayer {
                attn_norm: r.tensor(name("attn_norm.weight"), &[dim]),
                ffn_norm: r.tensor(name("ffn_norm.weight"), &[dim]),
                q: linear(r, name("attn_q"), dim, q),
                k: linear(r, name("attn_k"), dim, kv),
                v: linear(r, name("attn_v"), dim, kv),
                o: linear(r, name("attn_output"), q, dim),
                gate: linear(r, name("ffn_gate"), dim, hidden),
                up: linear(r, name("ffn_up"), dim, hidden),
                down: linear(r, name("ffn_down"), hidden, dim),
            }
        })
        .collect();
    let output_norm = r.tensor("output_norm.weight".into(), &[dim]);
    let output = r.optional("output.weight", &[dim, dims.vocab]);
    Ok((dims, Body::Llama(Llama { embedding, layers, output_norm, output, rope })))
}

fn linear(r: &mut Reader<'_>, name: String, columns: u32, rows: u32) -> OptionalLinear {
    OptionalLinear {
        weight: r.tensor(format!("{name}.weight"), &[columns, rows]),
        bias: r.optional(&format!("{name}.bias"), &[rows]),
    }
}

fn refuse_what_changes_the_output(r: &Reader<'_>) -> Result<(), ConvertError> {
    let zero = |v: Value<'_>| match v {
        Value::Float(x, _) => x == 0.0,
        other => other.as_integer() == Some(0),
    };
    let one_or_zero = |v: Value<'_>| matches!(v, Value::Float(x, _) if x == 1.0 || x == 0.0);
    r.refuse_unless("expert_count", zero)?;
    r.refuse_unless("attention.causal", |v| v == Value::Bool(true))?;
    r.refuse_unless("use_parallel_residual", |v| v == Value::Bool(false))?;
    for key in ["attention.max_alibi_bias", "attention.clamp_kqv", "attn_logit_softcapping", "final_logit_softcapping"]
    {
        r.refuse_unless(key, zero)?;
    }
    for key in ["embedding_scale", "residual_scale", "logit_scale", "attention.scale"] {
        r.refuse_unless(key, one_or_zero)?;
    }
    Ok(())
}

/// A sliding window no shorter than the longest context has no effect.
fn check_window(r: &Reader<'_>, dims: &Dims) -> Result<(), ConvertError> {
    r.refuse_unless("attention.sliding_window", |v| {
        v.as_integer().is_some_and(|n| n == 0 || n >= i128::from(dims.trained_ctx) || n >= 4096)
    })
}
