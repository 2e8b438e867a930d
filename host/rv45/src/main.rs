//! `rv45 ELF -o X.PRG [--map FILE] [--list FILE] [--hot NAME,..] [--cold NAME,..]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use rv45::command;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::run(std::env::args().skip(1)) {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rv45: {error}");
            ExitCode::from(2)
        }
    }
}
