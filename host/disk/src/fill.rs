//! Putting files of the host onto cards and disks.

use crate::block::BlockDevice;
use crate::d81::{self, D81, D81Error, MAX_FILE_BYTES};
use crate::fat::{Added, CardWriter, FatError, Layout};
use crate::source::{self, Counted, SourceError};
use crate::spec::{CardItem, DiskItem};
use std::io::Read;
use std::path::PathBuf;

/// Why a file did not get onto a card or disk.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The file cannot be taken.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The card does not take it.
    #[error("{}: {source}", file.display())]
    Card {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: FatError,
    },
    /// The disk does not take it.
    #[error("{}: {source}", file.display())]
    Disk {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: D81Error,
    },
}

/// Copies a file onto a card; `progress` gets the bytes of each step. Returns what to tell the user besides.
///
/// # Errors
/// [`FillError`] names the file.
pub fn add_to_card<D: BlockDevice>(
    card: &mut CardWriter<D>,
    item: &CardItem,
    progress: &mut dyn FnMut(u64),
) -> Result<(Added, Option<String>), FillError> {
    let source = source::open(&item.file)?;
    let mut data = Counted::new(&source.file, progress);
    let added = card
        .add(&item.path, source.size, source.modified.into(), &mut data, Layout::Contiguous)
        .map_err(|source| FillError::Card { file: item.file.clone(), source })?;
    Ok((added, source.warning))
}

/// Copies a file onto a disk, or adds a line to its directory.
///
/// # Errors
/// [`FillError`] names the file.
pub fn add_to_disk(disk: &mut D81, item: &DiskItem) -> Result<d81::Added, FillError> {
    let file = item.file.clone().unwrap_or_else(|| PathBuf::from(format!("={}", item.name)));
    let failed = |source| FillError::Disk { file: file.clone(), source };
    if item.file.is_none() {
        return disk.add_divider(&item.name).map_err(failed);
    }
    let mut source = source::open(&file)?;
    // Told from the size alone, before a large model is read.
    if source.size > MAX_FILE_BYTES as u64 {
        return Err(failed(D81Error::TooLarge { name: item.name.to_string(), bytes: source.size }));
    }
    let mut data = Vec::new();
    source
        .file
        .by_ref()
        .take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut data)
        .map_err(|source| SourceError::Io { file: file.clone(), source })?;
    disk.add(&item.name, item.kind, &data).map_err(failed)
}
