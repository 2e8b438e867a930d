//! Kernels for x86-64, chosen at run time.

// The kernels load from and gather in slices through intrinsics that take pointers, and are called after the processor
// was asked for their features.
#![allow(unsafe_code)]

mod attention512;
mod avx2;
mod avx512;
mod batch512;
mod blocks512;
mod dot512;
mod float_batch512;
mod quantise512;
mod softmax512;
mod table512;

use super::attention::{Buffers, Cache, Heads};
use super::batch::Batch;
use super::{Format, Level, Numerics, Room, Rows};
use crate::num::quantise::{Activations, BLOCK};

/// Computes the rows if there is a kernel for them; says whether there was.
pub(super) fn rows(level: Level, job: &Rows<'_>, room: &mut Room, out: &mut [f32]) -> bool {
    let avx512 = level == Level::Avx512 && has_avx512();
    match job.format {
        Format::Q8_0 | Format::Q4_0 if job.numerics == Numerics::Hardware && avx512 => {
            // SAFETY: the processor has the features.
            unsafe { blocks512::rows(job, room.ahead, &mut room.padded, out) }
        }
        Format::Q8_0 | Format::Q4_0 if avx512 => {
            // SAFETY: the processor has the features.
            unsafe { dot512::block_rows(job, room.ahead, out) }
        }
        Format::F32 | Format::F16 | Format::BF16 if avx512 => {
            // SAFETY: the processor has the features.
            unsafe { dot512::rows(job, room.ahead, out) }
        }
        _ if level != Level::Portable && has_avx2() => {
            // SAFETY: the processor has the features.
            unsafe { avx2::rows(job, room, out) }
        }
        _ => return false,
    }
    true
}

/// Quantises the input if there is a kernel for it; says whether there was.
pub(super) fn quantise(level: Level, input: &mut Activations) -> bool {
    if level != Level::Avx512 || !has_avx512() {
        return false;
    }
    let blocks = input.x.len() / BLOCK;
    input.q.resize(blocks * BLOCK, 0);
    input.scale.resize(blocks, 0.0);
    input.sum.resize(blocks, 0);
    let q = input.q.as_chunks_mut().0;
    // SAFETY: the processor has the features.
    unsafe { quantise512::quantise(&input.x, q, &mut input.scale, &mut input.sum, 1) }
    true
}

/// Quantises one of several vectors if there is a kernel for it; says whether there was. Block b goes to place
/// `b * step` of each output.
pub(super) fn quantise_apart(
    level: Level,
    x: &[f32],
    q: &mut [[i8; BLOCK]],
    scale: &mut [f32],
    sum: &mut [i32],
    step: usize,
) -> bool {
    if level != Level::Avx512 || !has_avx512() {
        return false;
    }
    // SAFETY: the processor has the features.
    unsafe { quantise512::quantise(x, q, scale, sum, step) }
    true
}

/// Multiplies rows with several vectors if there is a kernel for it; says whether there was.
pub(super) fn batch(level: Level, job: &Rows<'_>, batch: &Batch, out: &mut [f32]) -> bool {
    if level != Level::Avx512 || !has_avx512() {
        return false;
    }
    match (job.numerics, job.format) {
        (_, Format::Other(_)) | (Numerics::Hardware, Format::F32 | Format::F16 | Format::BF16) => return false,
        (Numerics::Hardware, _) => {
            // SAFETY: the processor has the features.
            unsafe { batch512::rows(job, batch, out) }
        }
        (Numerics::Float, _) => {
            // SAFETY: the processor has the features.
            unsafe { float_batch512::rows(job, batch, out) }
        }
    }
    true
}

/// Computes attention for one key/value head if there is a kernel for it; says whether there was.
#[allow(clippy::too_many_arguments)]
pub(super) fn attention(
    level: Level,
    numerics: Numerics,
    heads: &Heads,
    cache: &Cache<'_>,
    kv: usize,
    query: &[f32],
    buffers: &mut Buffers,
    out: &mut [f32],
) -> bool {
    if level != Level::Avx512 || !has_avx512() {
        return false;
    }
    // SAFETY: the processor has the features.
    unsafe { attention512::group(numerics, heads, cache, kv, query, buffers, out) }
    true
}

/// Replaces values by those of a table if there is a kernel for it; says whether there was.
pub(super) fn table(level: Level, table: &ssnail_shared::tables::Table, values: &mut [f32]) -> bool {
    if level != Level::Avx512 || !has_avx512() {
        return false;
    }
    // SAFETY: the processor has the features.
    unsafe { table512::eval(table, values) }
    true
}

/// Writes values as F16 if there is a kernel for it; says whether there was.
pub(super) fn halves(level: Level, values: &[f32], out: &mut [u8]) -> bool {
    if level != Level::Avx512 || !has_avx512() {
        return false;
    }
    // SAFETY: the processor has the features.
    unsafe { avx512::halves(values, out) }
    true
}

/// Asks for a line of memory at any address.
pub(super) fn prefetch(address: usize) {
    use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: every x86-64 has SSE, and asking for memory reads nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(core::ptr::without_provenance(address)) };
}

/// Whether [`Level::Avx512`] can run; the answer is a cached flag.
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

/// Whether [`Level::Avx2`] can run.
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c")
}
