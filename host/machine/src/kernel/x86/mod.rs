//! Kernels for x86-64, chosen at run time.

// The kernels load from and gather in slices through intrinsics that take pointers, and are called after the processor
// was asked for their features.
#![allow(unsafe_code)]

mod avx512;
mod blocks512;
mod dot512;

use super::{Format, Level, Numerics, Room, Rows};

/// Computes the rows if there is a kernel for them; says whether there was.
pub(super) fn rows(level: Level, job: &Rows<'_>, room: &mut Room, out: &mut [f32]) -> bool {
    // Asked again here, where it matters: the answer is a cached flag.
    let avx512 = level == Level::Avx512
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni");
    match job.format {
        Format::Q8_0 | Format::Q4_0 if job.numerics == Numerics::Hardware && avx512 => {
            // SAFETY: the processor has the features.
            unsafe { blocks512::rows(job, &mut room.terms, out) }
        }
        Format::F32 | Format::F16 | Format::BF16 if avx512 => {
            // SAFETY: the processor has the features.
            unsafe { dot512::rows(job, out) }
        }
        _ => return false,
    }
    true
}
