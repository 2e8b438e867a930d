//! The shape of a volume, read from its boot sector.

use super::{FatError, mbr};
use crate::block::{BlockDevice, SECTOR, read_sector};

/// Fewest clusters that make a volume FAT32 and not FAT16.
pub(super) const MIN_CLUSTERS: u32 = 65_525;
/// Most clusters a FAT32 table can number.
pub(super) const MAX_CLUSTERS: u32 = 0x0FFF_FFF5;
/// First number that is a cluster.
pub(super) const FIRST_CLUSTER: u32 = 2;

/// Offsets in the boot sector (FAT specification, section 3).
pub(super) mod bpb {
    pub const BYTES_PER_SECTOR: usize = 0x0B;
    pub const SECTORS_PER_CLUSTER: usize = 0x0D;
    pub const RESERVED: usize = 0x0E;
    pub const FATS: usize = 0x10;
    pub const ROOT_ENTRIES: usize = 0x11;
    pub const TOTAL_16: usize = 0x13;
    pub const MEDIA: usize = 0x15;
    pub const FAT_SIZE_16: usize = 0x16;
    pub const SECTORS_PER_TRACK: usize = 0x18;
    pub const HEADS: usize = 0x1A;
    pub const HIDDEN: usize = 0x1C;
    pub const TOTAL_32: usize = 0x20;
    pub const FAT_SIZE_32: usize = 0x24;
    pub const EXT_FLAGS: usize = 0x28;
    pub const ROOT_CLUSTER: usize = 0x2C;
    pub const FS_INFO: usize = 0x30;
    pub const BACKUP_BOOT: usize = 0x32;
    pub const DRIVE: usize = 0x40;
    pub const BOOT_SIGNATURE: usize = 0x42;
    pub const SERIAL: usize = 0x43;
    pub const LABEL: usize = 0x47;
    pub const TYPE: usize = 0x52;
    pub const SIGNATURE: usize = 0x1FE;
}

/// Where everything is on a FAT32 volume. All sector numbers count from the start of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fat32 {
    pub(super) start: u32,
    pub(super) sectors: u32,
    pub(super) cluster_sectors: u32,
    pub(super) reserved: u32,
    pub(super) fats: u32,
    pub(super) fat_sectors: u32,
    pub(super) root: u32,
    pub(super) clusters: u32,
    pub(super) fs_info: Option<u32>,
    /// The one FAT in use where the copies are not kept equal.
    pub(super) active_fat: Option<u32>,
}

fn word(s: &[u8; SECTOR], at: usize) -> u32 {
    u32::from(u16::from_le_bytes([s[at], s[at + 1]]))
}

fn long(s: &[u8; SECTOR], at: usize) -> u32 {
    u32::from_le_bytes([s[at], s[at + 1], s[at + 2], s[at + 3]])
}

impl Fat32 {
    /// Finds the FAT32 partition that HYPPO would boot from and reads its shape.
    ///
    /// # Errors
    /// [`FatError`] when there is no partition table, no FAT32 partition, or a boot sector that cannot be right.
    pub fn find(dev: &mut (impl BlockDevice + ?Sized)) -> Result<Self, FatError> {
        let p = mbr::fat32_partition(dev)?;
        Self::mount(dev, p.start)
    }

    /// Reads the shape of the volume that starts at sector `start`.
    ///
    /// # Errors
    /// [`FatError::Boot`] names the field that cannot be right.
    pub fn mount(dev: &mut (impl BlockDevice + ?Sized), start: u32) -> Result<Self, FatError> {
        let s = read_sector(dev, start)?;
        let bad = |field, found: u32, expected: &str| {
            Err(FatError::Boot { sector: start, field, found: u64::from(found), expected: expected.to_owned() })
        };
        if word(&s, bpb::SIGNATURE) != 0xAA55 {
            return bad("the signature at $1FE", word(&s, bpb::SIGNATURE), "43605 ($AA55)");
        }
        if word(&s, bpb::BYTES_PER_SECTOR) != SECTOR as u32 {
            return bad("bytes per sector at $0B", word(&s, bpb::BYTES_PER_SECTOR), "512");
        }
        let cluster_sectors = u32::from(s[bpb::SECTORS_PER_CLUSTER]);
        if !cluster_sectors.is_power_of_two() {
            return bad("sectors per cluster at $0D", cluster_sectors, "a power of two up to 128");
        }
        let reserved = word(&s, bpb::RESERVED);
        if reserved == 0 {
            return bad("reserved sectors at $0E", reserved, "at least 1");
        }
        let fats = u32::from(s[bpb::FATS]);
        if !(1..=2).contains(&fats) {
            return bad("the number of FATs at $10", fats, "2");
        }
        for (field, at) in [("root entries at $11", bpb::ROOT_ENTRIES), ("16-bit FAT size at $16", bpb::FAT_SIZE_16)] {
            if word(&s, at) != 0 {
                return bad(field, word(&s, at), "0 (FAT32, not FAT12 or FAT16)");
            }
        }
        let sectors = match word(&s, bpb::TOTAL_16) {
            0 => long(&s, bpb::TOTAL_32),
            small => small,
        };
        let room = dev.sectors() - start;
        if sectors > room {
            return bad("the number of sectors at $20", sectors, &format!("at most {room}, as many as the image has"));
        }
        let fat_sectors = long(&s, bpb::FAT_SIZE_32);
        let tables = fat_sectors.checked_mul(fats).and_then(|t| t.checked_add(reserved)).unwrap_or(u32::MAX);
        if fat_sectors == 0 || tables >= sectors {
            return bad("sectors per FAT at $24", fat_sectors, "more than 0, with room for data behind the FATs");
        }
        let clusters = ((sectors - tables) / cluster_sectors).min(MAX_CLUSTERS);
        // A table may be short; what it does not number does not exist.
        let numbered = u64::from(fat_sectors) * (SECTOR as u64 / 4);
        let clusters = clusters.min(u32::try_from(numbered.saturating_sub(2)).unwrap_or(u32::MAX));
        let root = long(&s, bpb::ROOT_CLUSTER) & 0x0FFF_FFFF;
        let flags = word(&s, bpb::EXT_FLAGS);
        let active_fat = (flags & 0x80 != 0).then_some(flags & 0x0F);
        if let Some(n) = active_fat
            && n >= fats
        {
            return bad("the active FAT at $28", n, "the number of one of the FATs");
        }
        let fs_info = match word(&s, bpb::FS_INFO) {
            0 | 0xFFFF => None,
            n if n >= reserved => return bad("the FSInfo sector at $30", n, "a reserved sector"),
            n => Some(start + n),
        };
        let fat =
            Self { start, sectors, cluster_sectors, reserved, fats, fat_sectors, root, clusters, fs_info, active_fat };
        if !fat.contains(root) {
            return bad("the root cluster at $2C", root, &format!("2 to {}", fat.last_cluster()));
        }
        Ok(fat)
    }

    /// First sector of the volume.
    #[must_use]
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Sectors of the volume.
    #[must_use]
    pub fn sectors(&self) -> u32 {
        self.sectors
    }

    /// Sectors in a cluster, a power of two up to 128.
    #[must_use]
    pub fn cluster_sectors(&self) -> u32 {
        self.cluster_sectors
    }

    /// Bytes in a cluster.
    #[must_use]
    pub fn cluster_bytes(&self) -> u32 {
        self.cluster_sectors * SECTOR as u32
    }

    /// Sectors before the first FAT.
    #[must_use]
    pub fn reserved_sectors(&self) -> u32 {
        self.reserved
    }

    /// Number of FATs, 1 or 2. HYPPO refuses anything but 2 (error $05).
    #[must_use]
    pub fn fats(&self) -> u32 {
        self.fats
    }

    /// Sectors of one FAT.
    #[must_use]
    pub fn fat_sectors(&self) -> u32 {
        self.fat_sectors
    }

    /// First cluster of the root directory.
    #[must_use]
    pub fn root_cluster(&self) -> u32 {
        self.root
    }

    /// Number of clusters; they are numbered from 2.
    #[must_use]
    pub fn clusters(&self) -> u32 {
        self.clusters
    }

    /// Whether the number of clusters makes this FAT32 by the specification (at least 65525). HYPPO refuses
    /// smaller volumes with error $06; reading does not mind.
    #[must_use]
    pub fn is_large_enough(&self) -> bool {
        self.clusters >= MIN_CLUSTERS
    }

    /// Highest cluster number.
    #[must_use]
    pub fn last_cluster(&self) -> u32 {
        self.clusters + FIRST_CLUSTER - 1
    }

    /// Whether `cluster` is a cluster of this volume.
    #[must_use]
    pub fn contains(&self, cluster: u32) -> bool {
        (FIRST_CLUSTER..=self.last_cluster()).contains(&cluster)
    }

    /// First sector of cluster 2.
    #[must_use]
    pub fn data_start(&self) -> u32 {
        self.start + self.reserved + self.fats * self.fat_sectors
    }

    /// First sector of a cluster, or `None` for a number that is no cluster.
    #[must_use]
    pub fn cluster_lba(&self, cluster: u32) -> Option<u32> {
        self.contains(cluster).then(|| self.data_start() + (cluster - FIRST_CLUSTER) * self.cluster_sectors)
    }

    /// The cluster that a sector of the device belongs to.
    #[must_use]
    pub fn cluster_of(&self, lba: u32) -> Option<u32> {
        let cluster = lba.checked_sub(self.data_start())? / self.cluster_sectors + FIRST_CLUSTER;
        self.contains(cluster).then_some(cluster)
    }

    /// First sector of FAT number `copy`.
    #[must_use]
    pub fn fat_start(&self, copy: u32) -> u32 {
        self.start + self.reserved + copy * self.fat_sectors
    }

    /// Sector and byte offset in it of a cluster's entry in the FAT that counts.
    #[must_use]
    pub fn fat_entry(&self, cluster: u32) -> (u32, usize) {
        let per_sector = SECTOR as u32 / 4;
        let lba = self.fat_start(self.active_fat.unwrap_or(0)).saturating_add(cluster / per_sector);
        (lba, (cluster % per_sector) as usize * 4)
    }

    /// The FAT copies that a writer has to change.
    pub(super) fn written_fats(&self) -> std::ops::Range<u32> {
        self.active_fat.map_or(0..self.fats, |n| n..n + 1)
    }
}
