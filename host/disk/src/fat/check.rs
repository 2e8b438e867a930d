//! Checking a whole card.

use super::entry::LongAssembler;
use super::finding::{CheckReport, FatFinding};
use super::format::parse_fs_info;
use super::search::scan;
use super::{Chain, ChainFault, Entry, Fat32, FatError, Link, SlotCursor, upper};
use crate::block::{BlockDevice, SECTOR, read_sector};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Folders inside folders that are followed.
const MAX_DEPTH: usize = 64;
/// Size of a D81, which HYPPO wants exactly.
const D81_BYTES: u32 = crate::d81::IMAGE_BYTES as u32;

/// Checks the FATs, every chain and every folder of a card.
///
/// # Errors
/// [`FatError`] when there is no volume to check, or the device fails. Damage is not an error but a finding.
pub fn check(dev: &mut (impl BlockDevice + ?Sized)) -> Result<CheckReport, FatError> {
    let fat = Fat32::find(dev)?;
    let report = CheckReport { fat, findings: Vec::new(), more: 0, files: 0, folders: 0, free_clusters: 0 };
    let words = (fat.last_cluster() as usize + 1).div_ceil(64);
    let mut checker = Checker { dev, fat, used: vec![0; words], report };
    checker.volume()?;
    checker.folders()?;
    checker.totals()?;
    Ok(checker.report)
}

struct Checker<'a, D: ?Sized> {
    dev: &'a mut D,
    fat: Fat32,
    /// One bit per cluster: belongs to a file or folder seen so far.
    used: Vec<u64>,
    report: CheckReport,
}

/// A chain as far as it could be followed.
#[derive(Default)]
struct Walked {
    clusters: u32,
    pieces: u32,
    whole: bool,
}

struct Folder {
    path: String,
    cluster: u32,
    parent: u32,
    depth: usize,
}

impl<D: BlockDevice + ?Sized> Checker<'_, D> {
    fn volume(&mut self) -> Result<(), FatError> {
        if self.fat.fats != 2 {
            self.report.add(FatFinding::Hyppo("it has one FAT, HYPPO wants two (error $05)"));
        } else if self.fat.active_fat.is_none() {
            self.compare_fats()?;
        }
        if !self.fat.is_large_enough() {
            self.report.add(FatFinding::Hyppo("it has too few clusters for FAT32 (error $06)"));
        }
        let (lba, _) = self.fat.fat_entry(0);
        let first = read_sector(self.dev, lba)?;
        let clean = u32::from_le_bytes([first[4], first[5], first[6], first[7]]);
        if clean & 0x0800_0000 == 0 {
            self.report.add(FatFinding::Dirty);
        }
        Ok(())
    }

    fn compare_fats(&mut self) -> Result<(), FatError> {
        const BATCH: u32 = 256;
        let (mut a, mut b) = (vec![0; BATCH as usize * SECTOR], vec![0; BATCH as usize * SECTOR]);
        let (mut differ, mut at) = (None, 0);
        while at < self.fat.fat_sectors {
            let count = BATCH.min(self.fat.fat_sectors - at);
            let bytes = count as usize * SECTOR;
            let (Some(a), Some(b)) = (a.get_mut(..bytes), b.get_mut(..bytes)) else {
                break;
            };
            self.dev.read(self.fat.fat_start(0) + at, a)?;
            self.dev.read(self.fat.fat_start(1) + at, b)?;
            if a != b {
                for (lba, _) in (self.fat.fat_start(0) + at..)
                    .zip(a.chunks_exact(SECTOR).zip(b.chunks_exact(SECTOR)))
                    .filter(|(_, (a, b))| a != b)
                {
                    differ = Some(differ.map_or((lba, 1), |(first, n)| (first, n + 1)));
                }
            }
            at += count;
        }
        if let Some((first, count)) = differ {
            self.report.add(FatFinding::FatsDiffer { first, count });
        }
        Ok(())
    }

    /// Marks a cluster; false when it was marked already.
    fn mark(&mut self, cluster: u32) -> bool {
        let bit = 1u64 << (cluster % 64);
        match self.used.get_mut(cluster as usize / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    /// Follows and marks a chain.
    fn walk(&mut self, path: &str, first: u32) -> Result<Walked, FatError> {
        let mut chain = Chain::new(self.fat, first);
        let mut out = Walked::default();
        let mut last = 0;
        loop {
            match chain.next(self.dev) {
                Ok(Some(cluster)) => {
                    if !self.mark(cluster) {
                        let path = path.to_owned();
                        let finding = if self.is_in(first, cluster, out.clusters)? {
                            FatFinding::Chain { path, cluster: last, fault: ChainFault::Loop }
                        } else {
                            FatFinding::CrossLink { path, cluster }
                        };
                        self.report.add(finding);
                        return Ok(out);
                    }
                    out.clusters += 1;
                    out.pieces += u32::from(cluster != last.saturating_add(1));
                    last = cluster;
                }
                Ok(None) => {
                    out.whole = true;
                    return Ok(out);
                }
                Err(FatError::Chain { cluster, fault, .. }) => {
                    self.report.add(FatFinding::Chain { path: path.to_owned(), cluster, fault });
                    return Ok(out);
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Whether `wanted` is among the first `count` clusters of a chain.
    fn is_in(&mut self, first: u32, wanted: u32, count: u32) -> Result<bool, FatError> {
        let mut chain = Chain::new(self.fat, first);
        for _ in 0..count {
            match chain.next(self.dev)? {
                Some(c) if c == wanted => return Ok(true),
                Some(_) => {}
                None => break,
            }
        }
        Ok(false)
    }

    fn folders(&mut self) -> Result<(), FatError> {
        let mut stack = Vec::new();
        if self.walk("/", self.fat.root)?.clusters > 0 {
            stack.push(Folder { path: String::new(), cluster: self.fat.root, parent: 0, depth: 0 });
        }
        while let Some(folder) = stack.pop() {
            self.folder(&folder, &mut stack)?;
        }
        Ok(())
    }

    fn folder(&mut self, folder: &Folder, stack: &mut Vec<Folder>) -> Result<(), FatError> {
        let mut cursor = SlotCursor::new(self.fat, folder.cluster);
        let mut long = LongAssembler::default();
        let mut names = HashSet::new();
        let (mut orphans, mut dots) = (0, [None, None]);
        loop {
            let slot = match cursor.next(self.dev) {
                Ok(Some(slot)) if !slot.is_end() => slot,
                Ok(_) => break,
                // The chain itself has been reported; only its length has not.
                Err(FatError::Chain { cluster, fault, .. }) => {
                    if fault == ChainFault::DirectoryTooLong {
                        let path = format!("{}/", folder.path);
                        self.report.add(FatFinding::Chain { path, cluster, fault });
                    }
                    break;
                }
                Err(e) => return Err(e),
            };
            if slot.is_deleted() {
                orphans += u32::from(long.drop_pending());
                continue;
            }
            if slot.is_long_piece() {
                orphans += u32::from(!long.piece(&slot.raw));
                continue;
            }
            let (name, fitting) = long.finish(&slot.raw[..11]);
            orphans += u32::from(!fitting);
            let entry = Entry::decode(&slot.raw, name, slot.location);
            if entry.is_dot() {
                let which = usize::from(entry.short[1] == b'.');
                if let Some(dot) = dots.get_mut(which) {
                    dot.get_or_insert(entry.first_cluster);
                }
            } else if !entry.is_volume_label() {
                self.entry(folder, &entry, &mut names, stack)?;
            }
        }
        orphans += u32::from(long.drop_pending());
        if orphans > 0 {
            self.report.add(FatFinding::OrphanNames { path: format!("{}/", folder.path), count: orphans });
        }
        if folder.depth > 0 {
            let [own, up] = dots;
            for (name, found, expected) in [(".", own, folder.cluster), ("..", up, folder.parent)] {
                // Some systems write the root's own cluster number instead of 0.
                let same = found == Some(expected) || expected == 0 && found == Some(self.fat.root);
                if !same {
                    self.report.add(FatFinding::Dot { path: folder.path.clone(), name, found, expected });
                }
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &Folder,
        entry: &Entry,
        names: &mut HashSet<String>,
        stack: &mut Vec<Folder>,
    ) -> Result<(), FatError> {
        let path = format!("{}/{}", folder.path, entry.name());
        let mut own = HashSet::from([upper(&entry.name()), upper(&entry.short_name())]);
        if own.iter().any(|n| names.contains(n)) {
            self.report.add(FatFinding::Duplicate { path: path.clone() });
        }
        names.extend(own.drain());
        let valid = |&b: &u8| b >= 0x20 && !b"\"*+,./:;<=>?[\\]|".contains(&b) && !b.is_ascii_lowercase() && b != 0x7F;
        if !entry.short.iter().all(valid) || entry.short[0] == b' ' {
            self.report.add(FatFinding::ShortName { path: path.clone(), name: entry.short_name() });
        }
        if entry.is_directory() {
            self.report.folders += 1;
            if !self.fat.contains(entry.first_cluster) {
                self.report.add(FatFinding::NoCluster { path, cluster: entry.first_cluster });
            } else if self.walk(&path, entry.first_cluster)?.clusters > 0 {
                if folder.depth >= MAX_DEPTH {
                    self.report.add(FatFinding::TooDeep { path });
                } else {
                    let parent = if folder.depth == 0 { 0 } else { folder.cluster };
                    stack.push(Folder { path, cluster: entry.first_cluster, parent, depth: folder.depth + 1 });
                }
            }
            return Ok(());
        }
        self.report.files += 1;
        let walked = self.walk(&path, entry.first_cluster)?;
        let expected = entry.size.div_ceil(self.fat.cluster_bytes());
        if walked.whole && walked.clusters != expected {
            let (size, found) = (entry.size, walked.clusters);
            self.report.add(FatFinding::Length { path: path.clone(), size, expected, found });
        }
        if entry.short.ends_with(b"D81") {
            if walked.pieces > 1 {
                self.report.add(FatFinding::Fragmented { path: path.clone(), pieces: walked.pieces });
            }
            if entry.size != D81_BYTES {
                self.report.add(FatFinding::ImageSize { path, size: entry.size });
            }
        }
        Ok(())
    }

    fn totals(&mut self) -> Result<(), FatError> {
        let used = std::mem::take(&mut self.used);
        let is_used = |c: u32| used.get(c as usize / 64).is_some_and(|w| w >> (c % 64) & 1 == 1);
        let (mut free, mut lost) = (0, None);
        scan(self.dev, self.fat, 0, &mut |cluster, link| {
            match link {
                Link::Free => free += 1,
                Link::Bad => {}
                _ if is_used(cluster) => {}
                _ => lost = Some(lost.map_or((cluster, 1), |(first, n)| (first, n + 1))),
            }
            ControlFlow::Continue(())
        })?;
        self.report.free_clusters = free;
        if let Some((first, count)) = lost {
            self.report.add(FatFinding::Lost { first, count });
        }
        if let Some(sector) = self.fat.fs_info {
            match parse_fs_info(&read_sector(self.dev, sector)?) {
                None => self.report.add(FatFinding::NoFsInfo { sector }),
                Some((found, _)) if found != free && found != u32::MAX => {
                    self.report.add(FatFinding::FreeCount { found, expected: free });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}
