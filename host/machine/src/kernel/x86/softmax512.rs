//! Scores to weights with AVX-512.

use core::arch::x86_64::*;

use super::attention512::{HEADS, LANES, first_lanes};
use super::avx512::{load, store};
use super::table512;
use crate::kernel::Numerics;
use crate::num::{float, hw};

/// Scores of up to four heads to weights, as the portable code does, with the bits of it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn softmax(numerics: Numerics, rows: usize, stride: usize, scores: &mut [f32]) {
    for scores in scores.chunks_exact_mut(stride) {
        let vectors = scores.as_chunks_mut::<LANES>().0;
        let (mut most, mut nan) = (_mm512_set1_ps(f32::NEG_INFINITY), 0);
        for (i, s) in vectors.iter().enumerate() {
            let mask = first_lanes(rows - i * LANES);
            let s = load(s);
            nan |= _mm512_mask_cmp_ps_mask::<_CMP_UNORD_Q>(mask, s, s);
            most = _mm512_mask_max_ps(most, mask, s, most);
        }
        let largest = if nan != 0 { f32::NAN } else { _mm512_reduce_max_ps(most) };
        let largest = _mm512_set1_ps(largest);
        for s in vectors.iter_mut() {
            store(s, _mm512_sub_ps(load(s), largest));
        }
        match numerics {
            Numerics::Hardware => table512::eval(&ssnail_shared::tables::EXP, scores),
            Numerics::Float => scores.iter_mut().for_each(|v| *v = float::exp(*v)),
        }
    }
    let heads = scores.len() / stride;
    let sums = match heads {
        1 => sums::<1>(rows, stride, scores),
        2 => sums::<2>(rows, stride, scores),
        3 => sums::<3>(rows, stride, scores),
        _ => sums::<4>(rows, stride, scores),
    };
    for (scores, sum) in scores.chunks_exact_mut(stride).zip(sums) {
        let factor = _mm512_set1_ps(hw::recip(sum));
        for s in scores.as_chunks_mut().0 {
            store(s, _mm512_mul_ps(load(s), factor));
        }
    }
}

/// The sum of each head in order; side by side, as each addition waits for the one before.
#[inline]
#[target_feature(enable = "avx512f")]
fn sums<const H: usize>(rows: usize, stride: usize, scores: &[f32]) -> [f32; HEADS] {
    let heads: [&[f32]; H] = std::array::from_fn(|head| &scores[head * stride..][..rows]);
    let mut sums = [0.0; HEADS];
    for (sum, scores) in sums.iter_mut().zip(heads) {
        *sum = scores[0];
    }
    for t in 1..rows {
        for (sum, scores) in sums.iter_mut().zip(heads) {
            *sum += scores[t];
        }
    }
    sums
}
