//! Which format each matrix gets (spec section 6, policies).

use ssnail_gguf::TensorInfo;
use ssnail_quant::GgmlType;

use crate::options::{Options, WeightPolicy};

/// What a matrix is for; mixed treats the first two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Token embedding (and classifier, if there is no other).
    Embedding,
    /// Classifier.
    Output,
    /// Any other matrix.
    Inner,
}

/// Source and target of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixPlan {
    /// Name of the tensor.
    pub name: String,
    /// Format in the GGUF file.
    pub source: GgmlType,
    /// Format in the image.
    pub target: GgmlType,
    /// The format that the policy asked for, where the row length does not allow it.
    pub wanted: Option<GgmlType>,
    /// Row length.
    pub columns: u32,
    /// Rows.
    pub rows: u32,
    /// Bytes in the image.
    pub bytes: u64,
    /// Whether bits of an already quantised source are lost.
    pub lossy: bool,
}

impl MatrixPlan {
    /// Weights.
    pub fn elements(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows)
    }

    /// Whether the bytes are not those of the source.
    pub fn is_repacked(&self) -> bool {
        self.source != self.target
    }

    /// Bytes of a row in the image.
    pub fn row_bytes(&self) -> u32 {
        self.target.row_bytes(u64::from(self.columns)).and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX)
    }
}

/// Chooses the format of a matrix. `policy` is not [`WeightPolicy::Auto`], which chooses among policies.
pub(crate) fn choose(info: &TensorInfo, role: Role, policy: WeightPolicy, options: &Options) -> MatrixPlan {
    let source = info.ggml_type();
    let wanted = match policy {
        WeightPolicy::Keep | WeightPolicy::Auto if source.is_native() => source,
        WeightPolicy::Keep | WeightPolicy::Auto => options.fallback,
        WeightPolicy::Mixed if role == Role::Inner => GgmlType::Q8_0,
        WeightPolicy::Mixed => GgmlType::Q4_0,
        WeightPolicy::Named(kind) => kind,
    };
    let (target, bytes_per_row) = match wanted.row_bytes(info.columns()) {
        Some(bytes) => (wanted, bytes),
        None => (GgmlType::F16, 2 * info.columns()),
    };
    MatrixPlan {
        name: info.name().to_owned(),
        source,
        target,
        wanted: (target != wanted).then_some(wanted),
        columns: u32::try_from(info.columns()).unwrap_or(u32::MAX),
        rows: u32::try_from(info.rows()).unwrap_or(u32::MAX),
        bytes: bytes_per_row.saturating_mul(info.rows()),
        lossy: !source.is_float() && target.bits_per_weight() < source.bits_per_weight(),
    }
}
