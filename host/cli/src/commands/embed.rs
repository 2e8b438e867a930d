//! `ssnail embed`: texts as vectors.

use crate::exit::{Outcome, Refuse, refused};
use crate::image::{self, MachineArgs};
use crate::vocabulary::Vocabulary;
use crate::{files, out};
use anyhow::{Context, Result, bail};
use ssnail_machine::Accelerator;
use ssnail_shared::tokenizer::{Place, Rules};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Prints the pooled vector of each text, as an encoder image (bert) computes it: one line of
/// numbers per text, or a JSON array of arrays.
///
///   ssnail embed minilm.ssnail "a cat sat" "a dog ran"
///   ssnail embed minilm.ssnail --json - < lines.txt     one text per line
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Encoder image
    image: PathBuf,
    /// Texts; - reads one per line from standard input
    #[arg(required = true)]
    texts: Vec<String>,
    /// Print a JSON array of arrays
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Embeds and prints.
///
/// # Errors
/// A refusal where the image is no encoder or a text is too long.
pub fn run(args: &Args) -> Result<Outcome> {
    if files::is_dash(&args.image) && args.texts.iter().any(|text| text == "-") {
        bail!("image and texts cannot both come from standard input");
    }
    let name = image::name(Some(&args.image));
    let mut accelerator = image::load(Some(&args.image), &args.machine)?;
    if !accelerator.header().is_encoder() {
        return Err(refused(format_args!(
            "{name}: this image is a decoder (it writes text): use ssnail run or ssnail chat"
        )));
    }
    let mut texts = Vec::new();
    for text in &args.texts {
        match text.as_str() {
            "-" => texts.extend(files::read_text(Path::new("-"))?.lines().map(str::to_owned)),
            text => texts.push(text.to_owned()),
        }
    }
    let mut vectors = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let vector = embed(&mut accelerator, &name, text).with_context(|| format!("text {}", number + 1))?;
        if !args.json {
            let line: Vec<String> = vector.iter().map(f32::to_string).collect();
            writeln!(out::stdout(), "{}", line.join(" "))?;
        }
        vectors.push(vector);
    }
    if args.json {
        writeln!(out::stdout(), "{}", serde_json::to_string(&vectors)?)?;
    }
    Ok(Outcome::Done)
}

/// The vector of one text; `name` is how messages call the image.
///
/// # Errors
/// A refusal where it is too long for the image.
pub fn embed(accelerator: &mut Accelerator, name: &str, text: &str) -> Result<Vec<f32>> {
    let mut vocabulary = Vocabulary::open(accelerator.machine().memory(), accelerator.header(), name)?;
    let (ids, _) = vocabulary.encode(text.as_bytes(), Place::First, Rules::REAL)?;
    finite(name, accelerator.embed(&ids, &mut ()).refuse()?)
}

/// The vector, if it is one.
///
/// # Errors
/// A refusal that names the first value that is no number.
pub fn finite(name: &str, vector: Vec<f32>) -> Result<Vec<f32>> {
    match vector.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(refused(format_args!("{name}: value {at} of the vector is not finite: the image is damaged"))),
        None => Ok(vector),
    }
}
