//! Who multiplies: the calling thread, and helpers where there are any.

use std::sync::Arc;

use super::{Format, Level, Numerics, Room, Rows};
use crate::memory::Memory;
use crate::num::quantise::Activations;

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
}

/// The threads of one machine.
#[derive(Debug)]
pub struct Engine {
    threads: usize,
    level: Level,
    room: Room,
}

impl Engine {
    /// An engine of `threads` threads, the caller among them.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), level: Level::best(), room: Room::default() }
    }

    /// Threads that share the work.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Computes `out.len()` rows. The caller has checked that they lie inside the memory.
    pub fn multiply(&mut self, product: &Product, memory: &Arc<Memory>, input: &Arc<Activations>, out: &mut [f32]) {
        let length = product.row_bytes as u64 * out.len() as u64;
        let Some(weights) = memory.slice(product.weights, length) else { return };
        let Product { format, numerics, row_bytes, .. } = *product;
        let rows = Rows { format, numerics, input, weights, row_bytes };
        super::rows(self.level, &rows, &mut self.room, out);
    }
}
