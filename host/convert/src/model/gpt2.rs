//! gpt2: LAYERNORM, learned positions, one matrix for queries, keys and values, GELU.

use ssnail_gguf::TensorInfo;

use super::reader::Reader;
use super::{Body, Dims, Linear, Norm};
use crate::error::ConvertError;

/// Tensors of a gpt2 model.
#[derive(Clone, Debug)]
pub struct Gpt2 {
    /// `vocab` rows of `dim`.
    pub embedding: TensorInfo,
    /// One row of `dim` per position.
    pub positions: TensorInfo,
    /// Blocks in order.
    pub layers: Vec<Gpt2Layer>,
    /// The last norm.
    pub output_norm: Norm,
    /// Classifier; `None` if it is the embedding.
    pub output: Option<TensorInfo>,
}

/// A block: x += o(attention(ln1(x))), then x += down(gelu(up(ln2(x)))).
#[derive(Clone, Debug)]
pub struct Gpt2Layer {
    /// Norm before attention.
    pub attn_norm: Norm,
    /// Norm before the feed-forward part.
    pub ffn_norm: Norm,
    /// 3 · dim rows of dim: queries, keys, values.
    pub qkv: Linear,
    /// Output of attention.
    pub o: Linear,
    /// hidden rows of dim.
    pub up: Linear,
    /// dim rows of hidden.
    pub down: Linear,
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<(Dims, Body), ConvertError> {
    let mut dims = r.dims("attention.layer_norm_epsilon", None)?;
    if dims.kv_heads != dims.heads {
        return Err(ConvertError::Unsupported {
            what: format!("{} = {}", r.key("attention.head_count_kv"), dims.kv_heads),
            reason: "gpt2 models have as many key as query heads".into(),
        });
    }
    let positions = positions(r, &mut dims);
    let (dim, hidden) = (dims.dim, dims.hidden);
    let embedding = r.tensor("token_embd.weight".into(), &[dim, dims.vocab]);
    let layers = (0..dims.layers)
        .map(|n| {
            let name = |part: &str| format!("blk.{n}.{part}");
            Gpt2Layer {
                attn_norm: r.norm(&name("attn_norm"), dim),
                ffn_norm: r.norm(&name("ffn_norm"), dim),
                qkv: r.linear(&name("attn_qkv"), dim, dim.saturating_mul(3)),
                o: r.linear(&name("attn_output"), dim, dim),
                up: r.linear(&name("ffn_up"), dim, hidden),
                down: r.linear(&name("ffn_down"), hidden, dim),
            }
        })
        .collect();
    let output_norm = r.norm("output_norm", dim);
    let output = r.optional("output.weight", &[dim, dims.vocab]);
    Ok((dims, Body::Gpt2(Gpt2 { embedding, positions, layers, output_norm, output })))
}

/// The table of learned positions; the trained context is no longer than its rows.
pub(super) fn positions(r: &mut Reader<'_>, dims: &mut Dims) -> TensorInfo {
    let name = "position_embd.weight";
    let rows = r.gguf.tensor(name).and_then(|t| u32::try_from(t.rows()).ok()).unwrap_or(dims.trained_ctx);
    dims.trained_ctx = dims.trained_ctx.min(rows);
    r.tensor(name.into(), &[dims.dim, rows])
}
