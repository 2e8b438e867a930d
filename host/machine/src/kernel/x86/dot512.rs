//! Float rows with AVX-512: exact sums in hardware numerics, 64 lanes of F32 in float numerics.

use core::arch::x86_64::*;

use super::avx512::{fold, load, load_bytes, load_half, load_wide};
use crate::kernel::portable::{LANES, bf16_at, f16_at, f32_at};
use crate::kernel::{Format, Numerics, Rows};
use crate::num::exact;

/// Hardware and float numerics of F32, F16 and BF16.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, out: &mut [f32]) {
    match job.format {
        Format::F32 => rows_of(job, out, |w| sixteen_f32(w), f32_at),
        Format::F16 => rows_of(job, out, |w| sixteen_f16(w), f16_at),
        _ => rows_of(job, out, |w| sixteen_bf16(w), bf16_at),
    }
}

/// `sixteen` gives 16 weights as F32, `one` a single one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn rows_of<const BYTES: usize>(
    job: &Rows<'_>,
    out: &mut [f32],
    sixteen: impl Fn(&[[u8; BYTES]; 16]) -> __m512,
    one: fn([u8; BYTES]) -> f32,
) {
    for (row, y) in job.weights.chunks_exact(job.row_bytes).zip(out) {
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
fn sixteen_bf16(w: &[[u8; 2]; 16]) -> __m512 {
    let words = _mm512_cvtepu16_epi32(load_half(bytemuck::cast_ref(w)));
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words))
}

/// See [`exact::decide`]: the sum and the sum of magnitudes, in 32 lanes each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn exact_dot<const BYTES: usize>(
    row: &[[u8; BYTES]],
    job: &Rows<'_>,
    sixteen: &impl Fn(&[[u8; BYTES]; 16]) -> __m512,
    one: fn([u8; BYTES]) -> f32,
) -> f32 {
    let mut sums = [_mm512_setzero_pd(); 4];
    let mut magnitudes = [_mm512_setzero_pd(); 4];
    let (groups, tail) = row.as_chunks::<16>();
    let (wide, wide_tail) = job.input.wide.as_chunks::<16>();
    for (i, (w, x)) in groups.iter().zip(wide).enumerate() {
        let w = sixteen(w);
        let [low, high] = [&x[..8], &x[8..]].map(|x| x.first_chunk().map_or(_mm512_setzero_pd(), |x| load_wide(x)));
        let upper = _mm512_shuffle_f32x4::<0b11_10_11_10>(w, w);
        for (k, (w, x)) in [(w, low), (upper, high)].into_iter().enumerate() {
            let p = _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(w)), x);
            let lane = 2 * (i % 2) + k;
            sums[lane] = _mm512_add_pd(sums[lane], p);
            magnitudes[lane] = _mm512_add_pd(magnitudes[lane], _mm512_abs_pd(p));
        }
    }
    let total = |v: [__m512d; 4]| {
        let v = _mm512_add_pd(_mm512_add_pd(v[0], v[1]), _mm512_add_pd(v[2], v[3]));
        _mm512_reduce_add_pd(v)
    };
    let (mut sum, mut magnitude) = (total(sums), total(magnitudes));
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
    let mut lanes = [_mm512_setzero_ps(); 4];
    let (groups, tail) = row.as_chunks::<LANES>();
    let (inputs, input_tail) = x.as_chunks::<LANES>();
    for (w, x) in groups.iter().zip(inputs) {
        for (lane, (w, x)) in lanes.iter_mut().zip(w.as_chunks().0.iter().zip(x.as_chunks().0)) {
            *lane = _mm512_add_ps(*lane, _mm512_mul_ps(sixteen(w), load(x)));
        }
    }
    if !tail.is_empty() {
        let mut rest = [0.0; LANES];
        for (y, (w, x)) in rest.iter_mut().zip(tail.iter().zip(input_tail)) {
            *y = one(*w) * x;
        }
        for (lane, rest) in lanes.iter_mut().zip(rest.as_chunks().0) {
            *lane = _mm512_add_ps(*lane, load(rest));
        }
    }
    let [a, b, c, d] = lanes;
    fold(_mm512_add_ps(_mm512_add_ps(a, c), _mm512_add_ps(b, d)))
}
