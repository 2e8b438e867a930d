//! Devices of 512-byte sectors: what a card looks like from above the controller.
//!
//! Everything that reads or writes a card goes through [`BlockDevice`], so that an image file, a test's
//! memory, a device that fails on purpose and the emulated machine's card are the same thing.

mod fault;
mod file;
mod memory;
mod overlay;

pub use fault::FaultDevice;
pub use file::FileDevice;
pub use memory::MemDevice;
pub use overlay::Overlay;

/// Bytes in a sector. SD cards know no other size, and neither does the MEGA65.
pub const SECTOR: usize = 512;

/// Why sectors could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The request leaves the device.
    #[error(
        "sectors {lba} to {} are wanted, but the device has {sectors}: the image is cut short, or a table in it is damaged",
        u64::from(*lba) + u64::from(*count).saturating_sub(1)
    )]
    OutOfRange {
        /// First sector wanted.
        lba: u32,
        /// Number of sectors wanted.
        count: u32,
        /// Sectors the device has.
        sectors: u32,
    },
    /// A buffer that is not a whole number of sectors: a fault of the caller.
    #[error("a buffer of {bytes} bytes at sector {lba} is not a whole number of 512-byte sectors")]
    Length {
        /// First sector wanted.
        lba: u32,
        /// Length of the buffer.
        bytes: usize,
    },
    /// The system, or the card, reported an error.
    #[error("sector {lba}: {source}")]
    Io {
        /// First sector of the request that failed.
        lba: u32,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A card, an image of one, or a part of either, addressed in sectors of 512 bytes.
pub trait BlockDevice {
    /// Number of sectors.
    fn sectors(&self) -> u32;

    /// Reads `buf.len() / 512` sectors from `lba` on.
    ///
    /// # Errors
    /// [`DeviceError`] when the range leaves the device, `buf` is not whole sectors, or reading fails.
    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError>;

    /// Writes `buf.len() / 512` sectors from `lba` on.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError>;

    /// Makes what was written durable, where the device can.
    ///
    /// # Errors
    /// [`DeviceError::Io`].
    fn flush(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl<D: BlockDevice + ?Sized> BlockDevice for &mut D {
    fn sectors(&self) -> u32 {
        (**self).sectors()
    }
    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        (**self).read(lba, buf)
    }
    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        (**self).write(lba, buf)
    }
    fn flush(&mut self) -> Result<(), DeviceError> {
        (**self).flush()
    }
}

impl<D: BlockDevice + ?Sized> BlockDevice for Box<D> {
    fn sectors(&self) -> u32 {
        (**self).sectors()
    }
    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        (**self).read(lba, buf)
    }
    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        (**self).write(lba, buf)
    }
    fn flush(&mut self) -> Result<(), DeviceError> {
        (**self).flush()
    }
}

/// Checks a request against the size of a device and returns the number of sectors it covers.
fn sectors_of(lba: u32, bytes: usize, sectors: u32) -> Result<u32, DeviceError> {
    if !bytes.is_multiple_of(SECTOR) {
        return Err(DeviceError::Length { lba, bytes });
    }
    let count = u32::try_from(bytes / SECTOR).map_err(|_| DeviceError::Length { lba, bytes })?;
    match lba.checked_add(count) {
        Some(end) if end <= sectors => Ok(count),
        _ => Err(DeviceError::OutOfRange { lba, count, sectors }),
    }
}

/// Reads one sector.
///
/// # Errors
/// As [`BlockDevice::read`].
pub fn read_sector(dev: &mut (impl BlockDevice + ?Sized), lba: u32) -> Result<[u8; SECTOR], DeviceError> {
    let mut buf = [0; SECTOR];
    dev.read(lba, &mut buf)?;
    Ok(buf)
}
