//! Rounding of weights to the block formats, for training that expects it.

use crate::model::Layout;
use ssnail_quant::{GgmlType, decode, encode};

/// Replaces every matrix by what an image of this format would store.
///
/// # Errors
/// When the format cannot be encoded or a matrix does not consist of whole blocks.
pub fn round_to(format: GgmlType, layout: &Layout, w: &mut [f32]) -> Result<(), ssnail_quant::Error> {
    for t in layout.tensors.iter().filter(|t| t.rows > 1) {
        let values = &mut w[t.range.clone()];
        let mut bytes = vec![0; format.row_bytes(t.cols as u64).unwrap_or(0) as usize * t.rows];
        encode(format, values, &mut bytes)?;
        decode(format, &bytes, values)?;
    }
    Ok(())
}
