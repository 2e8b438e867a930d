//! Cards with files.

use ssnail_disk::block::MemDevice;
use ssnail_disk::fat::{CardWriter, FormatOptions, Layout, Stamp};

/// A file for a card.
pub struct File<'a> {
    /// Its path, such as `/SSNAIL/STORY.SSN`.
    pub path: &'a str,
    /// What is in it.
    pub data: &'a [u8],
    /// In one piece, or scattered.
    pub layout: Layout,
}

impl<'a> File<'a> {
    /// A file in one piece.
    pub fn new(path: &'a str, data: &'a [u8]) -> Self {
        Self { path, data, layout: Layout::Contiguous }
    }
}

/// A card with these files, with room for `megabytes` more than FAT32's least size.
pub fn card(files: &[File<'_>]) -> MemDevice {
    const CLUSTER_SECTORS: u32 = 8;
    let options = FormatOptions {
        cluster_sectors: Some(CLUSTER_SECTORS),
        label: "CARD".into(),
        serial: 0x5353_4E4C,
        stamp: None,
    };
    let used: usize = files.iter().map(|f| f.data.len()).sum();
    let sectors = 8192 + 65_600 * CLUSTER_SECTORS + (used / 512) as u32;
    let mut card = CardWriter::format(MemDevice::new(sectors), &options).expect("a size that FAT32 allows");
    for file in files {
        card.add(file.path, file.data.len() as u64, Stamp::EPOCH, &mut &*file.data, file.layout)
            .unwrap_or_else(|e| panic!("{}: {e}", file.path));
    }
    card.finish().expect("memory takes everything")
}
