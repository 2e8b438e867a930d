//! An image file: its checks, and its way through the load port.

use std::io::{self, Read};

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
    #[error("reading the image: {error}")]
    Read {
        /// What the system says.
        error: io::Error,
    },
    /// Shorter than a header.
    #[error("the file has {length} bytes, a SSNAIL image begins with a header of {HEADER_LEN}")]
    NoHeader {
        /// Bytes in the file.
        length: u64,
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

/// Reads and checks the header of an image whose file is `length` bytes long.
///
/// # Errors
/// [`ImageError`] naming the field, its offset, what was found and what was expected.
pub fn check_start(start: &[u8], length: u64) -> Result<Header, ImageError> {
    let Some(first) = start.first_chunk() else { return Err(ImageError::NoHeader { length }) };
    let header = Header::parse(first)?;
    let expected = u64::from(header.file_len());
    if expected != length {
        return Err(ImageError::Length { expected, length });
    }
    Ok(header)
}

/// Reads and checks the header of an image, and that the file is as long as it says.
///
/// # Errors
/// As [`check_start`].
pub fn check(file: &[u8]) -> Result<Header, ImageError> {
    check_start(file, file.len() as u64)
}

/// Loads a checked image through the load port; `progress` is told the bytes sent so far. The file is read from its
/// first byte, in pieces.
///
/// # Errors
/// [`ImageError::Load`] where the image does not fit the memory or ends early, [`ImageError::Read`].
pub fn load(
    header: &Header,
    mut file: impl Read,
    memory: &mut Memory,
    mut progress: impl FnMut(u64),
) -> Result<(), ImageError> {
    let mut path = FilePort { port: Port::default(), memory, sector: vec![0; SECTOR], length: 0 };
    let mut loader = Loader::begin(header, &mut path);
    loop {
        // The model is never busy here.
        while loader.ready(&mut path)? == Ready::NotYet {}
        path.length = match file.read(&mut path.sector) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ImageError::Read { error }),
        };
        let length = path.length as u32;
        loader.sector(&mut path, length)?;
        progress(u64::from(loader.sent()));
    }
    loader.finish(&mut path)?;
    loader.ready(&mut path)?;
    Ok(())
}

/// Bytes sent to the port at a time: as much as stays in the cache on its way.
const SECTOR: usize = 1 << 18;

/// The load port with a part of a file in front of it.
struct FilePort<'a> {
    port: Port,
    memory: &'a mut Memory,
    sector: Vec<u8>,
    length: usize,
}

impl LoadPort for FilePort<'_> {
    fn control(&mut self) -> u8 {
        LOAD_READY | if self.port.error() { LOAD_ERROR } else { 0 }
    }

    fn commit(&mut self, address: u32, clear_error: bool) {
        self.port.commit(self.memory, address, clear_error);
    }

    fn send(&mut self, offset: u32, length: u32) {
        let bytes = self.sector[..self.length].get(offset as usize..(offset + length) as usize);
        self.port.write(self.memory, bytes.unwrap_or_default());
    }
}
