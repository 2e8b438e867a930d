//! Quantising the input with AVX-512.

use core::arch::x86_64::*;

use super::avx512::{fold_max, load};
use crate::num::half::{f16_to_f32, f32_to_f16};
use crate::num::quantise::{Activations, BLOCK, quantise_block};

/// Fills the quantised form; the same bits as with [`quantise_block`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn quantise(input: &mut Activations) {
    input.quantise(|x, q| block(x, q));
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn block(x: &[f32; BLOCK], q: &mut [i8; BLOCK]) -> (f32, i32) {
    let [a, b] = [load(&x.as_chunks().0[0]), load(&x.as_chunks().0[1])];
    let d = fold_max(_mm512_max_ps(_mm512_abs_ps(a), _mm512_abs_ps(b))) / 127.0;
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b);
    if nan != 0 || !(d.is_normal() && d < f32::MAX / 127.0) {
        return quantise_block(x, q);
    }
    let id = _mm512_set1_ps(1.0 / d);
    let mut sum = _mm512_setzero_si512();
    for (v, q) in [a, b].into_iter().zip(q.as_chunks_mut::<16>().0) {
        let v = _mm512_mul_ps(v, id);
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
    (f16_to_f32(f32_to_f16(d)), _mm512_reduce_add_epi32(sum))
}
