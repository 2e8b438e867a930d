//! What is fuzzed: every reader of something that came from outside, as a function of bytes.
//!
//! The same [`TARGETS`] are run by `cargo fuzz` (see `libfuzzer/`) and, with a few thousand deterministic mutations of
//! their seeds, by the normal tests of this crate. A target may do anything but panic, hang, or disagree with the
//! independent implementation that it is compared with.
// A target says by a panic what is wrong.
#![allow(clippy::panic)]

pub mod mutate;

mod args;
mod card;
mod d81;
mod elf;
mod gguf;
mod hdos;
mod image;
mod patch;
mod script;
mod tokenizer;

#[path = "../../host/convert/tests/common/mod.rs"]
mod tiny;

/// Something that is fuzzed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, that of its corpus folder too.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&[u8]),
    /// Inputs to begin with, made here; more are in `corpus/`.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 9] = [
    Target { name: "gguf", run: gguf::run, seeds: gguf::seeds },
    Target { name: "image", run: image::run, seeds: image::seeds },
    Target { name: "script", run: script::run, seeds: script::seeds },
    Target { name: "tokenizer", run: tokenizer::run, seeds: tokenizer::seeds },
    Target { name: "d81", run: d81::run, seeds: d81::seeds },
    Target { name: "card", run: card::run, seeds: card::seeds },
    Target { name: "hdos", run: hdos::run, seeds: hdos::seeds },
    Target { name: "elf", run: elf::run, seeds: elf::seeds },
    Target { name: "args", run: args::run, seeds: args::seeds },
];

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|t| t.name == name)
}
