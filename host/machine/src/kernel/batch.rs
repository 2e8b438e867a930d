//! One matrix times several vectors: each weight is read once for all of them. The bits are those of one at a time.

use super::portable::LANES;
use super::{Format, Level, Numerics, ROW_GROUP, Room, Rows, rows as one};
use crate::decode;
use crate::num::quantise::{Activations, BLOCK};

/// Most vectors in a batch.
pub const MOST: usize = 16;
/// Rows whose results lie together.
pub const GROUP: usize = ROW_GROUP;

/// Several vectors of the same length.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    inputs: Vec<Activations>,
    /// Quantised blocks of all vectors, block by block: `[block][vector][word of 4 bytes]`; padded with zeros to
    /// [`MOST`] vectors.
    q: Vec<i32>,
    /// Scales: `[block][vector]`.
    scale: Vec<f32>,
    /// What an unsigned dot product has too much: `[block][vector]`.
    offset: Vec<i32>,
    /// The vectors one after the other, each padded with zeros to whole [`LANES`].
    padded: Vec<[f32; LANES]>,
}

/// One block of the vectors: words of four bytes, scales, offsets.
#[cfg(target_arch = "x86_64")]
pub(super) type Column<'a, const N: usize> = (&'a [[i32; BLOCK / 4]], &'a [f32; MOST], &'a [i32; MOST]);

impl Batch {
    /// How many vectors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Makes room for `n` vectors and gives them, to be filled.
    pub fn inputs_mut(&mut self, n: usize) -> &mut [Activations] {
        self.inputs.resize(n.min(MOST), Activations::default());
        &mut self.inputs
    }

    /// Fills the forms that the format needs.
    pub fn prepare(&mut self, level: Level, format: Format, numerics: Numerics) {
        for input in &mut self.inputs {
            super::prepare(level, format, numerics, input);
        }
        if numerics == Numerics::Float {
            self.padded.clear();
            for input in &self.inputs {
                let (whole, rest) = input.x.as_chunks();
                self.padded.extend_from_slice(whole);
                if !rest.is_empty() {
                    let mut last = [0.0; LANES];
                    last[..rest.len()].copy_from_slice(rest);
                    self.padded.push(last);
                }
            }
            return;
        }
        let weight_offset = match format {
            Format::Q8_0 => 128,
            Format::Q4_0 => 8,
            _ => return,
        };
        let blocks = self.inputs.first().map_or(0, |input| input.x.len() / BLOCK);
        self.q.clear();
        self.scale.clear();
        self.offset.clear();
        for b in 0..blocks {
            for input in &self.inputs {
                let words = input.q[b * BLOCK..(b + 1) * BLOCK].as_chunks().0;
                self.q.extend(words.iter().map(|w: &[i8; 4]| i32::from_le_bytes(w.map(|b| b as u8))));
                self.scale.push(input.scale[b]);
                self.offset.push(-weight_offset * input.sum[b]);
            }
            self.q.resize((b + 1) * MOST * (BLOCK / 4), 0);
            self.scale.resize((b + 1) * MOST, 0.0);
            self.offset.resize((b + 1) * MOST, 0);
        }
    }

    /// A vector padded with zeros; float numerics.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn padded(&self, vector: usize) -> &[[f32; LANES]] {
        let length = self.padded.len() / self.len().max(1);
        self.padded.get(vector * length..(vector + 1) * length).unwrap_or_default()
    }

    /// The quantised blocks in order.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn columns<const N: usize>(&self) -> impl Iterator<Item = Column<'_, N>> {
        let q = self.q.as_chunks::<{ BLOCK / 4 }>().0.chunks_exact(MOST);
        let numbers = self.scale.as_chunks().0.iter().zip(self.offset.as_chunks().0);
        q.zip(numbers).map(|(q, (scale, offset))| (&q[..N], scale, offset))
    }
}

/// Where the result of a row and a vector lies: groups of [`GROUP`] rows, vector by vector.
#[must_use]
pub const fn place(row: usize, vector: usize, vectors: usize) -> usize {
    (row / GROUP * vectors + vector) * GROUP + row % GROUP
}

/// Multiplies the rows with every vector; `job.input` is not used. `out` has [`place`]s for whole groups of rows.
pub fn rows(level: Level, job: &Rows<'_>, batch: &Batch, room: &mut Room, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if super::x86::batch(level, job, batch, out) {
        return;
    }
    let blocks = job.numerics == Numerics::Float && !matches!(job.format, Format::F32 | Format::F16 | Format::BF16);
    let columns = batch.inputs.first().map_or(0, |input| input.x.len());
    let mut decoded = std::mem::take(&mut room.group);
    let groups = job.weights.chunks(GROUP * job.row_bytes).zip(out.chunks_mut(GROUP * batch.len()));
    for (weights, out) in groups {
        let rows = weights.len() / job.row_bytes;
        let mut job = Rows { weights, ..*job };
        if blocks {
            // Decoded once for all vectors; the products are the same.
            decoded.resize(rows * columns, 0.0);
            for (row, values) in weights.chunks_exact(job.row_bytes).zip(decoded.chunks_exact_mut(columns.max(1))) {
                decode::row(job.format, row, values);
            }
            job = Rows { format: Format::F32, weights: bytemuck::cast_slice(&decoded), row_bytes: 4 * columns, ..job };
        }
        for (input, out) in batch.inputs.iter().zip(out.chunks_exact_mut(GROUP)) {
            one(level, &Rows { input, ..job }, room, &mut out[..rows]);
        }
    }
    room.group = decoded;
}
