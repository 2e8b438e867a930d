//! `ssnail-train`: makes the storyteller models.

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use sha2::{Digest, Sha256};
use ssnail_convert::{Options, WeightPolicy, plan};
use ssnail_quant::GgmlType;
use ssnail_train::curve;
use ssnail_train::data::Stories;
use ssnail_train::eval::{Amount, Known, MakeTeller, Report, measure};
use ssnail_train::infer::Float;
use ssnail_train::model::Layout;
use ssnail_train::plans::{HELD_OUT, Model, SEED, vocabulary};
use ssnail_train::rules::Rules;
use ssnail_train::story::words::FRIENDS;
use ssnail_train::story::{Split, story};
use ssnail_train::teller::{Machine, Teller};
use ssnail_train::train::{self, State, Text};
use ssnail_train::vocab::Vocab;
use std::fs;
use std::path::PathBuf;

/// Makes the storyteller models: text, vocabulary, training, measurement.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print stories of the generator.
    Stories {
        /// How many.
        #[arg(default_value_t = 5)]
        count: u64,
        /// From the held-out combinations.
        #[arg(long)]
        held_out: bool,
    },
    /// Measure how much of held-out stories the training text contains word for word.
    Overlap {
        /// Stories of the training text.
        #[arg(long, default_value_t = 120_000)]
        stories: u64,
    },
    /// Train a model, or go on where a run was stopped.
    Train {
        #[command(flatten)]
        run: Run,
        /// Stop after this step, to go on another time.
        #[arg(long)]
        until: Option<u64>,
    },
    /// Write the trained model and its loss curve.
    Export {
        #[command(flatten)]
        run: Run,
        /// Where the files go.
        #[arg(long, default_value = "models")]
        out: PathBuf,
    },
    /// Measure a model: loss in three formats with hardware numerics, and what its stories are like.
    Eval(Eval),
}

#[derive(Args)]
struct Run {
    /// Which of the two.
    #[arg(long, value_enum, default_value = "main")]
    model: Model,
    /// Checkpoints and log; default target/train/MODEL.
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl Run {
    fn dir(&self) -> PathBuf {
        self.dir.clone().unwrap_or_else(|| PathBuf::from("target/train").join(self.model.file()))
    }
}

#[derive(Args)]
struct Eval {
    #[command(flatten)]
    run: Run,
    /// The model as GGUF; without it the checkpoint is measured in F32 only.
    #[arg(long)]
    gguf: Option<PathBuf>,
    /// Sampled stories.
    #[arg(long, default_value_t = 200)]
    sampled: usize,
    /// Greedy stories.
    #[arg(long, default_value_t = 50)]
    greedy: usize,
    /// Held-out stories for the loss.
    #[arg(long, default_value_t = 100)]
    losses: usize,
    /// Print all stories.
    #[arg(long)]
    show: bool,
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Stories { count, held_out } => {
            let split = if held_out { Split::HeldOut } else { Split::Train };
            for i in 0..count {
                println!("{}\n", story(SEED, split, i)?.line());
            }
            Ok(())
        }
        Command::Overlap { stories } => overlap(stories),
        Command::Train { run, until } => {
            let plan = run.model.plan();
            let vocab = vocabulary()?;
            let stories = Stories::encode(&vocab, plan.seed, Split::Train, plan.stories, plan.config.ctx)?;
            let held_out = Stories::encode(&vocab, plan.seed, Split::HeldOut, HELD_OUT, plan.config.ctx)?;
            println!(
                "{} parameters, vocabulary {}, {} stories of {:.1} tokens",
                Layout::new(&plan.config).len(),
                vocab.pieces.len(),
                stories.len(),
                stories.total_tokens() as f64 / stories.len() as f64
            );
            let names: Vec<u32> = FRIENDS.iter().flat_map(|f| vocab.encode(f.0)).collect();
            let rules = Rules::of(&vocab, &stories);
            let text = Text { stories: &stories, held_out: &held_out, rules: &rules, names: &names };
            train::run(&plan, &run.dir(), &text, until.unwrap_or(u64::MAX))?;
            Ok(())
        }
        Command::Export { run, out } => export(&run, &out),
        Command::Eval(eval) => evaluate(&eval),
    }
}

fn overlap(stories: u64) -> Result<()> {
    let known = Known::of(SEED, stories)?;
    let copied =
        (0..2000).map(|i| Ok(known.copied(&story(SEED, Split::HeldOut, i)?.line()))).collect::<Result<Vec<_>>>()?;
    let share = copied.iter().filter(|c| **c).count() as f64 / copied.len() as f64;
    println!(
        "{} word forms; {:.1} % of 2000 held-out stories share a run of more than 20 words with {stories} training stories",
        known.words(),
        100.0 * share
    );
    Ok(())
}

fn state(run: &Run) -> Result<State> {
    let dir = run.dir();
    State::load(&dir, &run.model.plan())?.with_context(|| format!("no checkpoint in {}: train first", dir.display()))
}

fn export(run: &Run, out: &std::path::Path) -> Result<()> {
    let (plan, state) = (run.model.plan(), state(run)?);
    anyhow::ensure!(state.step == plan.steps(), "only {} of {} steps are done", state.step, plan.steps());
    let file = ssnail_train::gguf::write(run.model.title(), &plan.config, &state.w, &vocabulary()?);
    let name = format!("{}.gguf", run.model.file());
    fs::create_dir_all(out)?;
    fs::write(out.join(&name), &file)?;
    let sum: String = Sha256::digest(&file).iter().map(|b| format!("{b:02x}")).collect();
    fs::write(out.join(format!("{name}.sha256")), format!("{sum}  {name}\n"))?;
    let log = fs::read_to_string(run.dir().join("log.csv")).context("the training log")?;
    fs::write(out.join(format!("{}-loss.png", run.model.file())), curve::draw(&log)?)?;
    println!("{name}: {} bytes, sha256 {sum}", file.len());
    Ok(())
}

fn evaluate(eval: &Eval) -> Result<()> {
    let plan_of = eval.run.model.plan();
    let vocab = vocabulary()?;
    let known = Known::of(SEED, plan_of.stories)?;
    let held_out = Stories::encode(&vocab, SEED, Split::HeldOut, eval.losses as u64, plan_of.config.ctx)?;
    println!(
        "| weights, numerics | image bytes | loss | perplexity | ends | keeps hero | at most two friends | unknown word | repeats a sentence | run of > 20 words copied | greedy loops |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let Some(path) = &eval.gguf else {
        let state = state(&eval.run)?;
        return row(eval, &format!("F32, float, step {}", state.step), 0, &vocab, &known, &held_out, &|| {
            Ok(Box::new(Float::new(plan_of.config, &state.w)))
        });
    };
    let gguf = ssnail_gguf::Gguf::open(path)?;
    for format in [GgmlType::F32, GgmlType::Q8_0, GgmlType::Q4_0] {
        let options = Options { wtype: WeightPolicy::Named(format), ..Options::default() };
        let mut image = Vec::new();
        plan(&gguf, &options)?.write(&mut image, &mut |_, _| {})?;
        row(eval, &format!("{format}, hardware"), image.len(), &vocab, &known, &held_out, &|| {
            Ok(Box::new(Machine::load(&image)?))
        })?;
    }
    Ok(())
}

fn row(
    eval: &Eval,
    name: &str,
    bytes: usize,
    vocab: &Vocab,
    known: &Known,
    held_out: &Stories,
    make: &MakeTeller<'_>,
) -> Result<()> {
    let mut teller: Box<dyn Teller> = make()?;
    let (mut nll, mut count) = (0.0, 0);
    for i in 0..held_out.len() {
        let ids: Vec<u32> = held_out.get(i).iter().map(|t| u32::from(*t)).collect();
        nll += teller.nll(&ids)?;
        count += ids.len() - 1;
    }
    let loss = nll / f64::from(count.max(1) as u32);
    let r: Report = measure(make, vocab, known, SEED, Amount { sampled: eval.sampled, greedy: eval.greedy })?;
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    println!(
        "| {name} | {bytes} | {loss:.4} | {:.3} | {} | {} | {} | {} | {} | {} | {} |",
        loss.exp(),
        percent(r.ended),
        percent(r.kept),
        percent(r.friends),
        percent(r.unknown),
        percent(r.repeated),
        percent(r.copied),
        percent(r.loops)
    );
    if !r.strange.is_empty() {
        eprintln!("unknown: {}", r.strange.join(" "));
    }
    if eval.show {
        r.examples.iter().for_each(|s| println!("\n{s}"));
    }
    Ok(())
}
