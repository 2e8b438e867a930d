//! Script files: one step a line.

use crate::exit::refused;
use anyhow::Result;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Type text with escapes.
    Type(String),
    /// Wait for text on the screen.
    Wait(String),
    /// Let frames pass.
    Frames(u64),
}

/// Reads a script; empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// A line that is no step, with its number.
pub fn parse(text: &str) -> Result<Vec<Action>> {
    let mut actions = vec![];
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        actions.push(match (word, rest.trim().parse()) {
            ("type", _) => Action::Type(rest.to_owned()),
            ("wait", _) if !rest.is_empty() => Action::Wait(rest.to_owned()),
            ("frames", Ok(n)) => Action::Frames(n),
            _ => {
                return Err(refused(format_args!(
                    "script line {number}: `{line}` is none of: type TEXT, wait TEXT, frames N"
                )));
            }
        });
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_their_errors() {
        let actions = parse("# start\ntype hello <RETURN>\n\nwait Ready.\nframes 20\n").expect("valid");
        assert_eq!(actions, [Action::Type("hello <RETURN>".into()), Action::Wait("Ready.".into()), Action::Frames(20)]);
        let error = parse("type x\nframes x").expect_err("no number").to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
