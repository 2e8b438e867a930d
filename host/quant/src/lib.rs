//! ggml block formats: decode and encode
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

pub mod types;

pub use types::GgmlType;
