//! Adding and removing files. The disk is checked before and after; one with errors is left alone.

use super::chain::Chain;
use super::directory::{CLOSED, ENTRY, PER_BLOCK, field};
use super::image::{D81, Ts};
use super::name::PetsciiName;
use super::{BLOCK_DATA, D81Error, DIRECTORY_TRACK, DirEntry, FREE_BLOCKS, FileType, SECTORS};

/// A file as it was put onto the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub name: PetsciiName,
    /// Its type.
    pub kind: FileType,
    /// Its first block; `None` for a line without a file.
    pub first: Option<Ts>,
    /// Its blocks.
    pub blocks: u16,
}

impl D81 {
    /// Adds a file.
    ///
    /// # Errors
    /// [`D81Error`]; the disk is then as it was.
    pub fn add(&mut self, name: &PetsciiName, kind: FileType, data: &[u8]) -> Result<Added, D81Error> {
        if !matches!(kind, FileType::Prg | FileType::Seq | FileType::Usr) {
            return Err(D81Error::Type { name: name.to_string(), kind: kind.to_string() });
        }
        let needed = data.len().div_ceil(BLOCK_DATA).max(1);
        let blocks = match u16::try_from(needed) {
            Ok(blocks) if blocks <= FREE_BLOCKS => blocks,
            _ => return Err(D81Error::TooLarge { name: name.to_string(), bytes: data.len() as u64 }),
        };
        if self.entries().iter().any(|e| !e.is_divider() && e.name.folded() == name.folded()) {
            return Err(D81Error::Exists { name: name.to_string() });
        }
        self.change(|disk, lost| {
            let free = disk.free_blocks();
            let full = || D81Error::Full { name: name.to_string(), needed, free };
            if blocks > free {
                return Err(full());
            }
            let mut chain: Vec<Ts> = Vec::with_capacity(needed);
            for _ in 0..needed {
                let ts = disk.next_free(chain.last().copied()).ok_or_else(full)?;
                disk.set_free(ts, false);
                chain.push(ts);
            }
            // An empty file still has a block, in which no byte is in use.
            let pieces = data.chunks(BLOCK_DATA).chain(data.is_empty().then_some(data));
            let links = chain.iter().skip(1).map(|next| (next.track(), next.sector())).chain([(0, 0)]);
            for ((ts, piece), (track, sector)) in chain.iter().zip(pieces).zip(links) {
                let block = disk.block_mut(*ts);
                block.fill(0);
                let last_byte = u8::try_from(piece.len() + 1).unwrap_or(u8::MAX);
                (block[0], block[1]) = if track == 0 { (0, last_byte) } else { (track, sector) };
                block[2..2 + piece.len()].copy_from_slice(piece);
            }
            let first = chain.first().copied();
            disk.enter(name, kind, first, blocks, lost)?;
            Ok(Added { name: *name, kind, first, blocks })
        })
    }

    /// Adds a line to the directory that is no file.
    ///
    /// # Errors
    /// [`D81Error`]; the disk is then as it was.
    pub fn add_divider(&mut self, name: &PetsciiName) -> Result<Added, D81Error> {
        self.change(|disk, lost| {
            disk.enter(name, FileType::Del, None, 0, lost)?;
            Ok(Added { name: *name, kind: FileType::Del, first: None, blocks: 0 })
        })
    }

    /// Removes a file, or a line of the directory, and frees its blocks. Locked files are removed as well.
    ///
    /// # Errors
    /// [`D81Error`]; the disk is then as it was.
    pub fn remove(&mut self, name: &str) -> Result<DirEntry, D81Error> {
        let entry = self.find(name)?;
        if entry.kind == FileType::Cbm {
            return Err(D81Error::NotAFile { name: entry.name.to_string(), what: "a partition" });
        }
        self.change(|disk, _| {
            let (ts, at) = entry.slot;
            let blocks = disk.blocks_of(&entry).0;
            for block in blocks {
                disk.set_free(block, true);
            }
            disk.block_mut(ts)[at * ENTRY + field::TYPE] = 0;
            Ok(entry)
        })
    }

    /// Makes a change on a copy, which replaces the disk if it is no worse than before. `work` is told which
    /// blocks were lost before.
    fn change<T>(&mut self, work: impl FnOnce(&mut Self, &[Ts]) -> Result<T, D81Error>) -> Result<T, D81Error> {
        let before = self.check();
        before.refuse_errors()?;
        let mut copy = self.clone();
        let result = work(&mut copy, &before.lost)?;
        copy.check().refuse_errors()?;
        *self = copy;
        Ok(result)
    }

    /// Writes an entry into the first place not in use, or into a new block of the directory.
    fn enter(
        &mut self,
        name: &PetsciiName,
        kind: FileType,
        first: Option<Ts>,
        blocks: u16,
        lost: &[Ts],
    ) -> Result<(), D81Error> {
        let directory: Vec<Ts> =
            Chain::new(self, Ts::DIRECTORY.track(), Ts::DIRECTORY.sector()).map_while(Result::ok).collect();
        // A place not in use may be a damaged entry whose blocks are still marked: it is left for repair.
        let repairable =
            |raw: &[u8]| Ts::new(raw[field::FIRST], raw[field::FIRST + 1]).is_some_and(|ts| lost.contains(&ts));
        let unused = directory.iter().flat_map(|&ts| (0..PER_BLOCK).map(move |i| (ts, i))).find(|&(ts, i)| {
            let raw = &self.block(ts)[i * ENTRY..(i + 1) * ENTRY];
            raw[field::TYPE] == 0 && !repairable(raw)
        });
        let (ts, i) = match (unused, directory.last()) {
            (Some(place), _) => place,
            (None, Some(&last)) => (self.grow_directory(last, name)?, 0),
            (None, None) => return Err(D81Error::DirectoryFull { name: name.to_string() }),
        };
        let entry = &mut self.block_mut(ts)[i * ENTRY..(i + 1) * ENTRY];
        // The first two bytes are the link of the block, in its first entry.
        entry[field::TYPE..].fill(0);
        entry[field::TYPE] = CLOSED | kind.to_byte();
        if let Some(first) = first {
            entry[field::FIRST] = first.track();
            entry[field::FIRST + 1] = first.sector();
        }
        entry[field::NAME..field::NAME + 16].copy_from_slice(name.padded());
        entry[field::BLOCKS..field::BLOCKS + 2].copy_from_slice(&blocks.to_le_bytes());
        Ok(())
    }

    fn grow_directory(&mut self, last: Ts, name: &PetsciiName) -> Result<Ts, D81Error> {
        let from = if last.track() == DIRECTORY_TRACK { last.sector() } else { 0 };
        let next = (from..SECTORS)
            .chain(0..from)
            .filter_map(|s| Ts::new(DIRECTORY_TRACK, s))
            .find(|&ts| self.is_free(ts))
            .ok_or_else(|| D81Error::DirectoryFull { name: name.to_string() })?;
        self.set_free(next, false);
        let block = self.block_mut(next);
        block.fill(0);
        block[1] = 0xFF;
        let link = self.block_mut(last);
        (link[0], link[1]) = (next.track(), next.sector());
        Ok(next)
    }
}
