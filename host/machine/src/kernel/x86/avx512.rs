//! AVX-512 building blocks: loads from arrays, prefetching, the sum of 16 lanes in halves, the 16 x 16 transposition.

use core::arch::x86_64::*;

use crate::kernel::Ahead;

/// How far ahead of their use weights are asked for, at least: the processor's own guesses end with a page, and waiting
/// for memory would otherwise come on top of the arithmetic. Far, because other work makes memory slow; into the second
/// cache, which holds that much and has more requests under way than the first.
pub(super) const AHEAD: usize = 32 << 10;

/// Asks for `length` bytes from `offset` on, which may lie behind the end: nothing happens then.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn prefetch(from: &[u8], offset: usize, length: usize) {
    for line in (0..length).step_by(64) {
        _mm_prefetch::<_MM_HINT_T1>(from.as_ptr().wrapping_add(offset + line).cast());
    }
}

/// Asks for `length` bytes of what will be read when the `offset` bytes from `from` on have been.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn prefetch_ahead(ahead: Option<Ahead>, from: &[u8], offset: usize, length: usize) {
    // No closures, which the compiler keeps out of functions with features of their own.
    let Some(ahead) = ahead else { return };
    let mut at = from.as_ptr().addr().wrapping_add(offset);
    if at >= ahead.end {
        if ahead.next == 0 {
            return;
        }
        at = ahead.next.wrapping_add(at - ahead.end);
    }
    let mut line = 0;
    while line < length {
        _mm_prefetch::<_MM_HINT_T1>(core::ptr::without_provenance(at.wrapping_add(line)));
        line += 64;
    }
}

/// 16 floats.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(from: &[f32; 16]) -> __m512 {
    // SAFETY: the array is 64 readable bytes.
    unsafe { _mm512_loadu_ps(from.as_ptr()) }
}

/// 8 doubles.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_wide(from: &[f64; 8]) -> __m512d {
    // SAFETY: the array is 64 readable bytes.
    unsafe { _mm512_loadu_pd(from.as_ptr()) }
}

/// 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_bytes(from: &[u8; 64]) -> __m512i {
    // SAFETY: the array is 64 readable bytes.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

/// 32 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_half(from: &[u8; 32]) -> __m256i {
    // SAFETY: the array is 32 readable bytes.
    unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
}

/// 16 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_quarter(from: &[u8; 16]) -> __m128i {
    // SAFETY: the array is 16 readable bytes.
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

/// Stores 16 floats.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(to: &mut [f32; 16], v: __m512) {
    // SAFETY: the array is 64 writable bytes.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr(), v) }
}

/// Values as F16, two bytes each: nearest, ties to even, NaNs quiet with the upper bits of what they carry.
#[target_feature(enable = "avx512f")]
pub(in crate::kernel) fn halves(values: &[f32], out: &mut [u8]) {
    let (whole, rest) = values.as_chunks::<16>();
    let (places, last) = out.as_chunks_mut::<32>();
    let convert = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>;
    for (v, place) in whole.iter().zip(&mut *places) {
        // SAFETY: the place is 32 writable bytes.
        unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), convert(load(v))) };
    }
    let mut few = [0.0; 16];
    for (few, v) in few.iter_mut().zip(rest) {
        *few = *v;
    }
    let mut bytes = [0; 32];
    // SAFETY: the array is 32 writable bytes.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), convert(load(&few))) };
    for (to, from) in last.iter_mut().zip(bytes) {
        *to = from;
    }
}

/// The 16 lanes added up in halves: 8 to 8, 4 to 4, 2 to 2, 1 to 1.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn fold(v: __m512) -> f32 {
    let high =
        _mm512_castsi512_ps(_mm512_shuffle_i64x2::<0b11_10_11_10>(_mm512_castps_si512(v), _mm512_castps_si512(v)));
    let v = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_castps512_ps256(high));
    let v = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
    let v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)))
}

/// Rows to columns.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(r: [__m512; 16]) -> [__m512; 16] {
    let lo = |a, b| _mm512_unpacklo_ps(a, b);
    let hi = |a, b| _mm512_unpackhi_ps(a, b);
    let lo2 = |a, b| _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
    let hi2 = |a, b| _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
    let mut t = r;
    // Columns j, j+4, j+8, j+12 of four rows each: s[4 * group + j].
    let mut s = r;
    for g in 0..4 {
        let [a, b, c, d] = [r[4 * g], r[4 * g + 1], r[4 * g + 2], r[4 * g + 3]];
        s[4 * g] = lo2(lo(a, b), lo(c, d));
        s[4 * g + 1] = hi2(lo(a, b), lo(c, d));
        s[4 * g + 2] = lo2(hi(a, b), hi(c, d));
        s[4 * g + 3] = hi2(hi(a, b), hi(c, d));
    }
    for j in 0..4 {
        let even01 = _mm512_shuffle_f32x4::<0b10_00_10_00>(s[j], s[4 + j]);
        let odd01 = _mm512_shuffle_f32x4::<0b11_01_11_01>(s[j], s[4 + j]);
        let even23 = _mm512_shuffle_f32x4::<0b10_00_10_00>(s[8 + j], s[12 + j]);
        let odd23 = _mm512_shuffle_f32x4::<0b11_01_11_01>(s[8 + j], s[12 + j]);
        t[j] = _mm512_shuffle_f32x4::<0b10_00_10_00>(even01, even23);
        t[8 + j] = _mm512_shuffle_f32x4::<0b11_01_11_01>(even01, even23);
        t[4 + j] = _mm512_shuffle_f32x4::<0b10_00_10_00>(odd01, odd23);
        t[12 + j] = _mm512_shuffle_f32x4::<0b11_01_11_01>(odd01, odd23);
    }
    t
}
