//! Weight rows as F32: DEQROW, and the formats that the matrix unit only knows decoded.

use crate::kernel::Format;

/// Decodes a row into `out`: whole blocks, one element per place of `out`. The caller has compared the lengths.
pub fn row(format: Format, bytes: &[u8], out: &mut [f32]) {
    let decoded = ssnail_quant::decode(format.ggml(), bytes, out);
    debug_assert!(decoded.is_ok(), "{format:?}: {} bytes, {} elements", bytes.len(), out.len());
}
