//! Quantised rows times several vectors with AVX-512 VNNI.
//!
//! The blocks of 16 rows are interleaved once, four bytes of each row side by side, so that every vector then gives 16
//! sums, one per lane, without any sum across lanes.

use core::arch::x86_64::*;

use super::avx512::{load_half, load_quarter, store};
use crate::kernel::batch::{Batch, GROUP};
use crate::kernel::{Format, Rows};
use crate::num::quantise::BLOCK;

/// Hardware numerics of Q8_0 and Q4_0; `out` as [`crate::kernel::batch::rows`] lays it out.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, batch: &Batch, out: &mut [f32]) {
    match job.format {
        Format::Q8_0 => by_width::<34>(job, batch, out, |rows| interleave_q8(rows)),
        _ => by_width::<18>(job, batch, out, |rows| interleave_q4(rows)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn by_width<const BYTES: usize>(
    job: &Rows<'_>,
    batch: &Batch,
    out: &mut [f32],
    interleave: impl Fn([&[u8; BYTES]; GROUP]) -> [__m512i; 8],
) {
    match batch.len().div_ceil(4) {
        1 => groups::<BYTES, 4>(job, batch, out, &interleave),
        2 => groups::<BYTES, 8>(job, batch, out, &interleave),
        3 => groups::<BYTES, 12>(job, batch, out, &interleave),
        _ => groups::<BYTES, 16>(job, batch, out, &interleave),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn groups<const BYTES: usize, const N: usize>(
    job: &Rows<'_>,
    batch: &Batch,
    out: &mut [f32],
    interleave: &impl Fn([&[u8; BYTES]; GROUP]) -> [__m512i; 8],
) {
    let groups = job.weights.chunks(GROUP * job.row_bytes).zip(out.chunks_mut(GROUP * batch.len()));
    for (weights, out) in groups {
        let mut rows: [&[[u8; BYTES]]; GROUP] = [&[]; GROUP];
        for (i, row) in rows.iter_mut().enumerate() {
            // Lanes without a row repeat the first.
            let at = if (i + 1) * job.row_bytes <= weights.len() { i * job.row_bytes } else { 0 };
            *row = weights[at..at + job.row_bytes].as_chunks().0;
        }
        let mut sums = [_mm512_setzero_ps(); N];
        let columns = batch.columns::<N>();
        for (b, (q, scales, offsets)) in columns.enumerate() {
            prefetch(weights, GROUP * job.row_bytes + b * GROUP * BYTES, GROUP * BYTES);
            let blocks = rows.map(|row| &row[b]);
            let w = interleave(blocks);
            let mut halves = [0u16; GROUP];
            for (half, block) in halves.iter_mut().zip(blocks) {
                *half = u16::from_le_bytes([block[0], block[1]]);
            }
            let scale = _mm512_cvtph_ps(load_half(bytemuck::cast_ref(&halves)));
            for j in 0..N {
                let mut sum = _mm512_set1_epi32(offsets[j]);
                for (w, q) in w.iter().zip(&q[j]) {
                    sum = _mm512_dpbusd_epi32(sum, *w, _mm512_set1_epi32(*q));
                }
                let s = _mm512_mul_ps(scale, _mm512_set1_ps(scales[j]));
                let term = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), s);
                sums[j] = if b == 0 { term } else { _mm512_add_ps(sums[j], term) };
            }
        }
        for (sum, out) in sums.iter().zip(out.as_chunks_mut().0) {
            store(out, *sum);
        }
    }
}

/// Asks for `length` bytes from `offset` on, which may lie behind the end: nothing happens then.
#[inline]
#[target_feature(enable = "avx512f")]
fn prefetch(from: &[u8], offset: usize, length: usize) {
    for line in (0..length).step_by(64) {
        _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(offset + line).cast());
    }
}

/// Vector k holds bytes 4k to 4k+3 of every row's block, plus 128.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn interleave_q8(rows: [&[u8; 34]; GROUP]) -> [__m512i; 8] {
    let half = |row: &[u8; 34]| {
        let [_, _, q @ ..] = row;
        load_half(q)
    };
    let pair = |i: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(half(rows[i])), half(rows[i + 8]));
    let mut w = [_mm512_setzero_si512(); 8];
    let mut quads = [w, w];
    for (g, quad) in quads.iter_mut().enumerate() {
        let [a, b, c, d] = [pair(4 * g), pair(4 * g + 1), pair(4 * g + 2), pair(4 * g + 3)];
        let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        quad[0] = _mm512_unpacklo_epi64(ab, cd);
        quad[1] = _mm512_unpackhi_epi64(ab, cd);
        quad[2] = _mm512_unpacklo_epi64(ab_high, cd_high);
        quad[3] = _mm512_unpackhi_epi64(ab_high, cd_high);
    }
    let even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let sign = _mm512_set1_epi8(-128);
    for k in 0..4 {
        let (low, high) = (quads[0][k], quads[1][k]);
        w[k] = _mm512_xor_si512(_mm512_permutex2var_epi64(low, even, high), sign);
        w[k + 4] = _mm512_xor_si512(_mm512_permutex2var_epi64(low, odd, high), sign);
    }
    w
}

/// Vector k holds weights 4k to 4k+3 of every row's block, plus 8: low nibbles first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn interleave_q4(rows: [&[u8; 18]; GROUP]) -> [__m512i; 8] {
    let four = |i: usize| {
        let [a, b, c, d] = [i, i + 4, i + 8, i + 12].map(|r| {
            let [_, _, q @ ..] = rows[r];
            load_quarter(q)
        });
        let v = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
        _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(v, c), d)
    };
    let [a, b, c, d] = [four(0), four(1), four(2), four(3)];
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    let bytes = [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ];
    let mask = _mm512_set1_epi8(15);
    let mut w = [_mm512_setzero_si512(); 8];
    for k in 0..4 {
        w[k] = _mm512_and_si512(bytes[k], mask);
        w[k + 4] = _mm512_and_si512(_mm512_srli_epi32::<4>(bytes[k]), mask);
    }
    w
}

const _: () = assert!(BLOCK == 32 && GROUP == 16);
