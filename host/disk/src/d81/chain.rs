//! Chains of blocks.

use super::image::{D81, Ts};
use super::{BLOCK, SECTORS, TRACKS};

/// Where a chain leads instead of to its next block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockFault {
    /// There is no such block.
    #[error("leads to {track}/{sector}, expected track 1 to {TRACKS} and sector 0 to {}", SECTORS - 1)]
    NoSuchBlock {
        /// Track named.
        track: u8,
        /// Sector named.
        sector: u8,
    },
    /// The chain comes back to a block it has passed.
    #[error("leads back into its own chain")]
    Loop,
}

/// Follows a chain of blocks, each once.
#[derive(Debug, Clone)]
pub struct Chain<'a> {
    disk: &'a D81,
    next: Option<(u8, u8)>,
    seen: Vec<bool>,
    last: Option<Ts>,
}

impl<'a> Chain<'a> {
    /// A chain from the block at `track` and `sector` on.
    #[must_use]
    pub fn new(disk: &'a D81, track: u8, sector: u8) -> Self {
        Self { disk, next: Some((track, sector)), seen: vec![false; super::IMAGE_BYTES / BLOCK], last: None }
    }
}

impl Iterator for Chain<'_> {
    /// A block, or the last good one (`None` at the start) and what is wrong with where it leads.
    type Item = Result<Ts, (Option<Ts>, BlockFault)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (track, sector) = self.next.take()?;
        let Some(ts) = Ts::new(track, sector) else {
            return Some(Err((self.last, BlockFault::NoSuchBlock { track, sector })));
        };
        if std::mem::replace(&mut self.seen[ts.index()], true) {
            return Some(Err((self.last, BlockFault::Loop)));
        }
        self.last = Some(ts);
        let block = self.disk.block(ts);
        self.next = (block[0] != 0).then_some((block[0], block[1]));
        Some(Ok(ts))
    }
}
