//! The piecewise tables with AVX-512.

use core::arch::x86_64::*;

use ssnail_shared::tables::{Above, Table};

/// Replaces every value by the table's; the same bits as [`Table::eval`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn eval(table: &Table, values: &mut [f32]) {
    let (whole, rest) = values.as_chunks_mut::<16>();
    for chunk in whole {
        // SAFETY: the chunk is 64 readable and writable bytes.
        unsafe { _mm512_storeu_ps(chunk.as_mut_ptr(), sixteen(table, _mm512_loadu_ps(chunk.as_ptr()))) };
    }
    for v in rest {
        *v = table.eval(*v);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen(table: &Table, x: __m512) -> __m512 {
    let (lo, hi) = (_mm512_set1_ps(table.lo), _mm512_set1_ps(table.hi));
    let k = _mm512_set1_ps(f32::from_bits(table.k_bits));
    // Lanes outside the table are replaced below; their segment only has to be one that exists.
    let segment = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_sub_ps(x, lo), k));
    let segment = _mm512_max_epi32(_mm512_min_epi32(segment, _mm512_set1_epi32(255)), _mm512_setzero_si512());
    // SAFETY: every index is 0..=255 and both tables have 256 entries.
    let (c0, c1) = unsafe {
        (
            _mm512_i32gather_ps::<4>(segment, table.c0.as_ptr().cast::<f32>()),
            _mm512_i32gather_ps::<4>(segment, table.c1.as_ptr().cast::<f32>()),
        )
    };
    let y = _mm512_add_ps(c0, _mm512_mul_ps(c1, x));
    let y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, lo), _mm512_setzero_ps());
    let above = match table.above {
        Above::Identity => x,
        Above::One => _mm512_set1_ps(1.0),
    };
    let y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask::<_CMP_GE_OQ>(x, hi), above);
    let nan = table.nan_bits.map_or(x, |bits| _mm512_set1_ps(f32::from_bits(bits)));
    _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), nan)
}
