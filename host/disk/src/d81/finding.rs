//! What a check of a disk can find.

use super::{BlockFault, D81Error, IMAGE_BYTES, Ts};
use crate::Severity;

/// Something on a disk that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum D81Finding {
    /// A chain is damaged.
    #[error("\"{name}\": {place} {fault}")]
    Chain {
        /// The file, or "the directory".
        name: String,
        /// The block, or the directory entry.
        place: String,
        /// What is wrong.
        fault: BlockFault,
    },
    /// Two files share a block.
    #[error("\"{name}\": block {ts} belongs to {other} as well (cross-link)")]
    CrossLink {
        /// The second of the two.
        name: String,
        /// The first shared block.
        ts: Ts,
        /// The first of the two.
        other: String,
    },
    /// Blocks in use that the map has as free.
    #[error("{count} blocks in use are marked free, first {first}: writing would destroy files")]
    UsedButFree {
        /// The first of them.
        first: Ts,
        /// How many.
        count: u32,
    },
    /// The count of a track and its bits differ.
    #[error("the map counts {found} free blocks on track {track}, its bits say {expected}")]
    TrackCount {
        /// The track.
        track: u8,
        /// The count.
        found: u8,
        /// Bits set.
        expected: u8,
    },
    /// A map block without its mark.
    #[error("map block {ts}: bytes 2 and 3 are {found:02X?}, expected [44, BB]")]
    MapVersion {
        /// The block.
        ts: Ts,
        /// What is there.
        found: [u8; 2],
    },
    /// A map or header block that links elsewhere.
    #[error("block {ts} links to {}/{}, expected {}/{}", found.0, found.1, expected.0, expected.1)]
    Link {
        /// The block.
        ts: Ts,
        /// Where it links.
        found: (u8, u8),
        /// Where it should link.
        expected: (u8, u8),
    },
    /// The header does not say DOS version "D".
    #[error("header block 40/0: the DOS version is ${found:02X}, expected $44; drives refuse to write")]
    DosVersion {
        /// What it says.
        found: u8,
    },
    /// Blocks marked used that belong to nothing.
    #[error("{count} blocks are marked used but belong to no file (lost), first {first}")]
    Lost {
        /// The first of them.
        first: Ts,
        /// How many.
        count: u32,
    },
    /// The blocks of a file are counted wrongly.
    #[error("\"{name}\": the directory says {found} blocks, counted {expected}")]
    BlockCount {
        /// The file.
        name: String,
        /// What the directory says.
        found: u16,
        /// What was counted.
        expected: u16,
    },
    /// A last block that names a place before its data.
    #[error("\"{name}\": last block {ts} has its last byte at 0, expected 1 (none) to 255; read as empty")]
    LastByte {
        /// The file.
        name: String,
        /// The block.
        ts: Ts,
    },
    /// A file that was never closed.
    #[error("\"{name}\" was not closed; its end may be missing")]
    Unclosed {
        /// The file.
        name: String,
    },
    /// A type the DOS does not know.
    #[error("\"{name}\" has the unknown type {kind}")]
    UnknownType {
        /// The file.
        name: String,
        /// Its number.
        kind: u8,
    },
    /// Two files of one name: only the first can be loaded.
    #[error("\"{name}\" is there twice; only the first can be loaded")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The image has status bytes behind the blocks.
    #[error("822400 bytes: status bytes follow the blocks, MOUNT needs {IMAGE_BYTES} (error $8A)")]
    Status,
}

impl D81Finding {
    /// Errors are damage: data is lost or will be by writing. Warnings are not.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::Chain { .. }
            | Self::CrossLink { .. }
            | Self::UsedButFree { .. }
            | Self::TrackCount { .. }
            | Self::MapVersion { .. }
            | Self::DosVersion { .. } => Severity::Error,
            Self::Link { .. }
            | Self::Lost { .. }
            | Self::BlockCount { .. }
            | Self::LastByte { .. }
            | Self::Unclosed { .. }
            | Self::UnknownType { .. }
            | Self::Duplicate { .. }
            | Self::Status => Severity::Warning,
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct D81Report {
    /// What is wrong.
    pub findings: Vec<D81Finding>,
    /// Files, without the lines that are none.
    pub files: u32,
    /// Free blocks as a drive reports them.
    pub free_blocks: u16,
    /// Blocks marked used that belong to nothing.
    pub lost: Vec<Ts>,
}

impl D81Report {
    /// The findings that are damage.
    pub fn errors(&self) -> impl Iterator<Item = &D81Finding> {
        self.findings.iter().filter(|f| f.severity() == Severity::Error)
    }

    /// Turns errors into a refusal.
    pub(super) fn refuse_errors(&self) -> Result<(), D81Error> {
        match self.errors().next() {
            Some(first) => Err(D81Error::Damaged { errors: self.errors().count(), first: first.to_string() }),
            None => Ok(()),
        }
    }
}
