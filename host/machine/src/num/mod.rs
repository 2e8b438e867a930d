//! Number formats and rounding rules, free of memory and instructions.

pub mod exact;
pub mod float;
pub mod half;
pub mod hw;
pub mod quantise;
