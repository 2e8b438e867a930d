//! Opening images: read, checked, loaded through the load port; and the options of the machine that runs them.

use crate::exit::Refuse;
use crate::{files, progress, storyteller};
use anyhow::{Context, Result};
use clap::ValueEnum;
use ssnail_machine::image::{self, ImageError};
use ssnail_machine::{Accelerator, Options};
use ssnail_shared::header::{Header, MAGIC};
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_shared::mem::SliceMemory;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The rules of the arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Numerics {
    /// F32 with exact functions: fast, close to other runtimes
    Float,
    /// Bit for bit what the core computes
    Hardware,
}

impl From<Numerics> for ssnail_machine::Numerics {
    fn from(numerics: Numerics) -> Self {
        match numerics {
            Numerics::Float => Self::Float,
            Numerics::Hardware => Self::Hardware,
        }
    }
}

/// Options of the machine.
#[derive(Debug, clap::Args)]
pub struct MachineArgs {
    /// Rules of the arithmetic
    #[arg(long, value_enum, default_value = "float", value_name = "RULES")]
    numerics: Numerics,
    /// Threads that multiply [default: one per processor, at most 4]; the results are the same with any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Instructions that one run may take
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_instructions: u64,
    /// Run one position of the prompt after the other, as the core does: slower, with the same results
    #[arg(long)]
    plain: bool,
}

impl MachineArgs {
    /// As the machine takes them.
    pub fn options(&self) -> Options {
        Options {
            numerics: self.numerics.into(),
            threads: self.threads.map_or_else(processors, usize::from),
            max_instructions: self.max_instructions,
            plain: self.plain,
        }
    }
}

/// Threads that are worth having: more than a few only wait for the memory.
fn processors() -> usize {
    const WORTH_HAVING: usize = 4;
    std::thread::available_parallelism().map_or(1, |count| count.get().min(WORTH_HAVING))
}

/// An image file in memory, not loaded into a machine.
pub struct ImageFile {
    /// Its bytes, as long as the header says.
    pub bytes: Vec<u8>,
    /// Its header.
    pub header: Header,
}

impl ImageFile {
    /// Reads and checks an image; `-` reads standard input.
    ///
    /// # Errors
    /// An error where the file cannot be read, a refusal where it is no (whole) image.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_on(files::open(path)?, path)
    }

    /// As [`ImageFile::read`], of a file that is open already. What does not begin like an image is not read further.
    ///
    /// # Errors
    /// As [`ImageFile::read`].
    pub fn read_on(mut reader: impl Read, path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        let header = reader.by_ref().take(HEADER_LEN.into()).read_to_end(&mut bytes);
        header.with_context(|| format!("cannot read {}", files::name(path)))?;
        if bytes.starts_with(&MAGIC) {
            bytes = files::read_on(bytes.as_slice().chain(reader), path)?;
        }
        Self::check(bytes, path)
    }

    /// Checks an image that was read already.
    ///
    /// # Errors
    /// A refusal naming the file.
    pub fn check(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        let header = checked(&bytes).refuse().with_context(|| name(Some(path)))?;
        Ok(Self { bytes, header })
    }

    /// The payload at its address, to read tables from.
    pub fn memory(&self) -> SliceMemory<&[u8]> {
        let start = self.bytes.len().saturating_sub(self.header.payload_len as usize);
        SliceMemory::new(PAYLOAD, self.bytes.get(start..).unwrap_or_default())
    }
}

/// What a GGUF file begins with.
const GGUF: &[u8] = b"GGUF";

/// The header; a GGUF file given by mistake is told what to do with it.
fn checked(bytes: &[u8]) -> Result<Header, NotAnImage> {
    if bytes.starts_with(GGUF) {
        return Err(NotAnImage::Gguf);
    }
    Ok(image::check(bytes)?)
}

#[derive(Debug, thiserror::Error)]
enum NotAnImage {
    #[error("this is a GGUF file: make an image of it first, with ssnail convert")]
    Gguf,
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// Reads an image and loads it into a machine, with a progress bar. Without a path it is the model that
/// comes with the program.
///
/// # Errors
/// As [`ImageFile::read`], and a refusal where loading fails.
pub fn load(path: Option<&Path>, args: &MachineArgs) -> Result<Accelerator> {
    if let Some(path) = path.filter(|path| fs::metadata(path).is_ok_and(|meta| meta.is_file())) {
        return load_file(path, args);
    }
    let file = path.map_or_else(storyteller::image, ImageFile::read)?;
    let bar = progress::bytes("load", file.bytes.len() as u64);
    let loaded = Accelerator::load(&file.bytes, &args.options(), |sent| bar.set_position(sent));
    bar.finish_and_clear();
    loaded.refuse().with_context(|| name(path))
}

/// As [`load`], straight from the file into the machine: nothing of it is held twice.
fn load_file(path: &Path, args: &MachineArgs) -> Result<Accelerator> {
    let cannot = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    let length = file.metadata().with_context(cannot)?.len();
    let mut start = Vec::new();
    file.take(GGUF.len() as u64).read_to_end(&mut start).with_context(cannot)?;
    if start == GGUF {
        return Err(NotAnImage::Gguf).refuse().with_context(|| name(Some(path)));
    }
    let bar = progress::bytes("load", length);
    let loaded = Accelerator::open(path, &args.options(), |sent| bar.set_position(sent));
    bar.finish_and_clear();
    match loaded {
        Err(ImageError::Read { error }) => Err(error).with_context(cannot),
        other => other.refuse().with_context(|| name(Some(path))),
    }
}

/// How messages call an image.
pub fn name(path: Option<&Path>) -> String {
    match path {
        None => storyteller::NAME.to_owned(),
        Some(path) => files::name(path),
    }
}

/// The description, as far as it is text.
pub fn description(header: &Header) -> String {
    String::from_utf8_lossy(header.description_bytes()).chars().filter(|c| !c.is_control()).collect()
}
