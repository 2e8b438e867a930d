//! Standard output and standard error. A reader that went away is noticed, never a panic.

use std::fmt::{self, Display};
use std::io::{self, Write};

/// The cause inside an [`io::Error`] when the reader of standard output has gone:
/// the command then ends quietly (see [`crate::exit`]).
#[derive(Debug)]
pub struct StdoutClosed;

impl Display for StdoutClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for StdoutClosed {}

/// Standard output, line buffered, that marks a closed pipe as [`StdoutClosed`].
#[derive(Debug)]
pub struct Stdout(io::Stdout);

/// The standard output of this process.
pub fn stdout() -> Stdout {
    Stdout(io::stdout())
}

/// Writes out what is still buffered, so that a full disk behind a redirection is an error.
///
/// # Errors
/// Standard output cannot be written.
pub fn flush() -> io::Result<()> {
    stdout().flush()
}

fn mark(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        io::Error::new(io::ErrorKind::BrokenPipe, StdoutClosed)
    } else {
        io::Error::new(error.kind(), format!("standard output: {error}"))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(mark)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(mark)
    }
}

/// One line on standard error. If nobody reads it, nothing is lost that matters.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}
