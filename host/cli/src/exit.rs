//! Exit codes, and how an error is shown.
//!
//! 0: done. 1: a difference was found, or what was given (a model, an image, a prompt) is refused.
//! 2: wrong usage, or the machine failed (file not found, disk full). A closed pipe is success.

use crate::out::{self, StdoutClosed};
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// How a command ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 1: the comparison that was asked for found a difference.
    Difference,
}

/// Marks an error as a refusal (exit code 1): what was given cannot be used, nothing is broken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

/// A refusal with this reason.
pub fn refused(reason: impl Display) -> anyhow::Error {
    anyhow::Error::new(Refused(reason.to_string()))
}

/// Turns an error about the given material into a refusal that keeps its causes in the text.
pub trait Refuse<T> {
    /// Marks the error as a refusal.
    ///
    /// # Errors
    /// The same error, marked.
    fn refuse(self) -> anyhow::Result<T>;
}

impl<T, E: std::error::Error> Refuse<T> for Result<T, E> {
    fn refuse(self) -> anyhow::Result<T> {
        self.map_err(|error| refused(chain(&error)))
    }
}

/// The error and its causes on one line, no cause said twice.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

/// Shows clap's help or complaint: 0 for help and version, 2 for wrong usage.
pub fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| out::flush());
    match printed {
        // A closed pipe (`ssnail --help | head -1`) is no reason to complain.
        Err(failed) if !error.use_stderr() && failed.kind() != io::ErrorKind::BrokenPipe => {
            out::note(format_args!("ssnail: standard output: {failed}"));
            ExitCode::from(2)
        }
        _ if error.use_stderr() => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    }
}

/// The exit code of a finished command; an error is printed as one line with its causes.
pub fn finish(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Difference) => ExitCode::from(1),
        Err(error) if closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::note(format_args!("ssnail: {}", chain(error.as_ref())));
            ExitCode::from(if error.chain().any(|cause| cause.is::<Refused>()) { 1 } else { 2 })
        }
    }
}

fn closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<StdoutClosed>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_that_the_message_repeats_is_said_once() {
        let inner = io::Error::other("disk on fire");
        let error = anyhow::Error::new(inner).context("cannot write x: disk on fire");
        assert_eq!(chain(error.as_ref()), "cannot write x: disk on fire");
    }

    #[test]
    fn a_refusal_stays_one_under_further_context() {
        let result: anyhow::Result<Outcome> = Err(refused("too big")).context("a.gguf");
        assert_eq!(finish(result), ExitCode::from(1));
        assert_eq!(finish(Err(anyhow::anyhow!("broken"))), ExitCode::from(2));
    }
}
