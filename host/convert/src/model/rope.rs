//! Rotary positions: frequencies, partial rotation, scaling, factors from the file.

use ssnail_gguf::Value;

use super::reader::Reader;
use crate::error::ConvertError;

/// How the frequencies are stretched for long contexts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RopeScaling {
    /// Not at all.
    None,
    /// Every frequency divided by the factor.
    Linear(f64),
    /// Llama 3.1: low frequencies divided by `factor`, high ones kept, smooth between.
    Llama3 {
        /// Divides the low frequencies.
        factor: f64,
        /// Wave lengths above original / low count as low.
        low: f64,
        /// Wave lengths below original / high count as high.
        high: f64,
        /// Context of the original training.
        original: f64,
    },
}

/// Rotary positions of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Base of the frequencies.
    pub base: f64,
    /// Elements of a head that rotate, from its start; even, at most `head_dim`.
    pub rotated: u32,
    /// Elements of a head.
    pub head_dim: u32,
    /// Scaling.
    pub scaling: RopeScaling,
    /// `rope_freqs.weight`: one divisor per frequency.
    pub factors: Option<Vec<f32>>,
}

impl Rope {
    /// Angle per position of each pair of a head. The pairs that do not rotate have frequency 0, which
    /// makes their table entries cos 1, sin 0: they pass through unchanged.
    pub fn frequencies(&self) -> Vec<f64> {
        let rotated = f64::from(self.rotated);
        (0..self.head_dim / 2)
            .map(|j| {
                if 2 * j >= self.rotated {
                    return 0.0;
                }
                let frequency = 1.0 / self.base.powf(f64::from(2 * j) / rotated);
                let frequency = self.scaling.apply(frequency);
                match self.factors.as_ref().and_then(|f| f.get(j as usize)) {
                    Some(factor) => frequency / f64::from(*factor),
                    None => frequency,
                }
            })
            .collect()
    }

    /// Table for positions 0 to ctx − 1: cos and sin of position · frequency for each pair, computed in
    /// double precision, stored in single; a row is `head_dim` long.
    pub fn table(&self, ctx: u32) -> Vec<f32> {
        let frequencies = self.frequencies();
        (0..ctx)
            .flat_map(|pos| {
                frequencies.iter().flat_map(move |frequency| {
                    let angle = f64::from(pos) * frequency;
                    [angle.cos() as f32, angle.sin() as f32]
                })
            })
            .collect()
    }
}

impl RopeScaling {
    fn apply(self, frequency: f64) -> f64 {
        match self {
            RopeScaling::None => frequency,
            RopeScaling::Linear(factor) => frequency / factor,
            RopeScaling::Llama3 { factor, low, high, original } => {
                let wave = std::f64::consts::TAU / frequency;
                if wave < original / high {
                    frequency
                } else if wave > original / low {
                    frequency / factor
                } else {
                    let smooth = (original / wave - low) / (high - low);
                    (1.0 - smooth) * frequency / factor + smooth * frequency
                }
            }
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, head_dim: u32) -> Result<Rope, ConvertError> {
    let rotated = r.optional_size("rope.dimension_count")?.unwrap_or(head_dim);
    if rotated > head_dim || !rotated.is_multiple_of(2) {
        return Err(ConvertError::Key {
            key: r.key("rope.dimension_count"),
            reason: format!("{rotated} is not an even number of at most {head_dim}, the length of a head"),
        });
    }
    let base = positive(r, "rope.freq_base")?.unwrap_or(10000.0);
    let factors = factors(r, rotated / 2)?;
    let scaling = scaling(r, factors.is_some())?;
    Ok(Rope { base, rotated, head_dim, scaling, factors })
}

/// A finite number above 0.
fn positive(r: &Reader<'_>, suffix: &str) -> Result<Option<f64>, ConvertError> {
    let key = r.key(suffix);
    match r.gguf.f64(&key)? {
        Some(x) if !(x.is_finite() && x > 0.0) => {
            Err(ConvertError::Key { key, reason: format!("{x} should be a number above 0") })
        }
        found => Ok(found),
    }
}

fn factors(r: &mut Reader<'_>, pairs: u32) -> Result<Option<Vec<f32>>, ConvertError> {
    let name = "rope_freqs.weight";
    let Some(info) = r.optional(name, &[pairs]) else { return Ok(None) };
    if info.elements() != u64::from(pairs) || !ssnail_quant::is_decodable(info.ggml_type()) {
        // Its shape is reported with those of the other tensors.
        return Ok(None);
    }
    let bytes = match r.gguf.data(&info) {
        Ok(bytes) => bytes,
        // Only a prefix of the file is at hand: sizes do not depend on the factors.
        Err(ssnail_gguf::Error::DataNotLoaded { .. }) => return Ok(Some(vec![1.0; pairs as usize])),
        Err(e) => return Err(e.into()),
    };
    let mut factors = vec![0f32; pairs as usize];
    ssnail_quant::decode(info.ggml_type(), bytes, &mut factors)
        .map_err(|_| ConvertError::Type { name: name.into(), kind: info.ggml_type() })?;
    if let Some(n) = factors.iter().position(|f| !(f.is_finite() && *f > 0.0)) {
        return Err(ConvertError::Key {
            key: name.into(),
            reason: format!("element {n} is {}, a divisor above 0 expected", factors[n]),
        });
    }
    Ok(Some(factors))
}

/// `has_factors`: the file brings the llama3 scaling as divisors already.
fn scaling(r: &Reader<'_>, has_factors: bool) -> Result<RopeScaling, ConvertError> {
    r.refuse_unless("rope.scaling.attn_factor", |v| matches!(v, Value::Float(x, _) if x == 1.0 || x == 0.0))?;
    let key = r.key("rope.scaling.type");
    let factor_key = r.key("rope.scaling.factor");
    let kind = r.gguf.str(&key)?;
    let factor = match positive(r, "rope.scaling.factor")? {
        Some(f) => Some(f),
        // The key of 2023, linear by definition.
        None => positive(r, "rope.scale_linear")?,
    };
    let need_factor =
        || factor.ok_or_else(|| ConvertError::Key { key: factor_key.clone(), reason: "it is missing".into() });
    match kind {
        Some("none") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear(need_factor()?)),
        None => Ok(factor.map_or(RopeScaling::None, RopeScaling::Linear)),
        Some("llama3") if has_factors => Ok(RopeScaling::None),
        Some("llama3") => {
            let factor = need_factor()?;
            let low = positive(r, "rope.scaling.low_freq_factor")?.unwrap_or(1.0);
            let high = positive(r, "rope.scaling.high_freq_factor")?.unwrap_or(4.0);
            let original = r.optional_size("rope.scaling.original_context_length")?.unwrap_or(8192);
            if high <= low {
                return Err(ConvertError::Key {
                    key: r.key("rope.scaling.high_freq_factor"),
                    reason: format!("{high} should be above the low factor {low}"),
                });
            }
            Ok(RopeScaling::Llama3 { factor, low, high, original: f64::from(original) })
        }
        Some(other) => Err(ConvertError::Unsupported {
            what: format!("{key} = {other}"),
            reason: "none, linear and llama3 are known".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rope(head_dim: u32) -> Rope {
        Rope { base: 10000.0, rotated: head_dim, head_dim, scaling: RopeScaling::None, factors: None }
    }

    #[test]
    fn row_23_factors_divide_the_frequencies() {
        let plain = rope(4);
        let divided = Rope { factors: Some(vec![1.0, 8.0]), ..rope(4) };
        // Far from position 0, where every table is the same.
        let (a, b) = (plain.table(801), divided.table(801));
        assert_eq!(a[800 * 4..800 * 4 + 2], b[800 * 4..800 * 4 + 2]);
        assert_eq!(b[800 * 4 + 2..], a[100 * 4 + 2..100 * 4 + 4]);
    }

    #[test]
    fn row_24_llama3_scaling_keeps_high_and_divides_low_frequencies() {
        // Figures of Llama 3.2 1B, from the definition evaluated by hand for three pairs.
        let r = Rope {
            base: 500_000.0,
            scaling: RopeScaling::Llama3 { factor: 32.0, low: 1.0, high: 4.0, original: 8192.0 },
            ..rope(64)
        };
        let (f, plain) = (r.frequencies(), Rope { scaling: RopeScaling::None, ..r.clone() }.frequencies());
        assert_eq!(f[0], plain[0]);
        assert_eq!(f[31], plain[31] / 32.0);
        // Between: wave length 2048 to 8192.
        let j = (0..32).find(|&j| (2048.0..8192.0).contains(&(std::f64::consts::TAU / plain[j]))).unwrap();
        assert!(f[j] < plain[j] && f[j] > plain[j] / 32.0);
    }

    #[test]
    fn linear_scaling_stretches_positions() {
        let stretched = Rope { scaling: RopeScaling::Linear(4.0), ..rope(8) };
        assert_eq!(stretched.table(401)[400 * 8..], rope(8).table(101)[100 * 8..]);
    }

    #[test]
    fn pairs_that_do_not_rotate_pass_unchanged() {
        let partial = Rope { rotated: 4, ..rope(8) };
        let (table, small) = (partial.table(50), rope(4).table(50));
        for pos in 0..50 {
            assert_eq!(table[pos * 8..pos * 8 + 4], small[pos * 4..pos * 4 + 4]);
            assert_eq!(table[pos * 8 + 4..pos * 8 + 8], [1.0, 0.0, 1.0, 0.0]);
        }
    }
}
