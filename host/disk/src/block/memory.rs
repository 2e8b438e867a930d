//! A card in memory, of which only the parts written take room.

use super::{BlockDevice, DeviceError, SECTOR, sectors_of};
use std::collections::HashMap;

/// Sectors per piece of memory.
const PIECE: u32 = 8;

/// A sparse device in memory: a card of 32 GB costs what was written to it.
#[derive(Debug, Clone, Default)]
pub struct MemDevice {
    sectors: u32,
    pieces: HashMap<u32, Box<[u8]>>,
}

impl MemDevice {
    /// A device of `sectors` sectors, all zero.
    #[must_use]
    pub fn new(sectors: u32) -> Self {
        Self { sectors, pieces: HashMap::new() }
    }

    /// A device with the content of an image. A last piece shorter than a sector is dropped.
    #[must_use]
    pub fn from_bytes(image: &[u8]) -> Self {
        let sectors = u32::try_from(image.len() / SECTOR).unwrap_or(u32::MAX);
        let mut dev = Self::new(sectors);
        for (lba, sector) in (0..sectors).zip(image.chunks_exact(SECTOR)) {
            if sector.iter().any(|&b| b != 0) {
                dev.sector_mut(lba).copy_from_slice(sector);
            }
        }
        dev
    }

    /// The whole content. For small devices: this is as long as the card.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        (0..self.sectors)
            .flat_map(|lba| self.sector(lba).map_or([0; SECTOR], |s| s.try_into().unwrap_or([0; SECTOR])))
            .collect()
    }

    /// Sectors that have ever been written, rounded up to 4 KB pieces.
    #[must_use]
    pub fn resident_sectors(&self) -> usize {
        self.pieces.len() * PIECE as usize
    }

    fn sector(&self, lba: u32) -> Option<&[u8]> {
        let at = (lba % PIECE) as usize * SECTOR;
        self.pieces.get(&(lba / PIECE))?.get(at..at + SECTOR)
    }

    fn sector_mut(&mut self, lba: u32) -> &mut [u8] {
        let at = (lba % PIECE) as usize * SECTOR;
        let piece =
            self.pieces.entry(lba / PIECE).or_insert_with(|| vec![0; PIECE as usize * SECTOR].into_boxed_slice());
        &mut piece[at..at + SECTOR]
    }
}

impl BlockDevice for MemDevice {
    fn sectors(&self) -> u32 {
        self.sectors
    }

    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        sectors_of(lba, buf.len(), self.sectors)?;
        for (at, out) in (lba..).zip(buf.chunks_exact_mut(SECTOR)) {
            match self.sector(at) {
                Some(sector) => out.copy_from_slice(sector),
                None => out.fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        sectors_of(lba, buf.len(), self.sectors)?;
        for (at, sector) in (lba..).zip(buf.chunks_exact(SECTOR)) {
            self.sector_mut(at).copy_from_slice(sector);
        }
        Ok(())
    }
}
