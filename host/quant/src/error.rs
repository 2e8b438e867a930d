//! Errors of the codecs.

use crate::GgmlType;

/// Why a row was not decoded or encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The format holds no weights that could be decoded: integers and the activation formats.
    #[error("{0} is not a weight format that can be decoded")]
    NotDecodable(GgmlType),
    /// Only F32, F16, BF16, Q8_0 and Q4_0 are written.
    #[error("{0} cannot be written (F32, F16, BF16, Q8_0 and Q4_0 can)")]
    NotEncodable(GgmlType),
    /// The two slices do not describe the same number of blocks.
    #[error("{bytes} bytes of {kind} do not hold {elements} elements")]
    Length {
        /// The format.
        kind: GgmlType,
        /// Bytes given.
        bytes: usize,
        /// Elements given.
        elements: usize,
    },
}

/// Checks that `bytes` and `elements` are the same whole number of blocks.
pub(crate) fn same_blocks(kind: GgmlType, bytes: usize, elements: usize) -> Result<(), Error> {
    if kind.row_bytes(elements as u64) == Some(bytes as u64) {
        return Ok(());
    }
    Err(Error::Length { kind, bytes, elements })
}
