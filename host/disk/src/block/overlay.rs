//! Changes held back until all of them are known to be good.

use super::{BlockDevice, DeviceError, SECTOR, sectors_of};
use std::collections::BTreeMap;

/// A device whose writes stay in memory until [`commit`](Self::commit), and are seen by its reads.
///
/// Tables and directories of a card are changed in here, checked, and only then written, so that a failure
/// half way leaves the card as it was. File data bypasses it with [`write_through`](Self::write_through):
/// it goes to clusters that nothing refers to yet.
#[derive(Debug)]
pub struct Overlay<D> {
    base: D,
    changed: BTreeMap<u32, Box<[u8; SECTOR]>>,
}

impl<D: BlockDevice> Overlay<D> {
    /// Nothing changed yet.
    pub fn new(base: D) -> Self {
        Self { base, changed: BTreeMap::new() }
    }

    /// Writes at once to the device behind.
    ///
    /// # Errors
    /// As [`BlockDevice::write`].
    pub fn write_through(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        let count = sectors_of(lba, buf.len(), self.base.sectors())?;
        self.base.write(lba, buf)?;
        let stale: Vec<u32> = self.changed.range(lba..lba + count).map(|(&k, _)| k).collect();
        for key in stale {
            self.changed.remove(&key);
        }
        Ok(())
    }

    /// Writes all changes, in the order given by `rank` (lowest first) and by sector number within a rank,
    /// with a flush between ranks, so that nothing is referred to before it exists.
    ///
    /// # Errors
    /// As [`BlockDevice::write`]; the changes not yet written are kept.
    pub fn commit(&mut self, rank: impl Fn(u32) -> u8) -> Result<(), DeviceError> {
        self.base.flush()?;
        let mut order: Vec<(u8, u32)> = self.changed.keys().map(|&lba| (rank(lba), lba)).collect();
        order.sort_unstable();
        let mut last = None;
        for (rank, lba) in order {
            if last.is_some_and(|l| l != rank) {
                self.base.flush()?;
            }
            last = Some(rank);
            if let Some(sector) = self.changed.get(&lba) {
                self.base.write(lba, sector.as_slice())?;
                self.changed.remove(&lba);
            }
        }
        self.base.flush()
    }

    /// Sectors changed and not committed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.changed.len()
    }

    /// Drops the changes that were not committed and gives the device back.
    pub fn into_base(self) -> D {
        self.base
    }
}

impl<D: BlockDevice> BlockDevice for Overlay<D> {
    fn sectors(&self) -> u32 {
        self.base.sectors()
    }

    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        let count = sectors_of(lba, buf.len(), self.base.sectors())?;
        self.base.read(lba, buf)?;
        for (&at, sector) in self.changed.range(lba..lba + count) {
            let from = (at - lba) as usize * SECTOR;
            if let Some(out) = buf.get_mut(from..from + SECTOR) {
                out.copy_from_slice(sector.as_slice());
            }
        }
        Ok(())
    }

    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        sectors_of(lba, buf.len(), self.base.sectors())?;
        for (at, sector) in (lba..).zip(buf.chunks_exact(SECTOR)) {
            let mut own = Box::new([0; SECTOR]);
            own.copy_from_slice(sector);
            self.changed.insert(at, own);
        }
        Ok(())
    }
}
