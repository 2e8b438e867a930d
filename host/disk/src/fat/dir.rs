//! Walking through a directory.

use super::entry::{DELETED, ENTRY_BYTES, LongAssembler};
use super::{Chain, ChainFault, Entry, Fat32, FatError, attribute};
use crate::block::{BlockDevice, SECTOR};

/// Entries that a directory may have at most (2 MB).
pub(super) const MAX_SLOTS: u32 = 65_536;

/// One 32-byte place in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Its content.
    pub raw: [u8; ENTRY_BYTES],
    /// Sector of the device and offset in it.
    pub location: (u32, u16),
    /// Cluster it stands in.
    pub cluster: u32,
}

impl Slot {
    /// Whether this and everything after it has never been used.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.raw[0] == 0
    }

    /// Whether the entry was deleted.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.raw[0] == DELETED
    }

    /// Whether it is a piece of a long name.
    #[must_use]
    pub fn is_long_piece(&self) -> bool {
        self.raw[11] & attribute::LONG_NAME_MASK == attribute::LONG_NAME
    }
}

/// All 32-byte places of a directory, used or not, to the end of its last cluster.
#[derive(Debug, Clone)]
pub struct SlotCursor {
    fat: Fat32,
    chain: Chain,
    cluster: u32,
    /// Sector within the cluster, and slot within the sector, that come next.
    sector: u32,
    slot: usize,
    buf: Box<[u8; SECTOR]>,
    seen: u32,
}

impl SlotCursor {
    /// A directory by its first cluster. 0 means the root, as in a ".." entry.
    #[must_use]
    pub fn new(fat: Fat32, first_cluster: u32) -> Self {
        let first = if first_cluster == 0 { fat.root } else { first_cluster };
        Self {
            fat,
            chain: Chain::new(fat, first),
            cluster: 0,
            sector: fat.cluster_sectors,
            slot: 0,
            buf: Box::new([0; SECTOR]),
            seen: 0,
        }
    }

    /// The next place, or `None` after the last.
    ///
    /// # Errors
    /// [`FatError`] when the chain is damaged, goes on for too long, or the device fails. The cursor then
    /// goes on failing or has ended.
    pub fn next(&mut self, dev: &mut (impl BlockDevice + ?Sized)) -> Result<Option<Slot>, FatError> {
        if self.slot == 0 {
            if self.sector == self.fat.cluster_sectors {
                match self.chain.next(dev)? {
                    Some(cluster) => (self.cluster, self.sector) = (cluster, 0),
                    None => return Ok(None),
                }
            }
            if self.seen >= MAX_SLOTS {
                let sector = self.fat.fat_entry(self.cluster).0;
                let fault = ChainFault::DirectoryTooLong;
                return Err(FatError::Chain { cluster: self.cluster, sector, fault });
            }
            let Some(lba) = self.fat.cluster_lba(self.cluster) else {
                return Ok(None);
            };
            dev.read(lba + self.sector, self.buf.as_mut_slice())?;
        }
        let at = self.slot * ENTRY_BYTES;
        let mut raw = [0; ENTRY_BYTES];
        raw.copy_from_slice(&self.buf[at..at + ENTRY_BYTES]);
        let lba = self.fat.cluster_lba(self.cluster).unwrap_or(0) + self.sector;
        let location = (lba, u16::try_from(at).unwrap_or(0));
        self.slot += 1;
        self.seen += 1;
        if self.slot == SECTOR / ENTRY_BYTES {
            self.slot = 0;
            self.sector += 1;
        }
        Ok(Some(Slot { raw, location, cluster: self.cluster }))
    }
}

/// The entries of a directory: files, folders, "." and "..", volume labels; hidden ones as well.
///
/// Pieces of long names are put together; those that belong to no entry are passed over.
#[derive(Debug, Clone)]
pub struct DirCursor {
    slots: SlotCursor,
    long: LongAssembler,
    ended: bool,
}

impl DirCursor {
    /// A directory by its first cluster. 0 means the root.
    #[must_use]
    pub fn new(fat: Fat32, first_cluster: u32) -> Self {
        Self { slots: SlotCursor::new(fat, first_cluster), long: LongAssembler::default(), ended: false }
    }

    /// The next entry, or `None` at the end.
    ///
    /// # Errors
    /// As [`SlotCursor::next`].
    pub fn next(&mut self, dev: &mut (impl BlockDevice + ?Sized)) -> Result<Option<Entry>, FatError> {
        while !self.ended {
            let Some(slot) = self.slots.next(dev)? else {
                break;
            };
            if slot.is_end() {
                break;
            }
            if slot.is_deleted() {
                self.long.drop_pending();
            } else if slot.is_long_piece() {
                self.long.piece(&slot.raw);
            } else {
                let (long, _) = self.long.finish(&slot.raw[..11]);
                return Ok(Some(Entry::decode(&slot.raw, long, slot.location)));
            }
        }
        self.ended = true;
        Ok(None)
    }
}
