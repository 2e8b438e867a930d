//! The storyteller model: its text, its vocabulary, its training and its measurement.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod copier;
pub mod curve;
pub mod data;
pub mod eval;
pub mod gguf;
pub mod infer;
pub mod math;
pub mod matmul;
pub mod model;
pub mod net;
pub mod optim;
pub mod plans;
pub mod rng;
pub mod round;
pub mod rules;
pub mod story;
pub mod teller;
pub mod train;
pub mod vocab;
