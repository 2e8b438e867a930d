//! Attention with AVX-512: scores of up to 64 cache rows side by side.

use core::arch::x86_64::*;

use super::avx512::{load, store, transpose};
use super::table512;
use crate::kernel::Numerics;
use crate::kernel::attention::{Buffers, Cache, Heads, softmax};
use crate::num::{float, hw};

/// Lanes of a vector.
const LANES: usize = 16;
/// Most cache rows that are worked on together.
const ROWS: usize = 64;

/// The heads that share key/value head `kv`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn group(
    numerics: Numerics,
    h: &Heads,
    cache: &Cache<'_>,
    kv: usize,
    query: &[f32],
    b: &mut Buffers,
    out: &mut [f32],
) {
    let rows = cache.rows;
    let heads = query.len() / h.head_dim;
    // Head by head, with room behind the last so that whole vectors can be stored.
    b.scores.resize(heads * rows + ROWS, 0.0);
    b.tile.resize(h.head_dim.next_multiple_of(LANES) * ROWS, 0.0);
    let scale = _mm512_set1_ps(hw::rsqrt(h.head_dim as f32));
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        transpose_keys(cache, h, kv, first, count, &mut b.tile);
        for (head, q) in query.chunks_exact(h.head_dim).enumerate() {
            let at = head * rows + first;
            let scores = &mut b.scores[at..at + count];
            match count.div_ceil(LANES) {
                1 => score::<1>(&b.tile, q, scale, scores),
                2 => score::<2>(&b.tile, q, scale, scores),
                3 => score::<3>(&b.tile, q, scale, scores),
                _ => score::<4>(&b.tile, q, scale, scores),
            }
        }
    }
    for scores in b.scores.chunks_exact_mut(rows).take(heads) {
        match numerics {
            Numerics::Hardware => softmax(scores, |s| table512::eval(&ssnail_shared::tables::EXP, s)),
            Numerics::Float => softmax(scores, |s| s.iter_mut().for_each(|v| *v = float::exp(*v))),
        }
    }
    out.fill(0.0);
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        for (head, out) in out.chunks_exact_mut(h.head_dim).enumerate() {
            let weights = &b.scores[head * rows + first..][..count];
            for (part, out) in out.chunks_mut(4 * LANES).enumerate() {
                let column = part * 4 * LANES;
                match out.len().div_ceil(LANES) {
                    1 => accumulate::<1>(cache, h, kv, first, column, weights, out),
                    2 => accumulate::<2>(cache, h, kv, first, column, weights, out),
                    3 => accumulate::<3>(cache, h, kv, first, column, weights, out),
                    _ => accumulate::<4>(cache, h, kv, first, column, weights, out),
                }
            }
        }
    }
}

/// A mask of the first `n` lanes.
#[inline(always)]
fn first_lanes(n: usize) -> u16 {
    if n >= LANES { u16::MAX } else { (1 << n) - 1 }
}

/// Up to 16 elements from `column` of key/value head `kv` in row `t`, zero beyond the head.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn elements(bytes: &[u8], halves: bool, h: &Heads, kv: usize, t: usize, column: usize) -> __m512 {
    let at = (t * h.kv_heads + kv) * h.head_dim + column;
    let n = (h.head_dim - column).min(LANES);
    if halves {
        let Some(part) = bytes.get(2 * at..2 * (at + n)) else { return _mm512_setzero_ps() };
        // SAFETY: only the lanes of the mask are read, and the slice holds them.
        _mm512_cvtph_ps(unsafe { _mm256_maskz_loadu_epi16(first_lanes(n), part.as_ptr().cast()) })
    } else {
        let Some(part) = bytes.get(4 * at..4 * (at + n)) else { return _mm512_setzero_ps() };
        // SAFETY: only the lanes of the mask are read, and the slice holds them.
        unsafe { _mm512_maskz_loadu_ps(first_lanes(n), part.as_ptr().cast()) }
    }
}

/// Keys of `count` rows from `first` on, as `tile[d * ROWS + lane]`; lanes without a row are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn transpose_keys(cache: &Cache<'_>, h: &Heads, kv: usize, first: usize, count: usize, tile: &mut [f32]) {
    let tile = tile.as_chunks_mut::<ROWS>().0;
    for lane in (0..count).step_by(LANES) {
        for column in (0..h.head_dim).step_by(LANES) {
            let mut square = [_mm512_setzero_ps(); LANES];
            for (i, row) in square.iter_mut().enumerate().take(count - lane) {
                *row = elements(cache.k, cache.halves, h, kv, first + lane + i, column);
            }
            let square = transpose(square);
            for (line, v) in tile[column..].iter_mut().zip(square) {
                if let Some(place) = line[lane..].first_chunk_mut() {
                    store(place, v);
                }
            }
        }
    }
}

/// Scores of up to `16 * N` rows: sums of `k * q` in order from the first, times `scale`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn score<const N: usize>(tile: &[f32], q: &[f32], scale: __m512, scores: &mut [f32]) {
    let tile = tile.as_chunks::<ROWS>().0;
    let mut sums = [_mm512_setzero_ps(); N];
    for (d, (line, q)) in tile.iter().zip(q).enumerate() {
        let q = _mm512_set1_ps(*q);
        let line = line.as_chunks::<LANES>().0;
        for i in 0..N {
            let product = _mm512_mul_ps(load(&line[i]), q);
            sums[i] = if d == 0 { product } else { _mm512_add_ps(sums[i], product) };
        }
    }
    for (sum, place) in sums.iter().zip(scores.chunks_mut(LANES)) {
        // SAFETY: only as many lanes are written as the place has.
        unsafe { _mm512_mask_storeu_ps(place.as_mut_ptr(), first_lanes(place.len()), _mm512_mul_ps(*sum, scale)) };
    }
}

/// `out += w * v` over the rows from `first` on, in order, for up to `16 * N` elements from `column` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn accumulate<const N: usize>(
    cache: &Cache<'_>,
    h: &Heads,
    kv: usize,
    first: usize,
    column: usize,
    weights: &[f32],
    out: &mut [f32],
) {
    let mut sums = [_mm512_setzero_ps(); N];
    for (sum, out) in sums.iter_mut().zip(out.chunks(LANES)) {
        // SAFETY: only as many lanes are read as there are.
        *sum = unsafe { _mm512_maskz_loadu_ps(first_lanes(out.len()), out.as_ptr()) };
    }
    for (i, w) in weights.iter().enumerate() {
        let w = _mm512_set1_ps(*w);
        for (n, sum) in sums.iter_mut().enumerate() {
            let v = elements(cache.v, cache.halves, h, kv, first + i, column + n * LANES);
            *sum = _mm512_add_ps(*sum, _mm512_mul_ps(w, v));
        }
    }
    for (sum, out) in sums.iter().zip(out.chunks_mut(LANES)) {
        // SAFETY: only as many lanes are written as there are.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr(), first_lanes(out.len()), *sum) };
    }
}
