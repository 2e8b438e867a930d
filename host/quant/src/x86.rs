//! The conversions that most images are made with, with AVX2 and F16C: the bits of the plain code.

// The loads and stores are intrinsics that take pointers, and the functions are called after the processor was asked for
// its features.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

/// Whether this processor has what this module needs; the answer is a cached flag.
fn available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c")
}

/// Half precision to single; says whether it was done.
pub(crate) fn decode_f16(src: &[u8], dst: &mut [f32]) -> bool {
    if available() {
        // SAFETY: the processor has the features.
        unsafe { widen(src, dst) }
    }
    available()
}

/// Whole blocks of Q4_0; says whether it was done.
pub(crate) fn encode_q4_0(src: &[[f32; 32]], dst: &mut [[u8; 18]]) -> bool {
    if available() {
        // SAFETY: the processor has the features.
        unsafe { q4_0(src, dst) }
    }
    available()
}

/// Whole blocks of Q8_0; says whether it was done.
pub(crate) fn encode_q8_0(src: &[[f32; 32]], dst: &mut [[u8; 34]]) -> bool {
    if available() {
        // SAFETY: the processor has the features.
        unsafe { q8_0(src, dst) }
    }
    available()
}

#[target_feature(enable = "avx2,f16c")]
fn widen(src: &[u8], dst: &mut [f32]) {
    let (whole, rest) = dst.as_chunks_mut::<8>();
    let (bytes, last) = src.as_chunks::<16>();
    for (b, x) in bytes.iter().zip(whole) {
        store(x, half8(b));
    }
    if !rest.is_empty() {
        let (mut b, mut x) = ([0; 16], [0.0; 8]);
        let n = last.len().min(b.len());
        b[..n].copy_from_slice(&last[..n]);
        store(&mut x, half8(&b));
        rest.copy_from_slice(&x[..rest.len()]);
    }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn half8(b: &[u8; 16]) -> __m256 {
    // SAFETY: the array is 16 readable bytes.
    _mm256_cvtph_ps(unsafe { _mm_loadu_si128(b.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(to: &mut [f32; 8], v: __m256) {
    // SAFETY: the array is 32 writable bytes.
    unsafe { _mm256_storeu_ps(to.as_mut_ptr(), v) }
}

/// A block, eight elements to a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn load(x: &[f32; 32]) -> [__m256; 4] {
    // SAFETY: each part is 32 readable bytes.
    [0, 1, 2, 3].map(|i| unsafe { _mm256_loadu_ps(x.as_chunks::<8>().0[i].as_ptr()) })
}

/// Magnitudes, and the largest of them; what is not a number is none.
#[inline]
#[target_feature(enable = "avx2")]
fn magnitudes(v: [__m256; 4]) -> ([__m256; 4], f32) {
    let positive = _mm256_castsi256_ps(_mm256_set1_epi32(i32::MAX));
    let a = v.map(|v| _mm256_and_ps(v, positive));
    // The second operand is the result where either is not a number.
    let m = a.iter().fold(_mm256_setzero_ps(), |m, a| _mm256_max_ps(*a, m));
    let m = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps::<1>(m));
    let m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    (a, _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m))))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn half(d: f32) -> [u8; 2] {
    let h = _mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm_set_ss(d));
    (_mm_cvtsi128_si32(h) as u16).to_le_bytes()
}

#[target_feature(enable = "avx2,f16c")]
fn q4_0(src: &[[f32; 32]], dst: &mut [[u8; 18]]) {
    for (x, [low, high, quants @ ..]) in src.iter().zip(dst) {
        let v = load(x);
        let (a, largest) = magnitudes(v);
        // The first element of largest magnitude, with its sign.
        let found = a.map(|a| {
            let equal = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, _mm256_set1_ps(largest));
            _mm256_movemask_ps(equal) as u32
        });
        let found = found[0] | found[1] << 8 | found[2] << 16 | found[3] << 24;
        let m = x.get(found.trailing_zeros() as usize).copied().unwrap_or(0.0);
        let d = m / -8.0;
        let id = _mm256_set1_ps(if d == 0.0 { 0.0 } else { 1.0 / d });
        [*low, *high] = half(d);
        let q = v.map(|v| {
            let t = _mm256_add_ps(_mm256_mul_ps(v, id), _mm256_set1_ps(8.5));
            // What overflows, and what is not a number, becomes 0.
            let t = _mm256_and_ps(t, _mm256_cmp_ps::<_CMP_LT_OQ>(t, _mm256_set1_ps(256.0)));
            _mm256_min_epi32(_mm256_cvttps_epi32(t), _mm256_set1_epi32(15))
        });
        let two =
            |low, high| _mm256_and_si256(_mm256_or_si256(low, _mm256_slli_epi32::<4>(high)), _mm256_set1_epi32(255));
        // Words 0-3 and 8-11, then 4-7 and 12-15; in order again.
        let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(two(q[0], q[2]), two(q[1], q[3])));
        let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        // SAFETY: the quants are 16 writable bytes.
        unsafe { _mm_storeu_si128(quants.as_mut_ptr().cast(), bytes) };
    }
}

#[target_feature(enable = "avx2,f16c")]
fn q8_0(src: &[[f32; 32]], dst: &mut [[u8; 34]]) {
    // See `encode::round_to_byte`.
    let magic = _mm256_set1_ps(12_582_912.0);
    let (zero, one) = (_mm256_setzero_ps(), _mm256_set1_ps(1.0));
    for (x, [low, high, quants @ ..]) in src.iter().zip(dst) {
        let v = load(x);
        let d = magnitudes(v).1 / 127.0;
        let id = _mm256_set1_ps(if d == 0.0 { 0.0 } else { 1.0 / d });
        [*low, *high] = half(d);
        let q = v.map(|v| {
            let t = _mm256_mul_ps(v, id);
            let rounded = _mm256_sub_ps(_mm256_add_ps(t, magic), magic);
            let rest = _mm256_sub_ps(t, rounded);
            let tie = |half, sign| {
                let is = _mm256_cmp_ps::<_CMP_EQ_OQ>(rest, _mm256_set1_ps(half));
                _mm256_and_ps(_mm256_and_ps(is, sign), one)
            };
            let up = tie(0.5, _mm256_cmp_ps::<_CMP_GT_OQ>(t, zero));
            let down = tie(-0.5, _mm256_cmp_ps::<_CMP_LT_OQ>(t, zero));
            let sum = _mm256_add_ps(_mm256_sub_ps(_mm256_add_ps(rounded, up), down), magic);
            _mm256_and_si256(_mm256_castps_si256(sum), _mm256_set1_epi32(255))
        });
        let bytes = _mm256_packus_epi16(_mm256_packus_epi32(q[0], q[1]), _mm256_packus_epi32(q[2], q[3]));
        let bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        // SAFETY: the quants are 32 writable bytes.
        unsafe { _mm256_storeu_si256(quants.as_mut_ptr().cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any bits, and values near each other with exact ties, repeated extremes and zeros of both signs.
    fn element() -> impl Strategy<Value = f32> {
        prop_oneof![
            1 => any::<u32>().prop_map(f32::from_bits),
            3 => (-254i32..=254).prop_map(|q| q as f32 * 0.5),
            3 => -2.0f32..2.0,
            1 => Just(-0.0),
            1 => Just(0.0),
            1 => (0u32..1 << 12, any::<bool>()).prop_map(|(b, minus)| f32::from_bits(b | u32::from(minus) << 31)),
        ]
    }

    fn blocks() -> impl Strategy<Value = Vec<[f32; 32]>> {
        prop::collection::vec(prop::array::uniform32(element()), 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 30 } else { 2000 }))]

        #[test]
        fn the_bits_of_the_plain_code(x in blocks(), only in prop::option::of(element())) {
            let mut x = x;
            if let Some(value) = only {
                x[0] = [value; 32];
            }
            let (mut fast, mut plain) = (vec![[0; 18]; x.len()], vec![[0; 18]; x.len()]);
            if encode_q4_0(&x, &mut fast) {
                x.iter().zip(&mut plain).for_each(|(x, b)| crate::encode::q4_0(x, b));
                prop_assert_eq!(fast, plain);
            }
            let (mut fast, mut plain) = (vec![[0; 34]; x.len()], vec![[0; 34]; x.len()]);
            if encode_q8_0(&x, &mut fast) {
                x.iter().zip(&mut plain).for_each(|(x, b)| crate::encode::q8_0(x, b));
                prop_assert_eq!(fast, plain);
            }
        }
    }

    #[test]
    fn every_half() {
        let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        for length in [if cfg!(miri) { 1 << 10 } else { 1 << 16 }, 8, 13, 1, 0] {
            let (mut fast, mut plain) = (vec![0.0; length], vec![0.0; length]);
            if decode_f16(&bytes[..2 * length], &mut fast) {
                crate::decode::decode_f16(&bytes[..2 * length], &mut plain);
                assert!(fast.iter().zip(&plain).all(|(a, b): (&f32, &f32)| a.to_bits() == b.to_bits()));
            }
        }
    }
}
