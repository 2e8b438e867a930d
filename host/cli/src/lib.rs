//! The `ssnail` command: parses what was typed, runs one module of [`commands`], turns the result
//! into an exit code. Everything that computes lives in the libraries beside it.

mod anatomy;
mod args;
mod commands;
mod exit;
mod files;
mod hub;
mod image;
mod interrupt;
mod media;
mod model;
mod out;
mod progress;
mod sampling;
mod storyteller;
mod stream;
mod vocabulary;

#[cfg(test)]
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command that was typed.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    interrupt::install();
    exit::finish(cli.command.run().and_then(|outcome| {
        out::flush()?;
        Ok(outcome)
    }))
}

/// Parses a command line, the program's name in front, and runs nothing.
///
/// # Errors
/// Wrong usage, or a help text that was asked for.
pub fn parse(words: impl IntoIterator<Item: Into<OsString> + Clone>) -> Result<(), clap::Error> {
    args::Cli::try_parse_from(words).map(drop)
}
