//! Why a disk could not be read or changed.

use super::{BlockFault, FREE_BLOCKS, IMAGE_BYTES, MAX_ENTRIES, MAX_FILE_BYTES, NameError};

/// Why a disk could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum D81Error {
    /// The file has the wrong size.
    #[error("{found} bytes, expected {IMAGE_BYTES}: this is no D81 image; make one with `ssnail disk create`")]
    Size {
        /// Size of the file.
        found: u64,
    },
    /// A name cannot be stored.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The name is taken.
    #[error("\"{name}\" is on the disk already; give another name with FILE=NAME, or remove it first")]
    Exists {
        /// The name.
        name: String,
    },
    /// No file of that name.
    #[error("\"{name}\" is not on the disk; `ssnail disk list` shows what is")]
    NotFound {
        /// The name.
        name: String,
    },
    /// The entry has no data that could be read as a file.
    #[error("\"{name}\" is {what}, not a file")]
    NotAFile {
        /// The name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// The type of a new file cannot be made here.
    #[error("\"{name}\": files of type {kind} are not written; use PRG, SEQ or USR (DEL for a line without a file)")]
    Type {
        /// The name.
        name: String,
        /// The type.
        kind: String,
    },
    /// The directory has no place left.
    #[error(
        "\"{name}\" is one file too many: a D81 has at most {MAX_ENTRIES} entries, fewer when other files use track 40; use a second disk"
    )]
    DirectoryFull {
        /// The file that does not fit.
        name: String,
    },
    /// The disk is too full.
    #[error("\"{name}\" needs {needed} blocks, the disk has {free} free; remove something or use a second disk")]
    Full {
        /// The file that does not fit.
        name: String,
        /// Blocks needed.
        needed: usize,
        /// Blocks free.
        free: u16,
    },
    /// The file is too large for any D81.
    #[error(
        "\"{name}\" has {bytes} bytes, a D81 holds at most {MAX_FILE_BYTES} ({FREE_BLOCKS} blocks); put it into /SSNAIL on the SD card: `ssnail card install DIR FILE` for a card in this computer, `ssnail card create OUT.img FILE` for an image"
    )]
    TooLarge {
        /// The file.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// The chain of a file is damaged.
    #[error("\"{name}\": {place} {fault}; the file cannot be read whole")]
    Chain {
        /// The file, or the directory.
        name: String,
        /// The block, or the directory entry.
        place: String,
        /// What is wrong.
        fault: BlockFault,
    },
    /// The disk has errors, so it is not changed.
    #[error(
        "the disk has {errors} errors, so it is not changed (first: {first}); `ssnail disk check` lists them; extract what can be read and make a new disk"
    )]
    Damaged {
        /// How many.
        errors: usize,
        /// The first.
        first: String,
    },
}
