//! Who computes: the calling thread, and helpers that were started once.
//!
//! A piece of work is cut into chunks; each thread has a run of them, and takes from others when its own is done. Helpers share the memory for as long as a piece lasts;
//! in between it belongs to the machine alone, which can therefore write to it without a lock.

use std::sync::Arc;
use std::time::Duration;

use super::attention::{self, Buffers, Cache, Heads};
use super::batch::{self, Batch};
use super::pool::{Board, Finish, Pool};
use super::{Format, Level, Numerics, Room, Rows};
use crate::memory::Memory;
use crate::num::quantise::Activations;

/// Work below this many bytes is done by the calling thread: handing it over costs about as long as reading them.
const WORTH_SHARING: u64 = 80 << 10;
/// Bytes of a chunk: at most a few microseconds' work, at least what makes taking it not felt.
const SMALLEST: u64 = 4 << 10;
const LARGEST: u64 = 64 << 10;

/// A matrix in memory to be multiplied.
#[derive(Clone, Copy, Debug)]
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

/// Something that can be cut into chunks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Chunks of `chunk` rows.
    Rows { product: Product, chunk: usize },
    /// Chunks of `chunk` rows, a multiple of the group, times every vector of the batch.
    Batch { product: Product, chunk: usize, vectors: usize },
    /// A chunk is a key/value head of a query.
    Attention(Attention),
}

impl Work {
    fn chunks(&self) -> usize {
        match self {
            Self::Rows { product, chunk } | Self::Batch { product, chunk, .. } => product.rows.div_ceil(*chunk),
            Self::Attention(a) => a.queries * a.heads.kv_heads,
        }
    }

    /// Results of every chunk but the last, which may be shorter.
    fn chunk_len(&self) -> usize {
        match self {
            Self::Rows { chunk, .. } => *chunk,
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
    work: Work,
    level: Level,
    memory: Arc<Memory>,
    input: Input,
}

impl Shared {
    /// Computes a chunk.
    fn compute(&self, chunk: usize, room: &mut Room, buffers: &mut Buffers, out: &mut [f32]) {
        self.compute_any(chunk, room, buffers, out);
        // One NaN for all: which of two NaNs an addition hands on depends on the kernel.
        if out.iter().fold(false, |any, y| any | y.is_nan()) {
            out.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = f32::NAN);
        }
    }

    /// [`Shared::compute`] with any NaNs.
    fn compute_any(&self, chunk: usize, room: &mut Room, buffers: &mut Buffers, out: &mut [f32]) {
        match (&self.work, &self.input) {
            (Work::Rows { product, .. }, Input::Vector(input)) => {
                let Product { format, numerics, row_bytes, .. } = *product;
                let first = (chunk * self.work.chunk_len() * row_bytes) as u32;
                let length = (out.len() * row_bytes) as u64;
                let Some(weights) = self.memory.slice(product.weights.wrapping_add(first), length) else { return };
                super::rows(self.level, &Rows { format, numerics, input, weights, row_bytes }, room, out);
            }
            (Work::Batch { product, chunk: size, .. }, Input::Vectors(batch)) => {
                let Product { format, numerics, row_bytes, rows, .. } = *product;
                let first = chunk * size;
                let from = product.weights.wrapping_add((first * row_bytes) as u32);
                let length = ((rows - first).min(*size) * row_bytes) as u64;
                let Some(weights) = self.memory.slice(from, length) else { return };
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
            (Work::Rows { .. } | Work::Attention(_), Input::Vectors(_)) | (Work::Batch { .. }, Input::Vector(_)) => {}
        }
    }
}

/// What one thread keeps for itself.
#[derive(Debug, Default)]
pub(super) struct Own {
    room: Room,
    buffers: Buffers,
}

impl Own {
    /// As helper `thread`: takes chunks until none is left and writes them down, each behind its number.
    pub(super) fn work(&mut self, shared: &Shared, board: &Board, thread: usize, total: usize, results: &mut Vec<f32>) {
        let (length, chunks) = (shared.work.chunk_len(), shared.work.chunks());
        results.clear();
        while let Some(chunk) = board.take(thread, chunks) {
            // There are fewer chunks than 2^32 bytes of weights.
            results.push(f32::from_bits(chunk as u32));
            let start = results.len();
            results.resize(start + length.min(total.saturating_sub(chunk * length)), 0.0);
            shared.compute(chunk, &mut self.room, &mut self.buffers, &mut results[start..]);
        }
    }

    /// As the calling thread: takes chunks and puts the results where they belong. `begun` is called behind the first.
    fn work_into(&mut self, shared: &Shared, board: &Board, begun: impl Fn(), out: &mut [f32]) {
        let (length, chunks) = (shared.work.chunk_len(), shared.work.chunks());
        let mut first = true;
        while let Some(chunk) = board.take(0, chunks) {
            let Some(place) = out.get_mut(chunk * length..) else { continue };
            let n = length.min(place.len());
            shared.compute(chunk, &mut self.room, &mut self.buffers, &mut place[..n]);
            if std::mem::take(&mut first) {
                begun();
            }
        }
        if first {
            begun();
        }
    }
}

/// Puts what [`Own::work`] wrote down where it belongs; `length` is that of a chunk.
pub(super) fn hand_over(mut results: &[f32], length: usize, out: &mut [f32]) {
    while let Some((chunk, rest)) = results.split_first() {
        let Some(place) = out.get_mut(chunk.to_bits() as usize * length..) else { return };
        let n = length.min(place.len()).min(rest.len());
        place[..n].copy_from_slice(&rest[..n]);
        results = &rest[n..];
    }
}

/// The threads of one machine.
#[derive(Debug)]
pub struct Engine {
    level: Level,
    own: Own,
    pool: Pool,
    crowd: Crowd,
}

/// Whether sharing work pays. On a busy machine a helper that holds a chunk may not run for milliseconds, and everyone
/// waits for it; after some such delays work is done alone for a while.
#[derive(Debug)]
struct Crowd {
    /// Rises with each delay, falls with each piece in time.
    delays: u32,
    /// Pieces of work still to be done alone.
    alone: u32,
    /// How many the next time.
    next: u32,
}

impl Crowd {
    const FIRST: u32 = 512;
    const MOST: u32 = 8192;

    /// Whether the next piece may be shared.
    fn allows(&mut self) -> bool {
        let allows = self.alone == 0;
        self.alone = self.alone.saturating_sub(1);
        allows
    }

    fn note(&mut self, late: bool) {
        self.delays = if late { self.delays + 8 } else { self.delays.saturating_sub(1) };
        if self.delays >= 32 {
            self.delays = 0;
            self.alone = self.next;
            self.next = (2 * self.next).min(Self::MOST);
        }
    }
}

impl Engine {
    /// An engine of `threads` threads, the caller among them.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let pool = Pool::new(threads.saturating_sub(1));
        Self {
            level: Level::best(),
            own: Own::default(),
            pool,
            crowd: Crowd { delays: 0, alone: 0, next: Crowd::FIRST },
        }
    }

    /// The instruction set in use.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Threads that share the work.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.pool.helpers() + 1
    }

    /// Computes `product.rows` rows. The caller has checked that they lie inside the memory.
    pub fn multiply(&mut self, product: &Product, memory: &Arc<Memory>, input: &Arc<Activations>, out: &mut [f32]) {
        let bytes = product.row_bytes as u64 * product.rows as u64;
        let chunk = self.chunk(product.rows, bytes);
        let input = Input::Vector(Arc::clone(input));
        self.run(Work::Rows { product: *product, chunk }, memory, input, bytes, out);
    }

    /// Multiplies with every vector of a batch; `out` as [`batch::rows`] lays it out. The caller has checked that the
    /// rows lie inside the memory.
    pub fn multiply_batch(&mut self, product: &Product, memory: &Arc<Memory>, batch: &Arc<Batch>, out: &mut [f32]) {
        let bytes = product.row_bytes as u64 * product.rows as u64 * batch.len() as u64;
        let chunk = self.chunk(product.rows, bytes);
        let work = Work::Batch { product: *product, chunk, vectors: batch.len() };
        self.run(work, memory, Input::Vectors(Arc::clone(batch)), bytes, out);
    }

    /// Rows in a chunk: whole groups, so few that threads finish together, so many that taking one costs nothing.
    fn chunk(&self, rows: usize, bytes: u64) -> usize {
        if !self.shared(bytes) {
            return rows.next_multiple_of(super::ROW_GROUP).max(super::ROW_GROUP);
        }
        let size = (bytes / (32 * self.threads() as u64)).clamp(SMALLEST, LARGEST);
        ((size * rows as u64 / bytes.max(1)) as usize).next_multiple_of(super::ROW_GROUP).max(super::ROW_GROUP)
    }

    /// Computes attention; the queries are `input.x`. The caller has checked that the caches lie inside the memory.
    pub fn attend(&mut self, a: &Attention, memory: &Arc<Memory>, input: &Arc<Activations>, out: &mut [f32]) {
        if a.heads.heads == 0 || a.heads.kv_heads == 0 || a.heads.head_dim == 0 {
            return;
        }
        let width = (a.heads.heads * a.heads.head_dim) as u64;
        let input = Input::Vector(Arc::clone(input));
        self.run(Work::Attention(*a), memory, input, 8 * width * (a.rows * a.queries) as u64, out);
    }

    fn shared(&self, bytes: u64) -> bool {
        self.pool.helpers() > 0 && bytes >= WORTH_SHARING
    }

    fn run(&mut self, work: Work, memory: &Arc<Memory>, input: Input, bytes: u64, out: &mut [f32]) {
        let shared = Shared { work, level: self.level, memory: Arc::clone(memory), input };
        let (length, chunks) = (work.chunk_len(), work.chunks());
        let mut done = false;
        if self.shared(bytes) && chunks > 1 && self.crowd.allows() {
            self.pool.start(&shared, chunks, out.len());
            self.own.work_into(&shared, self.pool.board(), || self.pool.wake(), out);
            // A chunk at a tenth of the speed of memory, and what waking up may take.
            let patience = Duration::from_nanos(bytes / chunks as u64 + 200_000);
            let finish = self.pool.finish(length, patience, out);
            self.crowd.note(finish == Finish::Late);
            done = finish != Finish::Lost;
        }
        if !done {
            let Own { room, buffers } = &mut self.own;
            for (chunk, out) in out.chunks_mut(length.max(1)).enumerate() {
                shared.compute(chunk, room, buffers, out);
            }
        }
    }
}
