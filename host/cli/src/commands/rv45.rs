//! `ssnail rv45`: a linked RISC-V program as a PRG for the MEGA65.

use crate::exit::{Outcome, refused};
use crate::{files, out};
use anyhow::Result;
use rv45::command::{CommandError, WriteError};
use std::io::Write;
use std::path::Path;

/// Translates a program linked for riscv32im to a PRG and prints what lies where.
///
///   ssnail rv45 target/riscv32im-unknown-none-elf/release/hello -o HELLO.PRG --list hello.lst
///   ssnail rv45 hello -o HELLO.PRG --abort-on-panic --compress --cold menu
///
/// Options: -o, --map, --list FILE; --entry NAME; --hot, --cold NAME,..; --asm FILE; --abort-on-panic;
/// --smallest; --compress; --checks. host/rv45/README.md explains them and how a program is built.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The ELF file and options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<String>,
}

/// Translates.
///
/// # Errors
/// The program is refused, an option is wrong, or a file cannot be read or written.
pub fn run(args: &Args) -> Result<Outcome> {
    let report = match rv45::command::run(args.arguments.iter().cloned(), write) {
        Ok(report) => report,
        Err(error @ CommandError::Link { .. }) => return Err(refused(error)),
        Err(CommandError::Write(error)) => return Err(anyhow::Error::from_boxed(error)),
        Err(error) => return Err(error.into()),
    };
    out::stdout().write_all(report.as_bytes())?;
    Ok(Outcome::Done)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut output = files::Output::create(path)?;
    output.write_all(bytes)?;
    Ok(output.commit()?)
}
