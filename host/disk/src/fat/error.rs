//! What can be wrong with a card.

use super::MbrError;
use crate::block::DeviceError;

/// Where a chain of clusters leads instead of to its next cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// The chain starts at or leads to a number that is no cluster.
    #[error("leads to cluster {0}, which the volume does not have")]
    OutOfRange(u32),
    /// A cluster of the chain is marked free.
    #[error("is marked free")]
    Free,
    /// A cluster of the chain is marked bad.
    #[error("is marked bad")]
    Bad,
    /// The chain comes back to a cluster it has passed.
    #[error("leads back into its own chain")]
    Loop,
    /// The chain ends before the file does.
    #[error("is the last one, but the file is {0} bytes longer")]
    Short(u64),
    /// A directory goes on for longer than FAT allows.
    #[error("goes on with a directory of more than 65536 entries")]
    DirectoryTooLong,
}

/// Why a card could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FatError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The partition table is not usable.
    #[error(transparent)]
    Mbr(#[from] MbrError),
    /// A field of the boot sector has a value that cannot be right.
    #[error(
        "boot sector {sector}: {field} is {found}, expected {expected}; this is not a FAT32 volume the MEGA65 can use, format it as FAT32"
    )]
    Boot {
        /// Sector of the device.
        sector: u32,
        /// Name and offset of the field.
        field: &'static str,
        /// Value found.
        found: u64,
        /// What it may be.
        expected: String,
    },
    /// A chain of clusters is damaged.
    #[error(
        "cluster {cluster} (FAT sector {sector}) {fault}; repair the card with fsck.vfat or Windows, or write it anew"
    )]
    Chain {
        /// Cluster whose FAT entry is wrong, or the first cluster that a directory entry names.
        cluster: u32,
        /// Sector of the device with that FAT entry.
        sector: u32,
        /// What is wrong.
        fault: ChainFault,
    },
    /// No such file or folder.
    #[error("{path}: not found on the card; `ssnail card list` shows what is there")]
    NotFound {
        /// Path asked for.
        path: String,
    },
    /// A file where a folder is needed.
    #[error("{path} is a file, a folder is needed")]
    NotADirectory {
        /// Path of the file.
        path: String,
    },
    /// A folder where a file is needed.
    #[error("{path} is a folder, a file is needed")]
    IsADirectory {
        /// Path of the folder.
        path: String,
    },
    /// The name is taken.
    #[error("{path} is already on the card; give another name with FILE=PATH, or write a new card")]
    Exists {
        /// Path that is taken.
        path: String,
    },
    /// The name cannot be stored.
    #[error("\"{name}\" cannot be a name on the card: {reason}; give another with FILE=PATH")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// FAT32 cannot hold a file of this size.
    #[error("{path} has {bytes} bytes, a file on FAT32 has at most 4294967295")]
    TooLarge {
        /// Path on the card.
        path: String,
        /// Size of the file.
        bytes: u64,
    },
    /// Not enough clusters.
    #[error("{path} needs {needed} clusters, the card has {free} free; use a larger --size or leave files out")]
    Full {
        /// Path on the card.
        path: String,
        /// Clusters needed.
        needed: u32,
        /// Clusters free.
        free: u32,
    },
    /// Enough clusters, but not in one piece.
    #[error(
        "{path} needs {needed} clusters in one piece, the largest free piece has {largest} (of {free} free); write the files onto a new card with `ssnail card create`"
    )]
    NoRun {
        /// Path on the card.
        path: String,
        /// Clusters needed.
        needed: u32,
        /// Longest free run.
        largest: u32,
        /// Clusters free.
        free: u32,
    },
    /// A directory has no room and may not grow.
    #[error("the folder {path} has 65536 entries, which is all FAT allows; use another folder")]
    DirectoryFull {
        /// Path of the folder.
        path: String,
    },
    /// The file to copy could not be read, or changed while it was copied.
    #[error("reading the source of {path}: {source}")]
    Source {
        /// Path on the card.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The extracted data could not be written.
    #[error("writing the copy: {0}")]
    Sink(std::io::Error),
    /// The card has errors, so nothing is added to it.
    #[error(
        "the card has {errors} errors, so nothing is added to it (first: {first}); repair it with fsck.vfat or Windows, or write a new one; `ssnail card check` lists them"
    )]
    Damaged {
        /// Number of errors.
        errors: usize,
        /// The first one.
        first: String,
    },
    /// The wanted size or cluster size does not make a FAT32 volume.
    #[error("{what}; {advice}")]
    Format {
        /// What does not fit.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// An earlier failure left the pending changes incomplete.
    #[error("an earlier error interrupted a change; nothing was written, start again")]
    Interrupted,
}
