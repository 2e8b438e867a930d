//! SSNAIL.PRG on the emulated MEGA65: what scenarios, figures and pictures have in common.
//!
//! The program is `build/SSNAIL.PRG` (`make prg`), the models are those of the test data, converted when a test asks for
//! them, on cards made for it. What cannot be had is said, and the test skipped.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test bench: what fails here is a failed test"
)]

pub mod bench;
pub mod boot;
pub mod card;
pub mod compute;
#[cfg(unix)]
pub mod emulated;
pub mod matrix;
pub mod model;
#[cfg(unix)]
pub mod player;
pub mod reference;
pub mod scenario;
#[cfg(unix)]
pub mod scenarios;
#[cfg(unix)]
pub mod xemu;

use std::path::PathBuf;

/// The program, or nothing where it has not been built.
pub fn prg() -> Option<Vec<u8>> {
    built("SSNAIL.PRG", "prg")
}

/// The part of it that computes without the core, or nothing where it has not been built.
pub fn part() -> Option<Vec<u8>> {
    built("SSNAIL.CPU", "prg")
}

/// The demonstration program of the emulated MEGA65, or nothing where it has not been built.
pub fn demo() -> Option<Vec<u8>> {
    built("DEMO.PRG", "m65-demo")
}

fn built(name: &str, target: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../build")).join(name);
    match std::fs::read(path) {
        Ok(file) => Some(file),
        Err(_) => {
            println!("skipped: build/{name} is not there (make {target} builds it)");
            None
        }
    }
}

/// The folder of the test data, or nothing where it is absent.
pub fn data() -> Option<PathBuf> {
    let path = match std::env::var_os("SSNAIL_DATA") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
    };
    if path.is_dir() {
        Some(path)
    } else {
        println!("skipped: no test data at {} (SSNAIL_DATA names another place)", path.display());
        None
    }
}
