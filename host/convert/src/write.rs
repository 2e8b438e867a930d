//! Writing an image: header, then the payload piece by piece, weights encoded in parallel.

use std::borrow::Cow;
use std::error::Error;
use std::io::Write;
use std::sync::OnceLock;

use rayon::prelude::*;
use ssnail_gguf::TensorInfo;
use ssnail_quant::{GgmlType, decode, encode};
use ssnail_shared::map::PAYLOAD;

use crate::error::ConvertError;
use crate::image::layout::{Content, Segment, Table};
use crate::model::Rope;
use crate::plan::Plan;
use crate::policy::MatrixPlan;

/// Source bytes that one task handles at most (or one row).
const PIECE: usize = 256 << 10;
/// Source bytes that are worked on together: enough for any machine, little memory.
const WINDOW: usize = 4 << 20;

impl Plan<'_> {
    /// Writes the whole image, [`Plan::file_len`] bytes. `progress` is told (bytes written, bytes in all) now
    /// and then.
    ///
    /// Memory: the results of twice 4 MiB of weights; these are read through the mapping of the model file. On an
    /// error part of the output has been written: write to a temporary file and rename it, or call [`Plan::check`]
    /// before.
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
        let parts = self.parts()?;
        let mut ready = Vec::new();
        let mut rest = &parts[..];
        // While one window is written the next is computed.
        while !rest.is_empty() || !ready.is_empty() {
            let (window, behind) = rest.split_at(window(rest));
            let mut next = Vec::new();
            let mut pass_on = || std::mem::take(&mut ready).into_iter().try_for_each(|done| sink.accept(done?));
            if threads() {
                rayon::in_place_scope(|scope| {
                    scope.spawn(|_| next = window.par_iter().map(Part::compute).collect());
                    pass_on()
                })?;
            } else {
                pass_on()?;
                next.extend(window.iter().map(Part::compute));
            }
            sink.report();
            (ready, rest) = (next, behind);
        }
        out.flush()?;
        Ok(())
    }

    /// Looks for weights that are no numbers, without writing anything: [`Plan::write`] finds them on the way.
    ///
    /// # Errors
    /// As [`Plan::write`], but for [`ConvertError::Write`].
    pub fn check(&self) -> Result<(), ConvertError> {
        let parts = self.parts()?;
        let wrong = |part: &Part<'_>| match part {
            Part::Rows { sizes, piece, first_row } => sizes.check(piece, *first_row).err(),
            Part::Pad(_) | Part::Bytes(_) | Part::Rope(..) => None,
        };
        let first = if threads() { parts.par_iter().find_map_first(wrong) } else { parts.iter().find_map(wrong) };
        first.map_or(Ok(()), Err)
    }

    /// The payload in order.
    fn parts(&self) -> Result<Vec<Part<'_>>, ConvertError> {
        let mut parts = Vec::new();
        for segment in &self.image.segments {
            parts.push(Part::Pad(segment.address));
            self.segment(segment, &mut parts)?;
            parts.push(Part::Pad(segment.address + segment.len));
        }
        parts.push(Part::Pad(self.image.payload_end));
        Ok(parts)
    }

    fn segment<'a>(&'a self, segment: &'a Segment, parts: &mut Vec<Part<'a>>) -> Result<(), ConvertError> {
        match &segment.content {
            Content::Pending => {}
            Content::Bytes(bytes) => parts.push(Part::Bytes(bytes)),
            Content::Table(table) => parts.push(Part::Bytes(match table {
                Table::Pieces => &self.tables.pieces,
                Table::Index => &self.tables.index,
                Table::Priorities => &self.tables.priorities,
                Table::Bytes => &self.tables.byte_table,
            })),
            Content::Rope(rope, ctx) => parts.push(Part::Rope(rope, *ctx)),
            Content::Floats(tensors) => {
                for info in tensors {
                    self.tensor(info, GgmlType::F32, parts)?;
                }
            }
            Content::Matrix(info, n) => {
                if let Some(MatrixPlan { target, .. }) = self.image.matrices.get(*n) {
                    self.tensor(info, *target, parts)?;
                }
            }
        }
        Ok(())
    }

    /// A tensor in another format, or as it is if the formats are the same.
    fn tensor<'a>(
        &'a self,
        info: &'a TensorInfo,
        target: GgmlType,
        parts: &mut Vec<Part<'a>>,
    ) -> Result<(), ConvertError> {
        let source = info.ggml_type();
        let data = self.gguf.data(info)?;
        let columns = usize::try_from(info.columns()).unwrap_or(usize::MAX);
        let row = usize::try_from(source.row_bytes(info.columns()).unwrap_or(0)).unwrap_or(0).max(1);
        let rows = (PIECE / row).max(1);
        let sizes = Sizes { source, target, columns, row, name: info.name() };
        let pieces = data.chunks(rows * row).enumerate();
        parts.extend(pieces.map(|(n, piece)| Part::Rows { sizes, piece, first_row: n * rows }));
        Ok(())
    }
}

/// Whether there are threads to work with. Where the system gives none, rayon's first use would be a panic.
fn threads() -> bool {
    static THREADS: OnceLock<bool> = OnceLock::new();
    *THREADS.get_or_init(|| match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Without a cause: the pool is there already.
        Err(error) => error.source().is_none(),
    })
}

/// How many of the parts are worked on together.
fn window(parts: &[Part<'_>]) -> usize {
    let mut bytes = 0;
    let few = parts.iter().position(|part| {
        bytes += if let Part::Rows { piece, .. } = part { piece.len() } else { 0 };
        bytes > WINDOW
    });
    few.unwrap_or(parts.len()).max(1).min(parts.len())
}

/// A part of the payload, to be computed.
enum Part<'a> {
    /// Zeros up to an address.
    Pad(u64),
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// The rotation table for a context.
    Rope(&'a Rope, u32),
    /// Rows of a tensor.
    Rows { sizes: Sizes<'a>, piece: &'a [u8], first_row: usize },
}

/// A part computed.
enum Done<'a> {
    Pad(u64),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Part<'a> {
    fn compute(&self) -> Result<Done<'a>, ConvertError> {
        Ok(match *self {
            Self::Pad(address) => Done::Pad(address),
            Self::Bytes(bytes) => Done::Bytes(bytes.into()),
            Self::Rope(rope, ctx) => {
                Done::Bytes(rope.table(ctx).iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>().into())
            }
            Self::Rows { sizes, piece, first_row } => match sizes.recode(piece, first_row)? {
                Some(bytes) => Done::Bytes(bytes.into()),
                None => Done::Bytes(piece.into()),
            },
        })
    }
}

/// What a task needs to know of its tensor.
#[derive(Clone, Copy)]
struct Sizes<'a> {
    source: GgmlType,
    target: GgmlType,
    columns: usize,
    /// Bytes of a source row.
    row: usize,
    name: &'a str,
}

impl Sizes<'_> {
    /// Whether whole rows hold numbers only.
    fn check(&self, piece: &[u8], first_row: usize) -> Result<(), ConvertError> {
        let finite = if self.source.is_native() {
            native_are_finite(self.source, piece)
        } else {
            let mut floats = vec![0f32; self.columns];
            piece.chunks_exact(self.row).all(|row| decode(self.source, row, &mut floats).is_ok() && all_finite(&floats))
        };
        if finite { Ok(()) } else { Err(self.find_not_finite(piece, first_row)) }
    }

    /// Checks and encodes whole rows; `None` if they stay as they are.
    fn recode(&self, piece: &[u8], first_row: usize) -> Result<Option<Vec<u8>>, ConvertError> {
        if self.source == self.target {
            return match native_are_finite(self.source, piece) {
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
            // Of native weights the bytes tell it.
            let native = self.source.is_native();
            let finite = if native { native_are_finite(self.source, from) } else { all_finite(&floats) };
            let encoded =
                decoded.and_then(|()| if finite { encode(self.target, &floats, to).map(|()| true) } else { Ok(false) });
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

/// Whether weights in a native format are all finite.
fn native_are_finite(kind: GgmlType, bytes: &[u8]) -> bool {
    // Numbers of one sign are in the order of their bits; the largest says it for all, and the loops vectorise.
    let largest_word = || {
        let words = bytes.as_chunks().0.iter().map(|b| i16::from_le_bytes(*b) & i16::MAX);
        words.fold(0, i16::max)
    };
    match kind {
        GgmlType::F32 => {
            let words = bytes.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b) & i32::MAX);
            words.fold(0, i32::max) < 0x7F80_0000
        }
        GgmlType::F16 => largest_word() < 0x7C00,
        GgmlType::BF16 => largest_word() < 0x7F80,
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
    fn accept(&mut self, done: Done<'_>) -> Result<(), ConvertError> {
        match done {
            Done::Pad(address) => self.pad_to(address),
            Done::Bytes(bytes) => self.put(&bytes),
        }
    }

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
