//! Who computes: the calling thread, and helpers that were started once.
//!
//! A piece of work is cut into chunks that whoever is free takes. Helpers share the memory for as long as a piece lasts;
//! in between it belongs to the machine alone, which can therefore write to it without a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::attention::{self, Buffers, Cache, Heads};
use super::batch::{self, Batch};
use super::pool::{Finish, Pool};
use super::{Format, Level, Numerics, Room, Rows};
use crate::memory::Memory;
use crate::num::quantise::Activations;

/// Work below this many bytes is done by the calling thread: handing it over costs about as long as reading them.
const WORTH_SHARING: u64 = 48 << 10;

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

/// Attention over caches in memory; the query is the input.
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
    /// Rows of the caches, at least one.
    pub rows: usize,
}

/// Something that can be cut into chunks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Chunks of `chunk` rows.
    Rows { product: Product, chunk: usize },
    /// Chunks of `chunk` rows, a multiple of the group, times every vector of the batch.
    Batch { product: Product, chunk: usize, vectors: usize },
    /// A chunk is a key/value head.
    Attention(Attention),
}

impl Work {
    fn chunks(&self) -> usize {
        match self {
            Self::Rows { product, chunk } | Self::Batch { product, chunk, .. } => product.rows.div_ceil(*chunk),
            Self::Attention(a) => a.heads.kv_heads,
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

    /// Computes a chunk.
    fn compute(&self, chunk: usize, task: &Shared, own: &mut Own, out: &mut [f32]) {
        match self {
            Self::Rows { product, .. } => {
                let Product { format, numerics, row_bytes, .. } = *product;
                let first = (chunk * self.chunk_len() * row_bytes) as u32;
                let length = (out.len() * row_bytes) as u64;
                let Some(weights) = task.memory.slice(product.weights.wrapping_add(first), length) else { return };
                let rows = Rows { format, numerics, input: &task.input, weights, row_bytes };
                super::rows(task.level, &rows, &mut own.room, out);
            }
            Self::Batch { product, chunk: size, .. } => {
                let Product { format, numerics, row_bytes, rows, .. } = *product;
                let first = chunk * size;
                let from = product.weights.wrapping_add((first * row_bytes) as u32);
                let length = ((rows - first).min(*size) * row_bytes) as u64;
                let Some(weights) = task.memory.slice(from, length) else { return };
                let rows = Rows { format, numerics, input: &task.input, weights, row_bytes };
                batch::rows(task.level, &rows, &task.batch, &mut own.room, out);
            }
            Self::Attention(a) => {
                let element = if a.halves { 2 } else { 4 };
                let length = (a.rows * a.heads.kv_heads * a.heads.head_dim * element) as u64;
                let (Some(k), Some(v)) = (task.memory.slice(a.k, length), task.memory.slice(a.v, length)) else {
                    return;
                };
                let cache = Cache { k, v, halves: a.halves, rows: a.rows };
                let query = task.input.x.get(chunk * out.len()..).and_then(|q| q.get(..out.len()));
                let query = query.unwrap_or_default();
                attention::group(task.level, a.numerics, &a.heads, &cache, chunk, query, &mut own.attention, out);
            }
        }
    }
}

/// What every thread of a piece of work sees.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    work: Work,
    level: Level,
    memory: Arc<Memory>,
    input: Arc<Activations>,
    batch: Arc<Batch>,
    next: Arc<AtomicUsize>,
}

/// What one thread keeps for itself.
#[derive(Debug, Default)]
pub(super) struct Own {
    room: Room,
    attention: Buffers,
    /// Results of the chunks that this thread took, and which they are.
    results: Vec<f32>,
    taken: Vec<usize>,
}

impl Own {
    /// Takes chunks until none is left.
    pub(super) fn work(&mut self, shared: &Shared, total: usize) {
        let length = shared.work.chunk_len();
        let mut results = std::mem::take(&mut self.results);
        results.clear();
        self.taken.clear();
        loop {
            let chunk = shared.next.fetch_add(1, Ordering::Relaxed);
            let from = chunk.saturating_mul(length);
            if from >= total {
                break;
            }
            let start = results.len();
            results.resize(start + length.min(total - from), 0.0);
            shared.work.compute(chunk, shared, self, &mut results[start..]);
            self.taken.push(chunk);
        }
        self.results = results;
    }

    /// Puts the results where they belong.
    pub(super) fn hand_over(&self, length: usize, out: &mut [f32]) {
        let mut results = &self.results[..];
        for chunk in &self.taken {
            let Some(place) = out.get_mut(chunk * length..) else { continue };
            let n = length.min(place.len()).min(results.len());
            place[..n].copy_from_slice(&results[..n]);
            results = &results[n..];
        }
    }
}

/// The threads of one machine.
#[derive(Debug)]
pub struct Engine {
    level: Level,
    own: Own,
    next: Arc<AtomicUsize>,
    pool: Pool,
    /// No vector and no vectors, for work that has none.
    nothing: (Arc<Activations>, Arc<Batch>),
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
            next: Arc::default(),
            pool,
            nothing: Default::default(),
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
        let shared = self.piece(Work::Rows { product: *product, chunk }, memory, input, &self.nothing.1);
        self.run(shared, bytes, out);
    }

    /// Multiplies with every vector of a batch; `out` as [`batch::rows`] lays it out. The caller has checked that the
    /// rows lie inside the memory.
    pub fn multiply_batch(&mut self, product: &Product, memory: &Arc<Memory>, batch: &Arc<Batch>, out: &mut [f32]) {
        let bytes = product.row_bytes as u64 * product.rows as u64 * batch.len() as u64;
        let chunk = self.chunk(product.rows, bytes);
        let work = Work::Batch { product: *product, chunk, vectors: batch.len() };
        let shared = self.piece(work, memory, &self.nothing.0, batch);
        self.run(shared, bytes, out);
    }

    /// Rows in a chunk: a few chunks for each thread, so that one that was held up does not hold up all; whole groups.
    fn chunk(&self, rows: usize, bytes: u64) -> usize {
        let parts = if self.shared(bytes) { 4 * self.threads() } else { 1 };
        rows.div_ceil(parts).next_multiple_of(super::ROW_GROUP).max(super::ROW_GROUP)
    }

    fn piece(&self, work: Work, memory: &Arc<Memory>, input: &Arc<Activations>, batch: &Arc<Batch>) -> Shared {
        let (memory, input, batch) = (Arc::clone(memory), Arc::clone(input), Arc::clone(batch));
        Shared { work, level: self.level, memory, input, batch, next: Arc::clone(&self.next) }
    }

    /// Computes attention; the query is `input.x`. The caller has checked that the caches lie inside the memory.
    pub fn attend(&mut self, a: &Attention, memory: &Arc<Memory>, input: &Arc<Activations>, out: &mut [f32]) {
        if a.heads.heads == 0 || a.heads.kv_heads == 0 || a.heads.head_dim == 0 {
            return;
        }
        let width = (a.heads.heads * a.heads.head_dim) as u64;
        let shared = self.piece(Work::Attention(*a), memory, input, &self.nothing.1);
        self.run(shared, 4 * width * a.rows as u64, out);
    }

    fn shared(&self, bytes: u64) -> bool {
        self.pool.helpers() > 0 && bytes >= WORTH_SHARING
    }

    fn run(&mut self, shared: Shared, bytes: u64, out: &mut [f32]) {
        let work = shared.work;
        let mut done = false;
        if self.shared(bytes) && work.chunks() > 1 && self.crowd.allows() {
            self.next.store(0, Ordering::Relaxed);
            self.pool.start(&shared, out.len());
            self.own.work(&shared, out.len());
            self.own.hand_over(work.chunk_len(), out);
            // A chunk at a tenth of the speed of memory, and what waking up may take.
            let patience = Duration::from_nanos(bytes / work.chunks() as u64 + 200_000);
            let finish = self.pool.finish(work.chunk_len(), patience, out);
            self.crowd.note(finish == Finish::Late);
            done = finish != Finish::Lost;
        }
        if !done {
            for (chunk, out) in out.chunks_mut(work.chunk_len().max(1)).enumerate() {
                work.compute(chunk, &shared, &mut self.own, out);
            }
        }
        // One NaN for all: which of two NaNs an addition hands on depends on the kernel.
        if out.iter().fold(false, |any, y| any | y.is_nan()) {
            out.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = f32::NAN);
        }
    }
}
