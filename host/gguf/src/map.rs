//! The one unsafe call of this crate: mapping a file into memory.
#![allow(unsafe_code)]

use std::fs::File;

use memmap2::Mmap;

/// Maps `file` read-only.
pub(crate) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the mapping is only read. If another program shortens the file meanwhile, a read of the
    // lost part raises SIGBUS, which ends the process (`ssnail` says why); nothing else can go wrong, and
    // models are not edited in place.
    unsafe { Mmap::map(file) }
}
