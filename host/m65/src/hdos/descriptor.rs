//! The four descriptors, and walking along chains of clusters with them.

use super::volume::sector_of;
use super::{Hdos, error};
use crate::board::Board;

/// What a descriptor was opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    File,
    Directory,
    /// A directory of which the last entry has been read.
    DirectoryEnd,
}

/// A place in a file or directory. Everything but `used` stays when it is closed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Descriptor {
    pub used: bool,
    pub mode: Mode,
    pub start: u32,
    pub cluster: u32,
    /// Sector in the cluster.
    pub sector: u32,
    /// Byte in the sector, in directories.
    pub offset: usize,
}

impl Descriptor {
    pub fn free(&mut self) {
        self.used = false;
    }

    pub fn rewind(&mut self) {
        self.cluster = self.start;
        self.sector = 0;
        self.offset = 0;
    }
}

/// Links from here on end a chain.
const END_OF_CHAIN: u32 = 0x0fff_fff0;
const LINK_MASK: u32 = 0x0fff_ffff;
/// Links in a sector of the FAT.
const LINKS: u32 = 128;

impl Hdos {
    /// The current descriptor, open or not.
    pub(super) fn descriptor(&mut self) -> Result<&mut Descriptor, u8> {
        self.descriptors.get_mut(usize::from(self.current)).ok_or(error::BAD_DESCRIPTOR)
    }

    /// Makes a free descriptor the current one. The caller marks it used.
    pub(super) fn claim(&mut self) -> Result<&mut Descriptor, u8> {
        let (number, free) = (0..).zip(&mut self.descriptors).find(|(_, d)| !d.used).ok_or(error::TOO_MANY_OPEN)?;
        self.current = number;
        *free = Descriptor::default();
        Ok(free)
    }

    pub(super) fn close(&mut self) -> Result<(), u8> {
        self.descriptor()?.free();
        Ok(())
    }

    /// Reads the sector at the current place into the buffer.
    pub(super) fn read_current(&mut self, board: &mut Board) -> Result<(), u8> {
        let fat = self.disk()?;
        let place = *self.descriptor()?;
        self.read_sector(sector_of(&fat, place.cluster).wrapping_add(place.sector), board)
    }

    /// Goes on to the next sector.
    pub(super) fn next_sector(&mut self, board: &mut Board) -> Result<(), u8> {
        let size = self.disk()?.cluster_sectors();
        let place = self.descriptor()?;
        place.sector += 1;
        if place.sector == size { self.next_cluster(board) } else { Ok(()) }
    }

    /// Goes on to the next cluster: reads the FAT, then the sector again that was in the buffer.
    pub(super) fn next_cluster(&mut self, board: &mut Board) -> Result<(), u8> {
        let fat = self.disk()?;
        let place = self.descriptor()?;
        place.sector = 0;
        let cluster = place.cluster;
        let before = board.storage.sd_sector();
        self.read_sector(fat.fat_start(0).wrapping_add(cluster / LINKS), board)?;
        let at = (cluster % LINKS) as usize * 4;
        let link = match board.storage.sd_buffer.get(at..at + 4) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) & LINK_MASK,
            _ => 0,
        };
        self.descriptor()?.cluster = link;
        // Whether this succeeds is not looked at.
        let _ = self.read_sector(before, board);
        if link == 0 || link >= END_OF_CHAIN { Err(error::BAD_CLUSTER) } else { Ok(()) }
    }
}
