//! Mounting disk images that lie on the card.

use super::volume::sector_of;
use super::{Hdos, error, page};
use crate::board::Board;
use crate::cpu::Bus;
use crate::io::f011::{DiskKind, Image};

/// Sectors of the images, and what they are.
const KINDS: [(u32, DiskKind); 3] = [(344, DiskKind::D64), (688, DiskKind::D71), (1600, DiskKind::D81)];
/// Clusters of a high density image, whatever their size.
const D65_CLUSTERS: u32 = 1360;
/// Longest name of an image that is remembered.
const NAME_MAX: usize = 31;
const FLAG_MOUNTED: u8 = 0x01;
const FLAG_WRITABLE: u8 = 0x04;

/// Offsets in the process descriptor.
mod field {
    pub const FLAGS: u16 = 0x11;
    pub const NAME_LENGTHS: u16 = 0x13;
    pub const NAMES: [u16; 2] = [0x15, 0x35];
    pub const DESCRIPTORS: u16 = 0x80;
    pub const DESCRIPTOR_BYTES: u16 = 32;
}

/// What is remembered of mounted images.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    flags: [u8; 2],
    names: [Vec<u8>; 2],
}

impl Hdos {
    /// The traps d81attach0 and d81attach1. Each uses up a descriptor for good.
    pub(super) fn attach(&mut self, drive: usize, board: &mut Board) -> Result<(), u8> {
        self.find_file(board)?;
        self.take_entry()?;
        self.open_file()?;
        let (start, kind) = self.check_image(board)?;
        board.storage.floppy.mount(drive, Image::Card(start), kind, true);
        self.process.flags[drive] = FLAG_MOUNTED;
        self.process.names[drive] = if self.name.len() <= NAME_MAX { self.name.clone() } else { Vec::new() };
        Ok(())
    }

    /// Follows the chain of the open image: it has to be in one piece and of the right length.
    fn check_image(&mut self, board: &mut Board) -> Result<(u32, DiskKind), u8> {
        let fat = self.disk()?;
        let start = self.descriptor()?.start;
        let mut clusters = 0u32;
        loop {
            if self.descriptor()?.cluster != start.wrapping_add(clusters) {
                self.close()?;
                return Err(error::IMAGE_FRAGMENTED);
            }
            clusters += 1;
            match self.next_cluster(board) {
                Ok(()) => {}
                Err(error::BAD_CLUSTER) => break,
                Err(code) => {
                    self.close()?;
                    return Err(code);
                }
            }
        }
        self.close()?;
        let wanted = |sectors: u32| sectors / fat.cluster_sectors();
        let by_size = KINDS.iter().take(2).find(|k| wanted(k.0) == clusters);
        let kind = match by_size {
            Some(&(_, kind)) => kind,
            None if clusters == D65_CLUSTERS => DiskKind::D65,
            None if clusters == wanted(KINDS[2].0) => DiskKind::D81,
            None => return Err(error::IMAGE_LENGTH),
        };
        Ok((sector_of(&fat, start), kind))
    }

    pub(super) fn detach(&mut self, board: &mut Board) {
        for drive in 0..2 {
            board.storage.floppy.unmount(drive);
            self.process.flags[drive] &= !FLAG_MOUNTED;
        }
    }

    pub(super) fn allow_writing(&mut self, board: &mut Board) -> Result<(), u8> {
        if !board.storage.floppy.allow_writing() {
            return Err(error::NO_DRIVE);
        }
        self.process.flags[0] |= FLAG_WRITABLE;
        Ok(())
    }

    /// The trap get_proc_desc: 256 bytes to page Y.
    pub(super) fn describe_process(&mut self, y: u8, board: &mut Board) -> Result<(), u8> {
        let start = page(y)?;
        let mut block = [0u8; 256];
        block[0] = 0xff;
        let mut put = |at: u16, bytes: &[u8]| {
            for (cell, byte) in block.iter_mut().skip(usize::from(at)).zip(bytes) {
                *cell = *byte;
            }
        };
        for (drive, names) in (0u16..).zip(field::NAMES) {
            let name = &self.process.names[usize::from(drive)];
            put(field::FLAGS + drive, &self.process.flags[usize::from(drive)..][..1]);
            put(field::NAME_LENGTHS + drive, &[name.len() as u8]);
            put(names, name);
        }
        for (n, descriptor) in (0u16..).zip(&self.descriptors) {
            let place = field::DESCRIPTORS + n * field::DESCRIPTOR_BYTES;
            put(place, &[if descriptor.used { self.current_disk } else { 0xff }]);
        }
        for (at, byte) in (start..).zip(block) {
            board.write(at, byte);
        }
        Ok(())
    }
}
