//! Models that tell stories: in F32, or as an image on the emulated accelerator with hardware numerics.

use crate::infer::Float;
use crate::vocab::EOS;
use anyhow::{Context, Result, ensure};
use ssnail_machine::{Accelerator, Numerics, Options, Watch};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::recent::Recent;
use ssnail_shared::rng::Rng;
use ssnail_shared::runtime::StopReason;
use ssnail_shared::sampler::{Candidate, SampleError, Settings, sample};

/// A model with its context.
pub trait Teller {
    /// Continues a prompt (BOS included) until EOS or the end of the context: the new tokens without EOS, and whether
    /// it ended.
    ///
    /// # Errors
    /// When the model cannot run.
    fn tell(&mut self, prompt: &[u32], how: &Settings, seed: u32) -> Result<(Vec<u32>, bool)>;

    /// Sum of −ln p over the tokens of a story after the first.
    ///
    /// # Errors
    /// When the model cannot run.
    fn nll(&mut self, story: &[u32]) -> Result<f64>;
}

/// The sampler of the chat, with its memory of the last tokens.
struct Chooser {
    how: Settings,
    recent: Recent,
    rng: Rng,
    room: Vec<Candidate>,
}

impl Chooser {
    fn new(how: &Settings, seed: u32) -> Self {
        let room = vec![Candidate::default(); how.top_k.max(1) as usize];
        Chooser { how: *how, recent: Recent::new(), rng: Rng::new(seed), room }
    }

    fn choose(&mut self, logits: &[f32]) -> Result<u32, SampleError> {
        let bytes: Vec<u8> = logits.iter().flat_map(|x| x.to_le_bytes()).collect();
        let memory = SliceMemory::new(0, bytes);
        sample(&memory, 0, logits.len() as u32, &self.how, &self.recent, &mut self.rng, &mut self.room)
    }
}

fn minus_ln_p(logits: &[f32], token: u32) -> f64 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|x| f64::from(x - max).exp()).sum();
    sum.ln() - f64::from(logits.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY) - max)
}

impl Teller for Float<'_> {
    fn tell(&mut self, prompt: &[u32], how: &Settings, seed: u32) -> Result<(Vec<u32>, bool)> {
        self.reset();
        let mut chooser = Chooser::new(how, seed);
        let (mut new, mut queue) = (Vec::new(), prompt.to_vec());
        loop {
            for t in queue.drain(..) {
                self.push(t)?;
                chooser.recent.push(t);
            }
            let next = chooser.choose(self.logits())?;
            if next == EOS {
                return Ok((new, true));
            }
            new.push(next);
            if prompt.len() + new.len() > self.context() {
                return Ok((new, false));
            }
            queue.push(next);
        }
    }

    fn nll(&mut self, story: &[u32]) -> Result<f64> {
        self.reset();
        let mut sum = 0.0;
        for pair in story.windows(2) {
            if let [t, next] = pair {
                sum += minus_ln_p(self.push(*t)?, *next);
            }
        }
        Ok(sum)
    }
}

/// An image on the emulated accelerator.
pub struct Machine(Accelerator);

impl Machine {
    /// Loads an image; every operation by the rules of the hardware.
    ///
    /// # Errors
    /// When it is not a good image.
    pub fn load(image: &[u8]) -> Result<Self> {
        let options = Options { numerics: Numerics::Hardware, ..Options::default() };
        Ok(Machine(Accelerator::load(image, &options, |_| {})?))
    }
}

struct Choosing {
    chooser: Chooser,
    failed: Option<SampleError>,
}

impl Watch for Choosing {
    fn token(&mut self, token: u32) -> bool {
        self.chooser.recent.push(token);
        self.failed.is_none()
    }

    fn choose(&mut self, _: u32, logits: &[f32], largest: u32) -> u32 {
        self.chooser.choose(logits).unwrap_or_else(|e| {
            self.failed = Some(e);
            largest
        })
    }
}

struct Scoring<'a> {
    story: &'a [u32],
    nll: f64,
}

impl Watch for Scoring<'_> {
    fn wants_logits(&self) -> bool {
        true
    }

    fn logits(&mut self, pos: u32, logits: &[f32]) {
        if let Some(next) = self.story.get(pos as usize + 1) {
            self.nll += minus_ln_p(logits, *next);
        }
    }
}

impl Teller for Machine {
    fn tell(&mut self, prompt: &[u32], how: &Settings, seed: u32) -> Result<(Vec<u32>, bool)> {
        self.0.reset()?;
        let mut watch = Choosing { chooser: Chooser::new(how, seed), failed: None };
        prompt.iter().for_each(|t| watch.chooser.recent.push(*t));
        let outcome = self.0.generate(prompt, u32::MAX, &mut watch)?;
        if let Some(e) = watch.failed {
            return Err(e.into());
        }
        let mut new = outcome.generated;
        let ended = outcome.reason == StopReason::Eos;
        if ended {
            new.pop();
        }
        Ok((new, ended))
    }

    fn nll(&mut self, story: &[u32]) -> Result<f64> {
        self.0.reset()?;
        let last = story.len().checked_sub(1).context("an empty story")?;
        ensure!(last > 0, "a story of one token");
        let mut watch = Scoring { story, nll: 0.0 };
        self.0.generate(story.get(..last).unwrap_or(story), 1, &mut watch)?;
        Ok(watch.nll)
    }
}
