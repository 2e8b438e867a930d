//! Putting entries into folders.

use super::dir::MAX_SLOTS;
use super::entry::{ENTRY_BYTES, encode_long};
use super::{CardWriter, Entry, FatError, Layout, Run, SlotCursor};
use crate::block::{BlockDevice, read_sector};

enum Places {
    Found { slots: Vec<(u32, u16)>, terminator: Option<(u32, u16)> },
    Grow { last_cluster: u32, seen: u32 },
}

impl<D: BlockDevice> CardWriter<D> {
    /// Writes an entry with its long name into a folder, which grows if need be.
    pub(super) fn enter(&mut self, folder: u32, entry: &Entry, path: &str) -> Result<(), FatError> {
        let mut raw = entry.long.as_ref().map_or_else(Vec::new, |l| encode_long(&l.0, &entry.short));
        raw.push(entry.encode());
        let mut places = self.find_places(folder, raw.len())?;
        if let Places::Grow { last_cluster, seen } = places {
            self.grow(last_cluster, seen, raw.len(), path)?;
            places = self.find_places(folder, raw.len())?;
        }
        let Places::Found { slots, terminator } = places else {
            return Err(FatError::Interrupted);
        };
        for (slot, bytes) in slots.iter().zip(&raw) {
            self.write_slot(*slot, bytes)?;
        }
        match terminator {
            Some(slot) => self.write_slot(slot, &[0; ENTRY_BYTES]),
            None => Ok(()),
        }
    }

    fn write_slot(&mut self, (lba, at): (u32, u16), bytes: &[u8; ENTRY_BYTES]) -> Result<(), FatError> {
        let mut sector = read_sector(&mut self.dev, lba)?;
        if let Some(place) = sector.get_mut(usize::from(at)..usize::from(at) + ENTRY_BYTES) {
            place.copy_from_slice(bytes);
        }
        self.dev.write(lba, &sector)?;
        Ok(())
    }

    /// Looks for `count` free places in a row.
    fn find_places(&mut self, folder: u32, count: usize) -> Result<Places, FatError> {
        let mut cursor = SlotCursor::new(self.fat, folder);
        let mut slots = Vec::new();
        let (mut past_end, mut seen, mut last_cluster) = (false, 0, folder);
        while let Some(slot) = cursor.next(&mut self.dev)? {
            (seen, last_cluster) = (seen + 1, slot.cluster);
            past_end |= slot.is_end();
            if past_end && slots.len() == count {
                // What follows the end may be anything: the place after the new entries has to say "end".
                return Ok(Places::Found { slots, terminator: Some(slot.location) });
            }
            if past_end || slot.is_deleted() {
                slots.push(slot.location);
            } else {
                slots.clear();
            }
            if !past_end && slots.len() == count {
                return Ok(Places::Found { slots, terminator: None });
            }
        }
        Ok(if slots.len() == count {
            Places::Found { slots, terminator: None }
        } else {
            Places::Grow { last_cluster, seen }
        })
    }

    /// Adds clusters to a folder, enough for `count` more places.
    fn grow(&mut self, last: u32, seen: u32, count: usize, path: &str) -> Result<(), FatError> {
        let bytes = u32::try_from(count * ENTRY_BYTES).unwrap_or(u32::MAX);
        let clusters = bytes.div_ceil(self.fat.cluster_bytes());
        let added = u64::from(clusters) * u64::from(self.fat.cluster_bytes()) / ENTRY_BYTES as u64;
        if u64::from(seen) + added > u64::from(MAX_SLOTS) {
            let folder = path.rsplit_once('/').map_or("/", |(f, _)| if f.is_empty() { "/" } else { f });
            return Err(FatError::DirectoryFull { path: folder.to_owned() });
        }
        let mut end = last;
        for _ in 0..clusters {
            let runs = self.allocate(path, 1, Layout::Contiguous)?;
            self.link(&runs)?;
            for run in runs {
                self.blank(run.first)?;
                self.set_entries(Run { first: end, count: 1 }, |_| run.first)?;
                end = run.first;
            }
        }
        Ok(())
    }
}
