//! The accelerator's memory: one zeroed block from $8000000.

use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::MmapMut;
use ssnail_shared::map::{ADDRESS_END, MEGABYTE, MEMORY_BASE};
use ssnail_shared::mem::{self, Memory as _};

/// Bytes from [`MEMORY_BASE`] on. Pages are only touched when used, so a large memory costs nothing at start.
///
/// Aligned so that the count of its owners lies in another line of the caches than what all threads read.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub struct Memory {
    bytes: Bytes,
    /// Tells when a store changes decoded instructions.
    code: CodeWatch,
    overlay: Overlay,
}

/// Copies of a range that stand in for it while several positions are worked on.
#[derive(Clone, Debug, Default)]
struct Overlay {
    start: u32,
    length: usize,
    copies: Vec<u8>,
    used: Used,
}

/// Offset of the copy in use; the largest number while the memory itself is seen. Atomic only so that changing it takes no
/// proof that nobody else looks, which costs more: it is changed for every position of every instruction.
#[derive(Debug)]
struct Used(AtomicUsize);

impl Used {
    const NONE: usize = usize::MAX;

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Used {
    fn default() -> Self {
        Self(AtomicUsize::new(Self::NONE))
    }
}

impl Clone for Used {
    fn clone(&self) -> Self {
        Self(AtomicUsize::new(self.get()))
    }
}

impl Overlay {
    /// Where an access lies in the copy in use: `None` where it does not touch the range, `Some(None)` where only a part
    /// of it does, which no access may.
    fn place(&self, address: u32, length: u64) -> Option<Option<Range<usize>>> {
        let used = Some(self.used.get()).filter(|used| *used != Used::NONE)?;
        let end = u64::from(self.start) + self.length as u64;
        if length == 0 || u64::from(address) >= end || u64::from(address) + length <= u64::from(self.start) {
            return None;
        }
        let from = address.checked_sub(self.start).map(|d| used + d as usize);
        Some(from.filter(|_| u64::from(address) + length <= end).map(|from| from..from + length as usize))
    }
}

/// Zeroed bytes from the system.
#[derive(Debug)]
enum Bytes {
    /// Pages of their own, large ones where the system has them: a token reads all weights once, and small pages cost
    /// time at the first touch of each.
    Mapped(MmapMut),
    /// Where the system gave no mapping.
    Heap(Vec<u8>),
}

impl Bytes {
    fn zeroed(length: usize) -> Self {
        match MmapMut::map_anon(length) {
            Ok(map) if length > 0 => {
                #[cfg(all(target_os = "linux", not(miri)))]
                // Only advice: without it everything works, more slowly.
                // Miri has no such call.
                let _ = map.advise(memmap2::Advice::HugePage);
                Self::Mapped(map)
            }
            _ => Self::Heap(vec![0; length]),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

/// The range that holds decoded instructions, and whether a store has hit it.
#[derive(Clone, Copy, Debug, Default)]
struct CodeWatch {
    start: u32,
    end: u32,
    hit: bool,
}

/// Smallest memory of a machine.
pub const MIN_MEMORY: u32 = 8 * MEGABYTE;
/// Largest memory: the 28-bit address space ends here.
pub const MAX_MEMORY: u32 = ADDRESS_END - MEMORY_BASE;

impl Memory {
    /// Memory of `length` bytes, zeroed; at most [`MAX_MEMORY`].
    #[must_use]
    pub fn new(length: u32) -> Self {
        Self {
            bytes: Bytes::zeroed(length.min(MAX_MEMORY) as usize),
            code: CodeWatch::default(),
            overlay: Overlay::default(),
        }
    }

    /// Length for an image that needs `needed` bytes: whole megabytes, at least [`MIN_MEMORY`] (spec section 9).
    #[must_use]
    pub fn length_for(needed: u32) -> u32 {
        needed.clamp(MIN_MEMORY, MAX_MEMORY).next_multiple_of(MEGABYTE)
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Whether there is no memory at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Every byte, the first at [`MEMORY_BASE`].
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of an access; `None` where any of them lies outside.
    #[must_use]
    pub fn slice(&self, address: u32, length: u64) -> Option<&[u8]> {
        if let Some(place) = self.overlay.place(address, length) {
            return self.overlay.copies.get(place?);
        }
        let start = address.checked_sub(MEMORY_BASE)? as usize;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.bytes.get(start..end)
    }

    /// The bytes of an access, to be changed.
    #[must_use]
    pub fn slice_mut(&mut self, address: u32, length: u64) -> Option<&mut [u8]> {
        if let Some(place) = self.overlay.place(address, length) {
            return self.overlay.copies.get_mut(place?);
        }
        let start = address.checked_sub(MEMORY_BASE)? as usize;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        if end > self.bytes.len() {
            return None;
        }
        // Inside the memory, so neither sum leaves 32 bits.
        if length > 0 && address < self.code.end && (address - MEMORY_BASE) as u64 + length > self.code_start() {
            self.code.hit = true;
        }
        self.bytes.get_mut(start..end)
    }

    fn code_start(&self) -> u64 {
        u64::from(self.code.start.saturating_sub(MEMORY_BASE))
    }

    /// Makes `count` copies of a range, with any contents, for [`Memory::use_overlay`].
    pub(crate) fn lay_over(&mut self, start: u32, length: usize, count: usize) {
        self.overlay.start = start;
        self.overlay.length = length;
        self.overlay.copies.resize(length * count, 0);
    }

    /// Lets one of the copies stand in for its range.
    pub(crate) fn use_overlay(&self, copy: usize) {
        self.overlay.used.0.store(copy * self.overlay.length, Ordering::Relaxed);
    }

    /// Where an access lies among all copies while one of them is in use; `None` where it lies in the memory itself.
    pub(crate) fn overlay_place(&self, copy: usize, address: u32, length: u64) -> Option<Range<usize>> {
        self.use_overlay(copy);
        self.overlay.place(address, length)?
    }

    /// Exchanges the copies with `copies`: whoever has them can write to them while the memory is shared.
    pub(crate) fn swap_overlay(&mut self, copies: &mut Vec<u8>) {
        std::mem::swap(&mut self.overlay.copies, copies);
    }

    /// Shows the memory itself again.
    pub(crate) fn take_overlay_away(&self) {
        self.overlay.used.0.store(Used::NONE, Ordering::Relaxed);
    }

    /// Watches `start..end`: the next store there is remembered for [`Memory::take_code_hit`].
    pub(crate) fn watch_code(&mut self, start: u32, end: u32) {
        self.code = CodeWatch { start, end, hit: self.code.hit };
    }

    /// Whether a store has hit the watched range since the last call.
    pub(crate) fn code_hit(&self) -> bool {
        self.code.hit
    }

    /// Forgets a hit.
    pub(crate) fn clear_code_hit(&mut self) {
        self.code.hit = false;
    }

    /// Sets everything to zero.
    pub fn clear(&mut self) {
        self.bytes = Bytes::zeroed(self.bytes.len());
        self.code.hit = true;
    }

    /// Stores words one after the other.
    ///
    /// # Errors
    /// A fault where any word lies outside; nothing is then written.
    pub fn write_words(&mut self, address: u32, words: &[u32]) -> Result<(), mem::Fault> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.write(address, &bytes)
    }
}

impl mem::ReadMemory for Memory {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), mem::Fault> {
        let source = self.slice(address, out.len() as u64).ok_or_else(|| fault(address, out.len()))?;
        out.copy_from_slice(source);
        Ok(())
    }
}

impl mem::Memory for Memory {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), mem::Fault> {
        let target = self.slice_mut(address, data.len() as u64).ok_or_else(|| fault(address, data.len()))?;
        target.copy_from_slice(data);
        Ok(())
    }
}

fn fault(address: u32, length: usize) -> mem::Fault {
    mem::Fault { address, length: u32::try_from(length).unwrap_or(u32::MAX) }
}
