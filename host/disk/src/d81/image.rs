//! The image itself: blocks by track and sector.

use super::name::PetsciiName;
use super::{BLOCK, D81Error, DIRECTORY_TRACK, IMAGE_BYTES, IMAGE_BYTES_WITH_STATUS, SECTORS, TRACKS};
use std::fmt;

/// Track and sector of a block that exists: track 1 to 80, sector 0 to 39.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ts {
    track: u8,
    sector: u8,
}

impl Ts {
    /// The header of the disk.
    pub(super) const HEADER: Self = Self::on_directory_track(0);
    /// The map of tracks 1 to 40.
    pub(super) const BAM_LOW: Self = Self::on_directory_track(1);
    /// The map of tracks 41 to 80.
    pub(super) const BAM_HIGH: Self = Self::on_directory_track(2);
    /// The first block of the directory.
    pub(super) const DIRECTORY: Self = Self::on_directory_track(3);

    const fn on_directory_track(sector: u8) -> Self {
        Self { track: DIRECTORY_TRACK, sector }
    }

    /// A block, or `None` when there is no such track or sector.
    #[must_use]
    pub fn new(track: u8, sector: u8) -> Option<Self> {
        ((1..=TRACKS).contains(&track) && sector < SECTORS).then_some(Self { track, sector })
    }

    /// Every block, by track and sector.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=TRACKS).flat_map(|track| (0..SECTORS).map(move |sector| Self { track, sector }))
    }

    /// Track, 1 to 80.
    #[must_use]
    pub fn track(self) -> u8 {
        self.track
    }

    /// Sector, 0 to 39.
    #[must_use]
    pub fn sector(self) -> u8 {
        self.sector
    }

    /// Number of the block in the image, 0 to 3199.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.track - 1) * usize::from(SECTORS) + usize::from(self.sector)
    }
}

impl fmt::Display for Ts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.track, self.sector)
    }
}

/// Offsets in the header block.
pub(super) mod header {
    pub const DOS_VERSION: usize = 2;
    pub const NAME: usize = 4;
    pub const ID: usize = 0x16;
    pub const DOS_TYPE: usize = 0x19;
    pub const END: usize = 0x1D;
}

/// The DOS version of the 1581, in the header and both map blocks.
pub(super) const DOS_VERSION: u8 = b'D';
/// What fills names up.
pub(super) const PAD: u8 = 0xA0;

/// A disk image in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct D81 {
    blocks: Vec<[u8; BLOCK]>,
    /// Status bytes behind the blocks, kept as they are.
    status: Vec<u8>,
}

impl D81 {
    /// An empty, formatted disk.
    #[must_use]
    pub fn new(name: &PetsciiName, id: [u8; 2]) -> Self {
        let mut disk = Self { blocks: vec![[0; BLOCK]; IMAGE_BYTES / BLOCK], status: Vec::new() };
        let h = disk.block_mut(Ts::HEADER);
        h[0] = DIRECTORY_TRACK;
        h[1] = Ts::DIRECTORY.sector;
        h[header::DOS_VERSION] = DOS_VERSION;
        h[header::NAME..header::END].fill(PAD);
        h[header::NAME..header::NAME + 16].copy_from_slice(name.padded());
        h[header::ID..header::ID + 2].copy_from_slice(&id);
        h[header::DOS_TYPE..header::DOS_TYPE + 2].copy_from_slice(b"3D");
        disk.format_bam(id);
        disk.block_mut(Ts::DIRECTORY)[1] = 0xFF;
        disk
    }

    /// Takes an image. Nothing but its size is checked.
    ///
    /// # Errors
    /// [`D81Error::Size`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, D81Error> {
        if bytes.len() != IMAGE_BYTES && bytes.len() != IMAGE_BYTES_WITH_STATUS {
            return Err(D81Error::Size { found: bytes.len() as u64 });
        }
        let (image, status) = bytes.split_at(IMAGE_BYTES);
        let (blocks, _) = image.as_chunks::<BLOCK>();
        Ok(Self { blocks: blocks.to_vec(), status: status.to_vec() })
    }

    /// The image as it goes into a file: as long as it was when it was read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.blocks.as_flattened(), &self.status].concat()
    }

    /// Whether status bytes follow the blocks. MOUNT wants an image without.
    #[must_use]
    pub fn has_status(&self) -> bool {
        !self.status.is_empty()
    }

    /// A block.
    #[must_use]
    pub fn block(&self, ts: Ts) -> &[u8; BLOCK] {
        &self.blocks[ts.index()]
    }

    /// A block to change. The image is not checked afterwards.
    #[must_use]
    pub fn block_mut(&mut self, ts: Ts) -> &mut [u8; BLOCK] {
        &mut self.blocks[ts.index()]
    }

    /// Name of the disk.
    #[must_use]
    pub fn name(&self) -> PetsciiName {
        let mut name = [0; 16];
        name.copy_from_slice(&self.block(Ts::HEADER)[header::NAME..header::NAME + 16]);
        PetsciiName::from_raw(name)
    }

    /// Two characters by which a drive tells disks apart.
    #[must_use]
    pub fn id(&self) -> [u8; 2] {
        let h = self.block(Ts::HEADER);
        [h[header::ID], h[header::ID + 1]]
    }
}
