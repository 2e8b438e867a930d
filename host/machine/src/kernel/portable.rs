//! Plain Rust for every machine; the definition that the other kernels are compared with.

use super::{Format, Numerics, Room, Rows};
use crate::decode;
use crate::num::exact;
use crate::num::half::{bf16_to_f32, f16_to_f32};
use crate::num::quantise::{Activations, BLOCK};

/// Lanes of a float dot product: element i goes to lane i mod 64, the lanes are then folded in halves.
pub const LANES: usize = 64;

/// Computes `out[i] = row i * input`.
pub(super) fn rows(job: &Rows<'_>, room: &mut Room, out: &mut [f32]) {
    for (row, y) in job.weights.chunks_exact(job.row_bytes).zip(out) {
        *y = match (job.numerics, job.format) {
            (Numerics::Hardware, Format::Q8_0) => blocks::<34>(row, job.input, q8_sum),
            (Numerics::Hardware, Format::Q4_0) => blocks::<18>(row, job.input, q4_sum),
            (Numerics::Hardware, Format::F32) => exact_dot(row, job.input, f32_at),
            (Numerics::Hardware, Format::F16) => exact_dot(row, job.input, f16_at),
            (Numerics::Hardware, Format::BF16) => exact_dot(row, job.input, bf16_at),
            (Numerics::Float, Format::F32) => float_dot(row, job.input, f32_at),
            (Numerics::Float, Format::F16) => float_dot(row, job.input, f16_at),
            (Numerics::Float, Format::BF16) => float_dot(row, job.input, bf16_at),
            (Numerics::Float, Format::Q8_0 | Format::Q4_0) | (_, Format::Other(_)) => {
                decoded_dot(row, job, &mut room.row)
            }
        };
    }
}

/// One weight.
#[inline(always)]
pub(super) fn f32_at(b: [u8; 4]) -> f32 {
    f32::from_le_bytes(b)
}

/// One weight.
#[inline(always)]
pub(super) fn f16_at(b: [u8; 2]) -> f32 {
    f16_to_f32(u16::from_le_bytes(b))
}

/// One weight.
#[inline(always)]
pub(super) fn bf16_at(b: [u8; 2]) -> f32 {
    bf16_to_f32(u16::from_le_bytes(b))
}

/// Sum over blocks, in order from the first, of `F32(integer sum) * (weight scale * input scale)`.
fn blocks<const BYTES: usize>(row: &[u8], input: &Activations, sum: fn(&[u8], &[i8]) -> i32) -> f32 {
    let terms = row.as_chunks::<BYTES>().0.iter().zip(input.q.chunks_exact(BLOCK)).zip(&input.scale);
    crate::num::hw::sum(terms.map(|((w, q), d)| {
        let scale = f16_at([w[0], w[1]]) * d;
        sum(&w[2..], q) as f32 * scale
    }))
}

fn q8_sum(w: &[u8], q: &[i8]) -> i32 {
    w.iter().zip(q).map(|(&w, &q)| i32::from(w as i8) * i32::from(q)).sum()
}

fn q4_sum(w: &[u8], q: &[i8]) -> i32 {
    let (low, high) = q.split_at(BLOCK / 2);
    w.iter()
        .zip(low.iter().zip(high))
        .map(|(&w, (&l, &h))| (i32::from(w & 15) - 8) * i32::from(l) + (i32::from(w >> 4) - 8) * i32::from(h))
        .sum()
}

/// The exactly rounded dot product: an F64 sum where its error bound settles the result, the wide accumulator elsewhere.
fn exact_dot<const BYTES: usize>(row: &[u8], input: &Activations, at: fn([u8; BYTES]) -> f32) -> f32 {
    let weights = row.as_chunks::<BYTES>().0;
    let mut sum = [0.0f64; 8];
    let mut magnitude = [0.0f64; 8];
    for (w, x) in weights.chunks(8).zip(input.wide.chunks(8)) {
        for i in 0..w.len().min(x.len()) {
            let p = f64::from(at(w[i])) * x[i];
            sum[i] += p;
            magnitude[i] += p.abs();
        }
    }
    let depth = weights.len() / 8 + 12;
    exact::decide(sum.iter().sum(), magnitude.iter().sum(), depth)
        .unwrap_or_else(|| exact::dot_wide(weights.iter().map(|&w| at(w)).zip(input.x.iter().copied())))
}

/// F32 products and sums in [`LANES`] lanes.
fn float_dot<const BYTES: usize>(row: &[u8], input: &Activations, at: fn([u8; BYTES]) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    for (w, x) in row.as_chunks::<BYTES>().0.chunks(LANES).zip(input.x.chunks(LANES)) {
        for ((lane, &w), x) in lanes.iter_mut().zip(w).zip(x) {
            *lane += at(w) * x;
        }
    }
    fold(&mut lanes)
}

/// Adds the lanes up in halves: 32 to 32, 16 to 16 and so on.
fn fold(lanes: &mut [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// A row of any other format: decoded to F32 first.
fn decoded_dot(row: &[u8], job: &Rows<'_>, values: &mut Vec<f32>) -> f32 {
    values.resize(job.input.x.len(), 0.0);
    decode::row(job.format, row, values);
    let weights = bytemuck::cast_slice(values);
    match job.numerics {
        Numerics::Hardware => exact_dot(weights, job.input, f32::from_ne_bytes),
        Numerics::Float => float_dot(weights, job.input, f32::from_ne_bytes),
    }
}
