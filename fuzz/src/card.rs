//! FAT32 cards with damage in tables and directories: read, checked, written.

use crate::patch::{Patch, patches};
use ssnail_disk::block::{BlockDevice, MemDevice, SECTOR};
use ssnail_disk::fat::{
    CardWriter, Fat32, FormatOptions, Layout, Stamp, check, dir_entries, lookup, partitions, read_file, walk,
};
use std::ops::Range;
use std::sync::LazyLock;

/// Sectors in a cluster of the sample.
const CLUSTER: u32 = 2;

/// A card with folders, long names, scattered files and a disk image.
pub static CARD: LazyLock<MemDevice> = LazyLock::new(|| {
    let options =
        FormatOptions { cluster_sectors: Some(CLUSTER), label: "CARD".into(), serial: 0x1234_5678, stamp: None };
    let blank = MemDevice::new(4096 + 2048 + 65_600 * CLUSTER);
    let made = CardWriter::format(blank, &options).and_then(|mut card| {
        for i in 0..6u8 {
            let content = vec![i; 900 * usize::from(i)];
            let path = format!("/SSNAIL/a long name {i}.ssnail");
            card.add(&path, content.len() as u64, Stamp::EPOCH, &mut &content[..], Layout::Scattered(1))?;
        }
        card.add("/A", 5000, Stamp::EPOCH, &mut &[1u8; 5000][..], Layout::Contiguous)?;
        let disk = vec![2u8; 819_200];
        card.add("/A.D81", disk.len() as u64, Stamp::EPOCH, &mut &disk[..], Layout::Contiguous)?;
        card.finish()
    });
    made.unwrap_or_default()
});

/// The bytes that matter: partition table, boot sector, the front of both FATs, directories.
static REGIONS: LazyLock<Vec<Range<usize>>> = LazyLock::new(|| {
    let Ok(fat) = Fat32::find(&mut CARD.clone()) else { return Vec::new() };
    let sectors = |start: u32, count: usize| start as usize * SECTOR..(start as usize + count) * SECTOR;
    let table = fat.start() + fat.reserved_sectors();
    vec![
        sectors(0, 1),
        sectors(fat.start(), 2),
        sectors(table, 1),
        sectors(table + fat.fat_sectors(), 1),
        sectors(fat.data_start(), 8),
        sectors(fat.data_start(), 64),
    ]
});

/// The sample with damage.
pub fn damaged(data: &[u8]) -> MemDevice {
    let mut card = CARD.clone();
    for Patch { at, bytes } in patches(data, &REGIONS) {
        let (lba, at) = ((at / SECTOR) as u32, at % SECTOR);
        let mut sector = [0; SECTOR];
        if card.read(lba, &mut sector).is_ok() {
            sector.iter_mut().skip(at).zip(&bytes).for_each(|(to, from)| *to = *from);
            let _ = card.write(lba, &sector);
        }
    }
    card
}

pub fn run(data: &[u8]) {
    let mut card = damaged(data);
    let _ = partitions(&mut card);
    let Ok(fat) = Fat32::find(&mut card) else { return };
    let _ = dir_entries(&mut card, fat, 0);
    let mut files = Vec::new();
    let walked = walk(&mut card, fat, &mut |_, entry| {
        files.push(entry.clone());
        Ok(())
    });
    let whole = check(&mut card).is_ok_and(|report| report.errors().next().is_none());
    for entry in files.iter().filter(|e| e.is_file()) {
        let content = read_file(&mut card, fat, entry);
        if whole && walked.is_ok() {
            assert!(content.is_ok_and(|c| c.len() == entry.size as usize), "the check found nothing wrong");
        }
    }
    let _ = lookup(&mut card, fat, "/SSNAIL/A LONG NAME 3.SSNAIL");
    let Ok(mut writer) = CardWriter::open(card) else { return };
    let added = writer.add("/SSNAIL/NEW/FILE.SSN", 3000, Stamp::EPOCH, &mut &[9u8; 3000][..], Layout::Scattered(1));
    if added.is_ok()
        && let Ok(mut card) = writer.finish()
        && whole
    {
        let report = check(&mut card);
        assert!(report.is_ok_and(|r| r.errors().next().is_none()), "writing damaged a card that was whole");
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    // Each region with each kind of number at some places where tables have theirs.
    let mut seeds = vec![vec![]];
    for region in 0..6u8 {
        for at in [0u16, 8, 11, 13, 14, 26, 32, 36, 44, 446, 454, 458, 510] {
            let [low, high] = at.to_le_bytes();
            seeds.push([&[region, low, high, 3][..], &[0xFF, 0xFF, 0xFF, 0x0F]].concat());
            seeds.push([&[region, low, high, 3][..], &[2, 0, 0, 0]].concat());
        }
    }
    seeds
}
