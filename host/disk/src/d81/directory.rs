//! The directory: 32 bytes per entry, eight entries per block.

use super::chain::Chain;
use super::image::{D81, Ts};
use super::name::PetsciiName;
use super::{BLOCK_DATA, D81Error};
use std::fmt;

/// Offsets in an entry.
pub(super) mod field {
    pub const TYPE: usize = 2;
    pub const FIRST: usize = 3;
    pub const NAME: usize = 5;
    pub const SIDE: usize = 0x15;
    pub const BLOCKS: usize = 0x1E;
}
/// Bytes in an entry.
pub(super) const ENTRY: usize = 32;
/// Entries in a block.
pub(super) const PER_BLOCK: usize = 8;
/// Bit of the type byte: the file was closed.
pub(super) const CLOSED: u8 = 0x80;
/// Bit of the type byte: not to be removed.
const LOCKED: u8 = 0x40;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileType {
    /// A line in the directory, mostly without a file.
    Del,
    /// A sequential file: text and data.
    Seq,
    /// A program, which begins with its load address.
    Prg,
    /// Sequential, meaning defined by its user.
    Usr,
    /// Records of one length.
    Rel,
    /// A partition: a row of blocks, maybe with a directory of its own.
    Cbm,
    /// A number the DOS does not know.
    Unknown(u8),
}

impl FileType {
    /// From the low bits of the type byte.
    #[must_use]
    pub fn from_byte(byte: u8) -> Self {
        match byte & 0x0F {
            0 => Self::Del,
            1 => Self::Seq,
            2 => Self::Prg,
            3 => Self::Usr,
            4 => Self::Rel,
            5 => Self::Cbm,
            n => Self::Unknown(n),
        }
    }

    /// The low bits of the type byte.
    #[must_use]
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Del => 0,
            Self::Seq => 1,
            Self::Prg => 2,
            Self::Usr => 3,
            Self::Rel => 4,
            Self::Cbm => 5,
            Self::Unknown(n) => n,
        }
    }

    /// From its three letters, in any case.
    #[must_use]
    pub fn from_letters(letters: &str) -> Option<Self> {
        let known = [Self::Del, Self::Seq, Self::Prg, Self::Usr, Self::Rel, Self::Cbm];
        known.into_iter().find(|t| t.to_string().eq_ignore_ascii_case(letters))
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Del => f.pad("DEL"),
            Self::Seq => f.pad("SEQ"),
            Self::Prg => f.pad("PRG"),
            Self::Usr => f.pad("USR"),
            Self::Rel => f.pad("REL"),
            Self::Cbm => f.pad("CBM"),
            Self::Unknown(n) => f.pad(&format!("?{n:X}?")),
        }
    }
}

/// One entry that is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: PetsciiName,
    /// Its type.
    pub kind: FileType,
    /// Whether it was closed; otherwise the listing shows an asterisk.
    pub closed: bool,
    /// Whether it is locked; the listing shows `<`.
    pub locked: bool,
    /// Track and sector of its first block, as stored.
    pub first: (u8, u8),
    /// Track and sector of the side-sector block of a REL file, as stored.
    pub side: (u8, u8),
    /// Blocks, as stored.
    pub blocks: u16,
    /// Directory block and place in it.
    pub slot: (Ts, usize),
}

impl DirEntry {
    /// Decodes a place of the directory; `None` when it is not in use.
    fn decode(block: &[u8], slot: (Ts, usize)) -> Option<Self> {
        let raw = block.get(slot.1 * ENTRY..(slot.1 + 1) * ENTRY)?;
        let kind = raw[field::TYPE];
        if kind == 0 {
            return None;
        }
        let mut name = [0; 16];
        name.copy_from_slice(&raw[field::NAME..field::NAME + 16]);
        Some(Self {
            name: PetsciiName::from_raw(name),
            kind: FileType::from_byte(kind),
            closed: kind & CLOSED != 0,
            locked: kind & LOCKED != 0,
            first: (raw[field::FIRST], raw[field::FIRST + 1]),
            side: (raw[field::SIDE], raw[field::SIDE + 1]),
            blocks: u16::from_le_bytes([raw[field::BLOCKS], raw[field::BLOCKS + 1]]),
            slot,
        })
    }

    /// A line without a file: no blocks and no first block, or of type DEL with no blocks.
    #[must_use]
    pub fn is_divider(&self) -> bool {
        self.blocks == 0 && (self.first == (0, 0) || self.kind == FileType::Del)
    }
}

impl D81 {
    /// The entries in use, in the order of the directory. A damaged directory ends where the damage is.
    #[must_use]
    pub fn entries(&self) -> Vec<DirEntry> {
        Chain::new(self, Ts::DIRECTORY.track(), Ts::DIRECTORY.sector())
            .map_while(Result::ok)
            .flat_map(|ts| (0..PER_BLOCK).filter_map(move |i| DirEntry::decode(self.block(ts), (ts, i))))
            .collect()
    }

    /// The first file of that name; dividers only when there is no file. Upper and lower case are the same.
    ///
    /// # Errors
    /// [`D81Error::NotFound`].
    pub fn find(&self, name: &str) -> Result<DirEntry, D81Error> {
        let mut matching: Vec<DirEntry> = self.entries().into_iter().filter(|e| e.name.is_named(name)).collect();
        let at = matching.iter().position(|e| !e.is_divider()).unwrap_or(0);
        if matching.is_empty() {
            return Err(D81Error::NotFound { name: name.to_owned() });
        }
        Ok(matching.swap_remove(at))
    }

    /// The content of a file.
    ///
    /// # Errors
    /// [`D81Error::NotAFile`] for partitions and dividers, [`D81Error::Chain`] when it is damaged.
    pub fn read(&self, entry: &DirEntry) -> Result<Vec<u8>, D81Error> {
        let name = || entry.name.to_string();
        if entry.kind == FileType::Cbm {
            return Err(D81Error::NotAFile { name: name(), what: "a partition" });
        }
        if entry.is_divider() {
            return Err(D81Error::NotAFile { name: name(), what: "a line of the directory" });
        }
        let mut data = Vec::new();
        for step in Chain::new(self, entry.first.0, entry.first.1) {
            let ts = step.map_err(|(last, fault)| D81Error::Chain { name: name(), place: place(last), fault })?;
            let block = self.block(ts);
            // In the last block, the second byte is the place of the last byte in use.
            let bytes = if block[0] == 0 { usize::from(block[1]).saturating_sub(1) } else { BLOCK_DATA };
            data.extend_from_slice(&block[2..2 + bytes]);
        }
        Ok(data)
    }
}

/// A block, or the directory entry, for messages.
pub(super) fn place(last: Option<Ts>) -> String {
    last.map_or_else(|| "the directory entry".to_owned(), |ts| format!("block {ts}"))
}
