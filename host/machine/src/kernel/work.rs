//! What threads can share: rows of matrices, and attention. How it is cut into chunks, and what a chunk computes.

use std::ops::Range;
use std::sync::Arc;

use super::attention::{self, Buffers, Cache, Heads};
use super::batch::{self, Batch};
use super::{Ahead, Format, Level, Numerics, Room, Rows};
use crate::memory::Memory;
use crate::num::quantise::Activations;

/// Most matrices in one piece of work.
pub const TOGETHER: usize = 4;

/// A matrix in memory to be multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Format of the weights.
    pub format: Format,
    /// Rules of the arithmetic.
    pub numerics: Numerics,
    /// Address of the first row.
    pub weights: u32,
    /// Bytes of a row, not zero.
    pub row_bytes: usize,
    /// Rows.
    pub rows: usize,
}

impl Product {
    /// Bytes of all rows.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.row_bytes as u64 * self.rows as u64
    }

    /// Address of a row.
    fn row(&self, row: usize) -> u32 {
        self.weights.wrapping_add((row * self.row_bytes) as u32)
    }
}

/// Attention over caches in memory; the input is one query or several, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    /// Rules of the arithmetic.
    pub numerics: Numerics,
    /// Division into heads.
    pub heads: Heads,
    /// Address of the keys.
    pub k: u32,
    /// Address of the values.
    pub v: u32,
    /// Elements are F16 and not F32.
    pub halves: bool,
    /// Rows of the caches for the first query, at least one; each further one sees one row more.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
}

/// Matrices that are multiplied with one vector as one piece of work. Each begins with a chunk of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    products: [Product; TOGETHER],
    count: usize,
    /// Rows of a chunk: whole groups.
    chunk: usize,
}

impl Joint {
    /// `None` for no product, or too many.
    pub(super) fn new(products: &[Product], chunk: usize) -> Option<Self> {
        let mut all = [*products.first()?; TOGETHER];
        all.get_mut(..products.len())?.copy_from_slice(products);
        Some(Self { products: all, count: products.len(), chunk })
    }

    fn products(&self) -> &[Product] {
        self.products.get(..self.count).unwrap_or_default()
    }

    fn chunks(&self) -> usize {
        self.products().iter().map(|p| p.rows.div_ceil(self.chunk)).sum()
    }

    /// First chunk of each product.
    fn starts(&self) -> [usize; TOGETHER] {
        let (mut starts, mut at) = ([0; TOGETHER], 0);
        for (start, product) in starts.iter_mut().zip(self.products()) {
            *start = at;
            at += product.rows.div_ceil(self.chunk);
        }
        starts
    }

    /// Where the results of each product begin.
    pub(super) fn places(&self) -> [usize; TOGETHER] {
        self.starts().map(|chunk| chunk * self.chunk)
    }

    /// The product that a chunk belongs to, the chunks of that, and its first row.
    fn find(&self, chunk: usize) -> Option<(usize, Range<usize>, usize)> {
        let starts = self.starts();
        let at = (0..self.count).rfind(|p| starts[*p] <= chunk)?;
        let chunks = starts[at]..starts[at] + self.products[at].rows.div_ceil(self.chunk);
        Some((at, chunks, (chunk - starts[at]) * self.chunk))
    }

    /// Where a chunk lies in memory, and how many bytes there are from there to the end of its product.
    pub(super) fn address(&self, chunk: usize) -> Option<(u32, usize)> {
        let (at, _, first) = self.find(chunk)?;
        let product = &self.products[at];
        Some((product.row(first), (product.rows - first) * product.row_bytes))
    }

    /// All chunks.
    pub(super) fn len(&self) -> usize {
        self.chunks()
    }
}

/// Something that can be cut into chunks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Chunks of rows of one matrix or several.
    Rows(Joint),
    /// Chunks of `chunk` rows, a multiple of the group, times every vector of the batch.
    Batch { product: Product, chunk: usize, vectors: usize },
    /// A chunk is a key/value head of a query.
    Attention(Attention),
}

impl Work {
    pub(super) fn chunks(&self) -> usize {
        match self {
            Self::Rows(joint) => joint.chunks(),
            Self::Batch { product, chunk, .. } => product.rows.div_ceil(*chunk),
            Self::Attention(a) => a.queries * a.heads.kv_heads,
        }
    }

    /// Results of every chunk but the last, which may be shorter.
    pub(super) fn chunk_len(&self) -> usize {
        match self {
            Self::Rows(joint) => joint.chunk,
            Self::Batch { chunk, vectors, .. } => chunk * vectors,
            Self::Attention(a) => a.heads.heads / a.heads.kv_heads * a.heads.head_dim,
        }
    }
}

/// What is multiplied with, or asks for attention.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Vector(Arc<Activations>),
    Vectors(Arc<Batch>),
}

/// What every thread of a piece of work sees.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) work: Work,
    pub(super) level: Level,
    pub(super) memory: Arc<Memory>,
    pub(super) input: Input,
}

impl Shared {
    /// What a thread whose chunks end before `end` reads after `chunk`; `after` comes last.
    pub(super) fn ahead(&self, chunk: usize, end: usize, after: usize) -> Option<Ahead> {
        let Work::Rows(joint) = &self.work else { return None };
        let (at, chunks, first) = joint.find(chunk)?;
        let product = &joint.products[at];
        let last = end.min(chunks.end);
        let row = ((last - chunks.start) * joint.chunk).min(product.rows);
        let rest = self.memory.slice(product.row(first), ((row - first) * product.row_bytes) as u64)?;
        let next =
            if end > chunks.end { self.memory.slice(joint.address(chunks.end)?.0, 1)?.as_ptr().addr() } else { after };
        Some(Ahead { end: rest.as_ptr_range().end.addr(), next })
    }

    /// Computes a chunk.
    pub(super) fn compute(&self, chunk: usize, room: &mut Room, buffers: &mut Buffers, out: &mut [f32]) {
        self.compute_any(chunk, room, buffers, out);
        one_nan(out);
    }

    /// [`Shared::compute`] with any NaNs.
    fn compute_any(&self, chunk: usize, room: &mut Room, buffers: &mut Buffers, out: &mut [f32]) {
        match (&self.work, &self.input) {
            (Work::Rows(joint), Input::Vector(input)) => {
                let Some((at, _, first)) = joint.find(chunk) else { return };
                let product = &joint.products[at];
                let Product { format, numerics, row_bytes, .. } = *product;
                let rows = (product.rows - first).min(out.len());
                let Some(weights) = self.memory.slice(product.row(first), (rows * row_bytes) as u64) else { return };
                super::rows(self.level, &Rows { format, numerics, input, weights, row_bytes }, room, &mut out[..rows]);
            }
            (Work::Batch { product, chunk: size, .. }, Input::Vectors(batch)) => {
                let Product { format, numerics, row_bytes, rows, .. } = *product;
                let first = chunk * size;
                let length = ((rows - first).min(*size) * row_bytes) as u64;
                let Some(weights) = self.memory.slice(product.row(first), length) else { return };
                let rows = Rows { format, numerics, input: &Activations::default(), weights, row_bytes };
                batch::rows(self.level, &rows, batch, room, out);
            }
            (Work::Attention(a), Input::Vector(input)) => {
                let element = if a.halves { 2 } else { 4 };
                let (query, kv) = (chunk / a.heads.kv_heads, chunk % a.heads.kv_heads);
                let rows = a.rows + query;
                let length = (rows * a.heads.kv_heads * a.heads.head_dim * element) as u64;
                let (Some(k), Some(v)) = (self.memory.slice(a.k, length), self.memory.slice(a.v, length)) else {
                    return;
                };
                let cache = Cache { k, v, halves: a.halves, rows };
                let query = input.x.get(chunk * out.len()..).and_then(|q| q.get(..out.len())).unwrap_or_default();
                attention::group(self.level, a.numerics, &a.heads, &cache, kv, query, buffers, out);
            }
            // No piece is made like this.
            (Work::Rows(_) | Work::Attention(_), Input::Vectors(_)) | (Work::Batch { .. }, Input::Vector(_)) => {}
        }
    }
}

/// One NaN for all: which of two NaNs an addition hands on depends on the kernel.
pub(super) fn one_nan(out: &mut [f32]) {
    if out.iter().fold(false, |any, y| any | y.is_nan()) {
        out.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = f32::NAN);
    }
}
