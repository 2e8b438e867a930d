//! Files of the host on their way to a card or disk.

use crate::d81::IMAGE_BYTES;
use crate::spec::{is_d81, is_model};
use ssnail_shared::header::MAGIC;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// First four bytes of a GGUF file.
const GGUF: [u8; 4] = *b"GGUF";

/// Why a file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a folder or device.
    #[error("{} is no file; name the files one by one", file.display())]
    NotAFile {
        /// What was named.
        file: PathBuf,
    },
    /// A model that the MEGA65 cannot load.
    #[error("{} is a GGUF model, which the MEGA65 cannot load; convert it first: ssnail convert {}", file.display(), file.display())]
    Gguf {
        /// The file.
        file: PathBuf,
    },
    /// Called a model, but none.
    #[error("{} begins with {found:02X?}, expected {MAGIC:02X?} (\"SSNL\"): this is no SSNAIL image; convert the model again", file.display())]
    NotAModel {
        /// The file.
        file: PathBuf,
        /// Its first bytes.
        found: Vec<u8>,
    },
}

/// A file that can be taken, open at its start.
#[derive(Debug)]
pub struct SourceFile {
    /// The open file.
    pub file: File,
    /// Its size in bytes.
    pub size: u64,
    /// Its time of change, if the system knows one.
    pub modified: SystemTime,
    /// What to tell the user, if something is odd.
    pub warning: Option<String>,
}

/// Opens a file for copying, and looks whether the MEGA65 can do anything with it.
///
/// # Errors
/// [`SourceError`].
pub fn open(path: &Path) -> Result<SourceFile, SourceError> {
    let io = |source| SourceError::Io { file: path.to_path_buf(), source };
    let mut file = File::open(path).map_err(io)?;
    let meta = file.metadata().map_err(io)?;
    if !meta.is_file() {
        return Err(SourceError::NotAFile { file: path.to_path_buf() });
    }
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic).map_err(io)?;
    file.rewind().map_err(io)?;
    if magic == GGUF {
        return Err(SourceError::Gguf { file: path.to_path_buf() });
    }
    if is_model(path) && magic != MAGIC {
        return Err(SourceError::NotAModel { file: path.to_path_buf(), found: magic });
    }
    let size = meta.len();
    let warning = (is_d81(path) && size != IMAGE_BYTES as u64)
        .then(|| format!("{} has {size} bytes; MOUNT takes only D81 images of {IMAGE_BYTES}", path.display()));
    Ok(SourceFile { file, size, modified: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), warning })
}

/// Reads through, and tells how far.
pub struct Counted<'a, R> {
    inner: R,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a, R> Counted<'a, R> {
    /// Calls `progress` with the number of bytes of each read.
    pub fn new(inner: R, progress: &'a mut dyn FnMut(u64)) -> Self {
        Self { inner, progress }
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        (self.progress)(n as u64);
        Ok(n)
    }
}
