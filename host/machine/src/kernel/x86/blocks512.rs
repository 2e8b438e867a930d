//! Quantised rows with AVX-512 VNNI.
//!
//! 16 rows go side by side, one block of each at a time: every step gives one term for each row, in the lane of the row,
//! so that each sum keeps its order without being rearranged, and a block of the input is loaded once for 16 rows.

use core::arch::x86_64::*;

use super::avx512::{AHEAD, load_half, load_quarter, prefetch_ahead, store};
use crate::kernel::{Ahead, Format, Rows};
use crate::num::quantise::{Activations, BLOCK};

/// Rows that are worked on together.
const WIDE: usize = crate::kernel::ROW_GROUP;

/// Hardware numerics of Q8_0 and Q4_0. `padded` is room for a last group of fewer than 16 rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, ahead: Option<Ahead>, padded: &mut Vec<u8>, out: &mut [f32]) {
    match job.format {
        Format::Q8_0 => rows_of::<34, 7>(job, ahead, padded, out, |blocks, q| sums_q8(blocks, q)),
        _ => rows_of::<18, 3>(job, ahead, padded, out, |blocks, q| sums_q4(blocks, q)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn rows_of<const BYTES: usize, const OFFSET: u32>(
    job: &Rows<'_>,
    ahead: Option<Ahead>,
    padded: &mut Vec<u8>,
    out: &mut [f32],
    sums: impl Fn([&[u8; BYTES]; WIDE], &[i8; BLOCK]) -> __m512i,
) {
    let size = WIDE * job.row_bytes;
    for (weights, out) in job.weights.chunks(size).zip(out.chunks_mut(WIDE)) {
        let mut totals = [0.0; WIDE];
        if weights.len() == size {
            store(&mut totals, group::<BYTES, OFFSET>(weights, job, ahead, &sums));
        } else {
            padded.clear();
            padded.extend_from_slice(weights);
            padded.resize(size, 0);
            store(&mut totals, group::<BYTES, OFFSET>(padded, job, None, &sums));
        }
        out.copy_from_slice(&totals[..out.len()]);
    }
}

/// The sums of 16 rows over `F32(integer sum) * (weight scale * input scale)`. What `sums` gives is that of unsigned
/// weights, too large by `2^OFFSET` times the sum of the input.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn group<const BYTES: usize, const OFFSET: u32>(
    weights: &[u8],
    job: &Rows<'_>,
    ahead: Option<Ahead>,
    sums: &impl Fn([&[u8; BYTES]; WIDE], &[i8; BLOCK]) -> __m512i,
) -> __m512 {
    let Activations { q, scale, sum, .. } = job.input;
    let stride = job.row_bytes;
    let distance = weights.len().max(AHEAD);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let places = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(stride as i32));
    let mut totals = _mm512_setzero_ps();
    let inputs = q.as_chunks::<BLOCK>().0.iter().zip(scale.iter().zip(sum)).take(stride / BYTES);
    for (b, (q, (scale, sum))) in inputs.enumerate() {
        prefetch_ahead(ahead, weights, distance + b * WIDE * BYTES, WIDE * BYTES);
        let first = weights.as_ptr().wrapping_add(b * BYTES);
        // SAFETY: `weights` is 16 rows of `stride` bytes, which is at least `(b + 1) * BYTES`.
        let blocks = std::array::from_fn(|r| unsafe { &*first.add(r * stride).cast::<[u8; BYTES]>() });
        // SAFETY: each lane reads the first four bytes of its block, which has more.
        let words = unsafe { _mm512_i32gather_epi32::<1>(places, first.cast()) };
        let scale = _mm512_mul_ps(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(words)), _mm512_set1_ps(*scale));
        let sums = _mm512_sub_epi32(sums(blocks, q), _mm512_slli_epi32::<OFFSET>(_mm512_set1_epi32(*sum)));
        let terms = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale);
        totals = if b == 0 { terms } else { _mm512_add_ps(totals, terms) };
    }
    totals
}

/// Sums of 16 blocks of signed bytes plus 128 times the input.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn sums_q8(blocks: [&[u8; 34]; WIDE], q: &[i8; BLOCK]) -> __m512i {
    let q = _mm512_broadcast_i64x4(load_half(bytemuck::cast_ref(q)));
    let half = |r: usize| {
        let [_, _, w @ ..] = blocks[r];
        load_half(w)
    };
    let mut s = [_mm512_setzero_si512(); 8];
    for (i, s) in s.iter_mut().enumerate() {
        // Rows 0 and 4 to 3 and 7, then 8 and 12 to 11 and 15: the order in which the sums below come out.
        let r = i + i / 4 * 4;
        let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(half(r)), half(r + 4));
        *s = _mm512_dpbusd_epi32(*s, _mm512_xor_si512(both, _mm512_set1_epi8(-128)), q);
    }
    let low = fours(s[0], s[1], s[2], s[3]);
    let high = fours(s[4], s[5], s[6], s[7]);
    _mm512_add_epi32(_mm512_shuffle_i32x4::<0b10_00_10_00>(low, high), _mm512_shuffle_i32x4::<0b11_01_11_01>(low, high))
}

/// Sums of 16 blocks of nibbles times the input.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn sums_q4(blocks: [&[u8; 18]; WIDE], q: &[i8; BLOCK]) -> __m512i {
    let [low, high] = [0, 1].map(|half| {
        let part: &[[u8; 16]; 2] = bytemuck::cast_ref(q);
        _mm512_broadcast_i32x4(load_quarter(&part[half]))
    });
    let quarter = |r: usize| {
        let [_, _, w @ ..] = blocks[r];
        load_quarter(w)
    };
    let mask = _mm512_set1_epi8(15);
    let s = [0, 1, 2, 3].map(|r| {
        let ab = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(quarter(r)), quarter(r + 4));
        let cd = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(quarter(r + 8)), quarter(r + 12));
        let w = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(ab), cd);
        let sum = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_and_si512(w, mask), low);
        _mm512_dpbusd_epi32(sum, _mm512_and_si512(_mm512_srli_epi32::<4>(w), mask), high)
    });
    fours(s[0], s[1], s[2], s[3])
}

/// In each quarter the sums over that quarter of the four vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn fours(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> __m512i {
    let two = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (ab, cd) = (two(a, b), two(c, d));
    _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
}
