//! A device that fails on purpose.

use super::{BlockDevice, DeviceError, SECTOR};
use std::collections::BTreeMap;
use std::io;

/// Passes requests on, except where it was told to fail or to lie.
#[derive(Debug, Clone)]
pub struct FaultDevice<D> {
    inner: D,
    bad: Vec<std::ops::Range<u32>>,
    flips: BTreeMap<u64, u8>,
    writes_left: Option<u64>,
    removed: bool,
}

impl<D: BlockDevice> FaultDevice<D> {
    /// A device without faults so far.
    pub fn new(inner: D) -> Self {
        Self { inner, bad: Vec::new(), flips: BTreeMap::new(), writes_left: None, removed: false }
    }

    /// Every read or write that touches one of these sectors fails from now on.
    pub fn fail_sectors(&mut self, range: std::ops::Range<u32>) {
        self.bad.push(range);
    }

    /// Reads see byte `offset` (of the whole device) exclusive-or'd with `mask`; the device itself keeps it.
    pub fn flip(&mut self, offset: u64, mask: u8) {
        *self.flips.entry(offset).or_insert(0) ^= mask;
    }

    /// After this many writes every further one fails, as when a card is pulled out half way.
    pub fn fail_after_writes(&mut self, writes: u64) {
        self.writes_left = Some(writes);
    }

    /// Pulls the card out, or puts it back.
    pub fn set_removed(&mut self, removed: bool) {
        self.removed = removed;
    }

    /// Takes all faults away.
    pub fn heal(&mut self) {
        self.bad.clear();
        self.flips.clear();
        self.writes_left = None;
        self.removed = false;
    }

    /// The device behind.
    pub fn into_inner(self) -> D {
        self.inner
    }

    /// The device behind.
    pub fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }

    fn gate(&self, lba: u32, bytes: usize) -> Result<(), DeviceError> {
        let end = u64::from(lba) + (bytes / SECTOR) as u64;
        let failed = |text: &str, lba| DeviceError::Io { lba, source: io::Error::other(text.to_owned()) };
        if self.removed {
            return Err(failed("injected fault: no card", lba));
        }
        match self.bad.iter().find(|r| u64::from(r.start) < end && r.end > lba) {
            Some(r) => Err(failed("injected fault: bad sector", r.start.max(lba))),
            None => Ok(()),
        }
    }
}

impl<D: BlockDevice> BlockDevice for FaultDevice<D> {
    fn sectors(&self) -> u32 {
        self.inner.sectors()
    }

    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        self.gate(lba, buf.len())?;
        self.inner.read(lba, buf)?;
        let start = u64::from(lba) * SECTOR as u64;
        for (&at, &mask) in self.flips.range(start..start + buf.len() as u64) {
            if let Some(byte) = usize::try_from(at - start).ok().and_then(|i| buf.get_mut(i)) {
                *byte ^= mask;
            }
        }
        Ok(())
    }

    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        self.gate(lba, buf.len())?;
        if let Some(left) = &mut self.writes_left {
            *left = left
                .checked_sub(1)
                .ok_or_else(|| DeviceError::Io { lba, source: io::Error::other("injected fault: write failed") })?;
        }
        self.inner.write(lba, buf)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.inner.flush()
    }
}
