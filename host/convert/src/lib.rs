//! GGUF model to SSNAIL image.
//!
//! [`plan()`] reads the header of a model and decides everything: formats, addresses, script, tokenizer tables.
//! [`Plan::write`] then streams the image. Between the two stand what a user should hear: [`Plan::notes`],
//! [`Plan::lossy`]. Whatever would give a wrong image is refused with its reason ([`ConvertError`]).
//!
//! ```no_run
//! use ssnail_convert::{Options, plan};
//! let gguf = ssnail_gguf::Gguf::open("model.gguf")?;
//! let plan = plan(&gguf, &Options { mem_mb: 64.0, ..Options::default() })?;
//! for note in plan.notes() {
//!     eprintln!("{note}");
//! }
//! let mut file = std::io::BufWriter::new(std::fs::File::create("model.ssnail.partial")?);
//! plan.write(&mut file, &mut |done, total| eprint!("\r{done} of {total}"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`memory_needs`] computes the memory from the first megabytes of a file. [`Model`] is the description of a
//! model apart from any image.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod advice;
mod error;
mod image;
pub mod model;
mod notes;
mod options;
mod pieces;
mod plan;
mod policy;
mod vocab;
mod write;

pub use advice::{BOARD_MB, TooBig};
pub use error::ConvertError;
pub use model::Model;
pub use notes::{Lossy, Note};
pub use options::{KvFormat, Options, WeightPolicy, native_format};
pub use plan::{Plan, SegmentInfo, memory_needs, plan};
pub use policy::MatrixPlan;
