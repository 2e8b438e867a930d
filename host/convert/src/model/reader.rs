//! Keys and tensors of one architecture, with every complaint collected under its name.

use std::collections::HashSet;

use ssnail_gguf::{Gguf, TensorInfo, Value};
use ssnail_shared::header::Architecture;

use super::{Dims, Linear, Norm};
use crate::error::ConvertError;

/// Most blocks of a model: a guard against nonsense, far above any model that fits.
const MAX_LAYERS: u32 = 4096;

pub(super) struct Reader<'g> {
    pub(super) gguf: &'g Gguf<'g>,
    architecture: Architecture,
    used: HashSet<String>,
    missing: Vec<String>,
    shape: Option<ConvertError>,
    /// Stands in for missing tensors until `finish` refuses.
    placeholder: TensorInfo,
}

impl<'g> Reader<'g> {
    pub(super) fn new(gguf: &'g Gguf<'g>, architecture: Architecture, placeholder: TensorInfo) -> Self {
        Reader { gguf, architecture, used: HashSet::new(), missing: Vec::new(), shape: None, placeholder }
    }

    /// The key with the architecture's prefix.
    pub(super) fn key(&self, suffix: &str) -> String {
        format!("{}.{suffix}", self.architecture.name())
    }

    /// An integer of at least 1.
    pub(super) fn size(&self, suffix: &str) -> Result<u32, ConvertError> {
        let key = self.key(suffix);
        match self.optional_size(suffix)? {
            Some(n) => Ok(n),
            None => Err(self.gguf.missing_key(&key).into()),
        }
    }

    /// An integer of at least 1, or one list element per layer that are all the same.
    pub(super) fn optional_size(&self, suffix: &str) -> Result<Option<u32>, ConvertError> {
        let key = self.key(suffix);
        let found = match self.gguf.get(&key) {
            Some(Value::Array(list)) => {
                let sizes = list.integers().unwrap_or_default();
                match sizes.split_first() {
                    Some((first, rest)) if rest.iter().all(|n| n == first) => u32::try_from(*first).ok(),
                    _ => {
                        return Err(ConvertError::Unsupported {
                            what: key,
                            reason: "it differs from layer to layer".into(),
                        });
                    }
                }
            }
            _ => self.gguf.u32(&key)?,
        };
        match found {
            Some(0) => Err(ConvertError::Key { key, reason: "0 is not possible".into() }),
            found => Ok(found),
        }
    }

    /// Sizes from the keys; `vocab` from the embedding. Head sizes are `dim / heads` unless `key_length`.
    pub(super) fn dims(&mut self, eps_key: &str, key_length: Option<u32>) -> Result<Dims, ConvertError> {
        let dim = self.size("embedding_length")?;
        let layers = self.size("block_count")?;
        if layers > MAX_LAYERS {
            return Err(ConvertError::Key {
                key: self.key("block_count"),
                reason: format!("{layers} layers; {MAX_LAYERS} at most are possible"),
            });
        }
        let heads = self.size("attention.head_count")?;
        let kv_heads = self.optional_size("attention.head_count_kv")?.unwrap_or(heads);
        let hidden = self.size("feed_forward_length")?;
        let trained_ctx = self.optional_size("context_length")?.unwrap_or(2048);
        let eps = self.gguf.f32(&self.key(eps_key))?.unwrap_or(1e-5);
        if !(eps.is_finite() && eps >= 0.0) {
            return Err(ConvertError::Key { key: self.key(eps_key), reason: format!("{eps} is not an epsilon") });
        }
        if !heads.is_multiple_of(kv_heads) {
            return Err(ConvertError::Key {
                key: self.key("attention.head_count_kv"),
                reason: format!("{kv_heads} does not divide the {heads} heads"),
            });
        }
        if key_length.is_none() && !dim.is_multiple_of(heads) {
            return Err(ConvertError::Key {
                key: self.key("attention.head_count"),
                reason: format!("{heads} heads do not divide a width of {dim}"),
            });
        }
        let head_dim = key_length.unwrap_or(dim / heads);
        let vocab = match self.gguf.tensor("token_embd.weight") {
            Some(t) => u32::try_from(t.rows()).map_err(|_| ConvertError::Key {
                key: "token_embd.weight".into(),
                reason: format!("{} rows are more than any vocabulary", t.rows()),
            })?,
            None => 0,
        };
        let dims = Dims { dim, layers, heads, kv_heads, head_dim, hidden, vocab, trained_ctx, eps };
        // Far above any model that fits; below, no product of two sizes leaves 32 bits.
        let limits = [
            ("embedding_length", u64::from(dim), 1 << 20),
            ("feed_forward_length", u64::from(hidden), 1 << 24),
            ("attention.key_length", u64::from(head_dim), 1 << 16),
            ("attention.head_count", u64::from(heads) * u64::from(head_dim), 1 << 24),
            ("vocab_size", u64::from(vocab), 1 << 22),
        ];
        if let Some((suffix, value, most)) = limits.into_iter().find(|(_, value, most)| value > most) {
            return Err(ConvertError::Key {
                key: self.key(suffix),
                reason: format!("a size of {value} is beyond any model; {most} at most is possible"),
            });
        }
        Ok(dims)
    }

    /// A tensor that must be there, of this shape. What is wrong is reported by [`Reader::finish`].
    pub(super) fn tensor(&mut self, name: String, shape: &[u32]) -> TensorInfo {
        match self.optional(&name, shape) {
            Some(t) => t,
            None => {
                self.missing.push(name);
                self.placeholder.clone()
            }
        }
    }

    /// A tensor that may be there.
    pub(super) fn optional(&mut self, name: &str, shape: &[u32]) -> Option<TensorInfo> {
        let found = self.gguf.tensor(name)?;
        self.used.insert(name.to_owned());
        let expected: Vec<u64> = shape.iter().map(|&d| u64::from(d)).collect();
        let mut dims = found.dims().to_vec();
        while dims.len() > expected.len() && dims.last() == Some(&1) {
            dims.pop();
        }
        while dims.len() < expected.len() {
            dims.push(1);
        }
        if dims != expected && self.shape.is_none() {
            self.shape = Some(ConvertError::Shape { name: name.to_owned(), found: found.dims().to_vec(), expected });
        } else if !ssnail_quant::is_decodable(found.ggml_type()) && self.shape.is_none() {
            self.shape = Some(ConvertError::Type { name: name.to_owned(), kind: found.ggml_type() });
        }
        Some(found.clone())
    }

    /// `NAME.weight` and `NAME.bias` of a LAYERNORM.
    pub(super) fn norm(&mut self, name: &str, dim: u32) -> Norm {
        Norm { gain: self.tensor(format!("{name}.weight"), &[dim]), bias: self.tensor(format!("{name}.bias"), &[dim]) }
    }

    /// `NAME.weight` and `NAME.bias` of a matrix.
    pub(super) fn linear(&mut self, name: &str, columns: u32, rows: u32) -> Linear {
        Linear {
            weight: self.tensor(format!("{name}.weight"), &[columns, rows]),
            bias: self.tensor(format!("{name}.bias"), &[rows]),
        }
    }

    /// Leaves a tensor out that does not matter for the output.
    pub(super) fn ignore(&mut self, name: &str) {
        self.used.insert(name.to_owned());
    }

    /// Refuses a key whose value would change the output, unless it holds what has no effect.
    pub(super) fn refuse_unless(&self, suffix: &str, harmless: impl Fn(Value<'_>) -> bool) -> Result<(), ConvertError> {
        let key = self.key(suffix);
        match self.gguf.get(&key) {
            Some(value) if !harmless(value) => {
                let shown = match value {
                    Value::Unsigned(n, _) => n.to_string(),
                    Value::Signed(n, _) => n.to_string(),
                    Value::Float(x, _) => x.to_string(),
                    Value::Bool(b) => b.to_string(),
                    Value::String(s) => s.escape_ascii().to_string(),
                    Value::Array(_) => "a list".into(),
                };
                Err(ConvertError::Unsupported {
                    what: format!("{key} = {shown}"),
                    reason: "the accelerator's program has no step for it".into(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Reports what was wrong: missing tensors first, then shapes, then tensors nobody asked for.
    pub(super) fn finish(self) -> Result<(), ConvertError> {
        if !self.missing.is_empty() {
            return Err(ConvertError::MissingTensors(self.missing));
        }
        if let Some(error) = self.shape {
            return Err(error);
        }
        let unknown: Vec<String> = self
            .gguf
            .tensors()
            .iter()
            .map(|t| t.name())
            .filter(|name| !self.used.contains(*name))
            .map(str::to_owned)
            .collect();
        if !unknown.is_empty() {
            return Err(ConvertError::UnknownTensors { architecture: self.architecture.name(), tensors: unknown });
        }
        Ok(())
    }
}
