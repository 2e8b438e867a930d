//! The portable kernels once more, with AVX2 and F16C for the compiler to use.

use crate::kernel::{Room, Rows, portable};

/// See [`portable::rows`].
#[target_feature(enable = "avx2,f16c")]
pub(in crate::kernel) fn rows(job: &Rows<'_>, room: &mut Room, out: &mut [f32]) {
    portable::rows_here(job, room, out);
}
