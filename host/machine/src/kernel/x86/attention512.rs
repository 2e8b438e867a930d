//! Attention with AVX-512: scores of up to 64 cache rows side by side, for up to four query heads at once.

use core::arch::x86_64::*;

use super::avx512::{load, load_half, prefetch, store, transpose};
use super::softmax512::softmax;
use crate::kernel::Numerics;
use crate::kernel::attention::{Buffers, Cache, Heads};
use crate::num::hw;

/// Lanes of a vector.
pub(super) const LANES: usize = 16;
/// Most cache rows that are worked on together.
const ROWS: usize = 64;
/// Bytes of a line of the processor's caches.
const LINE: usize = 64;
/// Most query heads that are worked on together.
pub(super) const HEADS: usize = 4;

/// Calls a function whose first number is the count of heads, the second that of vectors.
macro_rules! sized {
    ($heads:expr, $vectors:expr, $f:ident($($argument:expr),*)) => {
        match ($heads, $vectors) {
            (1, 1) => $f::<1, 1>($($argument),*),
            (1, 2) => $f::<1, 2>($($argument),*),
            (1, 3) => $f::<1, 3>($($argument),*),
            (1, _) => $f::<1, 4>($($argument),*),
            (2, 1) => $f::<2, 1>($($argument),*),
            (2, 2) => $f::<2, 2>($($argument),*),
            (2, 3) => $f::<2, 3>($($argument),*),
            (2, _) => $f::<2, 4>($($argument),*),
            (3, 1) => $f::<3, 1>($($argument),*),
            (3, 2) => $f::<3, 2>($($argument),*),
            (3, 3) => $f::<3, 3>($($argument),*),
            (3, _) => $f::<3, 4>($($argument),*),
            (_, 1) => $f::<4, 1>($($argument),*),
            (_, 2) => $f::<4, 2>($($argument),*),
            (_, 3) => $f::<4, 3>($($argument),*),
            _ => $f::<4, 4>($($argument),*),
        }
    };
}

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
    // Head by head, whole vectors each.
    let stride = rows.next_multiple_of(LANES);
    b.scores.resize(query.len() / h.head_dim * stride, 0.0);
    let tile = h.head_dim.next_multiple_of(LANES) * ROWS;
    if cache.halves {
        b.halves.resize(tile, 0);
    } else {
        b.tile.resize(tile, 0.0);
    }
    let scale = _mm512_set1_ps(hw::rsqrt(h.head_dim as f32));
    prefetch_rows(cache.k, cache, h, kv, 0);
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        prefetch_rows(cache.k, cache, h, kv, first + ROWS);
        prefetch_rows(cache.v, cache, h, kv, first);
        if cache.halves {
            transpose_halves(cache.k, h, kv, first, count, &mut b.halves);
        } else {
            transpose_keys(cache, h, kv, first, count, &mut b.tile);
        }
        let queries = query.chunks(HEADS * h.head_dim).zip(b.scores.chunks_mut(HEADS * stride));
        for (q, scores) in queries {
            let (heads, vectors) = (q.len() / h.head_dim, count.div_ceil(LANES));
            if cache.halves {
                sized!(heads, vectors, score_halves(&b.halves, q, scale, stride, &mut scores[first..]));
            } else {
                sized!(heads, vectors, score(&b.tile, q, scale, stride, &mut scores[first..]));
            }
        }
    }
    for scores in b.scores.chunks_mut(HEADS * stride) {
        softmax(numerics, rows, stride, scores);
    }
    out.fill(0.0);
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        for (out, weights) in out.chunks_mut(HEADS * h.head_dim).zip(b.scores.chunks(HEADS * stride)) {
            let heads = out.len() / h.head_dim;
            for column in (0..h.head_dim).step_by(4 * LANES) {
                let vectors = (h.head_dim - column).div_ceil(LANES);
                let weights = (&weights[first..], stride, count);
                sized!(heads, vectors, accumulate(cache, h, (kv, first, column), weights, out));
            }
        }
    }
}

/// Asks for up to [`ROWS`] rows of a head from `first` on: they lie too far apart for the processor to guess them, and a
/// token reads each once. Rows shorter than a line are not worth it.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch_rows(bytes: &[u8], cache: &Cache<'_>, h: &Heads, kv: usize, first: usize) {
    let size = if cache.halves { 2 } else { 4 };
    if size * h.head_dim < LINE {
        return;
    }
    for t in first..cache.rows.min(first + ROWS) {
        let at = size * (t * h.kv_heads + kv) * h.head_dim;
        prefetch(bytes, at, size * h.head_dim);
    }
}

/// A mask of the first `n` lanes.
#[inline(always)]
pub(super) fn first_lanes(n: usize) -> u16 {
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

/// Keys of `count` rows from `first` on, as `tile[d * ROWS + lane]`; lanes without a row are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn transpose_halves(keys: &[u8], h: &Heads, kv: usize, first: usize, count: usize, tile: &mut [u16]) {
    let tile = tile.as_chunks_mut::<ROWS>().0;
    for lane in (0..count).step_by(LANES) {
        for column in (0..h.head_dim).step_by(8) {
            let n = (h.head_dim - column).min(8);
            let at = ((first + lane) * h.kv_heads + kv) * h.head_dim + column;
            // From the first row's elements to the last one's.
            let row = h.kv_heads * h.head_dim;
            let rows = (count - lane).min(LANES);
            let Some(part) = keys.get(2 * at..2 * (at + (rows - 1) * row + n)) else { return };
            let mask = first_lanes(n) as u8;
            let eight = |r: usize| {
                if r < rows {
                    // SAFETY: only the lanes of the mask are read, which the part holds for each of its rows.
                    unsafe { _mm_maskz_loadu_epi16(mask, part.as_ptr().add(2 * r * row).cast()) }
                } else {
                    _mm_setzero_si128()
                }
            };
            // Quarter i holds row 4 * i + r.
            let four = |r: usize| {
                let v = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(eight(r)), eight(r + 4));
                _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(v, eight(r + 8)), eight(r + 12))
            };
            let [a, b, c, d] = [four(0), four(1), four(2), four(3)];
            let (ab, cd) = (_mm512_unpacklo_epi16(a, b), _mm512_unpacklo_epi16(c, d));
            let (ab_high, cd_high) = (_mm512_unpackhi_epi16(a, b), _mm512_unpackhi_epi16(c, d));
            let pairs = [
                _mm512_unpacklo_epi32(ab, cd),
                _mm512_unpackhi_epi32(ab, cd),
                _mm512_unpacklo_epi32(ab_high, cd_high),
                _mm512_unpackhi_epi32(ab_high, cd_high),
            ];
            // Two columns each, four rows in turn.
            let apart = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
            for (lines, pair) in tile[column..].chunks_mut(2).zip(pairs) {
                let columns = _mm512_permutexvar_epi64(apart, pair);
                let halves = [_mm512_castsi512_si256(columns), _mm512_extracti64x4_epi64::<1>(columns)];
                for (line, half) in lines.iter_mut().zip(halves) {
                    if let Some(place) = line[lane..].first_chunk_mut::<LANES>() {
                        // SAFETY: the place is 32 writable bytes.
                        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), half) };
                    }
                }
            }
        }
    }
}

/// Scores of up to `16 * N` rows for `H` heads: sums of `k * q` in order from the first, times `scale`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn score<const H: usize, const N: usize>(tile: &[f32], q: &[f32], scale: __m512, stride: usize, scores: &mut [f32]) {
    let mut sums = [[_mm512_setzero_ps(); N]; H];
    for (d, line) in tile.as_chunks::<ROWS>().0.iter().enumerate().take(q.len() / H) {
        let mut k = [_mm512_setzero_ps(); N];
        for (k, line) in k.iter_mut().zip(line.as_chunks().0) {
            *k = load(line);
        }
        add_products(&mut sums, k, q, d);
    }
    store_scores(&sums, scale, stride, scores);
}

/// [`score`] with keys in F16.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn score_halves<const H: usize, const N: usize>(
    tile: &[u16],
    q: &[f32],
    scale: __m512,
    stride: usize,
    scores: &mut [f32],
) {
    let mut sums = [[_mm512_setzero_ps(); N]; H];
    for (d, line) in tile.as_chunks::<ROWS>().0.iter().enumerate().take(q.len() / H) {
        let mut k = [_mm512_setzero_ps(); N];
        for (k, line) in k.iter_mut().zip(line.as_chunks::<LANES>().0) {
            *k = _mm512_cvtph_ps(load_half(bytemuck::cast_ref(line)));
        }
        add_products(&mut sums, k, q, d);
    }
    store_scores(&sums, scale, stride, scores);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_products<const H: usize, const N: usize>(sums: &mut [[__m512; N]; H], k: [__m512; N], q: &[f32], d: usize) {
    for (head, sums) in sums.iter_mut().enumerate() {
        let q = _mm512_set1_ps(q[head * (q.len() / H) + d]);
        for n in 0..N {
            let product = _mm512_mul_ps(k[n], q);
            sums[n] = if d == 0 { product } else { _mm512_add_ps(sums[n], product) };
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_scores<const H: usize, const N: usize>(
    sums: &[[__m512; N]; H],
    scale: __m512,
    stride: usize,
    scores: &mut [f32],
) {
    for (sums, scores) in sums.iter().zip(scores.chunks_mut(stride)) {
        for (sum, place) in sums.iter().zip(scores.as_chunks_mut().0) {
            store(place, _mm512_mul_ps(*sum, scale));
        }
    }
}

/// `out += w * v` for `H` heads over the rows from `first` on, in order, for up to `16 * N` elements from `column` on.
/// `weights` begin with that of row `first`: those of the heads, how far apart they are, and how many rows there are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn accumulate<const H: usize, const N: usize>(
    cache: &Cache<'_>,
    h: &Heads,
    (kv, first, column): (usize, usize, usize),
    (weights, stride, count): (&[f32], usize, usize),
    out: &mut [f32],
) {
    let weights: [&[f32]; H] = std::array::from_fn(|head| &weights[head * stride..][..count]);
    let mut sums = [[_mm512_setzero_ps(); N]; H];
    for (sums, out) in sums.iter_mut().zip(out.chunks(h.head_dim)) {
        for (sum, out) in sums.iter_mut().zip(out[column..].chunks(LANES)) {
            // SAFETY: only as many lanes are read as there are.
            *sum = unsafe { _mm512_maskz_loadu_ps(first_lanes(out.len()), out.as_ptr()) };
        }
    }
    // From the first row's elements to the last one's.
    let (row, size) = (h.kv_heads * h.head_dim, if cache.halves { 2 } else { 4 });
    let (at, n) = ((first * h.kv_heads + kv) * h.head_dim + column, (h.head_dim - column).min(N * LANES));
    let Some(part) = cache.v.get(size * at..size * (at + (count - 1) * row + n)) else { return };
    for i in 0..count {
        let mut v = [_mm512_setzero_ps(); N];
        for (j, v) in v.iter_mut().enumerate() {
            let mask = first_lanes(n - j * LANES);
            // SAFETY: only the lanes of the mask are read, which the part holds for each of its rows.
            *v = unsafe {
                let from = part.as_ptr().add(size * (i * row + j * LANES));
                if cache.halves {
                    _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from.cast()))
                } else {
                    _mm512_maskz_loadu_ps(mask, from.cast())
                }
            };
        }
        for (sums, weights) in sums.iter_mut().zip(weights) {
            let w = _mm512_set1_ps(weights[i]);
            for (sum, v) in sums.iter_mut().zip(v) {
                *sum = _mm512_add_ps(*sum, _mm512_mul_ps(w, v));
            }
        }
    }
    for (sums, out) in sums.iter().zip(out.chunks_mut(h.head_dim)) {
        for (sum, out) in sums.iter().zip(out[column..].chunks_mut(LANES)) {
            // SAFETY: only as many lanes are written as there are.
            unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr(), first_lanes(out.len()), *sum) };
        }
    }
}
