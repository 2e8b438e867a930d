//! FAT32 on a partitioned card: reading any valid one, writing ones that the MEGA65 likes.
//!
//! [`Fat32`] is the shape of a volume, a plain value; every function takes the device beside it, so a card can
//! belong to an emulated controller and be read as a file system at the same time. Nothing is cached between
//! calls, apart from the one FAT sector a [`Chain`] holds.
//!
//! Rules from Microsoft's FAT specification 1.03, narrowed to what HYPPO accepts: 512-byte sectors, FAT32 in
//! one of four MBR partitions. Reading takes one FAT or two; HYPPO wants two, see [`Fat32::fats`].

mod chain;
mod check;
mod dir;
mod enter;
mod entry;
mod error;
mod finding;
mod format;
mod geometry;
mod mbr;
mod name;
mod read;
mod search;
mod writer;

pub use chain::{Chain, Link, Run, Runs};
pub use check::check;
pub use dir::{DirCursor, Slot, SlotCursor};
pub use entry::{Entry, LongName, Stamp, attribute, short_name_text};
pub use error::{ChainFault, FatError};
pub use finding::{CheckReport, FatFinding};
pub use format::{FormatOptions, default_cluster_sectors, format_card, format_volume};
pub use geometry::Fat32;
pub use mbr::{MbrError, Partition, kind, partitions};
pub use name::{ShortName, card_name_from_host, check_long_name, upper};
pub use read::{copy_file, dir_entries, lookup, read_file, walk};
pub use search::free_clusters;
pub use writer::{Added, CardWriter, Layout};
