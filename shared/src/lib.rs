//! What both sides must agree on and what both sides run.
//!
//! The PC tools and `SSNAIL.PRG` share this crate: addresses, instruction set, image header, registers, the load-port
//! protocol, the sampler and a turn of chat. It is `no_std`, allocates nothing, contains no `unsafe`, and never needs
//! more than 16 bits of `usize`: far memory is reached through [`mem::ReadMemory`] and [`mem::Memory`] with `u32` addresses.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

#[cfg(test)]
#[path = "../tests/common/cases.rs"]
mod cases;

pub mod caches;
pub mod catalogue;
pub mod command;
pub mod config;
pub mod exec;
pub mod fold;
pub mod header;
pub mod isa;
pub mod loader;
pub mod map;
pub mod mem;
pub mod recent;
pub mod registers;
pub mod rng;
pub mod runtime;
pub mod sampler;
pub mod session;
pub mod tables;
pub mod tokenizer;
pub mod ui;
pub mod utf8;
pub mod work;
