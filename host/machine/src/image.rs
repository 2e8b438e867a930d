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
    /// A table behind the header is wrong.
    #[error(transparent)]
    Table(#[from] ssnail_shared::tokenizer::Error),
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
    let mut path = FilePort { port: Port::default(), memory, file: &mut file, error: None };
    let mut loader = Loader::begin(header, &mut path);
    while !loader.complete() {
        // The model is never busy here.
        while loader.ready(&mut path)? == Ready::NotYet {}
        let sector = (loader.total() - loader.sent()).min(SECTOR);
        let received = loader.sent();
        loader.sector(&mut path, sector)?;
        match path.error.take() {
            Some(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(LoadError::Truncated { received, expected: loader.total() }.into());
            }
            Some(error) => return Err(ImageError::Read { error }),
            None => progress(u64::from(loader.sent())),
        }
    }
    loader.finish(&mut path)?;
    loader.ready(&mut path)?;
    Ok(())
}

/// Bytes between two reports of progress.
const SECTOR: u32 = 1 << 20;

/// The load port with a file in front of it.
struct FilePort<'a, R> {
    port: Port,
    memory: &'a mut Memory,
    file: &'a mut R,
    error: Option<io::Error>,
}

impl<R: Read> LoadPort for FilePort<'_, R> {
    fn control(&mut self) -> u8 {
        LOAD_READY | if self.port.error() { LOAD_ERROR } else { 0 }
    }

    fn commit(&mut self, address: u32, clear_error: bool) {
        self.port.commit(self.memory, address, clear_error);
    }

    fn send(&mut self, _offset: u32, length: u32) {
        if self.error.is_none() {
            self.error = self.port.read_from(self.memory, self.file, length as usize).err();
        }
    }
}
