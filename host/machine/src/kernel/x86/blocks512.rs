//! Quantised rows with AVX-512 VNNI.
//!
//! The blocks of 16 rows are taken as one sequence, 16 at a time and in the order of memory, whatever the length of a row:
//! each gives one term. The terms are then added with the rows in the lanes, so that each row's sum keeps its order.

use core::arch::x86_64::*;

use super::avx512::{load, load_bytes, load_half, load_quarter, load_words, store, transpose};
use crate::kernel::{Format, Rows};
use crate::num::quantise::BLOCK;

/// Rows, and blocks, that are worked on together.
const WIDE: usize = crate::kernel::ROW_GROUP;

/// Hardware numerics of Q8_0 and Q4_0.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, terms: &mut Vec<f32>, out: &mut [f32]) {
    match job.format {
        Format::Q8_0 => rows_of::<34, 7>(job, terms, out, |blocks, at| sums_q8(blocks, &job.input.q, at)),
        _ => rows_of::<18, 3>(job, terms, out, |blocks, at| sums_q4(blocks, &job.input.crossed, at)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn rows_of<const BYTES: usize, const OFFSET: u32>(
    job: &Rows<'_>,
    terms: &mut Vec<f32>,
    out: &mut [f32],
    sums: impl Fn(&[[u8; BYTES]], usize) -> __m512i,
) {
    let blocks = job.row_bytes / BYTES;
    // Room for whole vectors behind the last row.
    terms.resize(WIDE * blocks + 2 * WIDE, 0.0);
    for (weights, out) in job.weights.chunks(WIDE * job.row_bytes).zip(out.chunks_mut(WIDE)) {
        let mut at = 0;
        for (group, terms) in weights.as_chunks::<BYTES>().0.chunks(WIDE).zip(terms.as_chunks_mut().0) {
            terms16::<BYTES, OFFSET>(group, job, at, terms, sums(group, at));
            at += WIDE;
            while at >= blocks {
                at -= blocks;
            }
        }
        let mut sums = [0.0; WIDE];
        store(&mut sums, sum_lanes(terms, blocks));
        out.copy_from_slice(&sums[..out.len()]);
    }
}

/// The terms of up to 16 blocks, the first against block `at` of the input: `F32(integer sum) * (weight scale * input
/// scale)`. The sums given are those of unsigned weights, which are too large by `2^OFFSET`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn terms16<const BYTES: usize, const OFFSET: u32>(
    blocks: &[[u8; BYTES]],
    job: &Rows<'_>,
    at: usize,
    terms: &mut [f32; WIDE],
    sums: __m512i,
) {
    // The input is repeated behind its end, so there are 16 blocks from every one of its own.
    let scale = job.input.scale.get(at..).and_then(|s| s.first_chunk());
    let sum = job.input.sum.get(at..).and_then(|s| s.first_chunk());
    let (Some(scale), Some(sum)) = (scale, sum) else { return };
    let sums = _mm512_sub_epi32(sums, _mm512_slli_epi32::<OFFSET>(load_words(sum)));
    let scale = _mm512_mul_ps(scales(blocks), load(scale));
    store(terms, _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale));
}

/// Sums of up to 16 blocks of signed bytes plus 128, times the input from block `at` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn sums_q8(blocks: &[[u8; 34]], input: &[i8], at: usize) -> __m512i {
    let zero = _mm512_setzero_si512();
    let Some(q) = input.get(at * BLOCK..).and_then(|q| q.first_chunk::<{ WIDE * BLOCK }>()) else { return zero };
    let q = q.as_chunks::<64>().0;
    let mut sums = [zero; 8];
    if let Some(blocks) = blocks.first_chunk::<WIDE>() {
        for i in 0..8 {
            sums[i] = _mm512_dpbusd_epi32(zero, pair_q8(&blocks[2 * i], &blocks[2 * i + 1]), quants(&q[i]));
        }
    } else {
        for ((two, q), sums) in blocks.chunks(2).zip(q).zip(&mut sums) {
            // The term of a missing second block is not used.
            *sums = _mm512_dpbusd_epi32(zero, pair_q8(&two[0], two.last().unwrap_or(&two[0])), quants(q));
        }
    }
    reduce(sums)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn quants(q: &[i8; 64]) -> __m512i {
    load_bytes(bytemuck::cast_ref(q))
}

/// Signed bytes plus 128.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn pair_q8(a: &[u8; 34], b: &[u8; 34]) -> __m512i {
    let [_, _, a @ ..] = a;
    let [_, _, b @ ..] = b;
    let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(load_half(a)), load_half(b));
    _mm512_xor_si512(both, _mm512_set1_epi8(-128))
}

/// Sums of up to 16 blocks of nibbles, times the input from block `at` on: see [`Activations::cross`] for its order.
///
/// [`Activations::cross`]: crate::num::quantise::Activations::cross
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn sums_q4(blocks: &[[u8; 18]], input: &[[i8; 128]], at: usize) -> __m512i {
    let zero = _mm512_setzero_si512();
    let Some(input) = input.get(at..).and_then(|q| q.first_chunk::<4>()) else { return zero };
    let mut sums = [zero; 4];
    if let Some(blocks) = blocks.first_chunk::<WIDE>() {
        for g in 0..4 {
            sums[g] = dot_q4([&blocks[g], &blocks[g + 4], &blocks[g + 8], &blocks[g + 12]], &input[g]);
        }
    } else if let Some(first) = blocks.first() {
        for (g, sum) in sums.iter_mut().enumerate() {
            // The terms of missing blocks are not used.
            *sum = dot_q4([g, g + 4, g + 8, g + 12].map(|b| blocks.get(b).unwrap_or(first)), &input[g]);
        }
    }
    let two = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (low, high) = (two(sums[0], sums[1]), two(sums[2], sums[3]));
    _mm512_add_epi32(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high))
}

/// Four partial sums for each of four blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn dot_q4(blocks: [&[u8; 18]; 4], input: &[i8; 128]) -> __m512i {
    let [a, b, c, d] = blocks.map(|block| {
        let [_, _, q @ ..] = block;
        load_quarter(q)
    });
    let ab = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
    let cd = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
    let q = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(ab), cd);
    let mask = _mm512_set1_epi8(15);
    let [low, high] = [_mm512_and_si512(q, mask), _mm512_and_si512(_mm512_srli_epi32::<4>(q), mask)];
    let inputs = input.as_chunks::<64>().0;
    let sum = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low, quants(&inputs[0]));
    _mm512_dpbusd_epi32(sum, high, quants(&inputs[1]))
}

/// Eight vectors of two blocks' partial sums, eight lanes each, to the sums of 16 blocks in order.
#[inline]
#[target_feature(enable = "avx512f")]
fn reduce(s: [__m512i; 8]) -> __m512i {
    let two = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let four = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let low = four(two(s[0], s[1]), two(s[2], s[3]));
    let high = four(two(s[4], s[5]), two(s[6], s[7]));
    // Lanes of 128 bits: even block, even, odd, odd.
    let sums = _mm512_add_epi32(
        _mm512_shuffle_i32x4::<0b10_00_10_00>(low, high),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(low, high),
    );
    _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15), sums)
}

/// The scales of up to 16 blocks; zero where there is no block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn scales<const BYTES: usize>(blocks: &[[u8; BYTES]]) -> __m512 {
    let step = _mm512_set1_epi32(BYTES as i32);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let at = _mm512_mullo_epi32(lanes, step);
    let mask = ((1u32 << blocks.len().min(WIDE)) - 1) as u16;
    // SAFETY: a lane that is not masked reads the first four bytes of its block, which has more.
    let words =
        unsafe { _mm512_mask_i32gather_epi32::<1>(_mm512_setzero_si512(), mask, at, blocks.as_ptr().cast::<i32>()) };
    _mm512_cvtph_ps(_mm512_cvtepi32_epi16(words))
}

/// Adds up the terms of 16 rows, `blocks` of them each, in order from the first.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_lanes(terms: &[f32], blocks: usize) -> __m512 {
    let mut sum = _mm512_setzero_ps();
    let mut next = 0;
    while blocks - next > 4 {
        let mut tile = [sum; WIDE];
        for (r, row) in tile.iter_mut().enumerate() {
            if let Some(part) = terms.get(r * blocks + next..).and_then(|t| t.first_chunk()) {
                *row = load(part);
            }
        }
        let columns = transpose(tile);
        let count = WIDE.min(blocks - next);
        if let (0, [first, rest @ ..]) = (next, &columns) {
            sum = rest[..count - 1].iter().fold(*first, |sum, column| _mm512_add_ps(sum, *column));
        } else {
            sum = columns[..count].iter().fold(sum, |sum, column| _mm512_add_ps(sum, *column));
        }
        next += count;
    }
    // A few columns are fetched faster one by one.
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let at = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(blocks as i32));
    while next < blocks {
        let Some(from) = terms.get(next..next + (WIDE - 1) * blocks + 1) else { break };
        // SAFETY: lane r reads `from[r * blocks]`, and the slice ends behind the last one.
        let column = unsafe { _mm512_i32gather_ps::<4>(at, from.as_ptr()) };
        sum = if next == 0 { column } else { _mm512_add_ps(sum, column) };
        next += 1;
    }
    sum
}
