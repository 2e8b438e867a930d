//! Drives: the FAT32 partitions of the card.

use super::{Hdos, error};
use crate::board::Board;
use crate::io::card::Card;
use ssnail_disk::fat::{Fat32, partitions};

/// Partitions in the table.
const MAX_DISKS: usize = 4;
/// Root clusters above this are refused.
const MAX_ROOT: u32 = 0xff;

impl Hdos {
    /// Reads the partition table when a card is first there, as booting does. Takes no time and meets no injected fault:
    /// programs start later.
    pub(super) fn look_for_disks(&mut self, board: &mut Board) {
        let Some(card) = board.storage.card.as_mut().and_then(Card::before_faults) else {
            return;
        };
        if self.looked {
            return;
        }
        self.looked = true;
        if let Ok(table) = partitions(card) {
            for partition in table.iter().flatten().filter(|p| p.is_fat32()) {
                let Ok(fat) = Fat32::mount(card, partition.start) else { continue };
                if fat.fats() == 2 && fat.root_cluster() <= MAX_ROOT && self.disks.len() < MAX_DISKS {
                    if partition.bootable {
                        self.default_disk = self.disks.len() as u8;
                    }
                    self.disks.push(fat);
                }
            }
        }
        // Without a drive there is no root either.
        let _ = self.change_to_root(self.default_disk);
    }

    /// The drive that everything works with, whichever a file was opened on.
    pub(super) fn disk(&self) -> Result<Fat32, u8> {
        self.disks.get(usize::from(self.current_disk)).copied().ok_or(error::NO_DRIVE)
    }

    pub(super) fn select_drive(&mut self, drive: u8) -> Result<(), u8> {
        if usize::from(drive) >= self.disks.len() {
            return Err(error::NO_DRIVE);
        }
        self.current_disk = drive;
        Ok(())
    }

    pub(super) fn change_to_root(&mut self, drive: u8) -> Result<(), u8> {
        self.select_drive(drive)?;
        self.directory = self.disk()?.root_cluster();
        self.error = 0;
        Ok(())
    }

    pub(super) fn change_directory(&mut self) -> Result<(), u8> {
        if !self.entry.is_directory() {
            return Err(error::NOT_DIRECTORY);
        }
        // Goes through a descriptor and forgets it; the length of the file being read is lost.
        self.take_entry()?;
        self.close()?;
        self.directory = self.entry.cluster();
        if self.directory == 0 {
            self.directory = self.disk()?.root_cluster();
        }
        Ok(())
    }
}

/// First sector of a cluster as the hypervisor computes it, in 32 bits and without looking whether
/// the cluster exists.
pub(super) fn sector_of(fat: &Fat32, cluster: u32) -> u32 {
    cluster.wrapping_sub(2).wrapping_mul(fat.cluster_sectors()).wrapping_add(fat.data_start())
}
