//! `/SSNAIL/CONFIG.TXT`: a default model and default settings.
//!
//! One setting a line, `name = value`; a first line without `=` names the model. Lines that begin with `#` are remarks.
//!
//! ```text
//! model = STORY.SSN
//! n = 120
//! temp = 0.8
//! topk = 40
//! penalty = 1.15
//! seed = 7
//! core = auto
//! ```

use crate::command::{parse_decimal, parse_u32};
use crate::sampler::Settings;

/// Longest model name that is kept.
pub const MODEL_MAX: usize = 63;

/// Which of the two ways to compute is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreChoice {
    /// The core where there is one.
    Auto,
    /// Only the core.
    On,
    /// Only the program itself.
    Off,
}

/// Everything that the file can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// File to load at once; empty: none.
    pub model: [u8; MODEL_MAX],
    /// Its length.
    pub model_len: u8,
    /// Tokens in an answer.
    pub n: u32,
    /// How tokens are chosen.
    pub settings: Settings,
    /// First random number; `None`: the clock decides.
    pub seed: Option<u32>,
    /// With the core or without.
    pub core: CoreChoice,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: [0; MODEL_MAX],
            model_len: 0,
            n: DEFAULT_N,
            settings: Settings::CHAT,
            seed: None,
            core: CoreChoice::Auto,
        }
    }
}

/// Tokens in an answer of chat.
pub const DEFAULT_N: u32 = 120;

impl Config {
    /// Name of the default model; empty: none.
    #[must_use]
    pub fn model(&self) -> &[u8] {
        &self.model[..usize::from(self.model_len)]
    }

    /// Reads a file. Lines that cannot be read are skipped; the number of the first of them is returned.
    #[must_use]
    pub fn read(text: &[u8]) -> (Self, Option<u16>) {
        let mut config = Self::default();
        let mut bad = None;
        let mut number = 0u16;
        for line in text.split(|&b| b == b'\n') {
            number = number.saturating_add(1);
            let line = line.trim_ascii();
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            if config.line(line, number == 1).is_none() && bad.is_none() {
                bad = Some(number);
            }
        }
        (config, bad)
    }

    fn line(&mut self, line: &[u8], first: bool) -> Option<()> {
        let (name, value) = match line.iter().position(|&b| b == b'=') {
            Some(i) => (line[..i].trim_ascii(), line[i + 1..].trim_ascii()),
            None if first => (&b"model"[..], line),
            None => return None,
        };
        let is = |n: &[u8]| name.eq_ignore_ascii_case(n);
        if is(b"model") {
            let name = self.model.get_mut(..value.len())?;
            name.copy_from_slice(value);
            self.model_len = value.len() as u8;
        } else if is(b"n") {
            self.n = parse_u32(value)?;
        } else if is(b"temp") {
            self.settings.temperature = parse_decimal(value)?;
        } else if is(b"topk") {
            self.settings.top_k = parse_u32(value)?;
        } else if is(b"penalty") {
            self.settings.penalty = parse_decimal(value).filter(|&p| p > 0.0)?;
        } else if is(b"seed") {
            self.seed = Some(parse_u32(value)?);
        } else if is(b"core") {
            self.core = if value.eq_ignore_ascii_case(b"auto") {
                CoreChoice::Auto
            } else if value.eq_ignore_ascii_case(b"on") {
                CoreChoice::On
            } else if value.eq_ignore_ascii_case(b"off") {
                CoreChoice::Off
            } else {
                return None;
            };
        } else {
            return None;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file() {
        let (c, bad) = Config::read(
            b"# mine\r\nMODEL = STORY.SSN\r\nn=30\r\n temp = 0.5\r\ntopk=0\npenalty=1.3\nseed=9\ncore=off\n",
        );
        assert_eq!(bad, None);
        assert_eq!(c.model(), b"STORY.SSN");
        assert_eq!((c.n, c.seed, c.core), (30, Some(9), CoreChoice::Off));
        assert_eq!(c.settings, Settings { temperature: 0.5, top_k: 0, penalty: 1.3 });
    }

    #[test]
    fn the_short_form_names_the_model() {
        assert_eq!(Config::read(b"foo.ssn\n").0.model(), b"foo.ssn");
        assert_eq!(Config::read(b"").0, Config::default());
    }

    #[test]
    fn lines_that_cannot_be_read_are_numbered_and_change_nothing() {
        for line in ["speed = 9", "n = many", "penalty = 0", "core = perhaps", "what", "temp = -1"] {
            let text = format!("n=3\n{line}\nseed=4\n");
            let (c, bad) = Config::read(text.as_bytes());
            assert_eq!(bad, Some(2), "{line}");
            assert_eq!((c.n, c.seed), (3, Some(4)));
            assert_eq!(c.settings, Settings::CHAT);
        }
        let long = [b'x'; 100];
        assert_eq!(Config::read(&long).1, Some(1));
        let _ = Config::read(&[0xFF, b'=', 0xFE, b'\n', b'=', b'\n']);
    }
}
