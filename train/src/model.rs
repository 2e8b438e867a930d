//! The model: sizes, and where each tensor lies in the one vector of parameters.

use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Sizes of a llama.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Width of the residual stream.
    pub dim: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Width inside the feed-forward part.
    pub hidden: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Tokens of the vocabulary.
    pub vocab: usize,
    /// Longest sequence.
    pub ctx: usize,
}

impl Config {
    /// Dimensions of one head.
    pub fn head_dim(&self) -> usize {
        self.dim / self.heads.max(1)
    }

    /// Dimensions of all key heads together.
    pub fn kv_dim(&self) -> usize {
        self.head_dim() * self.kv_heads
    }
}

/// Base of the rotary frequencies.
pub const ROPE_BASE: f64 = 10_000.0;
/// Added to the mean square in RMSNorm.
pub const NORM_EPS: f32 = 1e-5;

/// A tensor: name as in GGUF, place in the parameters, shape (rows = outputs; a norm has one row).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// `blk.0.attn_q.weight` and so on.
    pub name: String,
    /// Where its values lie.
    pub range: Range<usize>,
    /// Outputs.
    pub rows: usize,
    /// Inputs; consecutive in memory.
    pub cols: usize,
}

/// Ranges of one block.
#[derive(Clone, Debug)]
pub struct Block {
    /// RMSNorm gains before attention and before the feed-forward part.
    pub norms: [Range<usize>; 2],
    /// Projections to queries, keys, values, and back.
    pub attn: [Range<usize>; 4],
    /// Gate, up, down.
    pub ffn: [Range<usize>; 3],
}

/// Ranges of all tensors.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Embedding, also the classifier.
    pub embed: Range<usize>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Gain of the last RMSNorm.
    pub norm: Range<usize>,
    /// The same as a list, in the order of the image.
    pub tensors: Vec<Tensor>,
}

impl Layout {
    /// The layout for these sizes.
    pub fn new(c: &Config) -> Self {
        let mut tensors: Vec<Tensor> = Vec::new();
        let mut add = |name: String, rows: usize, cols: usize| {
            let start = tensors.last().map_or(0, |t: &Tensor| t.range.end);
            let range = start..start + rows * cols;
            tensors.push(Tensor { name: format!("{name}.weight"), range: range.clone(), rows, cols });
            range
        };
        let embed = add("token_embd".into(), c.vocab, c.dim);
        let blocks = (0..c.layers)
            .map(|i| {
                let mut t = |name: &str, rows, cols| add(format!("blk.{i}.{name}"), rows, cols);
                let norms = [t("attn_norm", 1, c.dim), t("ffn_norm", 1, c.dim)];
                let attn = [
                    t("attn_q", c.dim, c.dim),
                    t("attn_k", c.kv_dim(), c.dim),
                    t("attn_v", c.kv_dim(), c.dim),
                    t("attn_output", c.dim, c.dim),
                ];
                let ffn =
                    [t("ffn_gate", c.hidden, c.dim), t("ffn_up", c.hidden, c.dim), t("ffn_down", c.dim, c.hidden)];
                Block { norms, attn, ffn }
            })
            .collect();
        let norm = add("output_norm".into(), 1, c.dim);
        Layout { embed, blocks, norm, tensors }
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.norm.end
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// First weights: normal with deviation 0.02 for the embedding, 1/√inputs for the projections (those back into the
    /// residual stream smaller by √(2·layers)), ones for the gains.
    ///
    /// With `copy` > 0, that many times the transpose of each head's value projection is added to its output
    /// projection: a head then writes what it reads, and as the embedding is also the classifier, words of the context
    /// become likelier from the first step on. Small models learn to keep names much sooner that way (in the spirit of
    /// mimetic initialisation, Trockman and Kolter 2023).
    pub fn init(&self, c: &Config, seed: u64, copy: f32) -> Vec<f32> {
        let mut rng = Rng::new(seed, 1 << 40);
        let mut w = Vec::with_capacity(self.len());
        for t in &self.tensors {
            let residual = t.name.contains("attn_output") || t.name.contains("ffn_down");
            let deviation = match t.name.as_str() {
                "token_embd.weight" => 0.05,
                _ if residual => 1.0 / (t.cols as f64 * 2.0 * c.layers as f64).sqrt(),
                _ => 0.7 / (t.cols as f64).sqrt(),
            };
            for _ in t.range.clone() {
                w.push(if t.rows == 1 { 1.0 } else { (rng.normal() * deviation) as f32 });
            }
        }
        let hd = c.head_dim();
        for [_, _, v, o] in self.blocks.iter().map(|b| &b.attn).filter(|_| copy > 0.0) {
            let value = w[v.clone()].to_vec();
            let out = &mut w[o.clone()];
            for i in 0..c.dim {
                let row = i / hd * c.kv_heads / c.heads * hd + i % hd;
                for j in 0..c.dim {
                    out[j * c.dim + i] += copy * value[row * c.dim + j];
                }
            }
        }
        w
    }
}
