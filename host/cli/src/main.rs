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
use std::process::ExitCode;

fn main() -> ExitCode {
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
