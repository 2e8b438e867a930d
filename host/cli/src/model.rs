//! A file that may be a GGUF model or an image: told apart by what it begins with.

use crate::exit::Refuse;
use crate::files;
use crate::image::ImageFile;
use anyhow::{Context, Result};
use ssnail_gguf::{Error, Gguf};
use ssnail_shared::header::MAGIC;
use std::fs;
use std::io::Read;
use std::path::Path;

/// What a file turned out to be.
pub enum Model {
    /// A GGUF model.
    Gguf(Box<Gguf<'static>>),
    /// An image.
    Image(Box<ImageFile>),
}

impl Model {
    /// Opens a file; `-` reads standard input. What begins like an image is one, all else must be GGUF.
    ///
    /// # Errors
    /// An error where the file cannot be read, a refusal where it is neither.
    pub fn open(path: &Path) -> Result<Self> {
        // Opened once: what a pipe has given is gone.
        let mut reader = files::open(path)?;
        let mut start = Vec::new();
        reader
            .by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut start)
            .with_context(|| format!("cannot read {}", files::name(path)))?;
        if start == MAGIC {
            return Ok(Self::Image(Box::new(ImageFile::read_on(start.as_slice().chain(reader), path)?)));
        }
        Ok(Self::Gguf(Box::new(if is_regular(path) {
            open_gguf(path)?
        } else {
            from_stream(start.as_slice().chain(reader), path)?
        })))
    }
}

fn is_regular(path: &Path) -> bool {
    !files::is_dash(path) && fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Opens a GGUF file; `-` reads standard input.
///
/// # Errors
/// An error where it cannot be read, a refusal (naming the file) where it is no GGUF file.
pub fn open_gguf(path: &Path) -> Result<Gguf<'static>> {
    if files::is_dash(path) {
        return from_stream(files::open(path)?, path);
    }
    judge(Gguf::open(path))
}

fn from_stream(reader: impl Read, path: &Path) -> Result<Gguf<'static>> {
    let name = files::name(path);
    match Gguf::from_stream(reader, Path::new(&name)) {
        Err(error @ Error::Io { .. }) => judge(Err(error)),
        other => other.refuse().context(name),
    }
}

fn judge(opened: Result<Gguf<'static>, Error>) -> Result<Gguf<'static>> {
    match opened {
        Err(Error::Io { path, source }) => Err(source).with_context(|| format!("cannot read {}", path.display())),
        other => other.refuse(),
    }
}
