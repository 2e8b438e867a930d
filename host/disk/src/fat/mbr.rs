//! The partition table in sector 0.

use crate::block::{BlockDevice, DeviceError, SECTOR, read_sector};

/// Partition types that matter here.
pub mod kind {
    /// FAT32, addressed by cylinder, head and sector.
    pub const FAT32_CHS: u8 = 0x0B;
    /// FAT32, addressed by sector number.
    pub const FAT32_LBA: u8 = 0x0C;
    /// MEGA65 system partition: settings and freeze slots.
    pub const MEGA65_SYSTEM: u8 = 0x41;
    /// Protective entry of a GPT disk, which HYPPO does not read.
    pub const GPT_PROTECTIVE: u8 = 0xEE;
}

const TABLE: usize = 0x1BE;
const SIGNATURE: usize = 0x1FE;
const DISK_ID: usize = 0x1B8;

/// One of the four entries of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partition {
    /// Place in the table, 0 to 3.
    pub index: u8,
    /// Whether the boot flag ($80) is set.
    pub bootable: bool,
    /// Type byte, see [`kind`].
    pub kind: u8,
    /// First sector.
    pub start: u32,
    /// Number of sectors.
    pub sectors: u32,
}

impl Partition {
    /// Whether the type says FAT32.
    #[must_use]
    pub fn is_fat32(&self) -> bool {
        matches!(self.kind, kind::FAT32_CHS | kind::FAT32_LBA)
    }
}

/// Why there is no partition to use.
#[derive(Debug, thiserror::Error)]
pub enum MbrError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No signature at the end of sector 0.
    #[error(
        "sector 0 ends in {found:02X?}, expected [55, AA]: this is no card image; make one with `ssnail card create`"
    )]
    Signature {
        /// The two bytes found.
        found: [u8; 2],
    },
    /// Sector 0 is the boot sector of a file system, not a partition table.
    #[error(
        "sector 0 is a FAT boot sector, expected a partition table: the MEGA65 needs one; partition the card (MBR) or make an image with `ssnail card create`"
    )]
    Unpartitioned,
    /// A table without FAT32.
    #[error("sector 0: no FAT32 partition (type $0B or $0C) in the table, found types {kinds:02X?}; {advice}")]
    NoFat32 {
        /// The four type bytes.
        kinds: [u8; 4],
        /// What to do.
        advice: &'static str,
    },
}

/// Reads the four entries; those of type 0 or without sectors are `None`.
///
/// # Errors
/// [`MbrError`] when sector 0 cannot be read or has no signature.
pub fn partitions(dev: &mut (impl BlockDevice + ?Sized)) -> Result<[Option<Partition>; 4], MbrError> {
    let sector = read_sector(dev, 0)?;
    let found = [sector[SIGNATURE], sector[SIGNATURE + 1]];
    if found != [0x55, 0xAA] {
        return Err(MbrError::Signature { found });
    }
    Ok([0, 1, 2, 3].map(|index: u8| {
        let at = TABLE + usize::from(index) * 16;
        let word =
            |o: usize| u32::from_le_bytes([sector[at + o], sector[at + o + 1], sector[at + o + 2], sector[at + o + 3]]);
        let p =
            Partition { index, bootable: sector[at] == 0x80, kind: sector[at + 4], start: word(8), sectors: word(12) };
        (p.kind != 0 && p.sectors != 0).then_some(p)
    }))
}

/// The FAT32 partition that HYPPO takes for its own: one with the boot flag, otherwise the first.
///
/// # Errors
/// [`MbrError`] when there is none.
pub(super) fn fat32_partition(dev: &mut (impl BlockDevice + ?Sized)) -> Result<Partition, MbrError> {
    let table = partitions(dev)?;
    let fat32 = || table.iter().flatten().filter(|p| p.is_fat32());
    if let Some(p) = fat32().find(|p| p.bootable).or_else(|| fat32().next()) {
        return Ok(*p);
    }
    let sector = read_sector(dev, 0)?;
    if matches!(sector[0], 0xEB | 0xE9) && sector[0x52..0x57] == *b"FAT32" {
        return Err(MbrError::Unpartitioned);
    }
    let kinds = table.map(|p| p.map_or(0, |p| p.kind));
    let advice = if kinds.contains(&kind::GPT_PROTECTIVE) {
        "the card has a GPT table, which the MEGA65 does not read: partition it with an MBR"
    } else {
        "format the card on the MEGA65 (FDISK/FORMAT utility) or as FAT32 on the PC"
    };
    Err(MbrError::NoFat32 { kinds, advice })
}

/// A sector 0 with one FAT32 partition.
pub(super) fn table_with(start: u32, sectors: u32, disk_id: u32) -> [u8; SECTOR] {
    // Cylinder, head and sector fields at their limit: the reader must use the sector numbers.
    const BEYOND_CHS: [u8; 3] = [0xFE, 0xFF, 0xFF];
    let mut s = [0; SECTOR];
    s[DISK_ID..DISK_ID + 4].copy_from_slice(&disk_id.to_le_bytes());
    s[TABLE + 1..TABLE + 4].copy_from_slice(&BEYOND_CHS);
    s[TABLE + 4] = kind::FAT32_LBA;
    s[TABLE + 5..TABLE + 8].copy_from_slice(&BEYOND_CHS);
    s[TABLE + 8..TABLE + 12].copy_from_slice(&start.to_le_bytes());
    s[TABLE + 12..TABLE + 16].copy_from_slice(&sectors.to_le_bytes());
    s[SIGNATURE..].copy_from_slice(&[0x55, 0xAA]);
    s
}
