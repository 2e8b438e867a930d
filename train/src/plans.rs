//! The two models and how they are trained.

use crate::copier::Place;
use crate::model::Config;
use crate::story::template::TemplateError;
use crate::story::{Split, story};
use crate::train::{Part, Plan};
use crate::vocab::Vocab;

/// Seed of text, weights, order and measurement.
pub const SEED: u64 = 20_261_130;
/// Tokens of the vocabulary, the same for both models.
pub const VOCAB: usize = 1024;
/// Stories the vocabulary is learned from.
const VOCAB_STORIES: u64 = 20_000;
/// Held-out stories for the loss.
pub const HELD_OUT: u64 = 400;

/// Which model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Model {
    /// The storyteller: 590,976 parameters.
    Main,
    /// Its small sibling: 135,488 parameters.
    Small,
}

impl Model {
    /// File name under `models/`, without `.gguf`.
    pub fn file(self) -> &'static str {
        match self {
            Model::Main => "storyteller",
            Model::Small => "storyteller-small",
        }
    }

    /// `general.name` of the GGUF.
    pub fn title(self) -> &'static str {
        match self {
            Model::Main => "SSNAIL storyteller",
            Model::Small => "SSNAIL small storyteller",
        }
    }

    /// Everything its training depends on.
    pub fn plan(self) -> Plan {
        let config = Config { dim: 128, layers: 4, hidden: 192, heads: 8, kv_heads: 2, vocab: VOCAB, ctx: 256 };
        let first = Part {
            steps: 3_400,
            batch: 32,
            rate: 0.004,
            rounded_from: 0.8,
            strict: 0.0,
            averaged_from: 1.0,
            copier: None,
        };
        let copier = Some(Place { block: 1, group: 0, score: 10.0, strength: 5.0, spread: 1.5 });
        let second = Part { steps: 700, batch: 16, rate: 0.002, copier, ..first };
        let third = Part {
            steps: 1_200,
            batch: 16,
            rate: 0.0015,
            rounded_from: 0.0,
            strict: 10.0,
            averaged_from: 0.8,
            ..first
        };
        let main = Plan {
            config,
            seed: SEED,
            stories: 120_000,
            decay: 0.05,
            z: 0.01,
            muon: true,
            copy: 0.0,
            parts: vec![first, second, third],
        };
        match self {
            Model::Main => main,
            Model::Small => Plan {
                config: Config { dim: 64, layers: 2, hidden: 96, heads: 4, kv_heads: 4, ..config },
                copy: 1.0,
                parts: vec![Part { steps: 4_500, ..first }],
                ..main
            },
        }
    }
}

/// The vocabulary of both models.
///
/// # Errors
/// When the grammar is wrong.
pub fn vocabulary() -> Result<Vocab, TemplateError> {
    let lines: Vec<String> =
        (0..VOCAB_STORIES).map(|i| Ok(story(SEED, Split::Train, i)?.line())).collect::<Result<_, TemplateError>>()?;
    Ok(Vocab::train(lines.iter().map(String::as_str), VOCAB))
}
