//! Chains of clusters in the FAT.

use super::{ChainFault, Fat32, FatError};
use crate::block::{BlockDevice, SECTOR, read_sector};

/// What a FAT entry says about its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Not in use.
    Free,
    /// In use, this cluster follows. The number has been checked.
    Next(u32),
    /// In use, the last of its chain.
    End,
    /// Not to be used.
    Bad,
    /// In use, but the number that follows is no cluster.
    Invalid(u32),
}

/// Lowest value that marks the end of a chain; the specification reserves it and all above.
const END: u32 = 0x0FFF_FFF8;
const BAD: u32 = 0x0FFF_FFF7;
/// Value written at the end of a chain.
pub(super) const END_MARK: u32 = 0x0FFF_FFFF;
/// The bits of an entry that belong to the chain; the others are kept as they are.
pub(super) const ENTRY_MASK: u32 = 0x0FFF_FFFF;

impl Fat32 {
    /// Meaning of the value of a FAT entry.
    #[must_use]
    pub fn link(&self, value: u32) -> Link {
        match value & ENTRY_MASK {
            0 => Link::Free,
            BAD => Link::Bad,
            n if n >= END => Link::End,
            n if self.contains(n) => Link::Next(n),
            n => Link::Invalid(n),
        }
    }

    /// Reads the FAT entry of `cluster`, as HYPPO does at each cluster boundary.
    ///
    /// # Errors
    /// [`FatError`] when `cluster` is no cluster, or the device fails.
    pub fn read_link(&self, dev: &mut (impl BlockDevice + ?Sized), cluster: u32) -> Result<Link, FatError> {
        let (sector, at) = self.fat_entry(cluster);
        if !self.contains(cluster) {
            return Err(FatError::Chain { cluster, sector, fault: ChainFault::OutOfRange(cluster) });
        }
        Ok(self.link(entry_at(&read_sector(dev, sector)?, at)))
    }
}

/// The 32-bit entry at byte `at` of a FAT sector.
pub(super) fn entry_at(sector: &[u8], at: usize) -> u32 {
    match sector.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Follows a chain, one cluster per step, and stops with an error where it is damaged or runs in a circle.
#[derive(Debug, Clone)]
pub struct Chain {
    fat: Fat32,
    state: State,
    /// Brent's cycle search: a cluster passed earlier, renewed at growing distances.
    mark: u32,
    steps: u64,
    renew_at: u64,
    sector: Option<(u32, Box<[u8; SECTOR]>)>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// This cluster is to be returned next.
    At(u32),
    /// This cluster has been returned; its link is to be read.
    After(u32),
    Done,
}

impl Chain {
    /// A chain from `first` on. Cluster 0, which stands for "no data" in a directory entry, is an empty chain.
    #[must_use]
    pub fn new(fat: Fat32, first: u32) -> Self {
        let state = if first == 0 { State::Done } else { State::At(first) };
        Self { fat, state, mark: 0, steps: 0, renew_at: 1, sector: None }
    }

    /// The next cluster, or `None` at the end. After an error the chain has ended.
    ///
    /// # Errors
    /// [`FatError::Chain`] names the cluster where the chain is damaged.
    pub fn next(&mut self, dev: &mut (impl BlockDevice + ?Sized)) -> Result<Option<u32>, FatError> {
        let state = std::mem::replace(&mut self.state, State::Done);
        let cluster = match state {
            State::Done => return Ok(None),
            State::At(first) if self.fat.contains(first) => first,
            State::At(first) => return Err(self.fault(first, ChainFault::OutOfRange(first))),
            State::After(last) => match self.link_of(dev, last)? {
                Link::End => return Ok(None),
                Link::Next(n) => n,
                Link::Free => return Err(self.fault(last, ChainFault::Free)),
                Link::Bad => return Err(self.fault(last, ChainFault::Bad)),
                Link::Invalid(n) => return Err(self.fault(last, ChainFault::OutOfRange(n))),
            },
        };
        if cluster == self.mark {
            return Err(self.fault(cluster, ChainFault::Loop));
        }
        if self.steps == self.renew_at {
            self.mark = cluster;
            self.renew_at *= 2;
            self.steps = 0;
        }
        if self.mark == 0 {
            self.mark = cluster;
        }
        self.steps += 1;
        self.state = State::After(cluster);
        Ok(Some(cluster))
    }

    fn link_of(&mut self, dev: &mut (impl BlockDevice + ?Sized), cluster: u32) -> Result<Link, FatError> {
        let (lba, at) = self.fat.fat_entry(cluster);
        let sector = match self.sector.take() {
            Some((have, sector)) if have == lba => sector,
            _ => Box::new(read_sector(dev, lba)?),
        };
        let link = self.fat.link(entry_at(sector.as_slice(), at));
        self.sector = Some((lba, sector));
        Ok(link)
    }

    fn fault(&self, cluster: u32, fault: ChainFault) -> FatError {
        FatError::Chain { cluster, sector: self.fat.fat_entry(cluster).0, fault }
    }
}

/// Clusters that follow one another on the card and in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// First cluster.
    pub first: u32,
    /// Number of clusters.
    pub count: u32,
}

/// Follows a chain in runs as long as possible.
#[derive(Debug)]
pub struct Runs {
    chain: Chain,
    ahead: Option<Result<u32, FatError>>,
}

impl Runs {
    /// The runs of the chain from `first` on.
    #[must_use]
    pub fn new(fat: Fat32, first: u32) -> Self {
        Self { chain: Chain::new(fat, first), ahead: None }
    }

    /// The next run of at most `limit` clusters, or `None` at the end.
    ///
    /// # Errors
    /// As [`Chain::next`]; the clusters before the damage have been returned already.
    pub fn next(&mut self, dev: &mut (impl BlockDevice + ?Sized), limit: u32) -> Result<Option<Run>, FatError> {
        let first = match self.ahead.take() {
            Some(ahead) => ahead?,
            None => match self.chain.next(dev)? {
                Some(cluster) => cluster,
                None => return Ok(None),
            },
        };
        let mut run = Run { first, count: 1 };
        while run.count < limit {
            match self.chain.next(dev) {
                Ok(Some(c)) if Some(c) == first.checked_add(run.count) => run.count += 1,
                Ok(None) => break,
                Ok(Some(c)) => {
                    self.ahead = Some(Ok(c));
                    break;
                }
                Err(e) => {
                    self.ahead = Some(Err(e));
                    break;
                }
            }
        }
        Ok(Some(run))
    }
}
