//! Directories: reading entries, comparing names, finding files.

use super::descriptor::{Descriptor, Mode};
use super::options::LongNames;
use super::{Hdos, error, page};
use crate::board::Board;
use crate::cpu::{Bus, Cpu};
use crate::diagnostics::Report;
use ssnail_disk::fat::attribute;

const ENTRY_BYTES: usize = 32;
const SECTOR: usize = 512;
const DELETED: u8 = 0xe5;
const NEVER_USED: u8 = 0;

/// Offsets in a directory entry on the card.
mod raw {
    pub const ATTRIBUTES: usize = 11;
    pub const LONG_KIND: usize = 12;
    pub const CLUSTER_HIGH: usize = 20;
    pub const CLUSTER_LOW: usize = 26;
    pub const SIZE: usize = 28;
}

/// Places that a directory can have, several times over: who looks at more goes round in a circle.
const MAX_PLACES: u32 = 4 * 65_536;

/// First piece of a long name on the card, which is its end.
const LONG_FIRST: u8 = 0x40;
/// Places of the letters in a piece of a long name.
const LONG_AT: [usize; 13] = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];
/// Pieces of which letters are kept.
const LONG_PIECES: usize = 5;

/// Bytes of the entry that programs get.
pub const RECORD_BYTES: usize = 87;

/// Offsets in that entry.
mod record {
    pub const LONG_BYTES: usize = 64;
    pub const LONG_LENGTH: usize = 0x40;
    pub const SHORT: usize = 0x41;
    pub const CLUSTER: usize = 0x4e;
    pub const SIZE: usize = 0x52;
    pub const ATTRIBUTES: usize = 0x56;
}

/// The entry read last, in the form that programs get.
#[derive(Clone, Debug)]
pub(super) struct Entry([u8; RECORD_BYTES]);

impl Default for Entry {
    fn default() -> Self {
        Self([0; RECORD_BYTES])
    }
}

impl Entry {
    fn long(&self) -> &[u8] {
        let length = usize::from(self.0[record::LONG_LENGTH]).min(record::LONG_BYTES);
        &self.0[..length]
    }

    fn has_long(&self) -> bool {
        self.0[record::LONG_LENGTH] != 0
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    pub fn cluster(&self) -> u32 {
        self.word(record::CLUSTER)
    }

    pub fn size(&self) -> u32 {
        self.word(record::SIZE)
    }

    pub fn is_directory(&self) -> bool {
        self.0[record::ATTRIBUTES] & attribute::DIRECTORY != 0
    }

    /// Names that begin with a blank do not count as names.
    fn is_named(&self) -> bool {
        self.has_long() && !matches!(self.0[record::SHORT], 0 | b' ')
    }

    /// Takes a piece of a long name.
    fn add_piece(&mut self, slot: &[u8; ENTRY_BYTES], mode: LongNames) {
        let piece = usize::from(slot[0] & 0x3f).wrapping_sub(1);
        if piece >= LONG_PIECES {
            return;
        }
        let mut end = piece * LONG_AT.len();
        for at in LONG_AT {
            let letter = slot[at];
            if letter == 0 || end == record::LONG_BYTES {
                break;
            }
            self.0[end] = if mode == LongNames::Capitals { letter.to_ascii_uppercase() } else { letter };
            end += 1;
        }
        if slot[0] & LONG_FIRST != 0 {
            self.0[record::LONG_LENGTH] = end as u8;
        }
    }

    /// Takes the entry proper.
    fn fill(&mut self, slot: &[u8; ENTRY_BYTES]) {
        self.0[record::SHORT..record::SHORT + 11].copy_from_slice(&slot[..11]);
        if !self.has_long() {
            self.derive_long(slot);
        }
        let at = record::CLUSTER;
        self.0[at..at + 2].copy_from_slice(&slot[raw::CLUSTER_LOW..raw::CLUSTER_LOW + 2]);
        self.0[at + 2..at + 4].copy_from_slice(&slot[raw::CLUSTER_HIGH..raw::CLUSTER_HIGH + 2]);
        self.0[record::SIZE..record::SIZE + 4].copy_from_slice(&slot[raw::SIZE..raw::SIZE + 4]);
        self.0[record::ATTRIBUTES] = slot[raw::ATTRIBUTES];
    }

    /// The 8.3 name with its dot in place of a long name.
    fn derive_long(&mut self, slot: &[u8; ENTRY_BYTES]) {
        let mut name = Vec::with_capacity(12);
        name.extend(slot[..8].iter().take_while(|&&b| b != b' '));
        name.push(b'.');
        name.extend(slot[8..11].iter().take_while(|&&b| b != b' '));
        if name.last() == Some(&b'.') {
            name.pop();
        }
        self.0[..name.len()].copy_from_slice(&name);
        self.0[name.len()] = 0;
        if slot[8] == b' ' {
            // The blank extension stays behind the dot that is cut off.
            self.0[name.len() + 1] = b' ';
        }
        self.0[record::LONG_LENGTH] = name.len() as u8;
    }
}

impl Hdos {
    /// Opens the current directory; its descriptor becomes the current one.
    pub(super) fn open_directory(&mut self, board: &mut Board) -> Result<(), u8> {
        board.storage.sd_selected = true;
        let start = self.directory;
        *self.claim()? =
            Descriptor { used: true, mode: Mode::Directory, start, cluster: start, ..Descriptor::default() };
        Ok(())
    }

    /// The trap readdir: an entry of descriptor X to page Y. Whether the descriptor is open is not
    /// looked at.
    pub(super) fn read_directory(&mut self, cpu: &Cpu, board: &mut Board) -> Result<(), u8> {
        self.current = cpu.x;
        self.descriptor()?;
        self.next_entry(board)?;
        let start = page(cpu.y)?;
        for (at, byte) in (start..).zip(self.entry.0) {
            board.write(at, byte);
        }
        Ok(())
    }

    /// Reads the next entry of the current descriptor.
    fn next_entry(&mut self, board: &mut Board) -> Result<(), u8> {
        while !self.try_entry(board)? {}
        Ok(())
    }

    /// Looks at the next places up to one that could be an entry; false if it is none.
    fn try_entry(&mut self, board: &mut Board) -> Result<bool, u8> {
        self.entry.0[record::LONG_LENGTH] = 0;
        if self.descriptor()?.mode == Mode::DirectoryEnd {
            return Err(error::END);
        }
        // The sector is read for every place that is looked at, and twice.
        let _ = self.read_current(board);
        if self.descriptor()?.mode == Mode::File {
            return Err(error::NOT_DIRECTORY);
        }
        self.entry = Entry::default();
        self.read_current(board)?;
        board.uncover_sector_buffer();
        let mode = self.options.long_names;
        loop {
            let slot = self.slot(board)?;
            let attributes = slot[raw::ATTRIBUTES];
            let unused = matches!(slot[0], DELETED | NEVER_USED);
            let long = !unused && attributes & attribute::LONG_NAME == attribute::LONG_NAME;
            if long && mode != LongNames::Off && slot[raw::LONG_KIND] == 0 {
                self.entry.add_piece(&slot, mode);
                self.next_slot(board).map_err(|_| error::END)?;
                continue;
            }
            let hidden = attributes & (attribute::HIDDEN | attribute::SYSTEM) != 0 && slot[..11] != *b"..         ";
            if unused || long || attributes & attribute::VOLUME != 0 || hidden {
                self.next_slot(board)?;
                return Ok(false);
            }
            self.entry.fill(&slot);
            return Ok(if self.next_slot(board).is_err() {
                // Told at the next call, with a code of its own.
                self.descriptor()?.mode = Mode::DirectoryEnd;
                true
            } else {
                self.entry.is_named()
            });
        }
    }

    /// The 32 bytes at the current place of the buffer. A directory that goes round in a circle, with
    /// which hardware hangs, ends here.
    fn slot(&mut self, board: &mut Board) -> Result<[u8; ENTRY_BYTES], u8> {
        self.places += 1;
        if self.places > MAX_PLACES {
            board.report(Report::EndlessDirectory, self.directory);
            return Err(error::BAD_CLUSTER);
        }
        let offset = self.descriptor()?.offset;
        let mut slot = [0; ENTRY_BYTES];
        if let Some(bytes) = board.storage.sd_buffer.get(offset..offset + ENTRY_BYTES) {
            slot.copy_from_slice(bytes);
        }
        Ok(slot)
    }

    fn next_slot(&mut self, board: &mut Board) -> Result<(), u8> {
        let place = self.descriptor()?;
        place.offset += ENTRY_BYTES;
        if place.offset < SECTOR {
            return Ok(());
        }
        place.offset = 0;
        self.next_sector(board)?;
        let _ = self.read_current(board);
        Ok(())
    }

    /// Opens the current directory and finds the name in it; the descriptor stays open.
    pub(super) fn find_first(&mut self, board: &mut Board) -> Result<(), u8> {
        self.open_directory(board)?;
        self.find_next(board)
    }

    /// Finds the next entry of the name. Without one the descriptor is closed.
    pub(super) fn find_next(&mut self, board: &mut Board) -> Result<(), u8> {
        loop {
            if let Err(code) = self.next_entry(board) {
                self.close()?;
                // The hypervisor says "not found" for everything; that it does not come back from a silent card is told.
                return Err(if code == error::TIMEOUT { code } else { error::NOT_FOUND });
            }
            let capitals = self.name.iter().map(u8::to_ascii_uppercase);
            if capitals.eq(self.entry.long().iter().copied()) {
                return Ok(());
            }
        }
    }

    pub(super) fn find_file(&mut self, board: &mut Board) -> Result<(), u8> {
        self.find_first(board)?;
        self.close()
    }
}
