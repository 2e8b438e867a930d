//! Float numerics for several vectors with AVX-512: a row's weights are converted once for four vectors.

use core::arch::x86_64::*;

use super::avx512::{load_bytes, load_half};
use super::dot512::{quarters, sixteen_bf16, weights_q4, weights_q8};
use crate::decode;
use crate::kernel::batch::{Batch, GROUP, place};
use crate::kernel::portable::LANES;
use crate::kernel::{Format, Rows};

/// Vectors that are worked on together.
const FOUR: usize = 4;

/// Float numerics of the five native formats; `out` as [`crate::kernel::batch::rows`] lays it out, the sums in the order
/// of `portable::float_dot`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, batch: &Batch, out: &mut [f32]) {
    match job.format {
        Format::F32 => groups::<256>(job, batch, out, |w| {
            let w = w.as_chunks::<64>().0;
            [0, 1, 2, 3].map(|i| _mm512_castsi512_ps(load_bytes(&w[i])))
        }),
        Format::F16 => groups::<128>(job, batch, out, |w| {
            let w = w.as_chunks::<32>().0;
            [0, 1, 2, 3].map(|i| _mm512_cvtph_ps(load_half(&w[i])))
        }),
        Format::BF16 => groups::<128>(job, batch, out, |w| {
            let w = w.as_chunks::<2>().0.as_chunks().0;
            [0, 1, 2, 3].map(|i| sixteen_bf16(&w[i]))
        }),
        Format::Q8_0 => groups::<68>(job, batch, out, |w| {
            let w = w.as_chunks().0;
            let ([a, b], [c, d]) = (weights_q8(&w[0]), weights_q8(&w[1]));
            [a, b, c, d]
        }),
        _ => groups::<36>(job, batch, out, |w| {
            let w = w.as_chunks().0;
            let ([a, b], [c, d]) = (weights_q4(&w[0]), weights_q4(&w[1]));
            [a, b, c, d]
        }),
    }
}

/// `CHUNK` bytes hold [`LANES`] weights; `convert` makes floats of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn groups<const CHUNK: usize>(
    job: &Rows<'_>,
    batch: &Batch,
    out: &mut [f32],
    convert: impl Fn(&[u8; CHUNK]) -> [__m512; 4],
) {
    let vectors = batch.len();
    let groups = job.weights.chunks(GROUP * job.row_bytes).zip(out.chunks_mut(GROUP * vectors));
    for (weights, out) in groups {
        for first in (0..vectors).step_by(FOUR) {
            // Lanes without a vector repeat the last.
            let x = [0, 1, 2, 3].map(|k| batch.padded((first + k).min(vectors - 1)));
            for (r, row) in weights.chunks_exact(job.row_bytes).enumerate() {
                let sums = dot(job.format, row, x, &convert);
                for (k, sum) in sums.iter().enumerate().take(vectors - first) {
                    out[place(r, first + k, vectors)] = *sum;
                }
            }
        }
    }
}

/// A row times four vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn dot<const CHUNK: usize>(
    format: Format,
    row: &[u8],
    x: [&[[f32; LANES]]; FOUR],
    convert: &impl Fn(&[u8; CHUNK]) -> [__m512; 4],
) -> [f32; FOUR] {
    let (chunks, rest) = row.as_chunks::<CHUNK>();
    let mut sums = [[_mm512_setzero_ps(); 4]; FOUR];
    let lengths = x.map(<[_]>::len);
    let count = lengths.into_iter().fold(chunks.len(), usize::min);
    for i in 0..count {
        let w = convert(&chunks[i]);
        for k in 0..FOUR {
            add(&mut sums[k], &w, &quarters(&x[k][i]));
        }
    }
    if !rest.is_empty() {
        // Behind the row's end weights and inputs are zero, and a sum that began at +0 does not notice.
        let mut tail = [0.0; LANES];
        let n = rest.len() / format.ggml().block_bytes() as usize * format.ggml().block_len() as usize;
        decode::row(format, rest, &mut tail[..n]);
        let w = quarters(&tail);
        for k in 0..FOUR {
            if let Some(x) = x[k].get(chunks.len()) {
                add(&mut sums[k], &w, &quarters(x));
            }
        }
    }
    fold(sums.map(|[a, b, c, d]| _mm512_add_ps(_mm512_add_ps(a, c), _mm512_add_ps(b, d))))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(sums: &mut [__m512; 4], w: &[__m512; 4], x: &[__m512; 4]) {
    for i in 0..4 {
        sums[i] = _mm512_add_ps(sums[i], _mm512_mul_ps(w[i], x[i]));
    }
}

/// The lanes of four vectors added up in halves, each as [`super::avx512::fold`] does.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn fold(v: [__m512; FOUR]) -> [f32; FOUR] {
    let [mut a, mut b, mut c, mut d] = v.map(|v| {
        let high = _mm512_shuffle_f32x4::<0b11_10_11_10>(v, v);
        let v = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_castps512_ps256(high));
        _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v))
    });
    _MM_TRANSPOSE4_PS(&mut a, &mut b, &mut c, &mut d);
    let sums = _mm_add_ps(_mm_add_ps(a, c), _mm_add_ps(b, d));
    let mut out = [0.0; FOUR];
    // SAFETY: the array is 16 writable bytes.
    unsafe { _mm_storeu_ps(out.as_mut_ptr(), sums) };
    out
}

const _: () = assert!(LANES == 64);
