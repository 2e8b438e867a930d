//! Who computes: the calling thread, and helpers that were started once.
//!
//! A piece of work is cut into chunks; each thread has a run of them, and takes from others when its own is done. Helpers share the memory for as long as a piece lasts;
//! in between it belongs to the machine alone, which can therefore write to it without a lock.

use std::sync::Arc;
use std::time::Duration;

use super::attention::Buffers;
use super::batch::Batch;
use super::pool::{After, Board, Pool, Task};
use super::work::{self, Input, Joint, Shared, Work};
pub use super::work::{Attention, Product, TOGETHER};
use super::{Ahead, Level, Room, Rows};
use crate::memory::Memory;
use crate::num::quantise::Activations;

/// Work below this many bytes is done by the calling thread: handing it over takes a microsecond or two, in which that
/// reads half as many from its own cache.
const WORTH_SHARING: u64 = 160 << 10;
/// Work on fewer bytes, which the calling thread does at once, does not ask for the memory of what comes next.
const WORTH_ASKING: usize = 16 << 10;
/// Bytes of a chunk: at most a few microseconds' work, at least what makes taking it not felt.
const SMALLEST: u64 = 4 << 10;
const LARGEST: u64 = 64 << 10;

/// What one thread keeps for itself.
#[derive(Debug, Default)]
pub(super) struct Own {
    room: Room,
    buffers: Buffers,
}

impl Own {
    /// As helper `thread`: takes chunks until none is left and writes them down, each behind its number.
    pub(super) fn work(&mut self, task: &Task, board: &Board, thread: usize, results: &mut Vec<f32>) {
        let Task { shared, total, .. } = task;
        let (length, chunks) = (shared.work.chunk_len(), shared.work.chunks());
        results.clear();
        while let Some(chunk) = board.take(thread, chunks) {
            // There are fewer chunks than 2^32 bytes of weights.
            results.push(f32::from_bits(chunk as u32));
            let start = results.len();
            results.resize(start + length.min(total.saturating_sub(chunk * length)), 0.0);
            self.compute(shared, board, thread, chunk, task.after, &mut results[start..]);
        }
    }

    /// Computes a chunk; meanwhile asks for what the thread will read after it: the rest of its own run and then `after`,
    /// or nothing if it took the chunk from another's.
    fn compute(&mut self, shared: &Shared, board: &Board, thread: usize, chunk: usize, after: After, out: &mut [f32]) {
        let run = board.run(thread, shared.work.chunks());
        let own = run.contains(&chunk);
        self.room.ahead = shared.ahead(chunk, if own { run.end } else { chunk + 1 }, if own { after.at } else { 0 });
        shared.compute(chunk, &mut self.room, &mut self.buffers, out);
    }
}

/// Gives what [`Own::work`] wrote down, chunk by chunk, to `take`; `length` is that of a chunk, `total` that of all.
pub(super) fn hand_over(mut results: &[f32], length: usize, total: usize, mut take: impl FnMut(usize, &[f32])) {
    while let Some((chunk, rest)) = results.split_first() {
        let chunk = chunk.to_bits() as usize;
        let n = length.min(total.saturating_sub(chunk * length)).min(rest.len());
        take(chunk, &rest[..n]);
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
    /// Work on fewer bytes is not shared.
    least: u64,
    /// Results of a chunk.
    piece: Vec<f32>,
    /// The chunks whose results have been taken.
    taken: Vec<bool>,
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
            least: WORTH_SHARING,
            piece: Vec::new(),
            taken: Vec::new(),
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
        if !self.shared(product.bytes()) {
            return self.multiply_alone(product, None, memory, input, out);
        }
        if let Some(joint) = Joint::new(&[*product], self.chunk(product.rows, product.bytes())) {
            let input = Input::Vector(Arc::clone(input));
            self.run(Work::Rows(joint), None, memory, input, product.bytes(), out.len(), into(out));
        }
    }

    /// As the calling thread, at once. `next` is what will be multiplied after it.
    fn multiply_alone(
        &mut self,
        product: &Product,
        next: Option<&Product>,
        memory: &Memory,
        input: &Activations,
        out: &mut [f32],
    ) {
        let Product { format, numerics, row_bytes, .. } = *product;
        let Some(weights) = memory.slice(product.weights, product.bytes()) else { return };
        let next = next.and_then(|next| memory.slice(next.weights, 1)).map_or(0, |next| next.as_ptr().addr());
        let end = weights.as_ptr_range().end.addr();
        self.own.room.ahead = (weights.len() >= WORTH_ASKING).then_some(Ahead { end, next });
        super::rows(self.level, &Rows { format, numerics, input, weights, row_bytes }, &mut self.own.room, out);
        work::one_nan(out);
    }

    /// Multiplies up to [`TOGETHER`] matrices with one vector, as one piece of work. `next` is what will be multiplied
    /// after them, with another vector: nothing hangs on it but how soon it is there. Gives where the results of each
    /// begin in `out`. The caller has checked that the rows lie inside the memory.
    pub fn multiply_several(
        &mut self,
        products: &[Product],
        next: &[Product],
        memory: &Arc<Memory>,
        input: &Arc<Activations>,
        out: &mut Vec<f32>,
    ) -> [usize; TOGETHER] {
        if let [product] = products
            && !self.shared(product.bytes())
        {
            out.resize(product.rows, 0.0);
            self.multiply_alone(product, next.first(), memory, input, out);
            return [0; TOGETHER];
        }
        let (Some((joint, bytes)), next) = (self.joint(products), self.joint(next)) else { return [0; TOGETHER] };
        let work = Work::Rows(joint);
        // Every row is written; what is left of another piece need not be cleared first.
        out.resize(work.chunks() * work.chunk_len(), 0.0);
        self.run(
            work,
            next.map(|(next, _)| next),
            memory,
            Input::Vector(Arc::clone(input)),
            bytes,
            out.len(),
            into(out),
        );
        joint.places()
    }

    fn joint(&self, products: &[Product]) -> Option<(Joint, u64)> {
        let bytes = products.iter().map(Product::bytes).sum();
        let rows = products.iter().map(|p| p.rows).sum();
        Some((Joint::new(products, self.chunk(rows, bytes))?, bytes))
    }

    /// Multiplies with every vector of a batch. The results go to `take`, some rows at a time, in any order and each once:
    /// with the number of the first row, as [`batch::rows`](super::batch::rows) lays them out. The caller has checked that
    /// the rows lie inside the memory.
    pub fn multiply_batch(
        &mut self,
        product: &Product,
        memory: &Arc<Memory>,
        batch: &Arc<Batch>,
        mut take: impl FnMut(usize, &[f32]),
    ) {
        let vectors = batch.len();
        let bytes = product.bytes() * vectors as u64;
        // So few that they are still in the first cache when they are taken.
        let chunk = self.fine_chunk(product.rows, bytes);
        let work = Work::Batch { product: *product, chunk, vectors };
        let total = product.rows.next_multiple_of(super::ROW_GROUP) * vectors;
        let input = Input::Vectors(Arc::clone(batch));
        // Weights are multiplied with several vectors about twice as fast as they are read for each.
        self.run(work, None, memory, input, bytes / 2, total, |at, results| take(at / vectors.max(1), results));
    }

    /// Rows in a chunk: whole groups, so few that threads finish together, so many that taking one costs nothing.
    fn chunk(&self, rows: usize, bytes: u64) -> usize {
        if !self.shared(bytes) {
            return rows.next_multiple_of(super::ROW_GROUP).max(super::ROW_GROUP);
        }
        self.fine_chunk(rows, bytes)
    }

    fn fine_chunk(&self, rows: usize, bytes: u64) -> usize {
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
        let bytes = 8 * width * (a.rows * a.queries) as u64;
        self.run(Work::Attention(*a), None, memory, input, bytes, out.len(), into(out));
    }

    /// Whether work on this many bytes is done by several threads.
    #[must_use]
    pub fn shared(&self, bytes: u64) -> bool {
        self.pool.helpers() > 0 && bytes >= self.least
    }

    /// Shares work from so many bytes on, instead of from where it pays.
    pub fn set_least_shared(&mut self, bytes: u64) {
        self.least = bytes;
    }

    /// Does a piece of work; `take` gets the results of each chunk with their place among all, of which there are `total`.
    #[allow(clippy::too_many_arguments)]
    fn run(
        &mut self,
        work: Work,
        next: Option<Joint>,
        memory: &Arc<Memory>,
        input: Input,
        bytes: u64,
        total: usize,
        mut take: impl FnMut(usize, &[f32]),
    ) {
        let shared = Shared { work, level: self.level, memory: Arc::clone(memory), input };
        let (length, chunks) = (work.chunk_len(), work.chunks());
        let size = |chunk: usize| length.min(total.saturating_sub(chunk * length));
        let together = self.shared(bytes) && chunks > 1 && self.crowd.allows();
        let Self { own, pool, piece, taken, .. } = self;
        taken.clear();
        taken.resize(chunks, false);
        if together {
            let mut take = |chunk: usize, results: &[f32]| {
                take(chunk * length, results);
                if let Some(taken) = taken.get_mut(chunk) {
                    *taken = true;
                }
            };
            let board = pool.board();
            let after =
                |thread| next.as_ref().and_then(|next| After::find(next, board, thread, memory)).unwrap_or_default();
            pool.start(&shared, chunks, total, after);
            let (after, mut sleepers) = (after(0), true);
            while let Some(chunk) = board.take(0, chunks) {
                piece.resize(size(chunk), 0.0);
                own.compute(&shared, board, 0, chunk, after, piece);
                // Behind the first chunk, so that no time is spent on waiting until the others see the work.
                if std::mem::take(&mut sleepers) {
                    pool.wake();
                }
                take(chunk, piece);
            }
            if sleepers {
                pool.wake();
            }
            // A chunk at a tenth of the speed of memory, and what waking up may take.
            let patience = Duration::from_nanos(bytes / chunks as u64 + 200_000);
            let late = pool.finish(patience, |results| hand_over(results, length, total, &mut take));
            self.crowd.note(late);
        }
        // All of them, or those of a helper that is no more.
        let first = next.and_then(|next| memory.slice(next.address(0)?.0, 1)).map_or(0, |next| next.as_ptr().addr());
        for chunk in 0..chunks {
            if taken.get(chunk) == Some(&false) {
                piece.resize(size(chunk), 0.0);
                own.room.ahead = shared.ahead(chunk, chunks, first);
                shared.compute(chunk, &mut own.room, &mut own.buffers, piece);
                take(chunk * length, piece);
            }
        }
    }
}

/// Puts results where they belong.
fn into(out: &mut [f32]) -> impl FnMut(usize, &[f32]) {
    |at, results| {
        if let Some(place) = out.get_mut(at..at + results.len()) {
            place.copy_from_slice(results);
        }
    }
}
