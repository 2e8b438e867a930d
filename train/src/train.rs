//! The training run: deterministic, and resumable to the bit.

use crate::copier::{self, Place};
use crate::data::Stories;
use crate::model::{Config, Layout};
use crate::net::{Loss, Net, Terms};
use crate::optim::{self, Moments, Settings};
use crate::round::round_to;
use crate::rules::Rules;
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
    /// Weight decay.
    pub decay: f32,
    /// Weight of the squared logarithm of the softmax's sum.
    pub z: f32,
    /// Muon instead of AdamW for the projections.
    pub muon: bool,
    /// Attention starts as a copier, see [`Layout::init`]; 0 is off.
    pub copy: f32,
    /// The parts of the training, one after the other.
    pub parts: Vec<Part>,
}

/// A part of the training: the rate begins at its highest and falls by half a cosine to 1 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Number of steps.
    pub steps: u64,
    /// Stories a step.
    pub batch: usize,
    /// Highest learning rate.
    pub rate: f32,
    /// From this share of the part on, every other step sees weights rounded to Q4_0.
    pub rounded_from: f64,
    /// Weight of the probability of what the [`Rules`] forbid.
    pub strict: f32,
    /// From this share of the part on, the weights after each step are averaged; the average is what the part gives.
    pub averaged_from: f64,
    /// A copying head that is set before the part begins.
    pub copier: Option<Place>,
}

const SHARDS: usize = 2;
const MICRO: usize = 4;
const WARMUP: u64 = 150;

impl Plan {
    /// Steps of the whole run.
    pub fn steps(&self) -> u64 {
        self.parts.iter().map(|p| p.steps).sum()
    }

    /// The part that `step` (from 1) belongs to, and the steps before it. A step past the end belongs to the last.
    fn part(&self, step: u64) -> Option<(&Part, u64)> {
        let mut before = 0;
        let mut last = None;
        for part in &self.parts {
            last = Some((part, before));
            if step <= before + part.steps {
                break;
            }
            before += part.steps;
        }
        last
    }

    /// Learning rate of a step: half a cosine down to 1 %, in the first part after a linear rise.
    pub fn rate_at(&self, step: u64) -> f32 {
        let Some((part, before)) = self.part(step) else { return 0.0 };
        if step < WARMUP {
            return part.rate * step as f32 / WARMUP as f32;
        }
        let from = before.max(WARMUP);
        let done = (step - from) as f64 / (before + part.steps).saturating_sub(from).max(1) as f64;
        part.rate * (0.01 + 0.99 * 0.5 * (1.0 + (std::f64::consts::PI * done.min(1.0)).cos())) as f32
    }

    fn rounded(&self, step: u64) -> bool {
        self.part(step).is_some_and(|(part, before)| {
            step % 2 == 0 && (step - before) as f64 >= part.rounded_from * part.steps as f64
        })
    }

    /// How many weights are averaged after `step` steps.
    fn averaged(&self, step: u64) -> u64 {
        self.part(step)
            .map_or(0, |(part, before)| (step - before).saturating_sub((part.averaged_from * part.steps as f64) as u64))
    }

    /// The numbers, in the endless training order, of the stories of the step after `done` steps.
    fn picks(&self, done: u64) -> std::ops::Range<u64> {
        let (mut taken, mut before) = (0, 0);
        for part in &self.parts {
            let batch = part.batch as u64;
            if done < before + part.steps {
                let from = taken + (done - before) * batch;
                return from..from + batch;
            }
            taken += part.steps * batch;
            before += part.steps;
        }
        taken..taken
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
    /// Sum of the weights that are being averaged.
    pub sum: Vec<f32>,
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
            sum: vec![0.0; n],
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
        ensure!(bytes.len() == 8 + 16 * n, "{}: {} bytes, expected {}", path.display(), bytes.len(), 8 + 16 * n);
        let (head, body) = bytes.split_at(8);
        let step = u64::from_le_bytes(head.try_into()?);
        let mut all = body.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let mut take = || all.by_ref().take(n).collect::<Vec<_>>();
        Ok(Some(State { step, w: take(), moments: Moments { m: take(), v: take() }, sum: take() }))
    }

    /// Writes the checkpoint; a reader never sees half of one.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn save(&self, dir: &Path, plan: &Plan) -> Result<()> {
        fs::create_dir_all(dir)?;
        fs::write(dir.join("plan.json"), serde_json::to_string_pretty(plan)?)?;
        let mut bytes = self.step.to_le_bytes().to_vec();
        for x in self.w.iter().chain(&self.moments.m).chain(&self.moments.v).chain(&self.sum) {
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
    rules: &'a Rules,
    nets: Vec<(Net, Vec<f32>)>,
}

impl<'a> Trainer<'a> {
    /// Buffers for a run.
    pub fn new(plan: &'a Plan, stories: &'a Stories, rules: &'a Rules) -> Self {
        let layout = Layout::new(&plan.config);
        let nets = (0..SHARDS).map(|_| (Net::new(plan.config), vec![0.0; layout.len()])).collect();
        Trainer { plan, layout, stories, rules, nets }
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
        let (stories, rules) = (self.stories, self.rules);
        let terms = Terms { z: plan.z, strict: plan.part(state.step).map_or(0.0, |p| p.0.strict) };
        let losses: Vec<Loss> = self
            .nets
            .par_iter_mut()
            .zip(picks.par_chunks(picks.len().div_ceil(SHARDS)))
            .map(|((net, grad), picks)| {
                grad.fill(0.0);
                let mut sum = Loss::default();
                for part in picks.chunks(MICRO) {
                    let mut batch = stories.batch(part.iter().copied());
                    if terms.strict > 0.0 {
                        batch.possible = part.iter().flat_map(|i| rules.possible(stories.get(*i))).collect();
                    }
                    sum += net.backward(w, &batch, grad, scale, terms);
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
        self.average(state);
        let mut loss = Loss::default();
        losses.into_iter().for_each(|l| loss += l);
        Ok(loss)
    }
}

impl Trainer<'_> {
    /// Adds the weights to the sum, and puts their mean in their place at the end of a part.
    fn average(&self, state: &mut State) {
        let count = self.plan.averaged(state.step);
        if count == 0 {
            state.sum.fill(0.0);
            return;
        }
        state.sum.iter_mut().zip(&state.w).for_each(|(s, w)| *s += w);
        if self.plan.part(state.step).is_some_and(|(part, before)| state.step == before + part.steps) {
            state.w.iter_mut().zip(&state.sum).for_each(|(w, s)| *w = s / count as f32);
        }
    }
}

/// Mean loss over all stories.
pub fn held_out_loss(config: Config, w: &[f32], stories: &Stories) -> f64 {
    let mut net = Net::new(config);
    let mut sum = Loss::default();
    let all: Vec<usize> = (0..stories.len()).collect();
    for part in all.chunks(MICRO) {
        sum += net.evaluate(w, &stories.batch(part.iter().copied()));
    }
    sum.nll / sum.count.max(1) as f64
}

/// What a run learns from.
pub struct Text<'a> {
    /// Training stories.
    pub stories: &'a Stories,
    /// Held-out stories for the loss.
    pub held_out: &'a Stories,
    /// What the training stories never do.
    pub rules: &'a Rules,
    /// The tokens that [`Part::copier`] is to copy.
    pub names: &'a [u32],
}

/// Trains from the last checkpoint in `dir` to the end of the plan, with a line in `log.csv` and on the terminal
/// every 50 steps.
///
/// # Errors
/// When the directory cannot be read or written.
pub fn run(plan: &Plan, dir: &Path, text: &Text<'_>, until: u64) -> Result<State> {
    let mut state = State::load(dir, plan)?.unwrap_or_else(|| State::new(plan));
    let log: PathBuf = dir.join("log.csv");
    fs::create_dir_all(dir)?;
    let mut trainer = Trainer::new(plan, text.stories, text.rules);
    let (mut since, mut sum) = (Instant::now(), Loss::default());
    while state.step < plan.steps().min(until) {
        if let Some((Part { copier: Some(place), .. }, before)) = plan.part(state.step + 1)
            && before == state.step
        {
            copier::set(&plan.config, &mut state.w, text.names, text.stories, *place, plan.seed);
        }
        sum += trainer.step(&mut state)?;
        if state.step % 50 == 0 || state.step == plan.steps() {
            let speed = sum.count as f64 / since.elapsed().as_secs_f64();
            let per = |x: f64| x / sum.count.max(1) as f64;
            let train = per(sum.nll);
            let test = if state.step % 250 == 0 || state.step == plan.steps() {
                state.save(dir, plan)?;
                format!("{:.4}", held_out_loss(plan.config, &state.w, text.held_out))
            } else {
                String::new()
            };
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&log)?;
            writeln!(file, "{},{train:.4},{test}", state.step)?;
            println!(
                "step {}/{} loss {train:.4} impossible {:.6} held-out {test:6} rate {:.5} {speed:.0} tokens/s",
                state.step,
                plan.steps(),
                per(sum.impossible),
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

    fn tiny() -> (Plan, Stories, Rules) {
        let lines: Vec<String> = (0..60).map(|i| story(1, Split::Train, i).unwrap().line()).collect();
        let vocab = Vocab::train(lines.iter().map(String::as_str), 320);
        let config = Config { dim: 32, layers: 2, hidden: 32, heads: 2, kv_heads: 1, vocab: 320, ctx: 600 };
        let part =
            Part { steps: 8, batch: 6, rate: 0.01, rounded_from: 0.5, strict: 0.0, averaged_from: 1.0, copier: None };
        let copier = Some(Place { block: 1, group: 0, score: 10.0, strength: 1.0, spread: 0.5 });
        let again = Part { steps: 4, batch: 4, rate: 0.005, strict: 2.0, averaged_from: 0.25, copier, ..part };
        let plan = Plan {
            config,
            seed: 1,
            stories: 60,
            decay: 0.05,
            z: 0.01,
            muon: true,
            copy: 1.0,
            parts: vec![part, again],
        };
        let stories = Stories::encode(&vocab, 1, Split::Train, 60, 600).unwrap();
        let rules = Rules::of(&vocab, &stories);
        (plan, stories, rules)
    }

    #[test]
    fn a_resumed_run_equals_an_uninterrupted_one_to_the_bit_and_learns() {
        let (plan, stories, rules) = tiny();
        let text = Text { stories: &stories, held_out: &stories, rules: &rules, names: &[300, 301] };
        let root = std::env::temp_dir().join(format!("ssnail-train-test-{}", std::process::id()));
        let (one, two) = (root.join("one"), root.join("two"));
        let whole = run(&plan, &one, &text, u64::MAX).unwrap();
        for stop in [8, 10] {
            run(&plan, &two, &text, stop).unwrap();
            assert_eq!(State::load(&two, &plan).unwrap().unwrap().step, stop);
        }
        let resumed = run(&plan, &two, &text, u64::MAX).unwrap();
        assert!(whole == resumed);
        let (before, after) = (State::new(&plan), held_out_loss(plan.config, &whole.w, &stories));
        assert!(after < held_out_loss(plan.config, &before.w, &stories) - 0.1, "{after}");
        let other = Plan { seed: 2, ..plan };
        assert!(State::load(&two, &other).unwrap_err().to_string().contains("another run"));
        fs::remove_dir_all(root).unwrap();
    }

    /// The mean of the weights after the last three steps of the second part, and not the last weights.
    #[test]
    fn a_part_gives_the_mean_of_its_last_weights() {
        let (plan, stories, rules) = tiny();
        let mut state = State::new(&plan);
        let mut trainer = Trainer::new(&plan, &stories, &rules);
        let mut kept = Vec::new();
        while state.step < plan.steps() {
            if state.step == plan.steps() - 1 {
                // The last step, without the mean.
                let mut longer = plan.clone();
                longer.parts[1].averaged_from = 1.0;
                let mut last =
                    State { sum: state.sum.clone(), w: state.w.clone(), moments: state.moments.clone(), ..state };
                Trainer::new(&longer, &stories, &rules).step(&mut last).unwrap();
                kept.push(last.w);
            }
            trainer.step(&mut state).unwrap();
            kept.push(state.w.clone());
        }
        let n = kept.len();
        for (i, w) in state.w.iter().enumerate() {
            let mean = (kept[n - 4][i] + kept[n - 3][i] + kept[n - 2][i]) / 3.0;
            assert!((w - mean).abs() < 1e-5, "{i}: {w} {mean}");
        }
    }

    #[test]
    fn parts_follow_each_other() {
        let (plan, ..) = tiny();
        assert_eq!(plan.steps(), 12);
        assert_eq!((plan.picks(7), plan.picks(8), plan.picks(11)), (42..48, 48..52, 60..64));
        let rounded: Vec<u64> = (1..=12).filter(|s| plan.rounded(*s)).collect();
        assert_eq!(rounded, [4, 6, 8, 10, 12]);
        assert_eq!((8..=12).map(|s| plan.averaged(s)).collect::<Vec<_>>(), [0, 0, 1, 2, 3]);
    }

    #[test]
    fn every_story_is_taken_once_a_pass() {
        let (_, stories, _) = tiny();
        let n = stories.len() as u64;
        for pass in 0..3 {
            let mut seen: Vec<usize> = (pass * n..(pass + 1) * n).map(|i| stories.nth(i)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..stories.len()).collect::<Vec<_>>());
        }
    }
}
