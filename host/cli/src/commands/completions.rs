//! `ssnail completions SHELL`: made from the same definitions as the parser.

use crate::args::Cli;
use crate::exit::Outcome;
use crate::out;
use clap::CommandFactory;
use std::io::Write;

/// Completion scripts are printed; where they go depends on the shell:
///
///   ssnail completions bash > ~/.local/share/bash-completion/completions/ssnail
///   ssnail completions fish > ~/.config/fish/completions/ssnail.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Shell that reads the script
    shell: clap_complete::Shell,
}

/// Prints the script.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ssnail", &mut script);
    out::stdout().write_all(&script)?;
    Ok(Outcome::Done)
}
