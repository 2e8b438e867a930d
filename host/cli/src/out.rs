//! Standard output and standard error. A reader that went away is noticed, never a panic.

use std::borrow::Cow;
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
    let _ = writeln!(io::stderr(), "{}", plain(&text.to_string()));
}

/// What files and the network gave as a terminal may have it: control characters, which could change its title or what
/// was written before, become U+FFFD; lines and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_control() && !"\n\r\t".contains(c))
}

/// The same for a name that belongs into one line.
pub fn name(text: &str) -> Cow<'_, str> {
    replaced(text, char::is_control)
}

fn replaced(text: &str, hostile: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(&hostile) { text.replace(hostile, "\u{FFFD}").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        assert_eq!(plain("a\tb\r\n\u{e9}"), "a\tb\r\n\u{e9}");
        assert_eq!(plain("\u{1b}]0;x\u{7}\u{9b}1m\u{7f}\0"), "\u{FFFD}]0;x\u{FFFD}\u{FFFD}1m\u{FFFD}\u{FFFD}");
        assert_eq!(name("a\nrm -rf b\tc"), "a\u{FFFD}rm -rf b\u{FFFD}c");
    }
}
