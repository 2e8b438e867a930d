//! bert: an encoder; LAYERNORM behind every step, learned positions, GELU, pooling.

use ssnail_gguf::{TensorInfo, Value};

use super::gpt2::positions;
use super::reader::Reader;
use super::{Body, Dims, Linear, Norm};
use crate::error::ConvertError;

/// How the vectors of all positions become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first.
    Cls,
}

/// Tensors of a bert model.
#[derive(Clone, Debug)]
pub struct Bert {
    /// `vocab` rows of `dim`.
    pub embedding: TensorInfo,
    /// One row of `dim` per position.
    pub positions: TensorInfo,
    /// Rows for the types of tokens; the first is used.
    pub token_types: Option<TensorInfo>,
    /// Norm of the sum of the embeddings.
    pub embedding_norm: Norm,
    /// Blocks in order.
    pub layers: Vec<BertLayer>,
    /// Pooling.
    pub pooling: Pooling,
    /// Whether the file says how to pool.
    pub pooling_given: bool,
}

/// A block: x = ln1(x + o(attention(x))), then x = ln2(x + down(gelu(up(x)))).
#[derive(Clone, Debug)]
pub struct BertLayer {
    /// Queries.
    pub q: Linear,
    /// Keys.
    pub k: Linear,
    /// Values.
    pub v: Linear,
    /// Output of attention.
    pub o: Linear,
    /// Norm behind attention.
    pub attn_norm: Norm,
    /// hidden rows of dim.
    pub up: Linear,
    /// dim rows of hidden.
    pub down: Linear,
    /// Norm behind the feed-forward part.
    pub output_norm: Norm,
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<(Dims, Body), ConvertError> {
    r.refuse_unless("attention.causal", |v| v == Value::Bool(false))?;
    let key = r.key("pooling_type");
    let given = r.gguf.u32(&key)?;
    let pooling = match given {
        None | Some(1) => Pooling::Mean,
        Some(2) => Pooling::Cls,
        Some(n) => {
            let name = match n {
                0 => " (none)",
                3 => " (last)",
                4 => " (rank)",
                _ => "",
            };
            return Err(ConvertError::Unsupported {
                what: format!("{key} = {n}{name}"),
                reason: "1 (mean) and 2 (CLS) are known".into(),
            });
        }
    };
    let mut dims = r.dims("attention.layer_norm_epsilon", None)?;
    if dims.kv_heads != dims.heads {
        return Err(ConvertError::Unsupported {
            what: format!("{} = {}", r.key("attention.head_count_kv"), dims.kv_heads),
            reason: "bert models have as many key as query heads".into(),
        });
    }
    let positions = positions(r, &mut dims);
    let (dim, hidden) = (dims.dim, dims.hidden);
    let embedding = r.tensor("token_embd.weight".into(), &[dim, dims.vocab]);
    let type_rows = r.gguf.tensor("token_types.weight").and_then(|t| u32::try_from(t.rows()).ok());
    let token_types = type_rows.and_then(|rows| r.optional("token_types.weight", &[dim, rows]));
    let embedding_norm = r.norm("token_embd_norm", dim);
    let layers = (0..dims.layers)
        .map(|n| {
            let name = |part: &str| format!("blk.{n}.{part}");
            BertLayer {
                q: r.linear(&name("attn_q"), dim, dim),
                k: r.linear(&name("attn_k"), dim, dim),
                v: r.linear(&name("attn_v"), dim, dim),
                o: r.linear(&name("attn_output"), dim, dim),
                attn_norm: r.norm(&name("attn_output_norm"), dim),
                up: r.linear(&name("ffn_up"), dim, hidden),
                down: r.linear(&name("ffn_down"), hidden, dim),
                output_norm: r.norm(&name("layer_output_norm"), dim),
            }
        })
        .collect();
    // Heads for other tasks; the embedding does not pass through them.
    for head in ["cls.weight", "cls.bias", "cls.output.weight", "cls.output.bias", "cls.norm.weight"] {
        r.ignore(head);
    }
    let bert =
        Bert { embedding, positions, token_types, embedding_norm, layers, pooling, pooling_given: given.is_some() };
    Ok((dims, Body::Bert(bert)))
}
