//! Looking through the whole FAT.

use super::chain::entry_at;
use super::geometry::FIRST_CLUSTER;
use super::{Fat32, FatError, Link, Run};
use crate::block::{BlockDevice, SECTOR};
use std::ops::ControlFlow;

/// FAT sectors read at once.
const BATCH: u32 = 256;
const ENTRIES: u32 = SECTOR as u32 / 4;

/// Calls `visit` with every cluster from `from` on and what the FAT says about it.
pub(super) fn scan(
    dev: &mut (impl BlockDevice + ?Sized),
    fat: Fat32,
    from: u32,
    visit: &mut dyn FnMut(u32, Link) -> ControlFlow<()>,
) -> Result<(), FatError> {
    let first = from.max(FIRST_CLUSTER);
    let end = fat.clusters + FIRST_CLUSTER;
    let mut buf = vec![0; BATCH as usize * SECTOR];
    let mut cluster = first - first % ENTRIES;
    while cluster < end {
        let count = (end - cluster).div_ceil(ENTRIES).min(BATCH);
        let (lba, _) = fat.fat_entry(cluster);
        let Some(read) = buf.get_mut(..count as usize * SECTOR) else {
            break;
        };
        dev.read(lba, read)?;
        for (c, raw) in (cluster..end).zip(read.chunks_exact(4)) {
            if c >= first && visit(c, fat.link(entry_at(raw, 0))).is_break() {
                return Ok(());
            }
        }
        cluster += count * ENTRIES;
    }
    Ok(())
}

/// What is free on a volume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FreeSpace {
    pub clusters: u32,
    pub largest: u32,
}

/// Counts the free clusters and the longest run of them.
pub(super) fn free_space(dev: &mut (impl BlockDevice + ?Sized), fat: Fat32) -> Result<FreeSpace, FatError> {
    let (mut space, mut run) = (FreeSpace::default(), 0);
    scan(dev, fat, 0, &mut |_, link| {
        run = if link == Link::Free { run + 1 } else { 0 };
        space.clusters += u32::from(link == Link::Free);
        space.largest = space.largest.max(run);
        ControlFlow::Continue(())
    })?;
    Ok(space)
}

/// Counts the free clusters.
///
/// # Errors
/// [`FatError`] when the device fails.
pub fn free_clusters(dev: &mut (impl BlockDevice + ?Sized), fat: Fat32) -> Result<u32, FatError> {
    Ok(free_space(dev, fat)?.clusters)
}

/// The first run of `count` free clusters at or after `from`, or else anywhere.
pub(super) fn find_run(
    dev: &mut (impl BlockDevice + ?Sized),
    fat: Fat32,
    from: u32,
    count: u32,
) -> Result<Option<Run>, FatError> {
    for start in [from, FIRST_CLUSTER] {
        let (mut first, mut have) = (0, 0);
        scan(dev, fat, start, &mut |cluster, link| {
            if link != Link::Free {
                have = 0;
                return ControlFlow::Continue(());
            }
            if have == 0 {
                first = cluster;
            }
            have += 1;
            if have == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if have == count {
            return Ok(Some(Run { first, count }));
        }
        if start <= FIRST_CLUSTER {
            break;
        }
    }
    Ok(None)
}

/// Free clusters in pieces of `piece`, each with a free cluster left behind it, last piece first: the worst
/// that a card can be like. `None` when there is not enough room for that.
pub(super) fn find_scattered(
    dev: &mut (impl BlockDevice + ?Sized),
    fat: Fat32,
    count: u32,
    piece: u32,
) -> Result<Option<Vec<Run>>, FatError> {
    let piece = piece.max(1);
    let (mut runs, mut left, mut skip) = (Vec::<Run>::new(), count, false);
    scan(dev, fat, 0, &mut |cluster, link| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        if link != Link::Free || skip {
            skip = false;
            return ControlFlow::Continue(());
        }
        match runs.last_mut() {
            Some(run) if run.first + run.count == cluster => run.count += 1,
            _ => runs.push(Run { first: cluster, count: 1 }),
        }
        left -= 1;
        skip = runs.last().is_some_and(|r| r.count >= piece);
        ControlFlow::Continue(())
    })?;
    runs.reverse();
    Ok((left == 0).then_some(runs))
}
