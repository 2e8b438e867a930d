//! The command line, for the `rv45` binary and for programs that offer it as a subcommand.

use crate::asm::{AssembleError, assemble};
use crate::link::{LinkError, Options, link};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Usage, for help texts.
pub const USAGE: &str =
    "rv45 ELF -o X.PRG [--map FILE] [--list FILE] [--entry NAME] [--hot NAME,..] [--cold NAME,..] [--asm FILE] [--abort-on-panic] [--panic-messages] [--smallest] [--compress] [--checks] [--main-end HEX] [--part] [--stack-top HEX]
  ELF      linked for riscv32im with --emit-relocs and rv45.ld (see toolchain.sh)
  --map    symbols with address, size and cycles of their straight path
  --list   RISC-V instructions and 45GS02 code side by side
  --hot    functions (by part of their name) kept fast; --cold: kept small
  --asm    hand-written routines, each beginning with `.func NAME`
  --abort-on-panic  panics stop in rv_panic without the panic handler and its messages
  --panic-messages  kept even where the panic handler does not look at them
  --smallest  all but hot functions in the smallest form, several times slower
  --part   a part of another program (see ARCHITECTURE.md), with its data where rv45_data says and its soft
           stack below --stack-top ADDRESS
  --main-end  where code in main memory must end (hex, D000 at most); the rest goes to high memory and overlays
  --checks  stack overflow ends in rv_overflow
rv45 --block START -o FILE ASM...   assembles sources, one after the other, at START (hex) and fills up to $FFFF";

/// What a program that offers the command says where an output cannot be written.
pub type WriteError = Box<dyn std::error::Error + Send + Sync>;

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The arguments do not make sense.
    #[error("{0}\nusage: {USAGE}")]
    Usage(String),
    /// A file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// An output cannot be written.
    #[error("{0}")]
    Write(#[source] WriteError),
    /// The program cannot be translated.
    #[error("{path}: {error}")]
    Link {
        /// Which.
        path: PathBuf,
        /// Why.
        error: LinkError,
    },
    /// The sources of a block cannot be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

/// Writes a file.
pub trait Write: FnMut(&Path, &[u8]) -> Result<(), WriteError> {}

impl<T: FnMut(&Path, &[u8]) -> Result<(), WriteError>> Write for T {}

/// `--block`: code that is not linked with a program but mapped by it.
fn block(args: impl Iterator<Item = String>, mut write: impl Write) -> Result<String, CommandError> {
    let (mut start, mut output, mut text, mut named) = (None, None, String::new(), false);
    for arg in args {
        if arg == "-o" {
            named = true;
        } else if std::mem::take(&mut named) {
            output = Some(PathBuf::from(arg));
        } else if start.is_none() {
            let number = u16::from_str_radix(arg.trim_start_matches('$'), 16);
            start = Some(number.map_err(|_| CommandError::Usage(format!("{arg}: no hex number")))?);
        } else {
            let path = PathBuf::from(arg);
            text += &fs::read_to_string(&path).map_err(|error| CommandError::File { path, error })?;
            text.push('\n');
        }
    }
    let (Some(start), Some(path)) = (start, output) else {
        return Err(CommandError::Usage("a block needs its start and a file".into()));
    };
    let assembled = assemble(&text, start)?;
    let report = format!("{} bytes of code at ${start:04X}\n", assembled.bytes.len());
    let mut bytes = assembled.bytes;
    bytes.resize(0x1_0000 - usize::from(start), 0);
    write(&path, &bytes).map_err(CommandError::Write)?;
    Ok(report)
}

/// Translates as the arguments (without the program's name) say; returns the map as a report. `write` makes a file that is
/// whole or, where it fails, absent.
///
/// # Errors
/// [`CommandError`].
pub fn run(args: impl IntoIterator<Item = String>, mut write: impl Write) -> Result<String, CommandError> {
    let mut args = args.into_iter().peekable();
    if args.peek().is_some_and(|first| first == "--help" || first == "-h") {
        return Ok(format!("{USAGE}\n"));
    }
    if args.peek().is_some_and(|first| first == "--block") {
        return block(args.skip(1), write);
    }
    let mut options = Options::default();
    let (mut input, mut output, mut map, mut list) = (None, None, None, None);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| CommandError::Usage(format!("{arg} needs a value")));
        let names = |text: String| text.split(',').map(str::to_string).collect::<Vec<_>>();
        match arg.as_str() {
            "-o" => output = Some(PathBuf::from(value()?)),
            "--map" => map = Some(PathBuf::from(value()?)),
            "--list" => list = Some(PathBuf::from(value()?)),
            "--entry" => options.entry = value()?,
            "--hot" => options.hot.extend(names(value()?)),
            "--cold" => options.cold.extend(names(value()?)),
            "--abort-on-panic" => options.abort_on_panic = true,
            "--panic-messages" => options.silent_panics = false,
            "--compress" => options.compress = true,
            "--checks" => options.checks = true,
            "--smallest" => options.smallest = true,
            "--part" => options.part = true,
            "--main-end" => {
                let text = value()?;
                let number = u16::from_str_radix(text.trim_start_matches("0x"), 16);
                options.main_end = number.map_err(|_| CommandError::Usage(format!("{arg} {text}: no hex number")))?;
            }
            "--stack-top" => {
                let text = value()?;
                let number = u32::from_str_radix(text.trim_start_matches("0x"), 16);
                options.stack_top = number.map_err(|_| CommandError::Usage(format!("{arg} {text}: no hex number")))?;
            }
            "--asm" => {
                let path = PathBuf::from(value()?);
                let text = fs::read_to_string(&path).map_err(|error| CommandError::File { path, error })?;
                options.assembly.push(text);
            }
            other if other.starts_with('-') => return Err(CommandError::Usage(format!("unknown option {other}"))),
            _ if input.is_some() => return Err(CommandError::Usage("more than one input".into())),
            _ => input = Some(PathBuf::from(arg)),
        }
    }
    let input = input.ok_or_else(|| CommandError::Usage("no input".into()))?;
    let file = fs::read(&input).map_err(|error| CommandError::File { path: input.clone(), error })?;
    let program = link(&file, &options).map_err(|error| CommandError::Link { path: input, error })?;
    let report = program.map.to_string();
    for (path, bytes) in
        [(output, program.prg.as_slice()), (map, report.as_bytes()), (list, program.listing.as_bytes())]
    {
        if let Some(path) = path {
            write(&path, bytes).map_err(CommandError::Write)?;
        }
    }
    Ok(report)
}
