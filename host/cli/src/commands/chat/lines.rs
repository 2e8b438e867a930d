//! Lines of input: edited on a terminal, as they come from a pipe.

use crate::exit::refused;
use crate::interrupt::terminal;
use crate::out;
use anyhow::{Context, Result, anyhow};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{self, BufRead, IsTerminal, Read, Write};

const PROMPT: &str = "> ";
/// Earlier lines that the arrow keys bring back.
const HISTORY: usize = 500;

/// No context holds what a longer line says.
const LONGEST: u64 = 1 << 20;

/// Where lines come from.
pub enum Lines {
    /// A person at a terminal, with what was typed before.
    Terminal(Vec<String>),
    /// A pipe or a file: no prompts, no editing.
    Pipe,
}

impl Lines {
    /// Standard input, as what it is.
    pub fn new() -> Self {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Self::Pipe;
        }
        terminal::remember();
        Self::Terminal(Vec::new())
    }

    /// True if a person is there.
    pub fn is_interactive(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next line without its end; `None` at the end of the input.
    ///
    /// # Errors
    /// The input cannot be read, or a line does not end.
    pub fn next(&mut self) -> Result<Option<String>> {
        match self {
            Self::Terminal(history) => from_terminal(history),
            Self::Pipe => from_pipe(),
        }
    }
}

/// The editor lives only while a line is typed: as long as it lives, it keeps Ctrl-C to itself.
fn from_terminal(history: &mut Vec<String>) -> Result<Option<String>> {
    let mut editor = DefaultEditor::new().context("cannot edit on this terminal")?;
    for line in history.iter().rev().take(HISTORY).rev() {
        // A line that the history does not take is no reason to stop.
        let _ = editor.add_history_entry(line);
    }
    loop {
        match editor.readline(PROMPT) {
            Ok(line) => {
                history.push(line.clone());
                return Ok(Some(line));
            }
            Err(ReadlineError::Interrupted) => match editor.readline("Leave? [y/N] ") {
                Ok(answer) if !["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) => {}
                _ => return Ok(None),
            },
            Err(ReadlineError::Eof) => {
                writeln!(out::stdout())?;
                return Ok(None);
            }
            Err(error) => return Err(anyhow!(error)).context("cannot read from the terminal"),
        }
    }
}

fn from_pipe() -> Result<Option<String>> {
    let mut bytes = Vec::new();
    let input = io::stdin().lock().take(LONGEST + 1).read_until(b'\n', &mut bytes);
    if input.context("cannot read standard input")? == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 > LONGEST {
        return Err(refused(format_args!(
            "standard input: a line goes on after {LONGEST} bytes, no turn is that long"
        )));
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Ok(Some(String::from_utf8_lossy(line).into_owned()))
}
