#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! [`Machine`] is a whole computer: the 45GS02 ([`cpu`]), its [`board::Board`] with memory and
//! devices, and the time between them. It runs headless; the screen can be had as text, as ANSI
//! sequences and as a picture.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

pub mod board;
pub mod boot;
pub mod cpu;
pub mod diagnostics;
pub mod expansion;
pub mod font;
pub mod hdos;
pub mod hypervisor;
pub mod io;
pub mod keys;
pub mod machine;
pub mod model;
pub mod prg;
pub mod scenario;
pub mod screen;

pub use hdos::Hdos;
pub use machine::{Machine, Stop};
pub use model::Model;
pub use scenario::{Outcome, Scenario};
pub use screen::Screen;
