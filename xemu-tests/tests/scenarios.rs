//! The list of scenarios on the emulated machine of this project. `make xemu-test` plays it in Xemu, too.
#![cfg(unix)]

use ssnail_xemu_tests::scenarios::{self, Play};
use ssnail_xemu_tests::{player, prg};

#[track_caller]
fn all(plays: &[Play]) {
    let Some(program) = prg() else { return };
    let failed: Vec<String> = plays
        .iter()
        .filter_map(|play| {
            let media = player::media(play, &program)?;
            player::here(play, &media).err().map(|e| format!("{}: {e}", play.name))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn starting() {
    all(&scenarios::starting());
}

#[test]
fn faults() {
    all(&scenarios::faults());
}

#[test]
fn loading_faults() {
    all(&scenarios::loading_faults());
}

/// Of the conversations the short ones; `make xemu-test` has them all.
#[test]
fn talking() {
    let mut plays = scenarios::talking();
    plays.retain(|play| !play.long);
    all(&plays);
}
