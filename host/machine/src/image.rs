//! An image file: its checks, and its way through the load port.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssnail_shared::header::{Header, HeaderError};
use ssnail_shared::loader::{LoadError, LoadPort, Loader, Ready};
use ssnail_shared::map::HEADER_LEN;
use ssnail_shared::registers::{LOAD_ERROR, LOAD_READY};
use thiserror::Error;

use crate::memory::Memory;
use crate::port::Port;

/// Why an image was refused.
#[derive(Debug, Error)]
pub enum ImageError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Shorter than a header.
    #[error("the file has {length} bytes, a SSNAIL image begins with a header of {HEADER_LEN}")]
    NoHeader {
        /// Bytes in the file.
        length: usize,
    },
    /// A field of the header is wrong.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The length differs from what the header says.
    #[error(
        "header field payload length at offset $2C: the file should have {expected} bytes, it has {length}; \
         {}", if *length < *expected { "it was cut short: copy or convert it again" } else { "convert the model again" }
    )]
    Length {
        /// Bytes the header states.
        expected: u64,
        /// Bytes in the file.
        length: u64,
    },
    /// The load port reported an error.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Reads and checks the header of an image, and that the file is as long as it says.
///
/// # Errors
/// [`ImageError`] naming the field, its offset, what was found and what was expected.
pub fn check(file: &[u8]) -> Result<Header, ImageError> {
    let Some(first) = file.first_chunk() else { return Err(ImageError::NoHeader { length: file.len() }) };
    let header = Header::parse(first)?;
    let (expected, length) = (u64::from(header.file_len()), file.len() as u64);
    if expected != length {
        return Err(ImageError::Length { expected, length });
    }
    Ok(header)
}

/// Reads a file whole.
///
/// # Errors
/// [`ImageError::Read`].
pub fn read(path: &Path) -> Result<Vec<u8>, ImageError> {
    fs::read(path).map_err(|error| ImageError::Read { path: path.to_owned(), error })
}

/// Loads a checked image through the load port; `progress` is told the bytes sent, every megabyte.
///
/// # Errors
/// [`ImageError::Load`] where the image does not fit the memory.
pub fn load(
    header: &Header,
    file: &[u8],
    memory: &mut Memory,
    mut progress: impl FnMut(u64),
) -> Result<(), ImageError> {
    let mut path = FilePort { port: Port::default(), memory, sector: &[] };
    let mut loader = Loader::begin(header, &mut path);
    for sector in file.chunks(1 << 20) {
        // The model is never busy here.
        while loader.ready(&mut path)? == Ready::NotYet {}
        path.sector = sector;
        loader.sector(&mut path, sector.len() as u32)?;
        progress(u64::from(loader.sent()));
    }
    loader.finish(&mut path)?;
    loader.ready(&mut path)?;
    Ok(())
}

/// The load port with a part of a file in front of it.
struct FilePort<'a> {
    port: Port,
    memory: &'a mut Memory,
    sector: &'a [u8],
}

impl LoadPort for FilePort<'_> {
    fn control(&mut self) -> u8 {
        LOAD_READY | if self.port.error() { LOAD_ERROR } else { 0 }
    }

    fn commit(&mut self, address: u32, clear_error: bool) {
        self.port.commit(self.memory, address, clear_error);
    }

    fn send(&mut self, offset: u32, length: u32) {
        let bytes = self.sector.get(offset as usize..(offset + length) as usize);
        self.port.write(self.memory, bytes.unwrap_or_default());
    }
}
