//! What the user may choose.

use std::fmt;
use std::str::FromStr;

use ssnail_quant::GgmlType;
use ssnail_shared::map::REGION_BOUNDARY;

/// Which format the matrices get (spec section 6, policies).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WeightPolicy {
    /// Native formats stay, others get the fallback.
    #[default]
    Keep,
    /// The first of keep, Q8_0, mixed and Q4_0 that fits.
    Auto,
    /// Embedding and classifier in Q4_0, everything else in Q8_0.
    Mixed,
    /// One native format for all.
    Named(GgmlType),
}

impl WeightPolicy {
    /// What [`WeightPolicy::Auto`] tries, in this order.
    pub const AUTO: [WeightPolicy; 4] = [
        WeightPolicy::Keep,
        WeightPolicy::Named(GgmlType::Q8_0),
        WeightPolicy::Mixed,
        WeightPolicy::Named(GgmlType::Q4_0),
    ];
}

impl FromStr for WeightPolicy {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "keep" => Ok(WeightPolicy::Keep),
            "auto" => Ok(WeightPolicy::Auto),
            "mixed" => Ok(WeightPolicy::Mixed),
            _ => native_format(s)
                .map(WeightPolicy::Named)
                .map_err(|_| format!("{s}: expected keep, auto, mixed, f32, f16, bf16, q8_0 or q4_0")),
        }
    }
}

impl fmt::Display for WeightPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WeightPolicy::Keep => f.pad("keep"),
            WeightPolicy::Auto => f.pad("auto"),
            WeightPolicy::Mixed => f.pad("mixed"),
            WeightPolicy::Named(t) => f.pad(&t.name().to_lowercase()),
        }
    }
}

/// Reads the name of one of the five formats that the accelerator computes with.
///
/// # Errors
/// A message listing the five.
pub fn native_format(name: &str) -> Result<GgmlType, String> {
    GgmlType::from_name(name)
        .filter(|t| t.is_native())
        .ok_or_else(|| format!("{name}: expected f32, f16, bf16, q8_0 or q4_0"))
}

/// Format of the KV caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum KvFormat {
    /// Half precision: half the memory, a small error.
    #[default]
    F16,
    /// Single precision.
    F32,
}

impl KvFormat {
    /// Bytes of an element.
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            KvFormat::F16 => 2,
            KvFormat::F32 => 4,
        }
    }

    /// The word in the attention block.
    pub(crate) const fn word(self) -> u32 {
        match self {
            KvFormat::F32 => 0,
            KvFormat::F16 => 1,
        }
    }
}

impl FromStr for KvFormat {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "f16" => Ok(KvFormat::F16),
            "f32" => Ok(KvFormat::F32),
            _ => Err(format!("{s}: expected f16 or f32")),
        }
    }
}

/// Options of a conversion; [`Options::default`] gives those of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// Context in positions; `None` for the model's, at most 256 (128 for encoders). Signed, so that
    /// whatever was typed is refused with its reason.
    pub ctx: Option<i64>,
    /// Format of the matrices.
    pub wtype: WeightPolicy,
    /// Format of the KV caches.
    pub kv: KvFormat,
    /// Format for matrices whose own is not native, with [`WeightPolicy::Keep`].
    pub fallback: GgmlType,
    /// Memory from $8000000 in binary megabytes.
    pub mem_mb: f64,
    /// Allows more than 72 MB, up to the end of the 28-bit space, which no board has.
    pub emulator_only: bool,
    /// Recorded in the description.
    pub type_text: String,
    /// Where the second memory begins; only tests move it.
    pub boundary: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            ctx: None,
            wtype: WeightPolicy::Keep,
            kv: KvFormat::F16,
            fallback: GgmlType::Q8_0,
            mem_mb: 8.0,
            emulator_only: false,
            type_text: "General".into(),
            boundary: REGION_BOUNDARY,
        }
    }
}
