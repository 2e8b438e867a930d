//! A file that may be a GGUF model or an image: told apart by what it begins with.

use crate::exit::Refuse;
use crate::files;
use crate::image::ImageFile;
use anyhow::{Context, Result};
use ssnail_gguf::{Error, Gguf};
use std::fs::File;
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
        if files::is_dash(path) {
            let bytes = files::read(path)?;
            return Ok(if bytes.starts_with(&ssnail_shared::header::MAGIC) {
                Self::Image(Box::new(ImageFile::check(bytes, path)?))
            } else {
                Self::Gguf(Box::new(Gguf::from_vec(bytes).refuse().context("standard input")?))
            });
        }
        let mut magic = [0; 4];
        let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let short = file.read_exact(&mut magic).is_err();
        if !short && magic == ssnail_shared::header::MAGIC {
            return Ok(Self::Image(Box::new(ImageFile::read(path)?)));
        }
        Ok(Self::Gguf(Box::new(open_gguf(path)?)))
    }
}

/// Opens a GGUF file; `-` reads standard input.
///
/// # Errors
/// An error where it cannot be read, a refusal (naming the file) where it is no GGUF file.
pub fn open_gguf(path: &Path) -> Result<Gguf<'static>> {
    if files::is_dash(path) {
        return Gguf::from_vec(files::read(path)?).refuse().context("standard input");
    }
    match Gguf::open(path) {
        Err(Error::Io { path, source }) => Err(source).with_context(|| format!("cannot read {}", path.display())),
        other => other.refuse(),
    }
}
