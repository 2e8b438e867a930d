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
    rows_here(job, room, out);
}

/// [`rows`], to be compiled again inside a function with more target features.
#[inline(always)]
pub(super) fn rows_here(job: &Rows<'_>, room: &mut Room, out: &mut [f32]) {
    use Numerics::{Float, Hardware};
    // A loop for each format, and no closures: a closure would be compiled without the caller's features.
    macro_rules! each {
        ($row:ident, $dot:expr) => {
            for ($row, y) in job.weights.chunks_exact(job.row_bytes).zip(out) {
                *y = $dot;
            }
        };
    }
    let input = job.input;
    match (job.numerics, job.format) {
        (Hardware, Format::Q8_0) => each!(row, blocks(row, input, q8_sum)),
        (Hardware, Format::Q4_0) => each!(row, blocks(row, input, q4_sum)),
        (Hardware, Format::F32) => each!(row, exact_dot(row, input, f32_at)),
        (Hardware, Format::F16) => each!(row, exact_dot(row, input, f16_at)),
        (Hardware, Format::BF16) => each!(row, exact_dot(row, input, bf16_at)),
        (Float, Format::F32) => each!(row, float_dot(row, input, f32_at)),
        (Float, Format::F16) => each!(row, float_dot(row, input, f16_at)),
        (Float, Format::BF16) => each!(row, float_dot(row, input, bf16_at)),
        (Float, Format::Q8_0 | Format::Q4_0 | Format::Other(_)) => {
            room.row.resize(input.x.len(), 0.0);
            each!(row, float_dot(decoded(job.format, row, &mut room.row), input, f32_at));
        }
        (Hardware, Format::Other(_)) => {
            room.row.resize(input.x.len(), 0.0);
            each!(row, exact_dot(decoded(job.format, row, &mut room.row), input, f32_at));
        }
    }
}

/// The row as F32, and those as bytes.
fn decoded<'a>(format: Format, row: &[u8], values: &'a mut [f32]) -> &'a [u8] {
    decode::row(format, row, values);
    if cfg!(target_endian = "big") {
        values.iter_mut().for_each(|v| *v = f32::from_bits(v.to_bits().swap_bytes()));
    }
    bytemuck::cast_slice(values)
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
#[inline(always)]
fn blocks<const BYTES: usize>(row: &[u8], input: &Activations, sum: impl Fn(&[u8; BYTES], &[i8; BLOCK]) -> i32) -> f32 {
    let (rows, vectors) = (row.as_chunks::<BYTES>().0, input.q.as_chunks().0);
    let mut total = 0.0;
    for (i, ((w, q), d)) in rows.iter().zip(vectors).zip(&input.scale).enumerate() {
        let term = sum(w, q) as f32 * (f16_at([w[0], w[1]]) * d);
        total = if i == 0 { term } else { total + term };
    }
    total
}

#[inline(always)]
fn q8_sum([_, _, w @ ..]: &[u8; 34], q: &[i8; BLOCK]) -> i32 {
    let mut sum = 0;
    for i in 0..BLOCK {
        sum += i32::from(i16::from(w[i] as i8) * i16::from(q[i]));
    }
    sum
}

#[inline(always)]
fn q4_sum([_, _, w @ ..]: &[u8; 18], q: &[i8; BLOCK]) -> i32 {
    let mut sum = 0;
    for i in 0..BLOCK / 2 {
        let low = i16::from(w[i] & 15) - 8;
        let high = i16::from(w[i] >> 4) - 8;
        sum += i32::from(low * i16::from(q[i]) + high * i16::from(q[i + BLOCK / 2]));
    }
    sum
}

/// The exactly rounded dot product: an F64 sum where its error bound settles the result, the wide accumulator elsewhere.
#[inline(always)]
fn exact_dot<const BYTES: usize>(row: &[u8], input: &Activations, at: impl Fn([u8; BYTES]) -> f32) -> f32 {
    const WIDE: usize = 16;
    let weights = row.as_chunks::<BYTES>().0;
    let (groups, tail) = weights.as_chunks::<WIDE>();
    let (inputs, input_tail) = input.wide.as_chunks::<WIDE>();
    let mut sums = [0.0f64; WIDE];
    let mut magnitudes = [0.0f64; WIDE];
    for (w, x) in groups.iter().zip(inputs) {
        for i in 0..WIDE {
            let p = f64::from(at(w[i])) * x[i];
            sums[i] += p;
            magnitudes[i] += p.abs();
        }
    }
    let (mut sum, mut magnitude) = (sums.iter().sum::<f64>(), magnitudes.iter().sum::<f64>());
    for (w, x) in tail.iter().zip(input_tail) {
        let p = f64::from(at(*w)) * x;
        sum += p;
        magnitude += p.abs();
    }
    // A term goes through its lane, the sum of the lanes and the rest.
    exact::decide(sum, magnitude, groups.len() + 2 * WIDE)
        .unwrap_or_else(|| exact::dot_wide(weights.iter().map(|&w| at(w)).zip(input.x.iter().copied())))
}

/// F32 products and sums in [`LANES`] lanes.
#[inline(always)]
fn float_dot<const BYTES: usize>(row: &[u8], input: &Activations, at: impl Fn([u8; BYTES]) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (groups, tail) = row.as_chunks::<BYTES>().0.as_chunks::<LANES>();
    let (inputs, input_tail) = input.x.as_chunks::<LANES>();
    for (w, x) in groups.iter().zip(inputs) {
        for i in 0..LANES {
            lanes[i] += at(w[i]) * x[i];
        }
    }
    for ((lane, &w), x) in lanes.iter_mut().zip(tail).zip(input_tail) {
        *lane += at(w) * x;
    }
    fold(&mut lanes)
}

/// Adds the lanes up in halves: 32 to 32, 16 to 16 and so on.
#[inline(always)]
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
