//! Emulator of the SSNAIL accelerator: the golden model of the hardware.
//!
//! [`Machine`] executes scripts over a [`Memory`], in [`Numerics::Hardware`] to the bit as the core does. A [`Session`]
//! is an image loaded into a machine, with prompts, generation and logits.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

pub mod accelerator;
mod decode;
pub mod device;
pub mod fault;
pub mod image;
pub mod kernel;
pub mod machine;
pub mod memory;
pub mod num;
pub mod port;
pub mod stats;
pub mod trace;

pub use accelerator::{Accelerator, Options, Outcome, PromptError, RunError, Watch};
pub use device::Device;
pub use fault::{BadOperand, Fault};
pub use kernel::{Format, Numerics};
pub use machine::{Executed, Hooks, Machine, Registers, Step, largest};
pub use memory::Memory;
pub use stats::Stats;
