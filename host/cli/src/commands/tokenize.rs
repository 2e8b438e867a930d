//! `ssnail tokenize`: the ids of a text.

use crate::exit::{Outcome, Refuse};
use crate::image::{self, ImageFile};
use crate::model::Model;
use crate::vocabulary::Vocabulary;
use crate::{files, out};
use anyhow::{Context, Result};
use clap::ValueEnum;
use ssnail_gguf::Gguf;
use ssnail_shared::tokenizer::{Place, Rules};
use ssnail_text::{Options, Tokenizer};
use std::io::Write;
use std::path::PathBuf;

/// Prints the token ids of a text, separated by commas: those of the model's own tokenizer for a
/// GGUF file, those of the image's tables for an image.
///
///   ssnail tokenize model.gguf "Once upon a time"
///   ssnail tokenize model.ssnail "Once upon a time" --no-bos
///   ssnail tokenize model.gguf --file book.txt --json
///
/// What is typed is text: `<s>` is three characters, not the token, unless --special is given.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(group(clap::ArgGroup::new("input").required(true).args(["text", "file"])))]
pub struct Args {
    /// GGUF file or image (- for standard input)
    model: PathBuf,
    /// The text (behind -- if it begins with a hyphen)
    text: Option<String>,
    /// Take the text from a file (- for standard input)
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// No begin token (GGUF: no end token either); an image takes the text as a continuation
    #[arg(long)]
    no_bos: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// GGUF: find special tokens that are written out in the text
    #[arg(long)]
    special: bool,
    /// Images: how the tables are used
    #[arg(long, value_enum, default_value = "reference")]
    rules: RulesArg,
}

/// Which of the image tokenizer's rules.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RulesArg {
    /// As the reference tools, byte for byte
    Reference,
    /// As close to the model's own tokenizer as the tables allow; what run and embed use
    Real,
    /// The same, other letters folded to ASCII; what chat and the MEGA65 use
    Typed,
}

impl From<RulesArg> for Rules {
    fn from(rules: RulesArg) -> Self {
        match rules {
            RulesArg::Reference => Self::REFERENCE,
            RulesArg::Real => Self::REAL,
            RulesArg::Typed => Self::TYPED,
        }
    }
}

/// Tokenizes and prints.
///
/// # Errors
/// The files cannot be read or are refused.
pub fn run(args: &Args) -> Result<Outcome> {
    let text = match (&args.text, &args.file) {
        (_, Some(path)) => files::read_text(path)?,
        (Some(text), None) => text.clone(),
        (None, None) => String::new(),
    };
    let ids = match Model::open(&args.model)? {
        Model::Gguf(gguf) => from_gguf(args, &gguf, &text).with_context(|| args.model.display().to_string())?,
        Model::Image(image) => from_image(args, &image, &text)?,
    };
    let shown = if args.json {
        serde_json::to_string(&ids)?
    } else {
        ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    };
    writeln!(out::stdout(), "{shown}")?;
    Ok(Outcome::Done)
}

fn from_gguf(args: &Args, gguf: &Gguf<'_>, text: &str) -> Result<Vec<u32>> {
    let tokenizer = Tokenizer::from_gguf(gguf).refuse()?;
    for warning in tokenizer.warnings() {
        out::note(format_args!("{}: {warning}", args.model.display()));
    }
    let options = Options { special: !args.no_bos, parse_special: args.special, first: true };
    let encoding = tokenizer.encode(text, options);
    if encoding.lost > 0 {
        out::note(format_args!("{} parts of the text have no token in this vocabulary", encoding.lost));
    }
    if encoding.double_begin {
        out::note("the text begins with the begin token itself: there are two now");
    }
    Ok(encoding.ids)
}

fn from_image(args: &Args, image: &ImageFile, text: &str) -> Result<Vec<u32>> {
    let name = image::name(Some(&args.model));
    let memory = image.memory();
    let place = if args.no_bos { Place::Later } else { Place::First };
    let mut vocabulary = Vocabulary::open(&memory, &image.header, &name)?;
    let (ids, encoded) = vocabulary.encode(text.as_bytes(), place, args.rules.into())?;
    if encoded.lost > 0 {
        out::note(format_args!("{} bytes of the text have no token in this vocabulary", encoded.lost));
    }
    Ok(ids)
}
