//! Attention over an F16 or F32 cache.
//!
//! The scores of [`LANES`] rows are computed side by side, so that each keeps the order of its sum; the query heads that
//! share a key/value head share its conversion to F32. Both numerics sum in the order of the core; they differ in exp.

use super::{Level, Numerics};
use crate::num::half::f16_to_f32;
use crate::num::{float, hw};

/// Cache rows whose scores are computed together.
pub const LANES: usize = 16;

/// How the query divides into heads.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Query heads: a multiple of `kv_heads`.
    pub heads: usize,
    /// Key/value heads, not zero.
    pub kv_heads: usize,
    /// Elements of a head, not zero.
    pub head_dim: usize,
}

/// The rows of both caches, `kv_heads * head_dim` elements each.
#[derive(Clone, Copy, Debug)]
pub struct Cache<'a> {
    /// Keys.
    pub k: &'a [u8],
    /// Values.
    pub v: &'a [u8],
    /// Elements are F16 and not F32.
    pub halves: bool,
    /// Rows, at least one.
    pub rows: usize,
}

/// Room for one key/value head, kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// Keys of some rows, element by element: `tile[d * lanes + lane]`.
    pub(super) tile: Vec<f32>,
    /// The same of an F16 cache.
    #[cfg(target_arch = "x86_64")]
    pub(super) halves: Vec<u16>,
    /// Scores, then weights: `scores[head * rows + t]` for the heads of one group.
    pub(super) scores: Vec<f32>,
    /// One row of values.
    row: Vec<f32>,
}

/// Computes attention for every head: `out` is as long as `query`.
pub fn attend(
    level: Level,
    numerics: Numerics,
    heads: &Heads,
    cache: &Cache<'_>,
    query: &[f32],
    b: &mut Buffers,
    out: &mut [f32],
) {
    let width = heads.heads / heads.kv_heads * heads.head_dim;
    let groups = query.chunks_exact(width).zip(out.chunks_exact_mut(width));
    for (kv, (query, out)) in groups.enumerate() {
        group(level, numerics, heads, cache, kv, query, b, out);
    }
}

/// Computes attention for the query heads that share key/value head `kv`.
#[allow(clippy::too_many_arguments)]
pub(super) fn group(
    level: Level,
    numerics: Numerics,
    heads: &Heads,
    cache: &Cache<'_>,
    kv: usize,
    query: &[f32],
    b: &mut Buffers,
    out: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    if super::x86::attention(level, numerics, heads, cache, kv, query, b, out) {
        return;
    }
    let _ = level;
    portable(numerics, heads, cache, kv, query, b, out);
}

/// Plain Rust, which the other kernels are compared with.
fn portable(
    numerics: Numerics,
    h: &Heads,
    cache: &Cache<'_>,
    kv: usize,
    query: &[f32],
    b: &mut Buffers,
    out: &mut [f32],
) {
    let rows = cache.rows;
    let group = query.len() / h.head_dim;
    b.scores.resize(group * rows, 0.0);
    b.tile.resize(h.head_dim * LANES, 0.0);
    b.row.resize(h.head_dim, 0.0);
    let scale = hw::rsqrt(h.head_dim as f32);
    for first in (0..rows).step_by(LANES) {
        let count = LANES.min(rows - first);
        for lane in 0..count {
            element_row(cache.k, cache.halves, h, kv, first + lane, &mut b.row);
            for (d, &k) in b.row.iter().enumerate() {
                b.tile[d * LANES + lane] = k;
            }
        }
        for (head, q) in query.chunks_exact(h.head_dim).enumerate() {
            let lanes = score_lanes(&b.tile, q);
            for (lane, s) in lanes.iter().take(count).enumerate() {
                b.scores[head * rows + first + lane] = s * scale;
            }
        }
    }
    for scores in b.scores.chunks_exact_mut(rows) {
        match numerics {
            Numerics::Hardware => softmax(scores, hw::exp),
            Numerics::Float => softmax(scores, |s| s.iter_mut().for_each(|v| *v = float::exp(*v))),
        }
    }
    out.fill(0.0);
    for t in 0..rows {
        element_row(cache.v, cache.halves, h, kv, t, &mut b.row);
        for (head, out) in out.chunks_exact_mut(h.head_dim).enumerate() {
            let w = b.scores[head * rows + t];
            for (y, v) in out.iter_mut().zip(&b.row) {
                *y += w * v;
            }
        }
    }
}

/// Running sums of `tile[d] * q[d]`, one per lane, in order of d from the first.
#[inline(always)]
fn score_lanes(tile: &[f32], q: &[f32]) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    for (d, (k, q)) in tile.as_chunks::<LANES>().0.iter().zip(q).enumerate() {
        for (sum, k) in sums.iter_mut().zip(k) {
            *sum = if d == 0 { k * q } else { *sum + k * q };
        }
    }
    sums
}

/// Scores to weights: `exp` of the distance to the largest, times the reciprocal of the sum (spec section 11).
#[inline(always)]
fn softmax(scores: &mut [f32], exp: impl Fn(&mut [f32])) {
    let nan = scores.iter().any(|s| s.is_nan());
    // The largest, whatever the order of the comparisons.
    let largest = scores.iter().fold(f32::NEG_INFINITY, |m, &s| if s > m { s } else { m });
    let largest = if nan { f32::NAN } else { largest };
    for s in scores.iter_mut() {
        *s -= largest;
    }
    exp(scores);
    let factor = hw::recip(hw::sum(scores.iter().copied()));
    for s in scores.iter_mut() {
        *s *= factor;
    }
}

/// One key/value head of row `t` as F32.
#[inline(always)]
fn element_row(bytes: &[u8], halves: bool, h: &Heads, kv: usize, t: usize, out: &mut [f32]) {
    let first = (t * h.kv_heads + kv) * h.head_dim;
    if halves {
        for (y, b) in out.iter_mut().zip(bytes[2 * first..].as_chunks().0) {
            *y = f16_to_f32(u16::from_le_bytes(*b));
        }
    } else {
        for (y, b) in out.iter_mut().zip(bytes[4 * first..].as_chunks().0) {
            *y = f32::from_le_bytes(*b);
        }
    }
}
