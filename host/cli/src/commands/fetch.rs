//! `ssnail fetch`: one model, whole and checked.

use crate::exit::Outcome;
use crate::hub::{self, HubArgs};
use crate::{out, progress};
use indicatif::ProgressBar;
use ssnail_hub::Source;
use ssnail_hub::fetch::{Options, Progress, fetch};
use std::io::Write;
use std::path::PathBuf;

/// Downloads a GGUF file and checks that it is one. An interrupted download stays as
/// NAME.partial, and the same command continues it. From a repository the file with the most bits
/// per weight is taken (F32 or F16 if there is one), so that converting loses nothing twice.
///
///   ssnail fetch OWNER/NAME                              the finest file of a repository
///   ssnail fetch OWNER/NAME:model-f16.gguf -o m.gguf     a certain file, under another name
///   ssnail fetch OWNER/NAME@v1.0                         a branch, tag or commit
///   ssnail fetch https://example.org/model.gguf          any address (https)
///
/// Gated models need a token: in HF_TOKEN, or where the huggingface-cli keeps it.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Address, repository, or repository and file (OWNER/NAME:FILE.gguf)
    #[arg(value_name = "URL|REPO[:FILE]")]
    source: String,
    /// File or folder to write [default: the model's name, here]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// SHA-256 that the file must have (else the one that the hub states is compared)
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    sha256: Option<String>,
    #[command(flatten)]
    hub: HubArgs,
}

fn sha256(text: &str) -> Result<String, String> {
    if ssnail_hub::is_sha256(text) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("a SHA-256 has 64 hexadecimal digits".to_owned())
    }
}

/// Fetches; prints the path of the file.
///
/// # Errors
/// Refused if the network or the file is at fault, an error if this machine is.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let client = hub::client(&args.hub)?;
    let source = Source::parse(&args.source)?;
    let options = Options { output: args.output.clone(), force: args.force, sha256: args.sha256.clone() };
    let mut bar = ProgressBar::hidden();
    let fetched = fetch(&client, &source, &options, &mut |step| match step {
        Progress::Begin { url, target, have, size } => {
            if bar.is_finished() || bar.length() != *size {
                out::note(format_args!("{url} -> {}", target.display()));
                bar = progress::bytes("fetch", size.unwrap_or(0));
            }
            bar.set_position(*have);
        }
        Progress::At(have) => bar.set_position(*have),
        Progress::Checking => bar.finish_and_clear(),
    })
    .map_err(hub::classify)?;
    if fetched.resumed > 0 {
        out::note(format_args!("resumed after {} bytes", fetched.resumed));
    }
    let compared = if fetched.verified { "as promised" } else { "nothing to compare with" };
    out::note(format_args!("{} bytes, SHA-256 {} ({compared})", fetched.size, fetched.sha256));
    writeln!(out::stdout(), "{}", fetched.path.display())?;
    Ok(Outcome::Done)
}
