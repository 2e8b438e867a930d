//! ggml block formats: the table of types, decoding of all weight formats, encoding of the five formats the
//! accelerator computes with (F32, F16, BF16, Q8_0, Q4_0).
//!
//! [`decode`] and [`encode`] work on whole blocks in the caller's slices and allocate nothing.
//!
//! ```
//! use ssnail_quant::{GgmlType, decode, encode};
//! let weights = [0.5f32; 32];
//! let mut block = [0u8; 34];
//! encode(GgmlType::Q8_0, &weights, &mut block)?;
//! let mut back = [0f32; 32];
//! decode(GgmlType::Q8_0, &block, &mut back)?;
//! assert!((back[0] - 0.5).abs() < 1e-3);
//! # Ok::<(), ssnail_quant::Error>(())
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod decode;
mod encode;
mod error;
mod grid;
pub mod types;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use decode::{decode, is_decodable};
pub use encode::encode;
pub use error::Error;
pub use types::GgmlType;
