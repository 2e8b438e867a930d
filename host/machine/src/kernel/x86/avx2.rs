//! The portable kernels once more, with AVX2 and F16C for the compiler to use; nibbles by hand, which it does badly.

use core::arch::x86_64::*;

use crate::kernel::{Format, Numerics, Room, Rows, portable};
use crate::num::quantise::BLOCK;

/// See [`portable::rows`].
#[target_feature(enable = "avx2,f16c")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, room: &mut Room, out: &mut [f32]) {
    if (job.numerics, job.format) != (Numerics::Hardware, Format::Q4_0) {
        return portable::rows_here(job, room, out);
    }
    let (vectors, scales, sums) = (job.input.q.as_chunks::<BLOCK>().0, &job.input.scale, &job.input.sum);
    for (row, y) in job.weights.chunks_exact(job.row_bytes).zip(out) {
        let mut total = 0.0;
        let blocks = row.as_chunks::<18>().0.iter().zip(vectors).zip(scales.iter().zip(sums));
        for (i, (([low, high, w @ ..], q), (d, sum))) in blocks.enumerate() {
            // The nibbles are the weights plus 8.
            let sum = dot_q4(w, q) - 8 * sum;
            let term = sum as f32 * (portable::f16_at([*low, *high]) * d);
            total = if i == 0 { term } else { total + term };
        }
        *y = total;
    }
}

/// Nibbles, low ones first, times signed bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn dot_q4(w: &[u8; BLOCK / 2], q: &[i8; BLOCK]) -> i32 {
    // SAFETY: the arrays are 16 and 32 readable bytes.
    let (w, q) = unsafe { (_mm_loadu_si128(w.as_ptr().cast()), _mm256_loadu_si256(q.as_ptr().cast())) };
    let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(w), _mm_srli_epi16::<4>(w));
    let nibbles = _mm256_and_si256(both, _mm256_set1_epi8(15));
    let fours = _mm256_madd_epi16(_mm256_maddubs_epi16(nibbles, q), _mm256_set1_epi16(1));
    let v = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256::<1>(fours));
    let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
    _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32::<0b10_11_00_01>(v)))
}
