//! Making a new volume.

use super::chain::END_MARK;
use super::geometry::{MAX_CLUSTERS, MIN_CLUSTERS, bpb};
use super::{Entry, Fat32, FatError, Stamp, attribute, mbr};
use crate::block::{BlockDevice, SECTOR};

/// Where the partition starts: one megabyte in, as every partitioning program does, so that clusters line up
/// with the erase blocks of a card.
const PARTITION_START: u32 = 2048;
/// Sectors before the first FAT, at least.
const RESERVED: u32 = 32;
const FS_INFO: u16 = 1;
const BACKUP_BOOT: u16 = 6;
const ROOT_CLUSTER: u32 = 2;
/// The MEGA65's own FDISK makes clusters of 4 KB, and mounting some disk images counts on it.
const MEGA65_CLUSTER: u32 = 8;

/// What a new volume is to be.
#[derive(Debug, Clone, Default)]
pub struct FormatOptions {
    /// Sectors per cluster, a power of two up to 128; `None` for [`default_cluster_sectors`].
    pub cluster_sectors: Option<u32>,
    /// Name of the volume, cut to 11 capitals; empty for none.
    pub label: String,
    /// Serial number of volume and disk. The same number makes the same bytes.
    pub serial: u32,
    /// Time of the volume label.
    pub stamp: Option<Stamp>,
}

/// 4 KB, like the MEGA65's FDISK, or the largest cluster with which a smaller volume is still FAT32.
#[must_use]
pub fn default_cluster_sectors(volume_sectors: u32) -> u32 {
    let mut size = MEGA65_CLUSTER;
    while size > 1 && Layout::new(volume_sectors, size).is_none() {
        size /= 2;
    }
    size
}

struct Layout {
    reserved: u32,
    fat_sectors: u32,
}

impl Layout {
    /// Sizes of the tables, with the data aligned to 4 KB; `None` when there would be too few or too many clusters.
    fn new(sectors: u32, cluster_sectors: u32) -> Option<Self> {
        let align = cluster_sectors.max(MEGA65_CLUSTER);
        let entries_per_sector = SECTOR as u32 / 4;
        // The fewest sectors F with entries for all clusters of what 2 F leave: 128 F >= (n - 2 F) / c + 2.
        let room = u64::from(sectors.checked_sub(RESERVED)?) + 2 * u64::from(cluster_sectors);
        let per_fat_sector = u64::from(entries_per_sector * cluster_sectors) + 2;
        let fat_sectors = u32::try_from(room.div_ceil(per_fat_sector)).ok()?;
        let tables = RESERVED + fat_sectors * 2;
        let reserved = RESERVED + tables.next_multiple_of(align) - tables;
        let clusters = sectors.checked_sub(reserved + fat_sectors * 2)? / cluster_sectors;
        let numbered = fat_sectors * entries_per_sector;
        ((MIN_CLUSTERS..=MAX_CLUSTERS).contains(&clusters) && clusters + 2 <= numbered)
            .then_some(Self { reserved, fat_sectors })
    }
}

/// Writes a partition table with one FAT32 partition over the whole device, and the empty volume.
///
/// The device has to be blank (all zero), as a new image is: the FATs are not cleared.
///
/// # Errors
/// [`FatError::Format`] when the size does not make a FAT32 volume.
pub fn format_card(dev: &mut (impl BlockDevice + ?Sized), options: &FormatOptions) -> Result<Fat32, FatError> {
    let sectors = dev.sectors().saturating_sub(PARTITION_START);
    let fat = format_volume(dev, PARTITION_START, sectors, options)?;
    dev.write(0, &mbr::table_with(PARTITION_START, sectors, options.serial | 1))?;
    Ok(fat)
}

/// Writes an empty volume of `sectors` sectors from sector `start` on, which have to be all zero.
///
/// # Errors
/// [`FatError::Format`] when the size does not make a FAT32 volume.
pub fn format_volume(
    dev: &mut (impl BlockDevice + ?Sized),
    start: u32,
    sectors: u32,
    options: &FormatOptions,
) -> Result<Fat32, FatError> {
    let cluster_sectors = options.cluster_sectors.unwrap_or_else(|| default_cluster_sectors(sectors));
    if !cluster_sectors.is_power_of_two() || cluster_sectors > 128 {
        let what = format!("a cluster of {cluster_sectors} sectors is not possible");
        return Err(FatError::Format { what, advice: "use 512 bytes to 64 KB, doubling" });
    }
    let Some(Layout { reserved, fat_sectors }) = Layout::new(sectors, cluster_sectors) else {
        let what = format!(
            "{sectors} sectors in clusters of {} bytes do not make a FAT32 volume, which has {MIN_CLUSTERS} to {MAX_CLUSTERS} clusters",
            cluster_sectors * SECTOR as u32
        );
        return Err(FatError::Format { what, advice: "use a larger --size or a smaller --cluster" });
    };
    let label = label_bytes(&options.label);
    let mut boot = [0; SECTOR];
    let mut put = |at: usize, bytes: &[u8]| boot[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0xEB, 0x58, 0x90]);
    put(3, b"MSWIN4.1");
    put(bpb::BYTES_PER_SECTOR, &(SECTOR as u16).to_le_bytes());
    put(bpb::SECTORS_PER_CLUSTER, &cluster_sectors.to_le_bytes()[..1]);
    put(bpb::RESERVED, &reserved.to_le_bytes()[..2]);
    put(bpb::FATS, &[2]);
    put(bpb::MEDIA, &[0xF8]);
    put(bpb::SECTORS_PER_TRACK, &63u16.to_le_bytes());
    put(bpb::HEADS, &255u16.to_le_bytes());
    put(bpb::HIDDEN, &start.to_le_bytes());
    put(bpb::TOTAL_32, &sectors.to_le_bytes());
    put(bpb::FAT_SIZE_32, &fat_sectors.to_le_bytes());
    put(bpb::ROOT_CLUSTER, &ROOT_CLUSTER.to_le_bytes());
    put(bpb::FS_INFO, &FS_INFO.to_le_bytes());
    put(bpb::BACKUP_BOOT, &BACKUP_BOOT.to_le_bytes());
    put(bpb::DRIVE, &[0x80]);
    put(bpb::BOOT_SIGNATURE, &[0x29]);
    put(bpb::SERIAL, &options.serial.to_le_bytes());
    put(bpb::LABEL, label.as_ref().unwrap_or(b"NO NAME    "));
    put(bpb::TYPE, b"FAT32   ");
    put(bpb::SIGNATURE, &[0x55, 0xAA]);
    // The processor stops here if a PC is ever started from the card: jump to itself.
    put(0x5A, &[0xEB, 0xFE]);

    dev.write(start, &boot)?;
    let fat = Fat32::mount(dev, start)?;
    let info = fs_info(fat.clusters - 1, ROOT_CLUSTER + 1);
    for copy in [0, u32::from(BACKUP_BOOT)] {
        dev.write(start + copy, &boot)?;
        dev.write(start + copy + u32::from(FS_INFO), &info)?;
        dev.write(start + copy + 2, &signed_blank())?;
    }
    let mut table = [0; SECTOR];
    for (at, value) in [(0, 0x0FFF_FFF8u32), (4, END_MARK), (8, END_MARK)] {
        table[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    for copy in 0..2 {
        dev.write(fat.fat_start(copy), &table)?;
    }
    if let (Some(short), Some(lba)) = (label, fat.cluster_lba(ROOT_CLUSTER)) {
        let entry = Entry {
            short,
            long: None,
            attributes: attribute::VOLUME,
            nt_case: 0,
            first_cluster: 0,
            size: 0,
            modified: options.stamp.unwrap_or(Stamp::EPOCH),
            location: (lba, 0),
        };
        let mut root = [0; SECTOR];
        root[..32].copy_from_slice(&entry.encode());
        dev.write(lba, &root)?;
    }
    Ok(fat)
}

/// The FSInfo sector: how many clusters are free, and where to begin looking.
pub(super) fn fs_info(free: u32, next: u32) -> [u8; SECTOR] {
    let mut s = signed_blank();
    s[..4].copy_from_slice(b"RRaA");
    s[484..488].copy_from_slice(b"rrAa");
    s[488..492].copy_from_slice(&free.to_le_bytes());
    s[492..496].copy_from_slice(&next.to_le_bytes());
    s
}

/// Free clusters and first place to look, if the sector is an FSInfo sector.
pub(super) fn parse_fs_info(s: &[u8; SECTOR]) -> Option<(u32, u32)> {
    let valid = s[..4] == *b"RRaA" && s[484..488] == *b"rrAa" && s[510..] == [0x55, 0xAA];
    let long = |at: usize| u32::from_le_bytes([s[at], s[at + 1], s[at + 2], s[at + 3]]);
    valid.then(|| (long(488), long(492)))
}

fn signed_blank() -> [u8; SECTOR] {
    let mut s = [0; SECTOR];
    s[510..].copy_from_slice(&[0x55, 0xAA]);
    s
}

/// A label of 11 capitals, digits, `_`, `-` and blanks; `None` when nothing is left.
fn label_bytes(label: &str) -> Option<[u8; 11]> {
    let mut out = [b' '; 11];
    let letters = label.chars().map(|c| c.to_ascii_uppercase()).filter_map(|c| u8::try_from(c).ok());
    let letters = letters.filter(|c| matches!(c, b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b' '));
    for (o, c) in out.iter_mut().zip(letters) {
        *o = c;
    }
    (out != [b' '; 11]).then_some(out)
}
