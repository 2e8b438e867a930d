//! The training run: deterministic, and resumable to the bit.

use crate::copier::{self, Place};
use crate::data::Stories;
use crate::model::{Config, Layout};
use crate::net::{Loss, Net};
use crate::optim::{self, Moments, Settings};
use crate::round::round_to;
use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use ssnail_quant::GgmlType;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Everything a run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Sizes of the model.
    pub config: Config,
    /// Seed of text, weights and order.
    pub seed: u64,
    /// Training stories.
    pub stories: u64,
    /// Steps of the whole run.
    pub steps: u64,
    /// Stories a step.
    pub batch: usize,
    /// Highest learning rate.
    pub rate: f32,
    /// Weight decay.
    pub decay: f32,
    /// Weight of the squared logarithm of the softmax's sum.
    pub z: f32,
    /// Muon instead of AdamW for the projections.
    pub muon: bool,
    /// From this share of each cycle on, every other step sees weights rounded to Q4_0.
    pub rounded_from: f64,
    /// Attention starts as a copier, see [`Layout::init`]; 0 is off.
    pub copy: f32,
    /// A second cycle of the learning rate, if there is one.
    pub again: Option<Again>,
}

/// A second cycle: at step `from` the rate jumps back to `rate` and falls once more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// Last step of the first cycle.
    pub from: u64,
    /// Highest rate of the second.
    pub rate: f32,
    /// Stories a step in the second.
    pub batch: usize,
    /// The copying head that is set before it begins.
    pub copier: Place,
}

const SHARDS: usize = 2;
const MICRO: usize = 4;
const WARMUP: u64 = 150;

impl Plan {
    /// First and last step of the cycle that `step` (from 1) belongs to, and its highest rate.
    fn cycle(&self, step: u64) -> (u64, u64, f32) {
        match self.again {
            Some(a) if step > a.from => (a.from, self.steps, a.rate),
            Some(a) => (0, a.from, self.rate),
            None => (0, self.steps, self.rate),
        }
    }

    /// Learning rate of a step: half a cosine down to 1 %, in the first cycle after a linear rise.
    pub fn rate_at(&self, step: u64) -> f32 {
        let (from, end, rate) = self.cycle(step);
        if step < WARMUP {
            return rate * step as f32 / WARMUP as f32;
        }
        let from = from.max(WARMUP);
        let done = (step - from) as f64 / end.saturating_sub(from).max(1) as f64;
        rate * (0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * done.min(1.0)).cos())) as f32
    }

    fn rounded(&self, step: u64) -> bool {
        let (from, end, _) = self.cycle(step);
        step % 2 == 0 && (step - from) as f64 >= self.rounded_from * (end - from) as f64
    }

    /// The numbers, in the endless training order, of the stories of the step after `done` steps.
    fn picks(&self, done: u64) -> std::ops::Range<u64> {
        let (before, batch) = match self.again {
            Some(a) if done >= a.from => (a.from * self.batch as u64 + (done - a.from) * a.batch as u64, a.batch),
            _ => (done * self.batch as u64, self.batch),
        };
        before..before + batch as u64
    }
}

/// Weights, moments and the number of steps done.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Steps done.
    pub step: u64,
    /// Parameters.
    pub w: Vec<f32>,
    /// The optimiser's memory.
    pub moments: Moments,
}

impl State {
    /// The state before the first step.
    pub fn new(plan: &Plan) -> Self {
        let layout = Layout::new(&plan.config);
        let n = layout.len();
        State {
            step: 0,
            w: layout.init(&plan.config, plan.seed, plan.copy),
            moments: Moments { m: vec![0.0; n], v: vec![0.0; n] },
        }
    }

    /// Reads a checkpoint; `None` when there is none yet.
    ///
    /// # Errors
    /// When it cannot be read or was written by another plan.
    pub fn load(dir: &Path, plan: &Plan) -> Result<Option<Self>> {
        let path = dir.join("state.bin");
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(dir.join("plan.json")).context("plan.json beside state.bin")?;
        let old: Plan = serde_json::from_str(&text)?;
        ensure!(&old == plan, "{} belongs to another run ({old:?}): take another directory", dir.display());
        let bytes = fs::read(&path)?;
        let n = Layout::new(&plan.config).len();
        ensure!(bytes.len() == 8 + 12 * n, "{}: {} bytes, expected {}", path.display(), bytes.len(), 8 + 12 * n);
        let (head, body) = bytes.split_at(8);
        let step = u64::from_le_bytes(head.try_into()?);
        let mut all = body.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let mut take = || all.by_ref().take(n).collect::<Vec<_>>();
        Ok(Some(State { step, w: take(), moments: Moments { m: take(), v: take() } }))
    }

    /// Writes the checkpoint; a reader never sees half of one.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn save(&self, dir: &Path, plan: &Plan) -> Result<()> {
        fs::create_dir_all(dir)?;
        fs::write(dir.join("plan.json"), serde_json::to_string_pretty(plan)?)?;
        let mut bytes = self.step.to_le_bytes().to_vec();
        for x in self.w.iter().chain(&self.moments.m).chain(&self.moments.v) {
            bytes.extend(x.to_le_bytes());
        }
        let part = dir.join("state.part");
        fs::write(&part, bytes)?;
        fs::rename(part, dir.join("state.bin"))?;
        Ok(())
    }
}

/// One run in progress.
pub struct Trainer<'a> {
    plan: &'a Plan,
    layout: Layout,
    stories: &'a Stories,
    nets: Vec<(Net, Vec<f32>)>,
}

impl<'a> Trainer<'a> {
    /// Buffers for a run.
    pub fn new(plan: &'a Plan, stories: &'a Stories) -> Self {
        let layout = Layout::new(&plan.config);
        let nets = (0..SHARDS).map(|_| (Net::new(plan.config), vec![0.0; layout.len()])).collect();
        Trainer { plan, layout, stories, nets }
    }

    /// One step. The batch is cut in two halves that are always summed in the same order, so the number of threads
    /// does not change the result.
    ///
    /// # Errors
    /// When the weights cannot be rounded.
    pub fn step(&mut self, state: &mut State) -> Result<Loss> {
        let plan = self.plan;
        let picks: Vec<usize> = plan.picks(state.step).map(|i| self.stories.nth(i)).collect();
        let tokens: usize = picks.iter().map(|i| self.stories.get(*i).len().saturating_sub(1)).sum();
        let scale = 1.0 / tokens.max(1) as f32;
        state.step += 1;
        let mut rounded = Vec::new();
        if plan.rounded(state.step) {
            rounded = state.w.clone();
            round_to(GgmlType::Q4_0, &self.layout, &mut rounded)?;
        }
        let w = if rounded.is_empty() { &state.w } else { &rounded };
        let stories = self.stories;
        let losses: Vec<Loss> = self
            .nets
            .par_iter_mut()
            .zip(picks.par_chunks(picks.len().div_ceil(SHARDS)))
            .map(|((net, grad), picks)| {
                grad.fill(0.0);
                let mut sum = Loss::default();
                for part in picks.chunks(MICRO) {
                    let l = net.backward(w, &stories.batch(part.iter().copied()), grad, scale, plan.z);
                    sum = Loss { nll: sum.nll + l.nll, count: sum.count + l.count };
                }
                sum
            })
            .collect();
        let mut grad = vec![0.0f32; self.layout.len()];
        for (_, g) in self.nets.iter().take(losses.len()) {
            grad.iter_mut().zip(g).for_each(|(a, b)| *a += b);
        }
        let norm = grad.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        if norm > 1.0 {
            grad.iter_mut().for_each(|g| *g /= norm as f32);
        }
        let settings = Settings { rate: plan.rate_at(state.step), decay: plan.decay, muon: plan.muon };
        optim::step(&self.layout, &mut state.w, &grad, &mut state.moments, state.step, settings);
        Ok(losses.iter().fold(Loss::default(), |a, b| Loss { nll: a.nll + b.nll, count: a.count + b.count }))
    }
}

/// Mean loss over all stories.
pub fn held_out_loss(config: Config, w: &[f32], stories: &Stories) -> f64 {
    let mut net = Net::new(config);
    let mut sum = Loss::default();
    let all: Vec<usize> = (0..stories.len()).collect();
    for part in all.chunks(MICRO) {
        let l = net.evaluate(w, &stories.batch(part.iter().copied()));
        sum = Loss { nll: sum.nll + l.nll, count: sum.count + l.count };
    }
    sum.nll / sum.count.max(1) as f64
}

/// Trains from the last checkpoint in `dir` to the end of the plan, with a line in `log.csv` and on the terminal
/// every 50 steps.
///
/// # Errors
/// When the directory cannot be read or written.
///
/// `names` are the tokens that [`Again::copier`] is to copy.
pub fn run(plan: &Plan, dir: &Path, [stories, held_out]: [&Stories; 2], names: &[u32], until: u64) -> Result<State> {
    let mut state = State::load(dir, plan)?.unwrap_or_else(|| State::new(plan));
    let log: PathBuf = dir.join("log.csv");
    fs::create_dir_all(dir)?;
    let mut trainer = Trainer::new(plan, stories);
    let (mut since, mut sum) = (Instant::now(), Loss::default());
    while state.step < plan.steps.min(until) {
        if let Some(again) = plan.again.filter(|a| a.from == state.step) {
            copier::set(&plan.config, &mut state.w, names, stories, again.copier, plan.seed);
        }
        let l = trainer.step(&mut state)?;
        sum = Loss { nll: sum.nll + l.nll, count: sum.count + l.count };
        if state.step % 50 == 0 || state.step == plan.steps {
            let speed = sum.count as f64 / since.elapsed().as_secs_f64();
            let train = sum.nll / sum.count.max(1) as f64;
            let test = if state.step % 250 == 0 || state.step == plan.steps {
                state.save(dir, plan)?;
                format!("{:.4}", held_out_loss(plan.config, &state.w, held_out))
            } else {
                String::new()
            };
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&log)?;
            writeln!(file, "{},{train:.4},{test}", state.step)?;
            println!(
                "step {}/{} loss {train:.4} held-out {test:6} rate {:.5} {speed:.0} tokens/s",
                state.step,
                plan.steps,
                plan.rate_at(state.step)
            );
            (since, sum) = (Instant::now(), Loss::default());
        }
    }
    state.save(dir, plan)?;
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Config;
    use crate::story::Split;
    use crate::story::story;
    use crate::vocab::Vocab;

    fn tiny() -> (Plan, Stories) {
        let lines: Vec<String> = (0..60).map(|i| story(1, Split::Train, i).unwrap().line()).collect();
        let vocab = Vocab::train(lines.iter().map(String::as_str), 320);
        let config = Config { dim: 32, layers: 2, hidden: 32, heads: 2, kv_heads: 1, vocab: 320, ctx: 600 };
        let plan = Plan {
            config,
            seed: 1,
            stories: 60,
            steps: 12,
            batch: 6,
            rate: 0.01,
            decay: 0.05,
            z: 0.01,
            muon: true,
            rounded_from: 0.5,
            copy: 1.0,
            again: Some(Again {
                from: 8,
                rate: 0.005,
                batch: 4,
                copier: Place { block: 1, group: 0, score: 10.0, strength: 1.0, spread: 0.5 },
            }),
        };
        (plan, Stories::encode(&vocab, 1, Split::Train, 60, 600).unwrap())
    }

    #[test]
    fn a_resumed_run_equals_an_uninterrupted_one_to_the_bit_and_learns() {
        let (plan, stories) = tiny();
        let root = std::env::temp_dir().join(format!("ssnail-train-test-{}", std::process::id()));
        let (one, two) = (root.join("one"), root.join("two"));
        let whole = run(&plan, &one, [&stories, &stories], &[300, 301], u64::MAX).unwrap();
        run(&plan, &two, [&stories, &stories], &[300, 301], 8).unwrap();
        assert_eq!(State::load(&two, &plan).unwrap().unwrap().step, 8);
        let resumed = run(&plan, &two, [&stories, &stories], &[300, 301], u64::MAX).unwrap();
        assert!(whole == resumed);
        let (before, after) = (State::new(&plan), held_out_loss(plan.config, &whole.w, &stories));
        assert!(after < held_out_loss(plan.config, &before.w, &stories) - 0.1, "{after}");
        let other = Plan { seed: 2, ..plan };
        assert!(State::load(&two, &other).unwrap_err().to_string().contains("another run"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn every_story_is_taken_once_a_pass() {
        let (_, stories) = tiny();
        let n = stories.len() as u64;
        for pass in 0..3 {
            let mut seen: Vec<usize> = (pass * n..(pass + 1) * n).map(|i| stories.nth(i)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..stories.len()).collect::<Vec<_>>());
        }
    }
}
