//! `ssnail convert`: a GGUF model becomes a memory image.

use crate::exit::{Outcome, Refuse, refused};
use crate::files::Output;
use crate::model::open_gguf;
use crate::{files, out, progress};
use anyhow::{Context, Result};
use ssnail_convert::{ConvertError, KvFormat, Lossy, Options, Plan, WeightPolicy, native_format, plan};
use ssnail_gguf::Gguf;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

/// Makes an image that the accelerator (or the emulator) runs. Models of the architectures llama,
/// gpt2 and bert can be converted; whatever would give a wrong result is refused with the reason.
///
///   ssnail convert story.gguf -o story.ssnail
///   ssnail convert story.gguf -o story.ssnail --wtype auto --mem-mb 64
///   ssnail convert story.gguf -o story.ssnail --ctx 512 --kv f32
///
/// Weight formats (--wtype): keep leaves F32, F16, BF16, Q8_0 and Q4_0 as they are and stores the
/// others in --fallback; mixed is Q4_0 for embedding and classifier, Q8_0 for the rest; auto takes
/// the first of keep, q8_0, mixed and q4_0 that fits the memory, and asks before an already
/// quantised model loses bits.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// GGUF file (- for standard input)
    model: PathBuf,
    /// Image to write (- for standard output)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Context in tokens [default: the model's, at most 256; 128 for bert]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    ctx: Option<i64>,
    /// Weight format: keep, auto, mixed, f32, f16, bf16, q8_0 or q4_0
    #[arg(long, value_name = "FORMAT", default_value = "keep")]
    wtype: WeightPolicy,
    /// Format of the key/value caches: f16 or f32
    #[arg(long, value_name = "FORMAT", default_value = "f16")]
    kv: KvFormat,
    /// Format for weights that the accelerator cannot read as they are
    #[arg(long, value_name = "FORMAT", default_value = "q8_0", value_parser = native_format)]
    fallback: ssnail_quant::GgmlType,
    /// Memory of the machine in MB: 8, 64 and 72 exist
    #[arg(long, alias = "hyperram-mb", value_name = "MB", default_value_t = 8.0, allow_negative_numbers = true)]
    mem_mb: f64,
    /// Allow more than 72 MB (up to 128), which only the emulator has
    #[arg(long)]
    emulator_only: bool,
    /// What the model is for; recorded in the description
    #[arg(long = "type", value_name = "TEXT", default_value = "General")]
    type_text: String,
    /// Convert without asking, even if an already quantised model loses bits
    #[arg(short, long)]
    yes: bool,
}

/// Converts.
///
/// # Errors
/// A refusal where the model cannot be converted or does not fit, or the user declines.
pub fn run(args: &Args) -> Result<Outcome> {
    let gguf = open_gguf(&args.model)?;
    let options = Options {
        ctx: args.ctx,
        wtype: args.wtype,
        kv: args.kv,
        fallback: args.fallback,
        mem_mb: args.mem_mb,
        emulator_only: args.emulator_only,
        type_text: args.type_text.clone(),
        ..Options::default()
    };
    let plan = match plan(&gguf, &options) {
        Err(ConvertError::TooBig(too_big)) => {
            let stem = args.model.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy());
            return Err(refused(format_args!("{too_big}\n{}", too_big.help(&stem).trim_end())));
        }
        other => other.refuse().with_context(|| args.model.display().to_string())?,
    };
    report(args, &gguf, &plan);
    if let (Some(lossy), false) = (plan.lossy(), args.yes) {
        if args.wtype == WeightPolicy::Auto {
            consent(lossy, &plan)?;
        } else {
            out::note(format_args!("note: {lossy}"));
        }
    }
    write(args, &plan)?;
    out::note(format_args!("wrote {} ({} bytes)", args.output.display(), plan.file_len()));
    Ok(Outcome::Done)
}

/// Says what the image will be: on standard error, as the image itself may go to standard output.
fn report(args: &Args, gguf: &Gguf<'_>, plan: &Plan<'_>) {
    let header = plan.header();
    out::note(format_args!("{}", crate::image::description(header)));
    let matrices = plan.matrices();
    let bytes: u64 = matrices.iter().map(|matrix| matrix.bytes).sum();
    let repacked: Vec<_> = matrices.iter().filter(|matrix| matrix.is_repacked()).collect();
    if args.wtype == WeightPolicy::Auto {
        out::note(format_args!("auto: {} fits {} MB", plan.policy(), args.mem_mb));
    }
    out::note(format_args!(
        "{} tensors, {} matrices with {:.1} MB of weights, {} of them repacked",
        gguf.tensors().len(),
        matrices.len(),
        bytes as f64 / 1e6,
        repacked.len()
    ));
    for matrix in repacked.iter().take(4) {
        out::note(format_args!("  {}: {} to {}", matrix.name, matrix.source, matrix.target));
    }
    if repacked.len() > 4 {
        out::note(format_args!("  and {} more", repacked.len() - 4));
    }
    let needed = f64::from(plan.memory_needed()) / f64::from(1 << 20);
    out::note(format_args!("{needed:.2} MB of memory with a context of {}: {}", header.context, boards(needed)));
    for note in plan.notes() {
        out::note(format_args!("note: {note}"));
    }
}

fn boards(needed: f64) -> &'static str {
    match needed {
        _ if needed <= 8.0 => "any board",
        _ if needed <= 64.0 => "boards with 64 MB",
        _ if needed <= 72.0 => "boards with 72 MB",
        _ => "the emulator only",
    }
}

/// Asks before bits are lost that the user may want to keep.
fn consent(lossy: &Lossy, plan: &Plan<'_>) -> Result<()> {
    let policy = plan.policy();
    out::note(format_args!("WARNING: {lossy}"));
    out::note(format_args!(
        "This cannot be undone by converting back. To agree: WTYPE={policy}, --wtype {policy} or --yes."
    ));
    let asked = io::stdin().is_terminal() && io::stderr().is_terminal();
    if asked {
        let _ = write!(io::stderr(), "Convert? [y/N] ").and_then(|()| io::stderr().flush());
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
        if ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
            return Ok(());
        }
    }
    Err(refused(if asked { "Not converted." } else { "Not converted: there is no terminal to ask on." }))
}

/// So many bytes are brought to the disk while the next ones are computed.
const EARLY: u64 = 8 << 20;

/// Pieces of this many bytes, which those of weights are, go to the file without being copied once more.
const PASSED_ON: usize = 32 << 10;

/// Brings to the disk what has been written whenever it is told that there is more. Only to save time: the commit does
/// what is left, and reports errors.
fn to_disk(file: Option<&File>, told: &mpsc::Receiver<()>) {
    while told.recv().is_ok() {
        while told.try_recv().is_ok() {}
        let _ = file.map(File::sync_data);
    }
}

fn write(args: &Args, plan: &Plan<'_>) -> Result<()> {
    if same_file(&args.model, &args.output) {
        return Err(refused("the image would replace its own model: choose another name for -o"));
    }
    let output = Output::create(&args.output)?;
    // What has gone into a pipe cannot be taken back.
    if output.file().is_none() {
        plan.check().refuse().with_context(|| args.model.display().to_string())?;
    }
    let bar = progress::bytes("convert", plan.file_len());
    let early = output.file().and_then(|file| file.try_clone().ok());
    let mut output = BufWriter::with_capacity(PASSED_ON, output);
    let (more, told) = mpsc::channel();
    let written = thread::scope(|scope| {
        // Without a thread to be had the commit does it all.
        let _ = thread::Builder::new().spawn_scoped(scope, move || to_disk(early.as_ref(), &told));
        let mut asked = 0;
        // Moved into the closure, so that it ends the thread.
        let more = more;
        plan.write(&mut output, &mut |done, _| {
            bar.set_position(done);
            if done >= asked + EARLY {
                asked = done;
                let _ = more.send(());
            }
        })
    });
    bar.finish_and_clear();
    match written {
        // The disk's fault, or a closed pipe: its kind decides the exit code.
        Err(ConvertError::Write(error)) => return Err(error.into()),
        other => other.refuse().with_context(|| args.model.display().to_string())?,
    }
    output.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
}

fn same_file(a: &Path, b: &Path) -> bool {
    !files::is_dash(a) && a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}
