//! A model as the GGUF file describes it: sizes and tensors by their role, checked against each other.
//!
//! Nothing here knows about images; another target may start from the same description.

mod bert;
mod gpt2;
mod llama;
mod reader;
mod rope;

use ssnail_gguf::{Gguf, TensorInfo};

pub use bert::{Bert, BertLayer, Pooling};
pub use gpt2::{Gpt2, Gpt2Layer};
pub use llama::{Llama, LlamaLayer};
pub use rope::{Rope, RopeScaling};
pub use ssnail_shared::header::Architecture;

use crate::error::ConvertError;
use reader::Reader;

/// Sizes common to all architectures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dims {
    /// Width of the residual stream.
    pub dim: u32,
    /// Blocks.
    pub layers: u32,
    /// Query heads.
    pub heads: u32,
    /// Key and value heads; divides `heads`.
    pub kv_heads: u32,
    /// Width of a head; even for llama.
    pub head_dim: u32,
    /// Width of the feed-forward part.
    pub hidden: u32,
    /// Rows of the embedding.
    pub vocab: u32,
    /// Context that the model was trained with.
    pub trained_ctx: u32,
    /// Epsilon of the norms.
    pub eps: f32,
}

impl Dims {
    /// Width of all queries: heads × head_dim.
    pub fn q_dim(&self) -> u32 {
        self.heads.saturating_mul(self.head_dim)
    }

    /// Width of all keys: kv_heads × head_dim.
    pub fn kv_dim(&self) -> u32 {
        self.kv_heads.saturating_mul(self.head_dim)
    }
}

/// Gain and bias of a LAYERNORM.
#[derive(Clone, Debug)]
pub struct Norm {
    /// Gain, `dim` long.
    pub gain: TensorInfo,
    /// Bias, `dim` long.
    pub bias: TensorInfo,
}

/// A matrix and the bias added to its product.
#[derive(Clone, Debug)]
pub struct Linear {
    /// Rows of outputs, columns of inputs.
    pub weight: TensorInfo,
    /// One element per row.
    pub bias: TensorInfo,
}

/// A matrix and perhaps a bias.
#[derive(Clone, Debug)]
pub struct OptionalLinear {
    /// Rows of outputs, columns of inputs.
    pub weight: TensorInfo,
    /// One element per row.
    pub bias: Option<TensorInfo>,
}

/// The part that differs between architectures.
#[derive(Clone, Debug)]
pub enum Body {
    /// llama: RMSNORM, rotary positions, gated feed-forward, grouped heads.
    Llama(Llama),
    /// gpt2: LAYERNORM, learned positions, GELU.
    Gpt2(Gpt2),
    /// bert: an encoder.
    Bert(Bert),
}

/// A complete model description.
#[derive(Clone, Debug)]
pub struct Model {
    /// `general.name`.
    pub name: Option<String>,
    /// Sizes.
    pub dims: Dims,
    /// Tensors by role.
    pub body: Body,
}

/// The key that every model must have.
const ARCHITECTURE: &str = "general.architecture";

impl Model {
    /// Reads the description; no weights are read except the RoPE factors of llama models.
    ///
    /// # Errors
    /// An unknown architecture, missing or misshapen tensors, and features that would change the output
    /// and are not supported; see [`ConvertError`].
    pub fn read(gguf: &Gguf<'_>) -> Result<Model, ConvertError> {
        let architecture = match gguf.str(ARCHITECTURE)? {
            Some("llama") => Architecture::Llama,
            Some("gpt2") => Architecture::Gpt2,
            Some("bert") => Architecture::Bert,
            Some(other) => return Err(ConvertError::Architecture { found: other.to_owned() }),
            None => return Err(ConvertError::NoArchitecture(gguf.missing_key(ARCHITECTURE))),
        };
        let Some(first) = gguf.tensors().first() else { return Err(ConvertError::NoWeights) };
        let name = gguf.bytes("general.name")?.map(|n| String::from_utf8_lossy(n).into_owned());
        let mut reader = Reader::new(gguf, architecture, first.clone());
        let (dims, body) = match architecture {
            Architecture::Llama => llama::read(&mut reader)?,
            Architecture::Gpt2 => gpt2::read(&mut reader)?,
            Architecture::Bert => bert::read(&mut reader)?,
        };
        reader.finish()?;
        Ok(Model { name: name.filter(|n| !n.trim().is_empty()), dims, body })
    }

    /// The architecture.
    pub fn architecture(&self) -> Architecture {
        match self.body {
            Body::Llama(_) => Architecture::Llama,
            Body::Gpt2(_) => Architecture::Gpt2,
            Body::Bert(_) => Architecture::Bert,
        }
    }
}
