//! D81 images: the 3.5" disks of the Commodore 1581 and of the MEGA65.
//!
//! 80 tracks of 40 blocks of 256 bytes; track 40 has the header (40/0), the block availability map (40/1 and
//! 40/2) and the directory (40/3 on). A file is a chain of blocks, each of which begins with the track and
//! sector of the next. An image is small, so it is held in memory and written back as a whole.

mod add;
mod bam;
mod chain;
mod check;
mod demo;
mod directory;
mod error;
mod finding;
mod image;
mod name;

pub use add::Added;
pub use chain::{BlockFault, Chain};
pub use demo::{DemoDisk, Source, autoboot_program, demo_disk};
pub use directory::{DirEntry, FileType};
pub use error::D81Error;
pub use finding::{D81Finding, D81Report};
pub use image::{D81, Ts};
pub use name::{NameError, NameUse, PetsciiName, name_from_host};

/// Bytes of an image.
pub const IMAGE_BYTES: usize = 819_200;
/// Bytes of an image with one status byte per block behind it, as some tools write.
pub const IMAGE_BYTES_WITH_STATUS: usize = 822_400;
/// Tracks, numbered from 1.
pub const TRACKS: u8 = 80;
/// Blocks per track, numbered from 0.
pub const SECTORS: u8 = 40;
/// Bytes in a block.
pub const BLOCK: usize = 256;
/// Bytes of a file in a block.
pub const BLOCK_DATA: usize = 254;
/// The track of header, map and directory.
pub const DIRECTORY_TRACK: u8 = 40;
/// Blocks that an empty disk reports as free: all but track 40.
pub const FREE_BLOCKS: u16 = 3160;
/// Most entries in the directory.
pub const MAX_ENTRIES: usize = 296;
/// Most bytes that one file can have on an empty disk.
pub const MAX_FILE_BYTES: usize = FREE_BLOCKS as usize * BLOCK_DATA;
