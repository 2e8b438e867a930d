//! Adding files to a card.

use super::chain::{END_MARK, ENTRY_MASK, entry_at};
use super::format::{fs_info, parse_fs_info};
use super::geometry::FIRST_CLUSTER;
use super::read::{COPY_BYTES, dir_entries, path_parts};
use super::search::{FreeSpace, find_run, find_scattered, free_space};
use super::{Entry, Fat32, FatError, FormatOptions, LongName, Run, ShortName, Stamp, attribute, check, format_card};
use crate::block::{BlockDevice, Overlay, SECTOR, read_sector};
use std::io::{self, Read};

/// How the clusters of a file are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// One run, or an error. What cards for the MEGA65 want.
    #[default]
    Contiguous,
    /// Pieces of so many clusters with gaps between, in falling order: for testing readers.
    Scattered(u32),
}

/// A file or folder as it was put onto the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its path, with the long name.
    pub path: String,
    /// Its 8.3 name, which HYPPO finds.
    pub short_name: String,
    /// First cluster, 0 for an empty file.
    pub first_cluster: u32,
    /// Number of clusters.
    pub clusters: u32,
}

/// Adds files and folders to a card. Nothing refers to them before [`finish`](Self::finish).
///
/// Data is written at once to clusters that are free; tables and directories are held in memory, and checked
/// before they are written when the card existed before.
#[derive(Debug)]
pub struct CardWriter<D> {
    pub(super) dev: Overlay<D>,
    pub(super) fat: Fat32,
    /// Where the next file is tried first.
    hint: u32,
    free: u32,
    existed: bool,
    intact: bool,
}

impl<D: BlockDevice> CardWriter<D> {
    /// Formats a blank device.
    ///
    /// # Errors
    /// As [`format_card`].
    pub fn format(dev: D, options: &FormatOptions) -> Result<Self, FatError> {
        let mut dev = Overlay::new(dev);
        let fat = format_card(&mut dev, options)?;
        Ok(Self { dev, fat, hint: FIRST_CLUSTER, free: fat.clusters - 1, existed: false, intact: true })
    }

    /// Opens an existing card, which must have no errors.
    ///
    /// # Errors
    /// [`FatError::Damaged`] when [`check`] finds errors, or what keeps the card from being read at all.
    pub fn open(dev: D) -> Result<Self, FatError> {
        let mut dev = Overlay::new(dev);
        let report = check(&mut dev)?;
        report.refuse_errors()?;
        let fat = report.fat;
        let hint = match fat.fs_info {
            Some(lba) => parse_fs_info(&read_sector(&mut dev, lba)?).map_or(FIRST_CLUSTER, |(_, next)| next),
            None => FIRST_CLUSTER,
        };
        let hint = if fat.contains(hint) { hint } else { FIRST_CLUSTER };
        Ok(Self { dev, fat, hint, free: report.free_clusters, existed: true, intact: true })
    }

    /// The volume.
    #[must_use]
    pub fn fat(&self) -> Fat32 {
        self.fat
    }

    /// Clusters still free.
    #[must_use]
    pub fn free_clusters(&self) -> u32 {
        self.free
    }

    /// Makes a folder, and those it is in, where they do not exist.
    ///
    /// # Errors
    /// [`FatError`] when a name on the way is a file or cannot be stored, or the card is full.
    pub fn mkdir(&mut self, path: &str) -> Result<(), FatError> {
        self.usable()?;
        self.folder(&path_parts(path), Stamp::EPOCH).map(|_| ())
    }

    /// Copies `size` bytes of `source` onto the card as `path`; the folders of the path are made.
    ///
    /// # Errors
    /// [`FatError`]; after one that says the source or the size was at fault, or that the card is full, the
    /// writer can go on with other files.
    pub fn add(
        &mut self,
        path: &str,
        size: u64,
        modified: Stamp,
        source: &mut dyn Read,
        layout: Layout,
    ) -> Result<Added, FatError> {
        self.usable()?;
        let parts = path_parts(path);
        let Some((name, folders)) = parts.split_last() else {
            return Err(FatError::IsADirectory { path: path.to_owned() });
        };
        let short_size = u32::try_from(size).map_err(|_| FatError::TooLarge { path: path.to_owned(), bytes: size })?;
        let parent = self.folder(folders, modified)?;
        let full = format!("/{}", parts.join("/"));
        let names = self.names_for(name, parent, &full)?;
        let clusters = short_size.div_ceil(self.fat.cluster_bytes());
        let runs = self.allocate(&full, clusters, layout)?;
        self.copy_in(&full, size, source, &runs)?;
        let first_cluster = runs.first().map_or(0, |r| r.first);
        let entry = Entry {
            short: names.bytes,
            long: names.needs_long.then(|| LongName(name.encode_utf16().collect())),
            attributes: attribute::ARCHIVE,
            nt_case: 0,
            first_cluster,
            size: short_size,
            modified,
            location: (0, 0),
        };
        self.change(|w| {
            w.link(&runs)?;
            w.enter(parent, &entry, &full).inspect_err(|_| w.intact = w.unlink(&runs).is_ok())
        })?;
        if let (Layout::Contiguous, Some(run)) = (layout, runs.last()) {
            self.hint = run.first + run.count;
        }
        Ok(Added { path: full, short_name: entry.short_name(), first_cluster, clusters })
    }

    /// Checks and writes the tables, and gives the device back.
    ///
    /// # Errors
    /// [`FatError`]; when the check found something, nothing was written but data in free clusters.
    pub fn finish(mut self) -> Result<D, FatError> {
        self.usable()?;
        if let Some(lba) = self.fat.fs_info {
            self.dev.write(lba, &fs_info(self.free, self.hint))?;
        }
        if self.existed {
            check(&mut self.dev)?.refuse_errors()?;
        }
        let fat = self.fat;
        self.dev.commit(|lba| match lba {
            lba if Some(lba) == fat.fs_info => 2,
            lba if lba >= fat.data_start() => 1,
            lba if lba >= fat.fat_start(0) => 0,
            _ => 3,
        })?;
        Ok(self.dev.into_base())
    }

    fn usable(&self) -> Result<(), FatError> {
        if self.intact { Ok(()) } else { Err(FatError::Interrupted) }
    }

    /// Runs a change that leaves the pending tables incomplete if it fails, unless it says otherwise.
    fn change<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, FatError>) -> Result<T, FatError> {
        self.intact = false;
        let result = work(self);
        self.intact |= result.is_ok();
        result
    }

    /// First cluster of a folder, 0 for the root; missing ones are made.
    fn folder(&mut self, parts: &[&str], made: Stamp) -> Result<u32, FatError> {
        let mut at = 0;
        let mut path = String::new();
        for part in parts {
            path = format!("{path}/{part}");
            let existing = dir_entries(&mut self.dev, self.fat, at)?.into_iter().find(|e| e.is_named(part));
            at = match existing {
                Some(e) if e.is_directory() => e.first_cluster,
                Some(_) => return Err(FatError::NotADirectory { path }),
                None => self.new_folder(at, part, &path, made)?,
            };
        }
        Ok(at)
    }

    fn new_folder(&mut self, parent: u32, name: &str, path: &str, made: Stamp) -> Result<u32, FatError> {
        let names = self.names_for(name, parent, path)?;
        let runs = self.allocate(path, 1, Layout::Contiguous)?;
        let first_cluster = runs.first().map_or(0, |r| r.first);
        let entry = |short: [u8; 11], first_cluster| Entry {
            short,
            long: None,
            attributes: attribute::DIRECTORY,
            nt_case: 0,
            first_cluster,
            size: 0,
            modified: made,
            location: (0, 0),
        };
        let mut own = entry(names.bytes, first_cluster);
        own.long = names.needs_long.then(|| LongName(name.encode_utf16().collect()));
        let up = if parent == self.fat.root { 0 } else { parent };
        self.change(|w| {
            w.link(&runs)?;
            w.blank(first_cluster)?;
            if let Some(lba) = w.fat.cluster_lba(first_cluster) {
                let mut sector = [0; SECTOR];
                sector[..32].copy_from_slice(&entry(*b".          ", first_cluster).encode());
                sector[32..64].copy_from_slice(&entry(*b"..         ", up).encode());
                w.dev.write(lba, &sector)?;
            }
            w.enter(parent, &own, path).inspect_err(|_| w.intact = w.unlink(&runs).is_ok())
        })?;
        self.hint = first_cluster + 1;
        Ok(first_cluster)
    }

    /// The names for a new entry of a folder, which must not have it yet.
    fn names_for(&mut self, name: &str, parent: u32, path: &str) -> Result<ShortName, FatError> {
        let entries = dir_entries(&mut self.dev, self.fat, parent)?;
        if entries.iter().any(|e| e.is_named(name)) {
            return Err(FatError::Exists { path: path.to_owned() });
        }
        ShortName::for_name(name, &|short| entries.iter().any(|e| e.short == *short))
    }

    pub(super) fn allocate(&mut self, path: &str, clusters: u32, layout: Layout) -> Result<Vec<Run>, FatError> {
        if clusters == 0 {
            return Ok(Vec::new());
        }
        let runs = match layout {
            Layout::Contiguous => find_run(&mut self.dev, self.fat, self.hint, clusters)?.map(|r| vec![r]),
            Layout::Scattered(piece) => find_scattered(&mut self.dev, self.fat, clusters, piece)?,
        };
        if let Some(runs) = runs {
            return Ok(runs);
        }
        let FreeSpace { clusters: free, largest } = free_space(&mut self.dev, self.fat)?;
        let (path, needed) = (path.to_owned(), clusters);
        Err(if free < needed {
            FatError::Full { path, needed, free }
        } else {
            FatError::NoRun { path, needed, largest, free }
        })
    }

    /// Streams the data into free clusters. The source has to have exactly `size` bytes.
    fn copy_in(&mut self, path: &str, size: u64, source: &mut dyn Read, runs: &[Run]) -> Result<(), FatError> {
        let failed = |source| FatError::Source { path: path.to_owned(), source };
        let chunk = COPY_BYTES as u64;
        let mut buf = vec![0; COPY_BYTES];
        let mut left = size;
        for run in runs {
            let Some(mut lba) = self.fat.cluster_lba(run.first) else {
                return Err(FatError::Interrupted);
            };
            let mut room = u64::from(run.count) * u64::from(self.fat.cluster_bytes());
            while room > 0 && left > 0 {
                let bytes = usize::try_from(left.min(room).min(chunk)).unwrap_or(COPY_BYTES);
                let padded = bytes.next_multiple_of(SECTOR);
                let Some(piece) = buf.get_mut(..padded) else {
                    return Err(FatError::Interrupted);
                };
                let (data, padding) = piece.split_at_mut(bytes);
                source.read_exact(data).map_err(|e| {
                    failed(match e.kind() {
                        io::ErrorKind::UnexpectedEof => {
                            io::Error::other(format!("it ended {left} bytes early; it changed while it was copied"))
                        }
                        _ => e,
                    })
                })?;
                padding.fill(0);
                self.dev.write_through(lba, piece)?;
                lba += u32::try_from(padded / SECTOR).unwrap_or(0);
                left -= bytes as u64;
                room = room.saturating_sub(padded as u64);
            }
        }
        match source.read(&mut [0]).map_err(failed)? {
            0 => Ok(()),
            _ => {
                Err(failed(io::Error::other(format!("it has more than {size} bytes; it changed while it was copied"))))
            }
        }
    }

    /// Writes the chain of these runs into the FATs.
    pub(super) fn link(&mut self, runs: &[Run]) -> Result<(), FatError> {
        let after = runs.iter().skip(1).map(|r| r.first).chain([END_MARK]);
        for (run, after) in runs.iter().zip(after) {
            let last = run.first + run.count - 1;
            self.set_entries(*run, |c| if c == last { after } else { c + 1 })?;
            self.free = self.free.saturating_sub(run.count);
        }
        Ok(())
    }

    fn unlink(&mut self, runs: &[Run]) -> Result<(), FatError> {
        for run in runs {
            self.set_entries(*run, |_| 0)?;
            self.free += run.count;
        }
        Ok(())
    }

    /// Sets the FAT entries of a run, a sector at a time, in every copy that is kept.
    pub(super) fn set_entries(&mut self, run: Run, value: impl Fn(u32) -> u32) -> Result<(), FatError> {
        let end = run.first + run.count;
        let mut cluster = run.first;
        while cluster < end {
            let (lba, _) = self.fat.fat_entry(cluster);
            let mut sector = read_sector(&mut self.dev, lba)?;
            while cluster < end && self.fat.fat_entry(cluster).0 == lba {
                let (_, at) = self.fat.fat_entry(cluster);
                let kept = entry_at(&sector, at) & !ENTRY_MASK;
                sector[at..at + 4].copy_from_slice(&(kept | value(cluster) & ENTRY_MASK).to_le_bytes());
                cluster += 1;
            }
            let offset = lba - self.fat.fat_start(self.fat.active_fat.unwrap_or(0));
            for copy in self.fat.written_fats() {
                self.dev.write(self.fat.fat_start(copy) + offset, &sector)?;
            }
        }
        Ok(())
    }

    /// Fills a cluster with zeros.
    pub(super) fn blank(&mut self, cluster: u32) -> Result<(), FatError> {
        if let Some(lba) = self.fat.cluster_lba(cluster) {
            self.dev.write(lba, &vec![0; self.fat.cluster_bytes() as usize])?;
        }
        Ok(())
    }
}
