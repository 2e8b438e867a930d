//! Why a model is not converted.

use std::io;

use ssnail_gguf::Error as GgufError;

use crate::advice::TooBig;

/// Why a model is not converted: always the tensor, key or option, and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The file itself, a missing key, a key of the wrong type.
    #[error(transparent)]
    Gguf(#[from] GgufError),
    /// `general.architecture` is absent.
    #[error("{0}; models of the architectures llama, gpt2 and bert can be converted")]
    NoArchitecture(GgufError),
    /// Another architecture.
    #[error("the architecture {found:?} is not supported; llama, gpt2 and bert are")]
    Architecture {
        /// What the file says.
        found: String,
    },
    /// A vocabulary without a model.
    #[error("this file has a vocabulary but no weights")]
    NoWeights,
    /// A model without a vocabulary.
    #[error("this file has weights but no vocabulary (tokenizer.ggml.tokens)")]
    NoVocabulary,
    /// A key of the model is missing or cannot be right.
    #[error("{key}: {reason}")]
    Key {
        /// The key.
        key: String,
        /// What was found and what was expected.
        reason: String,
    },
    /// Tensors that the architecture needs are absent.
    #[error("missing tensors: {}", list(.0))]
    MissingTensors(Vec<String>),
    /// The file holds tensors that are not understood, so the result would be wrong.
    #[error("tensors that {architecture} models as known here do not have: {}", list(.tensors))]
    UnknownTensors {
        /// The architecture.
        architecture: &'static str,
        /// Their names.
        tensors: Vec<String>,
    },
    /// A tensor has the wrong shape.
    #[error("tensor {name}: its shape is {found:?}, {expected:?} expected (row length first)")]
    Shape {
        /// The tensor.
        name: String,
        /// Dimensions in the file.
        found: Vec<u64>,
        /// Dimensions that follow from the keys.
        expected: Vec<u64>,
    },
    /// A tensor of a type that holds no weights.
    #[error("tensor {name}: its type {kind} cannot be decoded")]
    Type {
        /// The tensor.
        name: String,
        /// Its type.
        kind: ssnail_quant::GgmlType,
    },
    /// A weight is NaN or infinite.
    #[error("tensor {name}: element {index} is {value}; the model is damaged")]
    NotFinite {
        /// The tensor.
        name: String,
        /// Index of the element, row by row.
        index: u64,
        /// NaN or an infinity.
        value: f32,
    },
    /// A feature of the model that would change its output and is not supported.
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        /// The feature, with its key or tensor.
        what: String,
        /// Why, or what would be needed.
        reason: String,
    },
    /// More tokens than embedding rows.
    #[error("the vocabulary has {tokens} tokens, but token_embd.weight only {rows} rows: the file is inconsistent")]
    TooManyTokens {
        /// Tokens in the list.
        tokens: u64,
        /// Rows of the embedding.
        rows: u64,
    },
    /// The context cannot be used.
    #[error("a context of {ctx} is not possible: {reason}")]
    Context {
        /// The context asked for.
        ctx: i64,
        /// What is allowed.
        reason: String,
    },
    /// The memory size cannot be used.
    #[error("a memory of {mem_mb} MB is not possible: {reason}")]
    Memory {
        /// The size asked for.
        mem_mb: f64,
        /// What is allowed.
        reason: String,
    },
    /// The image does not fit into the memory.
    #[error("{0}")]
    TooBig(Box<TooBig>),
    /// The CPU tables would lie beyond the first memory.
    #[error("the tokenizer tables end at ${end:X}, beyond ${boundary:X}: the vocabulary is too large")]
    TablesTooBig {
        /// End of the tables.
        end: u64,
        /// The boundary.
        boundary: u64,
    },
    /// The output was not written.
    #[error("writing the image: {0}")]
    Write(#[from] io::Error),
}

/// A few names, then how many more there are.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
