//! Float rows with AVX-512: exact sums in hardware numerics, 64 lanes of F32 in float numerics.

use core::arch::x86_64::*;

use super::avx512::{AHEAD, fold, load, load_bytes, load_half, load_quarter, load_wide, prefetch_ahead};
use crate::kernel::portable::{LANES, bf16_at, f16_at, f32_at};
use crate::kernel::{Ahead, Format, Numerics, Rows};
use crate::num::exact;

/// Float numerics of Q8_0 and Q4_0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn block_rows(job: &Rows<'_>, ahead: Option<Ahead>, out: &mut [f32]) {
    match job.format {
        Format::Q8_0 => block_rows_of(job, ahead, out, |b| weights_q8(b)),
        _ => block_rows_of(job, ahead, out, |b| weights_q4(b)),
    }
}

/// The order of `portable::float_dot` over decoded blocks: block i goes to lanes 0-31 or 32-63 in turn.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn block_rows_of<const BYTES: usize>(
    job: &Rows<'_>,
    ahead: Option<Ahead>,
    out: &mut [f32],
    weights: impl Fn(&[u8; BYTES]) -> [__m512; 2],
) {
    let inputs = job.input.x.as_chunks::<LANES>().0;
    let last = job.input.x.rchunks_exact(LANES / 2).next().and_then(|x| x.first_chunk::<32>());
    for (row, y) in job.weights.chunks_exact(job.row_bytes).zip(out) {
        prefetch_ahead(ahead, row, AHEAD, row.len());
        let (pairs, odd) = row.as_chunks::<BYTES>().0.as_chunks::<2>();
        let [mut a, mut b, mut c, mut d] = [_mm512_setzero_ps(); 4];
        for ([first, second], x) in pairs.iter().zip(inputs) {
            let ([v, w], [x, y, z, u]) = (weights(first), quarters(x));
            a = _mm512_add_ps(a, _mm512_mul_ps(v, x));
            b = _mm512_add_ps(b, _mm512_mul_ps(w, y));
            let [v, w] = weights(second);
            c = _mm512_add_ps(c, _mm512_mul_ps(v, z));
            d = _mm512_add_ps(d, _mm512_mul_ps(w, u));
        }
        if let (Some(block), Some(x)) = (odd.first(), last) {
            let ([v, w], halves) = (weights(block), x.as_chunks::<16>().0);
            a = _mm512_add_ps(a, _mm512_mul_ps(v, load(&halves[0])));
            b = _mm512_add_ps(b, _mm512_mul_ps(w, load(&halves[1])));
        }
        *y = fold(_mm512_add_ps(_mm512_add_ps(a, c), _mm512_add_ps(b, d)));
    }
}

/// Four vectors of inputs.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn quarters(x: &[f32; LANES]) -> [__m512; 4] {
    let x = x.as_chunks::<16>().0;
    [load(&x[0]), load(&x[1]), load(&x[2]), load(&x[3])]
}

/// The scale of a block in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn scale(low: u8, high: u8) -> __m512 {
    _mm512_cvtph_ps(_mm256_set1_epi16(i16::from_le_bytes([low, high])))
}

/// `d * q` for the 32 weights of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn weights_q8(block: &[u8; 34]) -> [__m512; 2] {
    let [low, high, q @ ..] = block;
    let (d, q) = (scale(*low, *high), load_half(q));
    [_mm256_castsi256_si128(q), _mm256_extracti128_si256::<1>(q)]
        .map(|q| _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(q))))
}

/// `d * (q - 8)` for the 32 weights of a block, looked up among the 16 products that there can be.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn weights_q4(block: &[u8; 18]) -> [__m512; 2] {
    let [low, high, q @ ..] = block;
    let levels = _mm512_setr_ps(-8., -7., -6., -5., -4., -3., -2., -1., 0., 1., 2., 3., 4., 5., 6., 7.);
    let products = _mm512_mul_ps(scale(*low, *high), levels);
    // Only the four lowest bits of an index count.
    let q = _mm512_cvtepu8_epi32(load_quarter(q));
    [q, _mm512_srli_epi32::<4>(q)].map(|q| _mm512_permutexvar_ps(q, products))
}

/// Hardware and float numerics of F32, F16 and BF16.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, ahead: Option<Ahead>, out: &mut [f32]) {
    match job.format {
        Format::F32 => rows_of(job, ahead, out, |w| sixteen_f32(w), f32_at),
        Format::F16 => rows_of(job, ahead, out, |w| sixteen_f16(w), f16_at),
        _ => rows_of(job, ahead, out, |w| sixteen_bf16(w), bf16_at),
    }
}

/// `sixteen` gives 16 weights as F32, `one` a single one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn rows_of<const BYTES: usize>(
    job: &Rows<'_>,
    ahead: Option<Ahead>,
    out: &mut [f32],
    sixteen: impl Fn(&[[u8; BYTES]; 16]) -> __m512,
    one: fn([u8; BYTES]) -> f32,
) {
    for (row, y) in job.weights.chunks_exact(job.row_bytes).zip(out) {
        prefetch_ahead(ahead, row, AHEAD, row.len());
        let row = row.as_chunks::<BYTES>().0;
        *y = match job.numerics {
            Numerics::Hardware => exact_dot(row, job, &sixteen, one),
            Numerics::Float => float_dot(row, &job.input.x, &sixteen, one),
        };
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen_f32(w: &[[u8; 4]; 16]) -> __m512 {
    _mm512_castsi512_ps(load_bytes(bytemuck::cast_ref(w)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen_f16(w: &[[u8; 2]; 16]) -> __m512 {
    _mm512_cvtph_ps(load_half(bytemuck::cast_ref(w)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn sixteen_bf16(w: &[[u8; 2]; 16]) -> __m512 {
    let words = _mm512_cvtepu16_epi32(load_half(bytemuck::cast_ref(w)));
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words))
}

/// See [`exact::decide`]: the sum and the sum of magnitudes, in 16 lanes each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn exact_dot<const BYTES: usize>(
    row: &[[u8; BYTES]],
    job: &Rows<'_>,
    sixteen: &impl Fn(&[[u8; BYTES]; 16]) -> __m512,
    one: fn([u8; BYTES]) -> f32,
) -> f32 {
    let [mut s0, mut s1, mut m0, mut m1] = [_mm512_setzero_pd(); 4];
    let (groups, tail) = row.as_chunks::<16>();
    let (wide, wide_tail) = job.input.wide.as_chunks::<16>();
    for (w, x) in groups.iter().zip(wide) {
        let (w, x) = (sixteen(w), x.as_chunks::<8>().0);
        let upper = _mm512_shuffle_f32x4::<0b11_10_11_10>(w, w);
        let p = _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(w)), load_wide(&x[0]));
        let q = _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(upper)), load_wide(&x[1]));
        s0 = _mm512_add_pd(s0, p);
        s1 = _mm512_add_pd(s1, q);
        m0 = _mm512_add_pd(m0, _mm512_abs_pd(p));
        m1 = _mm512_add_pd(m1, _mm512_abs_pd(q));
    }
    let (mut sum, mut magnitude) =
        (_mm512_reduce_add_pd(_mm512_add_pd(s0, s1)), _mm512_reduce_add_pd(_mm512_add_pd(m0, m1)));
    for (w, x) in tail.iter().zip(wide_tail) {
        let p = f64::from(one(*w)) * x;
        sum += p;
        magnitude += p.abs();
    }
    exact::decide(sum, magnitude, row.len() / 16 + 32)
        .unwrap_or_else(|| exact::dot_wide(row.iter().map(|w| one(*w)).zip(job.input.x.iter().copied())))
}

/// The order of `portable::float_dot`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn float_dot<const BYTES: usize>(
    row: &[[u8; BYTES]],
    x: &[f32],
    sixteen: &impl Fn(&[[u8; BYTES]; 16]) -> __m512,
    one: fn([u8; BYTES]) -> f32,
) -> f32 {
    let [mut a, mut b, mut c, mut d] = [_mm512_setzero_ps(); 4];
    let (groups, tail) = row.as_chunks::<LANES>();
    let (inputs, input_tail) = x.as_chunks::<LANES>();
    for (w, x) in groups.iter().zip(inputs) {
        let (w, x) = (w.as_chunks::<16>().0, quarters(x));
        a = _mm512_add_ps(a, _mm512_mul_ps(sixteen(&w[0]), x[0]));
        b = _mm512_add_ps(b, _mm512_mul_ps(sixteen(&w[1]), x[1]));
        c = _mm512_add_ps(c, _mm512_mul_ps(sixteen(&w[2]), x[2]));
        d = _mm512_add_ps(d, _mm512_mul_ps(sixteen(&w[3]), x[3]));
    }
    if !tail.is_empty() {
        let mut rest = [0.0; LANES];
        for (y, (w, x)) in rest.iter_mut().zip(tail.iter().zip(input_tail)) {
            *y = one(*w) * x;
        }
        let rest = quarters(&rest);
        [a, b, c, d] = [
            _mm512_add_ps(a, rest[0]),
            _mm512_add_ps(b, rest[1]),
            _mm512_add_ps(c, rest[2]),
            _mm512_add_ps(d, rest[3]),
        ];
    }
    fold(_mm512_add_ps(_mm512_add_ps(a, c), _mm512_add_ps(b, d)))
}
