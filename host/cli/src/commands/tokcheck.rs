//! `ssnail tokcheck`: does the image tokenize as the model does?

use super::tokenize::RulesArg;
use crate::exit::{Outcome, Refuse};
use crate::image::ImageFile;
use crate::model::open_gguf;
use crate::{files, out};
use anyhow::{Context, Result, bail};
use ssnail_shared::tokenizer::Tables;
use ssnail_text::Tokenizer;
use ssnail_text::check::{Difference, Report, check};
use std::io::Write;
use std::path::PathBuf;

/// What is compared when no text is given.
const SAMPLE: &str = "\
Once upon a time there was a small snail who wanted to see the sea.
\"Where are you going?\" asked the frog. \"I don't know yet,\" she said.
In 1990 the shop sold 12 books, 3 pens & 1 map for $45.50 (about 10% off).
Type LIST, then RUN: 10 PRINT \"HELLO\" : GOTO 10
They've  seen   it;    we'll see... won't we?\t(Perhaps_not!)
The brutalist tower's north-facing windows overlooked an unkempt garden.
";

/// Compares the token ids that an image's tables give with those of the model's own tokenizer,
/// line by line, and says where they differ and why. The exit code is 1 if they do.
///
///   ssnail tokcheck model.ssnail model.gguf
///   ssnail tokcheck model.ssnail model.gguf book.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Image
    image: PathBuf,
    /// GGUF file that it was made from
    model: PathBuf,
    /// Text to compare on (- for standard input) [default: a few lines of our own]
    text: Option<PathBuf>,
    /// How the image's tables are used
    #[arg(long, value_enum, default_value = "real")]
    rules: RulesArg,
    /// Show so many lines that differ
    #[arg(long, value_name = "N", default_value_t = 10)]
    show: usize,
}

/// Compares and prints.
///
/// # Errors
/// The files cannot be read or are refused.
pub fn run(args: &Args) -> Result<Outcome> {
    let inputs = [Some(&args.image), Some(&args.model), args.text.as_ref()];
    if inputs.into_iter().flatten().filter(|path| files::is_dash(path)).count() > 1 {
        bail!("only one of image, model and text can come from standard input");
    }
    let image = ImageFile::read(&args.image)?;
    let gguf = open_gguf(&args.model)?;
    let text = match &args.text {
        Some(path) => files::read_text(path)?,
        None => SAMPLE.to_owned(),
    };
    let tokenizer = Tokenizer::from_gguf(&gguf).refuse().with_context(|| args.model.display().to_string())?;
    for warning in tokenizer.warnings() {
        out::note(format_args!("{}: {warning}", args.model.display()));
    }
    let memory = image.memory();
    let report = Tables::open(&memory, &image.header)
        .and_then(|mut tables| check(&mut tables, &tokenizer, &text, args.rules.into()))
        .refuse()
        .with_context(|| args.image.display().to_string())?;
    print(args, &report)?;
    Ok(if report.differences.is_empty() { Outcome::Done } else { Outcome::Difference })
}

fn print(args: &Args, report: &Report) -> Result<()> {
    let mut out = out::stdout();
    for difference in report.differences.iter().take(args.show) {
        print_difference(&mut out, difference)?;
    }
    let hidden = report.differences.len().saturating_sub(args.show);
    if hidden > 0 {
        writeln!(out, "... and {hidden} more lines (--show {})", report.differences.len())?;
    }
    for (cause, lines) in report.causes() {
        writeln!(out, "{lines} line{}: {cause}", if lines == 1 { "" } else { "s" })?;
    }
    let (lines, tokens) = (report.lines, report.tokens);
    let probes = report.probes_per_token();
    match report.differences.len() {
        0 => writeln!(out, "equal: {lines} lines, {tokens} tokens, {probes:.1} index probes per token")?,
        n => writeln!(out, "{n} of {lines} lines differ; {tokens} tokens, {probes:.1} index probes per token")?,
    }
    Ok(())
}

fn print_difference(out: &mut impl Write, difference: &Difference) -> Result<()> {
    let Difference { line, text, image, gguf, causes } = difference;
    let same = image.iter().zip(gguf).take_while(|(a, b)| a == b).count();
    writeln!(out, "line {line}: {text:?}")?;
    writeln!(out, "  image: {}", from(image, same))?;
    writeln!(out, "  model: {}", from(gguf, same))?;
    for cause in causes {
        writeln!(out, "  because of {cause}")?;
    }
    Ok(())
}

/// The ids around the first difference.
fn from(ids: &[u32], same: usize) -> String {
    const SHOWN: usize = 16;
    let start = same.saturating_sub(2);
    let shown: Vec<String> = ids.iter().skip(start).take(SHOWN).map(u32::to_string).collect();
    let before = if start > 0 { format!("({start} equal) ") } else { String::new() };
    let after = if ids.len() > start + SHOWN { " ..." } else { "" };
    format!("{before}{}{after}", shown.join(" "))
}
