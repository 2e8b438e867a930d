//! Options for how the next token is chosen.

use ssnail_shared::sampler::Settings;
use std::time::{SystemTime, UNIX_EPOCH};

/// Sampling options; what is not given stays at the command's own value.
#[derive(Debug, clap::Args)]
pub struct SamplingArgs {
    /// Temperature; 0 always takes the likeliest token
    #[arg(long, value_name = "T", value_parser = finite, allow_negative_numbers = true)]
    temp: Option<f32>,
    /// Choose among the K likeliest tokens; 0 is all
    #[arg(long, value_name = "K")]
    topk: Option<u32>,
    /// Divide the logits of the last 64 tokens by P; 1 is off
    #[arg(long, value_name = "P", value_parser = factor)]
    penalty: Option<f32>,
    /// Start of the random numbers; the same seed gives the same text
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
}

impl SamplingArgs {
    /// The options over a command's own values.
    pub fn settings(&self, default: Settings) -> Settings {
        Settings {
            temperature: self.temp.unwrap_or(default.temperature),
            top_k: self.topk.unwrap_or(default.top_k),
            penalty: self.penalty.unwrap_or(default.penalty),
        }
    }

    /// True if a temperature was given.
    pub fn has_temperature(&self) -> bool {
        self.temp.is_some()
    }

    /// Options that were given and choose nothing, because no temperature was.
    pub fn idle(&self) -> Vec<&'static str> {
        let given =
            [("--topk", self.topk.is_some()), ("--penalty", self.penalty.is_some()), ("--seed", self.seed.is_some())];
        given.into_iter().filter(|&(_, given)| given && self.temp.is_none()).map(|(name, _)| name).collect()
    }

    /// The seed that was given, or one that differs from run to run.
    pub fn seed(&self) -> u32 {
        self.seed.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.subsec_nanos() ^ now.as_secs() as u32 ^ std::process::id().rotate_left(16)
        })
    }
}

fn finite(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("a number such as 0.8 is expected".to_owned()),
    }
}

fn factor(text: &str) -> Result<f32, String> {
    finite(text).and_then(|value| if value > 0.0 { Ok(value) } else { Err("it must be above 0".to_owned()) })
}
