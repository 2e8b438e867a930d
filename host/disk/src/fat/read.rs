//! Finding and reading files.

use super::{ChainFault, DirCursor, Entry, Fat32, FatError, Runs};
use crate::block::{BlockDevice, SECTOR};
use std::collections::HashSet;
use std::io::Write;

/// Bytes moved at once when a file is copied.
pub(super) const COPY_BYTES: usize = 1 << 20;

/// The entries of a folder (first cluster 0 is the root), without volume labels, "." and "..".
///
/// # Errors
/// [`FatError`] when the directory is damaged or the device fails.
pub fn dir_entries(
    dev: &mut (impl BlockDevice + ?Sized),
    fat: Fat32,
    first_cluster: u32,
) -> Result<Vec<Entry>, FatError> {
    let mut cursor = DirCursor::new(fat, first_cluster);
    let mut out = Vec::new();
    while let Some(entry) = cursor.next(dev)? {
        if !entry.is_volume_label() && !entry.is_dot() {
            out.push(entry);
        }
    }
    Ok(out)
}

/// Splits a path of the card at its slashes; empty parts do not count.
pub(super) fn path_parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|p| !p.is_empty() && *p != ".").collect()
}

/// Finds a file or folder by its path, by long or short names, upper and lower case being the same.
///
/// # Errors
/// [`FatError::NotFound`], [`FatError::NotADirectory`], or the directory is damaged.
pub fn lookup(dev: &mut (impl BlockDevice + ?Sized), fat: Fat32, path: &str) -> Result<Entry, FatError> {
    let parts = path_parts(path);
    let mut folder = 0;
    for (i, part) in parts.iter().enumerate() {
        let so_far = || format!("/{}", parts.get(..=i).unwrap_or_default().join("/"));
        let found = dir_entries(dev, fat, folder)?.into_iter().find(|e| e.is_named(part));
        let entry = found.ok_or_else(|| FatError::NotFound { path: so_far() })?;
        if i + 1 == parts.len() {
            return Ok(entry);
        }
        if !entry.is_directory() {
            return Err(FatError::NotADirectory { path: so_far() });
        }
        folder = entry.first_cluster;
    }
    Err(FatError::IsADirectory { path: "/".to_owned() })
}

/// Calls `visit` with the path and entry of everything on the card, folders before their content.
///
/// # Errors
/// The first damage met, or what `visit` returns. Folders that contain one another end the walk.
pub fn walk(
    dev: &mut (impl BlockDevice + ?Sized),
    fat: Fat32,
    visit: &mut dyn FnMut(&str, &Entry) -> Result<(), FatError>,
) -> Result<(), FatError> {
    let mut seen = HashSet::from([fat.root]);
    let mut stack = vec![(String::new(), 0u32)];
    while let Some((path, folder)) = stack.pop() {
        let mut inner = Vec::new();
        for entry in dir_entries(dev, fat, folder)? {
            let path = format!("{path}/{}", entry.name());
            visit(&path, &entry)?;
            if entry.is_directory() {
                // A folder at cluster 0 would be the root inside itself.
                let cluster = if entry.first_cluster == 0 { fat.root } else { entry.first_cluster };
                if !seen.insert(cluster) {
                    return Err(FatError::Chain { cluster, sector: fat.fat_entry(cluster).0, fault: ChainFault::Loop });
                }
                inner.push((path, cluster));
            }
        }
        stack.extend(inner.into_iter().rev());
    }
    Ok(())
}

/// Copies the content of a file to `sink`, in pieces, and returns the number of bytes.
///
/// # Errors
/// [`FatError::Chain`] when the chain is damaged or shorter than the file; [`FatError::Sink`].
pub fn copy_file(
    dev: &mut (impl BlockDevice + ?Sized),
    fat: Fat32,
    entry: &Entry,
    sink: &mut dyn Write,
) -> Result<u64, FatError> {
    let mut left = u64::from(entry.size);
    let mut runs = Runs::new(fat, entry.first_cluster);
    let cluster_bytes = fat.cluster_bytes() as usize;
    let limit = u32::try_from(COPY_BYTES / cluster_bytes).unwrap_or(1).max(1);
    let mut buf = vec![0; limit as usize * cluster_bytes];
    let mut last = entry.first_cluster;
    while left > 0 {
        let Some(run) = runs.next(dev, limit)? else {
            let sector = fat.fat_entry(last).0;
            return Err(FatError::Chain { cluster: last, sector, fault: ChainFault::Short(left) });
        };
        let Some(lba) = fat.cluster_lba(run.first) else {
            break;
        };
        let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(run.count as usize * cluster_bytes);
        let (Some(read), true) = (buf.get_mut(..bytes.next_multiple_of(SECTOR)), bytes > 0) else {
            break;
        };
        dev.read(lba, read)?;
        sink.write_all(read.get(..bytes).unwrap_or_default()).map_err(FatError::Sink)?;
        left -= bytes as u64;
        last = run.first + run.count - 1;
    }
    Ok(u64::from(entry.size))
}

/// The content of a file in memory. Memory grows as the file is read, so a wrong size costs nothing.
///
/// # Errors
/// As [`copy_file`].
pub fn read_file(dev: &mut (impl BlockDevice + ?Sized), fat: Fat32, entry: &Entry) -> Result<Vec<u8>, FatError> {
    let mut out = Vec::new();
    copy_file(dev, fat, entry, &mut out)?;
    Ok(out)
}
