//! An image file, or a card reader's device file.

use super::{BlockDevice, DeviceError, SECTOR, sectors_of};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Sectors of a file. A last piece shorter than a sector is not visible.
#[derive(Debug)]
pub struct FileDevice {
    file: File,
    sectors: u32,
}

impl FileDevice {
    /// Opens an image for reading only.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(File::open(path)?)
    }

    /// Opens an image for reading and writing.
    ///
    /// # Errors
    /// What the system says.
    pub fn open_writable(path: &Path) -> io::Result<Self> {
        Self::from_file(OpenOptions::new().read(true).write(true).open(path)?)
    }

    /// Makes a new sparse file of `sectors` sectors, all zero. An existing file is an error.
    ///
    /// # Errors
    /// What the system says.
    pub fn create_new(path: &Path, sectors: u32) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        file.set_len(u64::from(sectors) * SECTOR as u64)?;
        Ok(Self { file, sectors })
    }

    /// Takes an open file. Its length is found by seeking, which also works for devices.
    ///
    /// # Errors
    /// What the system says.
    pub fn from_file(mut file: File) -> io::Result<Self> {
        let bytes = file.seek(SeekFrom::End(0))?;
        let sectors = u32::try_from(bytes / SECTOR as u64).unwrap_or(u32::MAX);
        Ok(Self { file, sectors })
    }

    fn seek(&mut self, lba: u32) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(u64::from(lba) * SECTOR as u64)).map(|_| ())
    }
}

impl BlockDevice for FileDevice {
    fn sectors(&self) -> u32 {
        self.sectors
    }

    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        sectors_of(lba, buf.len(), self.sectors)?;
        self.seek(lba).and_then(|()| self.file.read_exact(buf)).map_err(|source| DeviceError::Io { lba, source })
    }

    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        sectors_of(lba, buf.len(), self.sectors)?;
        self.seek(lba).and_then(|()| self.file.write_all(buf)).map_err(|source| DeviceError::Io { lba, source })
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.file.sync_all().map_err(|source| DeviceError::Io { lba: 0, source })
    }
}
