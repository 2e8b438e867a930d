//! Damage done to files on a card, for programs that have to cope with it.

use super::card::Card;
use ssnail_disk::block::{BlockDevice, read_sector};
use ssnail_disk::fat::{Chain, ChainFault, Entry, Fat32, FatError, lookup};

/// First byte of a deleted directory entry.
const DELETED: u8 = 0xe5;
/// Offset of the size in a directory entry.
const SIZE: usize = 28;
/// Mark of a chain's last cluster.
const END: u32 = 0x0fff_ffff;

impl Card {
    fn entry(&mut self, path: &str) -> Result<(Fat32, Entry), FatError> {
        let fat = Fat32::find(self)?;
        Ok((fat, lookup(self, fat, path)?))
    }

    fn patch(&mut self, lba: u32, at: usize, bytes: &[u8]) -> Result<(), FatError> {
        let mut sector = read_sector(self, lba)?;
        if let Some(place) = sector.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        Ok(self.write(lba, &sector)?)
    }

    /// Makes a file disappear from its directory.
    ///
    /// # Errors
    /// [`FatError`] when the card or the path is not there.
    pub fn lose_file(&mut self, path: &str) -> Result<(), FatError> {
        let (_, entry) = self.entry(path)?;
        let (lba, at) = entry.location;
        self.patch(lba, usize::from(at), &[DELETED])
    }

    /// Changes the size in a file's directory entry, and nothing else.
    ///
    /// # Errors
    /// As [`lose_file`](Self::lose_file).
    pub fn claim_size(&mut self, path: &str, size: u32) -> Result<(), FatError> {
        let (_, entry) = self.entry(path)?;
        let (lba, at) = entry.location;
        self.patch(lba, usize::from(at) + SIZE, &size.to_le_bytes())
    }

    /// Ends a file's chain of clusters behind the first `clusters`, whatever its size says.
    ///
    /// # Errors
    /// As [`lose_file`](Self::lose_file); [`ChainFault::Short`] when the file has fewer clusters.
    pub fn cut_chain(&mut self, path: &str, clusters: u32) -> Result<(), FatError> {
        let (fat, entry) = self.entry(path)?;
        let mut chain = Chain::new(fat, entry.first_cluster);
        let mut last = entry.first_cluster;
        for _ in 0..clusters {
            match chain.next(self)? {
                Some(cluster) => last = cluster,
                None => {
                    let (cluster, sector) = (last, fat.fat_entry(last).0);
                    return Err(FatError::Chain { cluster, sector, fault: ChainFault::Short(0) });
                }
            }
        }
        let (lba, at) = fat.fat_entry(last);
        self.patch(lba, at, &END.to_le_bytes())
    }

    /// First sector of every piece of a file that lies in one cluster, in order: sectors to inject faults at.
    ///
    /// # Errors
    /// As [`lose_file`](Self::lose_file).
    pub fn clusters_of(&mut self, path: &str) -> Result<Vec<u32>, FatError> {
        let (fat, entry) = self.entry(path)?;
        let mut chain = Chain::new(fat, entry.first_cluster);
        let mut sectors = Vec::new();
        while let Some(cluster) = chain.next(self)? {
            sectors.extend(fat.cluster_lba(cluster));
        }
        Ok(sectors)
    }
}
