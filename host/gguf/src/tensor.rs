//! The tensor directory.

use ssnail_quant::GgmlType;

use crate::cursor::{Cursor, malformed};
use crate::error::{Error, Item};

/// Most dimensions a tensor has.
pub const MAX_DIMS: usize = 4;

/// An entry of the tensor directory, checked against the length of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    pub(crate) name: String,
    pub(crate) dims: [u64; MAX_DIMS],
    pub(crate) n_dims: usize,
    pub(crate) kind: GgmlType,
    /// First byte of the data, from the start of the data section, then of the file.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Where the offset field stands, for messages.
    pub(crate) field_at: u64,
}

impl TensorInfo {
    /// The name, for example `blk.0.attn_q.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dimensions in the order of the file: row length first. At least one, none is 0.
    pub fn dims(&self) -> &[u64] {
        self.dims.get(..self.n_dims).unwrap_or(&self.dims)
    }

    /// Type of the elements.
    pub fn ggml_type(&self) -> GgmlType {
        self.kind
    }

    /// Length of a row: the first dimension.
    pub fn columns(&self) -> u64 {
        self.dims[0]
    }

    /// Number of rows: the product of the other dimensions.
    pub fn rows(&self) -> u64 {
        self.elements() / self.dims[0].max(1)
    }

    /// Number of elements; fits, as was checked when the file was read.
    pub fn elements(&self) -> u64 {
        self.dims.iter().product()
    }

    /// Bytes of data.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// First byte of the data, counted from the start of the file.
    pub fn file_offset(&self) -> u64 {
        self.offset
    }
}

/// Reads one entry. `offset` stays relative to the data section.
pub(crate) fn read_tensor(cursor: &mut Cursor<'_>, n: u64, alignment: u64) -> Result<TensorInfo, Error> {
    let name = cursor.name("tensor name", &Item::TensorEntry(n))?.to_owned();
    let item = Item::Tensor(name.clone());
    let at = cursor.at();
    let n_dims = cursor.u32(&item)?;
    if n_dims as usize > MAX_DIMS {
        return Err(malformed(&item, at, format!("{n_dims} dimensions, {MAX_DIMS} at most are allowed")));
    }
    let mut dims = [1u64; MAX_DIMS];
    let mut elements = 1u64;
    for (axis, dim) in dims.iter_mut().take(n_dims as usize).enumerate() {
        let at = cursor.at();
        *dim = cursor.u64(&item)?;
        if *dim == 0 {
            return Err(malformed(&item, at, format!("dimension {axis} is 0")));
        }
        // The format counts in signed 64-bit numbers.
        elements = elements.checked_mul(*dim).filter(|&n| n <= i64::MAX as u64).ok_or_else(|| {
            malformed(&item, at, format!("dimension {axis} is {dim}: more elements than 64 bits can count"))
        })?;
    }
    let at = cursor.at();
    let number = cursor.u32(&item)?;
    let kind = GgmlType::from_number(number).ok_or_else(|| {
        malformed(&item, at, format!("tensor type {number} is unknown or was removed from the format"))
    })?;
    let columns = dims[0];
    let row = kind.row_bytes(columns).ok_or_else(|| {
        malformed(&item, at, format!("rows of {columns} elements are not whole {kind} blocks of {}", kind.block_len()))
    })?;
    let bytes = (elements / columns)
        .checked_mul(row)
        .ok_or_else(|| malformed(&item, at, "its size does not fit in 64 bits".into()))?;
    let field_at = cursor.at();
    let offset = cursor.u64(&item)?;
    if offset % alignment != 0 {
        return Err(malformed(
            &item,
            field_at,
            format!("its offset {offset} is not a multiple of the alignment {alignment}"),
        ));
    }
    Ok(TensorInfo { name, dims, n_dims: (n_dims as usize).max(1), kind, offset, bytes, field_at })
}

/// Makes the offsets relative to the file and checks that every tensor lies inside it, none over another.
/// Returns the end of the last tensor.
pub(crate) fn place(tensors: &mut [TensorInfo], data_start: u64, total: u64) -> Result<u64, Error> {
    let mut end_of_data = data_start.min(total);
    for t in tensors.iter_mut() {
        let item = Item::Tensor(t.name.clone());
        let end = data_start.checked_add(t.offset).and_then(|start| start.checked_add(t.bytes));
        match end {
            Some(end) if end <= total => {
                t.offset = end - t.bytes;
                end_of_data = end_of_data.max(end);
            }
            Some(end) => {
                return Err(malformed(
                    &item,
                    t.field_at,
                    format!("its data ends at byte {end}, the file at byte {total}: the file is cut off or damaged"),
                ));
            }
            None => {
                let offset = t.offset;
                return Err(malformed(&item, t.field_at, format!("its offset {offset} lies beyond any file")));
            }
        }
    }
    let mut order: Vec<&TensorInfo> = tensors.iter().collect();
    order.sort_by_key(|t| t.offset);
    for pair in order.windows(2) {
        if let [a, b] = pair
            && a.offset.saturating_add(a.bytes) > b.offset
        {
            return Err(malformed(
                &Item::Tensor(b.name.clone()),
                b.field_at,
                format!("its data lies over that of tensor {}", a.name.escape_debug()),
            ));
        }
    }
    Ok(end_of_data)
}
