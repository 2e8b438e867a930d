//! The block availability map: one bit per block, and a count per track.

use super::image::{D81, DOS_VERSION, Ts};
use super::{DIRECTORY_TRACK, SECTORS, TRACKS};

/// Offsets in both map blocks.
pub(super) mod field {
    pub const VERSION: usize = 2;
    pub const COMPLEMENT: usize = 3;
    pub const ID: usize = 4;
    pub const IO: usize = 6;
    pub const TRACKS: usize = 16;
}
/// Bytes per track: a count and 40 bits.
const TRACK_BYTES: usize = 6;
/// Tracks in one map block.
const TRACKS_PER_BLOCK: u8 = 40;
/// I/O byte of a fresh disk: verify after writing, check sums.
const IO_DEFAULT: u8 = 0xC0;

/// Map block and offset of a track's count.
fn place(track: u8) -> (Ts, usize) {
    let (block, row) =
        if track <= TRACKS_PER_BLOCK { (Ts::BAM_LOW, track - 1) } else { (Ts::BAM_HIGH, track - 1 - TRACKS_PER_BLOCK) };
    (block, field::TRACKS + usize::from(row) * TRACK_BYTES)
}

impl D81 {
    /// Writes both map blocks of an empty disk.
    pub(super) fn format_bam(&mut self, id: [u8; 2]) {
        for (block, link) in [(Ts::BAM_LOW, [DIRECTORY_TRACK, Ts::BAM_HIGH.sector()]), (Ts::BAM_HIGH, [0, 0xFF])] {
            let b = self.block_mut(block);
            b[..2].copy_from_slice(&link);
            b[field::VERSION] = DOS_VERSION;
            b[field::COMPLEMENT] = !DOS_VERSION;
            b[field::ID..field::ID + 2].copy_from_slice(&id);
            b[field::IO] = IO_DEFAULT;
        }
        for track in 1..=TRACKS {
            let (block, at) = place(track);
            let row = &mut self.block_mut(block)[at..at + TRACK_BYTES];
            row.fill(0xFF);
            row[0] = SECTORS;
        }
        for ts in [Ts::HEADER, Ts::BAM_LOW, Ts::BAM_HIGH, Ts::DIRECTORY] {
            self.set_free(ts, false);
        }
    }

    /// Whether the map has this block as free.
    #[must_use]
    pub fn is_free(&self, ts: Ts) -> bool {
        let (block, at) = place(ts.track());
        self.block(block)[at + 1 + usize::from(ts.sector() / 8)] >> (ts.sector() % 8) & 1 == 1
    }

    /// Marks a block and corrects the count of its track.
    pub(super) fn set_free(&mut self, ts: Ts, free: bool) {
        if self.is_free(ts) == free {
            return;
        }
        let (block, at) = place(ts.track());
        let b = self.block_mut(block);
        b[at + 1 + usize::from(ts.sector() / 8)] ^= 1 << (ts.sector() % 8);
        b[at] = if free { b[at].saturating_add(1) } else { b[at].saturating_sub(1) };
    }

    /// Free blocks of a track, as its count says.
    #[must_use]
    pub(super) fn track_count(&self, track: u8) -> u8 {
        let (block, at) = place(track);
        self.block(block)[at]
    }

    /// Free blocks as a drive reports them: the counts of all tracks but 40.
    #[must_use]
    pub fn free_blocks(&self) -> u16 {
        (1..=TRACKS).filter(|&t| t != DIRECTORY_TRACK).map(|t| u16::from(self.track_count(t))).sum()
    }

    /// Where the next block of a file goes, in the order of the 1581's DOS: the first block as near to the
    /// directory as possible, each further one behind the last, then outwards, then on the other side.
    pub(super) fn next_free(&self, last: Option<Ts>) -> Option<Ts> {
        let on_track = |track: u8, from: u8| {
            (from..SECTORS).chain(0..from).filter_map(|s| Ts::new(track, s)).find(|&ts| self.is_free(ts))
        };
        let below = || (1..DIRECTORY_TRACK).rev();
        let above = || DIRECTORY_TRACK + 1..=TRACKS;
        let outward: Vec<u8> = match last {
            None => (1..DIRECTORY_TRACK)
                .zip(above())
                .flat_map(|(d, up)| [DIRECTORY_TRACK - d, up])
                .chain([TRACKS])
                .collect(),
            Some(ts) if ts.track() < DIRECTORY_TRACK => {
                below().filter(|&t| t <= ts.track()).chain(above()).chain(below()).collect()
            }
            Some(ts) => above().filter(|&t| t >= ts.track()).chain(below()).chain(above()).collect(),
        };
        outward.into_iter().find_map(|track| {
            let from = last.filter(|l| l.track() == track).map_or(0, |l| (l.sector() + 1) % SECTORS);
            on_track(track, from)
        })
    }
}
