//! HDOS, the SD controller and the floppy controller, on cards made by `ssnail-disk`.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod card;
mod directory;
mod f011;
mod faults;
mod files;
mod hostile;
mod images;
mod programs;
mod properties;
mod sd;
