//! `ssnail info`: what a GGUF file or an image holds.

mod gguf;
mod image;

use crate::exit::{Outcome, Refuse};
use crate::image::ImageFile;
use crate::model::Model;
use crate::out;
use anyhow::{Context, Result};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// Describes a GGUF file (architecture, sizes, tensors, the memory that it will need) or an image
/// (description, sizes, tensors, memory map).
///
///   ssnail info story.gguf
///   ssnail info story.ssnail --json | jq .memory_map
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// GGUF file or image (- for standard input)
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Describes the file.
///
/// # Errors
/// It cannot be read, or is neither; a GGUF file without an architecture is refused.
pub fn run(args: &Args) -> Result<Outcome> {
    let (text, object) = match Model::open(&args.file)? {
        Model::Gguf(file) => {
            // Without it the other keys mean nothing.
            file.need_str("general.architecture").refuse().with_context(|| args.file.display().to_string())?;
            (gguf::text(&file), gguf::json(&file))
        }
        Model::Image(image) => describe(&image),
    };
    if args.json {
        writeln!(out::stdout(), "{object:#}")?;
    } else {
        write!(out::stdout(), "{}", out::plain(&text))?;
    }
    Ok(Outcome::Done)
}

/// An image for people and for programs.
pub fn describe(image: &ImageFile) -> (String, Value) {
    let anatomy = crate::anatomy::read(image);
    (image::text(image, &anatomy), image::json(image, &anatomy))
}

/// Binary megabytes.
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Weight formats with the weights stored in each, largest first: `Q8_0 1.2 M, F32 3 k`.
fn formats(weights: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut sums: Vec<(String, u64)> = Vec::new();
    for (format, count) in weights {
        match sums.iter_mut().find(|(known, _)| *known == format) {
            Some((_, sum)) => *sum += count,
            None => sums.push((format, count)),
        }
    }
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    sums
}
