//! Quantising the input with AVX-512: the largest values and the sums of 16 blocks side by side, a lane for each.

use core::arch::x86_64::*;

use super::avx512::{load, store, transpose};
use crate::num::half::{f16_to_f32, f32_to_f16};
use crate::num::quantise::{BLOCK, quantise_block};

/// Blocks that are worked on together.
const SIDE: usize = 16;
/// Fewer are done one by one.
const FEW: usize = 5;

/// Quantises whole blocks with the bits of [`quantise_block`]: block b is elements `32 * b` on of `x`, and goes to
/// `q[b * step]`, `scale[b * step]` and `sum[b * step]`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn quantise(x: &[f32], q: &mut [[i8; BLOCK]], scale: &mut [f32], sum: &mut [i32], step: usize) {
    let outputs = q.chunks_mut(SIDE * step).zip(scale.chunks_mut(SIDE * step)).zip(sum.chunks_mut(SIDE * step));
    for (x, ((q, scale), sum)) in x.as_chunks::<BLOCK>().0.chunks(SIDE).zip(outputs) {
        if x.len() < FEW {
            for (x, ((q, scale), sum)) in x.iter().zip(q.iter_mut().zip(scale).zip(sum).step_by(step)) {
                (*scale, *sum) = one(x, q);
            }
        } else {
            sixteen(x, q, scale, sum, step);
        }
    }
}

/// At most 16 blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn sixteen(x: &[[f32; BLOCK]], q: &mut [[i8; BLOCK]], scale: &mut [f32], sum: &mut [i32], step: usize) {
    let mut largest = [_mm512_setzero_ps(); SIDE];
    let mut odd = 0u16;
    for (i, (largest, x)) in largest.iter_mut().zip(x).enumerate() {
        let (most, nan) = magnitudes(x);
        *largest = most;
        odd |= u16::from(nan) << i;
    }
    let columns = transpose(largest);
    let mut largest = columns[0];
    for column in columns {
        largest = _mm512_max_ps(largest, column);
    }
    let d = _mm512_div_ps(largest, _mm512_set1_ps(127.0));
    // Where d or its reciprocal leaves the normal numbers, the blocks are done one by one.
    odd |= _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(d, _mm512_set1_ps(f32::MAX / 127.0));
    odd |= _mm512_cmp_ps_mask::<_CMP_NGE_UQ>(d, _mm512_set1_ps(f32::MIN_POSITIVE));
    let (mut scales, mut factors, mut totals) = ([0.0; SIDE], [0.0; SIDE], [0.0; SIDE]);
    store(&mut factors, _mm512_div_ps(_mm512_set1_ps(1.0), d));
    store(&mut scales, _mm512_cvtph_ps(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(d)));
    let mut sums = [_mm512_setzero_ps(); SIDE];
    for (i, ((sum, x), q)) in sums.iter_mut().zip(x).zip(q.iter_mut().step_by(step)).enumerate() {
        *sum = _mm512_castsi512_ps(round(x, _mm512_set1_ps(factors[i]), q));
    }
    let mut total = _mm512_setzero_si512();
    for column in transpose(sums) {
        total = _mm512_add_epi32(total, _mm512_castps_si512(column));
    }
    store(&mut totals, _mm512_castsi512_ps(total));
    let outputs = q.iter_mut().zip(scale).zip(sum).step_by(step);
    for (i, (x, ((q, scale), sum))) in x.iter().zip(outputs).enumerate() {
        (*scale, *sum) = if odd >> i & 1 == 0 { (scales[i], totals[i].to_bits() as i32) } else { quantise_block(x, q) };
    }
}

/// One block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn one(x: &[f32; BLOCK], q: &mut [i8; BLOCK]) -> (f32, i32) {
    let (most, nan) = magnitudes(x);
    let d = _mm512_reduce_max_ps(most) / 127.0;
    if nan || !(d.is_normal() && d < f32::MAX / 127.0) {
        return quantise_block(x, q);
    }
    (f16_to_f32(f32_to_f16(d)), _mm512_reduce_add_epi32(round(x, _mm512_set1_ps(1.0 / d), q)))
}

/// The larger magnitudes of two halves, and whether there is a NaN.
#[inline]
#[target_feature(enable = "avx512f")]
fn magnitudes(x: &[f32; BLOCK]) -> (__m512, bool) {
    let [a, b] = halves(x);
    (_mm512_max_ps(_mm512_abs_ps(a), _mm512_abs_ps(b)), _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b) != 0)
}

/// `round(x * factor)`, half away from zero; gives the sums of the two halves' elements.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn round(x: &[f32; BLOCK], factor: __m512, q: &mut [i8; BLOCK]) -> __m512i {
    let mut sum = _mm512_setzero_si512();
    for (v, q) in halves(x).into_iter().zip(q.as_chunks_mut::<16>().0) {
        let v = _mm512_mul_ps(v, factor);
        // Towards zero, then one further where half or more was cut off: the remainder is exact.
        let whole = _mm512_cvttps_epi32(v);
        let rest = _mm512_sub_ps(v, _mm512_cvtepi32_ps(whole));
        let one = _mm512_set1_epi32(1);
        let up = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(rest, _mm512_set1_ps(0.5));
        let down = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(rest, _mm512_set1_ps(-0.5));
        let rounded = _mm512_mask_sub_epi32(_mm512_mask_add_epi32(whole, up, whole, one), down, whole, one);
        sum = _mm512_add_epi32(sum, rounded);
        // SAFETY: the chunk is 16 writable bytes.
        unsafe { _mm_storeu_si128(q.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(rounded)) };
    }
    sum
}

/// A block as two vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(x: &[f32; BLOCK]) -> [__m512; 2] {
    let x = x.as_chunks().0;
    [load(&x[0]), load(&x[1])]
}
