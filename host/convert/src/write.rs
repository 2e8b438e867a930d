//! Writing an image: header, then the payload piece by piece, weights encoded in parallel.

use std::io::Write;

use rayon::prelude::*;
use ssnail_gguf::TensorInfo;
use ssnail_quant::{GgmlType, decode, encode};
use ssnail_shared::map::PAYLOAD;

use crate::error::ConvertError;
use crate::image::layout::{Content, Segment, Table};
use crate::plan::Plan;
use crate::policy::MatrixPlan;

/// Source bytes that one task handles at most (or one row).
const PIECE: usize = 256 << 10;
/// Tasks in flight: enough for any machine, little memory.
const PIECES: usize = 16;

impl Plan<'_> {
    /// Writes the whole image, [`Plan::file_len`] bytes. `progress` is told (bytes written, bytes in all) now
    /// and then.
    ///
    /// Memory: a few pieces of 256 KiB; the weights are read through the mapping of the model file. On an
    /// error part of the output has been written: write to a temporary file and rename it.
    ///
    /// # Errors
    /// [`ConvertError::NotFinite`] with tensor and index; [`ConvertError::Gguf`] if the weights are not at
    /// hand; [`ConvertError::Write`].
    pub fn write(&self, out: &mut impl Write, progress: &mut dyn FnMut(u64, u64)) -> Result<(), ConvertError> {
        let header = self.header().encode();
        out.write_all(&header)?;
        let total = self.file_len();
        let mut sink =
            Sink { out, at: u64::from(PAYLOAD), start: u64::from(PAYLOAD) - header.len() as u64, total, progress };
        for segment in &self.image.segments {
            sink.pad_to(segment.address)?;
            self.write_segment(segment, &mut sink)?;
            sink.pad_to(segment.address + segment.len)?;
            sink.report();
        }
        sink.pad_to(self.image.payload_end)?;
        sink.report();
        out.flush()?;
        Ok(())
    }

    fn write_segment<W: Write>(&self, segment: &Segment, sink: &mut Sink<'_, W>) -> Result<(), ConvertError> {
        match &segment.content {
            Content::Pending => Ok(()),
            Content::Bytes(bytes) => sink.put(bytes),
            Content::Table(table) => sink.put(match table {
                Table::Pieces => &self.tables.pieces,
                Table::Index => &self.tables.index,
                Table::Priorities => &self.tables.priorities,
                Table::Bytes => &self.tables.byte_table,
            }),
            Content::Rope(rope, ctx) => {
                let bytes: Vec<u8> = rope.table(*ctx).iter().flat_map(|x| x.to_le_bytes()).collect();
                sink.put(&bytes)
            }
            Content::Floats(parts) => {
                for info in parts {
                    self.recode(info, GgmlType::F32, sink)?;
                }
                Ok(())
            }
            Content::Matrix(info, n) => match self.image.matrices.get(*n) {
                Some(MatrixPlan { target, .. }) => self.recode(info, *target, sink),
                None => Ok(()),
            },
        }
    }

    /// Writes a tensor in another format, or as it is if the formats are the same.
    fn recode<W: Write>(
        &self,
        info: &TensorInfo,
        target: GgmlType,
        sink: &mut Sink<'_, W>,
    ) -> Result<(), ConvertError> {
        let source = info.ggml_type();
        let data = self.gguf.data(info)?;
        let columns = usize::try_from(info.columns()).unwrap_or(usize::MAX);
        let row = usize::try_from(source.row_bytes(info.columns()).unwrap_or(0)).unwrap_or(0).max(1);
        let rows = (PIECE / row).max(1);
        let sizes = Sizes { source, target, columns, row, name: info.name() };
        for (batch, pieces) in data.chunks(rows * row * PIECES).enumerate() {
            let first_row = batch * rows * PIECES;
            let done: Vec<Result<Option<Vec<u8>>, ConvertError>> = pieces
                .par_chunks(rows * row)
                .enumerate()
                .map(|(n, piece)| sizes.recode(piece, first_row + n * rows))
                .collect();
            for (result, piece) in done.into_iter().zip(pieces.chunks(rows * row)) {
                match result? {
                    Some(bytes) => sink.put(&bytes)?,
                    None => sink.put(piece)?,
                }
            }
            sink.report();
        }
        Ok(())
    }
}

/// What a task needs to know of its tensor.
struct Sizes<'a> {
    source: GgmlType,
    target: GgmlType,
    columns: usize,
    /// Bytes of a source row.
    row: usize,
    name: &'a str,
}

impl Sizes<'_> {
    /// Checks and encodes whole rows; `None` if they stay as they are.
    fn recode(&self, piece: &[u8], first_row: usize) -> Result<Option<Vec<u8>>, ConvertError> {
        if self.source == self.target {
            return match copied_is_finite(self.source, piece) {
                true => Ok(None),
                false => Err(self.find_not_finite(piece, first_row)),
            };
        }
        let target_row = self.target.row_bytes(self.columns as u64).unwrap_or(0) as usize;
        let rows = piece.len() / self.row;
        let mut out = vec![0u8; rows * target_row];
        let mut floats = vec![0f32; self.columns];
        for ((from, to), n) in piece.chunks_exact(self.row).zip(out.chunks_exact_mut(target_row.max(1))).zip(0..) {
            let decoded = decode(self.source, from, &mut floats);
            let encoded = decoded.and_then(|()| {
                if all_finite(&floats) { encode(self.target, &floats, to).map(|()| true) } else { Ok(false) }
            });
            match encoded {
                Ok(true) => {}
                Ok(false) => return Err(self.find_not_finite(from, first_row + n)),
                Err(_) => return Err(ConvertError::Type { name: self.name.to_owned(), kind: self.source }),
            }
        }
        Ok(Some(out))
    }

    /// Names the first element of `piece` that is no number.
    fn find_not_finite(&self, piece: &[u8], first_row: usize) -> ConvertError {
        let mut floats = vec![0f32; self.columns];
        for (row, n) in piece.chunks_exact(self.row).zip(first_row as u64..) {
            if decode(self.source, row, &mut floats).is_ok()
                && let Some(at) = floats.iter().position(|x| !x.is_finite())
            {
                let index = n * self.columns as u64 + at as u64;
                return ConvertError::NotFinite { name: self.name.to_owned(), index, value: floats[at] };
            }
        }
        ConvertError::Type { name: self.name.to_owned(), kind: self.source }
    }
}

fn all_finite(x: &[f32]) -> bool {
    // No early exit: the loop vectorises.
    x.iter().fold(true, |ok, x| ok & x.is_finite())
}

/// Whether weights in a native format are all finite, seen from their bytes.
fn copied_is_finite(kind: GgmlType, bytes: &[u8]) -> bool {
    /// Half-precision exponents of all ones mark what is no finite number.
    const HALF: u16 = 0x7C00;
    const BF16: u16 = 0x7F80;
    let word = |b: &[u8; 2]| u16::from_le_bytes(*b);
    match kind {
        GgmlType::F32 => bytes.as_chunks::<4>().0.iter().fold(true, |ok, b| ok & f32::from_le_bytes(*b).is_finite()),
        GgmlType::F16 => bytes.as_chunks().0.iter().fold(true, |ok, b| ok & (word(b) & HALF != HALF)),
        GgmlType::BF16 => bytes.as_chunks().0.iter().fold(true, |ok, b| ok & (word(b) & BF16 != BF16)),
        GgmlType::Q8_0 => scales_are_finite::<34>(bytes),
        GgmlType::Q4_0 => scales_are_finite::<18>(bytes),
        _ => true,
    }
}

fn scales_are_finite<const N: usize>(bytes: &[u8]) -> bool {
    bytes.as_chunks::<N>().0.iter().fold(true, |ok, b| ok & (u16::from_le_bytes([b[0], b[1]]) & 0x7C00 != 0x7C00))
}

/// The output with the address of its next byte.
struct Sink<'a, W> {
    out: &'a mut W,
    at: u64,
    /// Address of the first byte of the file, if it were loaded in one piece.
    start: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl<W: Write> Sink<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ConvertError> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn pad_to(&mut self, address: u64) -> Result<(), ConvertError> {
        let zeros = [0u8; 4096];
        while self.at < address {
            let n = (address - self.at).min(zeros.len() as u64) as usize;
            self.put(zeros.get(..n).unwrap_or(&zeros))?;
        }
        Ok(())
    }

    fn report(&mut self) {
        (self.progress)(self.at - self.start, self.total);
    }
}
