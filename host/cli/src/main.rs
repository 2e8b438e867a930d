//! The `ssnail` command; everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ssnail_cli::main()
}
