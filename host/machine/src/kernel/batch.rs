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
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Batch {
    inputs: Vec<Activations>,
    /// What [`Batch::prepare`] has filled.
    ready: Option<Form>,
    /// Quantised blocks of all vectors, block by block: `[block][vector]`, with room for [`MOST`] vectors.
    q: Vec<[i32; BLOCK / 4]>,
    /// Scales: `[block][vector]`.
    scale: Vec<f32>,
    /// What an unsigned dot product has too much: `[block][vector]`.
    offset: Vec<i32>,
    /// The vectors one after the other, each padded with zeros to whole [`LANES`].
    padded: Vec<[f32; LANES]>,
}

/// A form of the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// [`Batch::padded`].
    Padded,
    /// Blocks side by side, for weights that have this much added to them.
    Blocks(i32),
    /// What a single vector needs.
    Each(Format),
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
        self.resize(n);
        self.ready = None;
        &mut self.inputs
    }

    /// Makes room for `n` vectors, at most [`MOST`].
    pub fn resize(&mut self, n: usize) {
        if n != self.len() {
            self.ready = None;
            self.inputs.resize(n.min(MOST), Activations::default());
        }
    }

    /// Takes a vector from the bytes of a memory. [`Batch::prepare`] has nothing to do where all are the same as before.
    pub fn load(&mut self, vector: usize, bytes: &[u8]) {
        if self.inputs.get_mut(vector).is_some_and(|input| input.load(bytes)) {
            self.ready = None;
        }
    }

    /// Fills the forms that the kernels of this level need for this format.
    pub fn prepare(&mut self, level: Level, format: Format, numerics: Numerics) {
        let form = match (numerics, format) {
            (Numerics::Float, _) => Form::Padded,
            (Numerics::Hardware, Format::Q8_0) => Form::Blocks(128),
            (Numerics::Hardware, Format::Q4_0) => Form::Blocks(8),
            _ => Form::Each(format),
        };
        if self.ready == Some(form) {
            return;
        }
        match form {
            Form::Padded => self.pad(),
            Form::Blocks(more) if self.quantise(level, more) => {}
            _ => self.inputs.iter_mut().for_each(|input| super::prepare(level, format, numerics, input)),
        }
        self.ready = Some(form);
    }

    fn pad(&mut self) {
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
    }

    /// Fills the blocks side by side if there is a kernel that reads them; says whether there is.
    #[cfg(target_arch = "x86_64")]
    fn quantise(&mut self, level: Level, more: i32) -> bool {
        let places = self.inputs.first().map_or(0, |input| input.x.len() / BLOCK) * MOST;
        // What no vector fills is multiplied and left where it is: any number will do.
        self.q.resize(places, [0; BLOCK / 4]);
        self.scale.resize(places, 0.0);
        self.offset.resize(places, 0);
        for (v, input) in self.inputs.iter().enumerate() {
            let (Some(q), Some(scale), Some(offset)) =
                (self.q.get_mut(v..), self.scale.get_mut(v..), self.offset.get_mut(v..))
            else {
                return true;
            };
            if !super::x86::quantise_apart(level, &input.x, bytemuck::cast_slice_mut(q), scale, offset, MOST) {
                return false;
            }
        }
        for sums in self.offset.chunks_exact_mut(MOST) {
            sums.iter_mut().take(self.inputs.len()).for_each(|sum| *sum *= -more);
        }
        true
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn quantise(&mut self, _level: Level, _more: i32) -> bool {
        false
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
        let q = self.q.chunks_exact(MOST);
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
