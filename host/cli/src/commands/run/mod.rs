//! `ssnail run`: a prompt, and what the model makes of it.

mod watch;

use crate::commands::embed::finite;
use crate::exit::{Outcome, Refuse, Refused, refused};
use crate::image::{self, MachineArgs};
use crate::sampling::SamplingArgs;
use crate::stream::TextStream;
use crate::vocabulary::{Pieces, Vocabulary};
use crate::{files, out};
use anyhow::{Context, Result, bail};
use serde_json::json;
use ssnail_machine::{Accelerator, Stats};
use ssnail_shared::runtime::StopReason;
use ssnail_shared::sampler::Settings;
use ssnail_shared::tokenizer::{Place, Rules};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use watch::{Chooser, Files, Watching};

/// Runs a model once: the prompt is processed, then up to N tokens follow. The likeliest token is
/// taken each time unless --temp is given. An encoder shows the vector of the prompt.
///
///   ssnail run --prompt "Once upon a time"
///   ssnail run story.ssnail --prompt "The cat" --temp 0.8 --seed 7 -n 200
///   ssnail run story.ssnail --tokens 1,403,407 -n 4 --json
///   echo "Lily saw" | ssnail run story.ssnail --prompt - --numerics hardware --stats
///
/// --stats estimates the speed on the core from the bytes moved and the memory's bandwidth.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(group(clap::ArgGroup::new("input").required(true).args(["prompt", "tokens"])))]
pub struct Args {
    /// Image (- for standard input) [default: the storyteller that comes with the program]
    image: Option<PathBuf>,
    /// Text to go on from (- reads it from standard input)
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Token ids to go on from, separated by commas
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    tokens: Option<Vec<u32>>,
    /// Most tokens to generate
    #[arg(short, value_name = "N", default_value_t = 64)]
    n: u32,
    #[command(flatten)]
    sampling: SamplingArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Print one JSON object: prompt_ids, generated, text, stop_reason, pos, instructions, bytes_read, bytes_written
    #[arg(long)]
    json: bool,
    /// Write the logits of every position (or the embedding) as raw F32, little-endian
    #[arg(long, value_name = "FILE")]
    logits: Option<PathBuf>,
    /// Write a line per instruction: PC, opcode, address+length:CRC32 of what it wrote
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Say what was computed, and estimate the speed on the core
    #[arg(long)]
    stats: bool,
    /// Memory bandwidth for the estimate, in 1,000,000 bytes a second
    #[arg(long, value_name = "MB", default_value_t = 130.0, value_parser = bandwidth)]
    bandwidth: f64,
}

fn bandwidth(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a number above 0 is expected".to_owned()),
    }
}

/// Runs.
///
/// # Errors
/// A refusal where image or prompt cannot be used or the script faults.
pub fn run(args: &Args) -> Result<Outcome> {
    let outputs = [&args.logits, &args.trace];
    let to_stdout = outputs.iter().filter(|path| path.as_deref().is_some_and(files::is_dash)).count();
    if to_stdout > 1 || (to_stdout == 1 && args.json) {
        bail!("only one of --json, --logits and --trace can go to standard output");
    }
    if args.image.as_deref().is_some_and(files::is_dash) && args.prompt.as_deref() == Some("-") {
        bail!("image and prompt cannot both come from standard input");
    }
    let name = image::name(args.image.as_deref());
    let mut accelerator = image::load(args.image.as_deref(), &args.machine)?;
    let prompt = prompt(args, &accelerator, &name)?;
    let mut files = Files::open(args.logits.as_deref(), args.trace.as_deref())?;
    let shown = !args.json && to_stdout == 0;
    let before = accelerator.stats();
    let start = Instant::now();
    if accelerator.header().is_encoder() {
        let vector = {
            let mut watch = Watching::quiet(&mut files);
            let vector = accelerator.embed(&prompt.ids, &mut watch);
            watch.finish()?;
            finite(&name, vector.refuse().with_context(|| name.clone())?)?
        };
        let stats = before.until(&accelerator.stats());
        files.write_logits(&vector)?;
        files.commit()?;
        show_vector(args, shown, &prompt.ids, &vector, &stats)?;
        print_stats(args, &stats, start.elapsed(), None);
    } else {
        let ran = decode(args, &mut accelerator, &name, &prompt, &mut files, shown)?;
        files.commit()?;
        if args.json {
            print_json(&accelerator, &name, &prompt.ids, &ran)?;
        }
        let tokens = prompt.ids.len() + ran.generated.len();
        print_stats(args, &ran.stats, start.elapsed(), Some(tokens as u64));
    }
    Ok(Outcome::Done)
}

/// What the run begins with.
struct Prompt {
    ids: Vec<u32>,
    /// As typed, if it was text.
    text: Option<String>,
}

fn prompt(args: &Args, accelerator: &Accelerator, name: &str) -> Result<Prompt> {
    if let Some(tokens) = &args.tokens {
        return Ok(Prompt { ids: tokens.clone(), text: None });
    }
    let text = match args.prompt.as_deref() {
        Some("-") => {
            let text = files::read_text(Path::new("-"))?;
            // The line end that every shell puts there belongs to no prompt.
            text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).to_owned()).unwrap_or(text)
        }
        other => other.unwrap_or_default().to_owned(),
    };
    let mut vocabulary = Vocabulary::open(accelerator.machine().memory(), accelerator.header(), name)?;
    let (ids, encoded) = vocabulary.encode(text.as_bytes(), Place::First, Rules::REAL)?;
    if encoded.lost > 0 {
        out::note(format_args!("{} bytes of the prompt have no token in this vocabulary", encoded.lost));
    }
    if ids.is_empty() {
        return Err(refused("the prompt is empty, and this vocabulary has no token to begin with: give a text"));
    }
    Ok(Prompt { ids, text: Some(text) })
}

fn decode(
    args: &Args,
    accelerator: &mut Accelerator,
    name: &str,
    prompt: &Prompt,
    files: &mut Files,
    shown: bool,
) -> Result<ssnail_machine::Outcome> {
    // Greedy unless asked otherwise; then as in a conversation, so that both tell the same story.
    if let [first, rest @ ..] = args.sampling.idle().as_slice() {
        let names = rest.iter().fold((*first).to_owned(), |names, name| format!("{names}, {name}"));
        out::note(format_args!("note: without --temp the likeliest token is always taken; not used: {names}"));
    }
    let default = if args.sampling.has_temperature() { Settings::CHAT } else { Settings::GREEDY };
    let settings = args.sampling.settings(default);
    let seed = args.sampling.seed();
    if !settings.is_greedy() && args.stats {
        out::note(format_args!("seed {seed}"));
    }
    accelerator.check_prompt(&prompt.ids).refuse()?;
    let stream = if shown { Some(begin_text(accelerator, name, prompt)?) } else { None };
    let rows = accelerator.header().output_len;
    let mut watch = Watching::choosing(files, Chooser::new(settings, seed, &prompt.ids, rows), stream);
    let ran = accelerator.generate(&prompt.ids, args.n, &mut watch);
    if let Some((stream, _)) = &mut watch.stream {
        stream.finish()?;
        writeln!(out::stdout())?;
    }
    // A refusal is about the image; an output that cannot be written names itself.
    watch.finish().map_err(|error| if error.is::<Refused>() { error.context(name.to_owned()) } else { error })?;
    ran.refuse().with_context(|| name.to_owned())
}

/// Prints the prompt; gives back the stream and the bytes of every token.
fn begin_text(accelerator: &Accelerator, name: &str, prompt: &Prompt) -> Result<(TextStream, Pieces)> {
    let vocabulary = Vocabulary::open(accelerator.machine().memory(), accelerator.header(), name)?;
    let pieces = vocabulary.pieces(accelerator.header())?;
    let mut stream = TextStream::new(false);
    match &prompt.text {
        Some(text) => stream.push(text.as_bytes())?,
        None => {
            for &id in &prompt.ids {
                stream.push(pieces.get(id))?;
            }
        }
    }
    Ok((stream, pieces))
}

fn print_json(accelerator: &Accelerator, name: &str, prompt: &[u32], ran: &ssnail_machine::Outcome) -> Result<()> {
    let vocabulary = Vocabulary::open(accelerator.machine().memory(), accelerator.header(), name)?;
    let object = json!({
        "prompt_ids": prompt,
        "generated": ran.generated,
        "text": vocabulary.text(&ran.generated)?,
        "stop_reason": ran.reason.name(),
        "pos": ran.pos,
        "instructions": ran.stats.instructions,
        "bytes_read": ran.stats.bytes_read,
        "bytes_written": ran.stats.bytes_written,
    });
    writeln!(out::stdout(), "{object}").context("cannot print the result")
}

fn show_vector(args: &Args, shown: bool, prompt: &[u32], vector: &[f32], stats: &Stats) -> Result<()> {
    let mut out = out::stdout();
    if args.json {
        let object = json!({
            "prompt_ids": prompt,
            "generated": [],
            "text": "",
            "stop_reason": StopReason::Count.name(),
            "pos": 0,
            "embedding": vector,
            "instructions": stats.instructions,
            "bytes_read": stats.bytes_read,
            "bytes_written": stats.bytes_written,
        });
        writeln!(out, "{object}")?;
    } else if shown {
        let norm = vector.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        writeln!(out, "{} values, norm {norm:.4}", vector.len())?;
        let first: Vec<String> = vector.iter().take(16).map(|value| format!("{value:.4}")).collect();
        writeln!(out, "{}", first.join(" "))?;
    }
    Ok(())
}

/// Statistics on standard error; `tokens` counts those of a decoder.
fn print_stats(args: &Args, stats: &Stats, took: Duration, tokens: Option<u64>) {
    if !args.stats {
        return;
    }
    let (read, written) = (stats.bytes_read as f64 / 1e6, stats.bytes_written as f64 / 1e6);
    out::note(format_args!("{} instructions, {read:.1} MB read, {written:.1} MB written", stats.instructions));
    let bandwidth = args.bandwidth;
    match tokens {
        Some(tokens) => {
            if let Some(rate) = stats.tokens_per_second(bandwidth, tokens) {
                out::note(format_args!("estimate for the core at {bandwidth} MB/s: {rate:.1} tokens/s"));
            }
            let rate = tokens as f64 / took.as_secs_f64().max(1e-9);
            out::note(format_args!("this emulator: {rate:.1} tokens/s ({tokens} in {:.2} s)", took.as_secs_f64()));
        }
        None => {
            let core = stats.milliseconds(bandwidth);
            out::note(format_args!("estimate for the core at {bandwidth} MB/s: {core:.1} ms"));
            out::note(format_args!("this emulator: {:.1} ms", took.as_secs_f64() * 1e3));
        }
    }
}
