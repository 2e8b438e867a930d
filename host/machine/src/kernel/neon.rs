//! Quantised rows with NEON, which every 64-bit Arm has: four rows side by side, one block of each at a time, so that each
//! row's sum keeps its order. The other kernels are plain Rust, of which the compiler makes NEON by itself.

// The loads are intrinsics that take pointers.
#![allow(unsafe_code)]

use core::arch::aarch64::*;

use super::{Format, Numerics, Room, Rows, portable};
use crate::num::quantise::BLOCK;

/// Rows that are worked on together.
const WIDE: usize = 4;

/// Hardware numerics of Q8_0 and Q4_0; says whether the job was one of these.
pub(super) fn rows(job: &Rows<'_>, room: &mut Room, out: &mut [f32]) -> bool {
    if job.numerics != Numerics::Hardware || !job.format.is_blocks() {
        return false;
    }
    let size = WIDE * job.row_bytes;
    let (groups, rest) = out.as_chunks_mut::<WIDE>();
    for (weights, totals) in job.weights.chunks_exact(size).zip(groups.iter_mut()) {
        *totals = match job.format {
            Format::Q8_0 => group(weights, job, dot_q8),
            _ => group(weights, job, dot_q4),
        };
    }
    if let Some(weights) = job.weights.get(groups.len() * size..) {
        portable::rows(&Rows { weights, ..*job }, room, rest);
    }
    true
}

/// The sums of four rows over `F32(integer sum) * (weight scale * input scale)`; `dot` gives four parts of the integer sum.
#[inline(always)]
fn group<const BYTES: usize>(
    weights: &[u8],
    job: &Rows<'_>,
    dot: impl Fn(&[u8; BYTES], int8x16_t, int8x16_t) -> int32x4_t,
) -> [f32; WIDE] {
    let mut rows: [&[[u8; BYTES]]; WIDE] = [&[]; WIDE];
    for (row, bytes) in rows.iter_mut().zip(weights.chunks_exact(job.row_bytes)) {
        *row = bytes.as_chunks().0;
    }
    let [a, b, c, d] = rows;
    let blocks = a.iter().zip(b).zip(c.iter().zip(d));
    let inputs = job.input.q.as_chunks::<BLOCK>().0.iter().zip(&job.input.scale);
    let mut totals = [0.0; WIDE];
    for (i, (((a, b), (c, d)), (q, scale))) in blocks.zip(inputs).enumerate() {
        let blocks = [a, b, c, d];
        let [q0, q1] = [0, 1].map(|half| load(&q.as_chunks().0[half]));
        let [a, b, c, d] = blocks.map(|block| dot(block, q0, q1));
        let mut sums = [0.0; WIDE];
        // SAFETY: NEON is part of the architecture, and the array is 16 writable bytes.
        unsafe {
            let sum = vcvtq_f32_s32(vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d)));
            vst1q_f32(sums.as_mut_ptr(), sum);
        }
        for ((total, sum), block) in totals.iter_mut().zip(sums).zip(blocks) {
            let term = sum * (portable::f16_at([block[0], block[1]]) * scale);
            *total = if i == 0 { term } else { *total + term };
        }
    }
    totals
}

/// 16 signed bytes.
#[inline(always)]
fn load(from: &[i8; 16]) -> int8x16_t {
    // SAFETY: the array is 16 readable bytes.
    unsafe { vld1q_s8(from.as_ptr()) }
}

/// Four parts of the sum of 32 products. Two products of bytes, one of them at least -127, fit into 16 bits.
#[inline(always)]
fn products(w0: int8x16_t, w1: int8x16_t, q0: int8x16_t, q1: int8x16_t) -> int32x4_t {
    // SAFETY: NEON is part of the architecture.
    unsafe {
        let low = vmlal_s8(vmull_s8(vget_low_s8(w0), vget_low_s8(q0)), vget_low_s8(w1), vget_low_s8(q1));
        let high = vmlal_high_s8(vmull_high_s8(w0, q0), w1, q1);
        vpadalq_s16(vpaddlq_s16(low), high)
    }
}

#[inline(always)]
fn dot_q8([_, _, w @ ..]: &[u8; 34], q0: int8x16_t, q1: int8x16_t) -> int32x4_t {
    let [w0, w1] = [0, 1].map(|half| load(bytemuck::cast_ref(&w.as_chunks::<16>().0[half])));
    products(w0, w1, q0, q1)
}

#[inline(always)]
fn dot_q4([_, _, w @ ..]: &[u8; 18], q0: int8x16_t, q1: int8x16_t) -> int32x4_t {
    // SAFETY: NEON is part of the architecture.
    let (low, high) = unsafe {
        let w = vreinterpretq_u8_s8(load(bytemuck::cast_ref(w)));
        let signed = |nibbles| vsubq_s8(vreinterpretq_s8_u8(nibbles), vdupq_n_s8(8));
        (signed(vandq_u8(w, vdupq_n_u8(15))), signed(vshrq_n_u8::<4>(w)))
    };
    products(low, high, q0, q1)
}
