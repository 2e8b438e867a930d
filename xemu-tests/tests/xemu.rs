//! The same steps here and in Xemu: after each, screen and colours are the same. `make xemu-test` plays more.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_m65::expansion::Defect;
use ssnail_m65::{Model, Scenario};
use ssnail_xemu_tests::card::{File, card};
use ssnail_xemu_tests::emulated::{Emulated, Look};
use ssnail_xemu_tests::scenario::Step::{Expect, Type};
use ssnail_xemu_tests::scenario::{Setup, play};
use ssnail_xemu_tests::xemu::{self, Xemu};
use ssnail_xemu_tests::{demo, player, prg, scenarios};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

/// A screen from a row on.
fn below(look: &Look, row: usize) -> Look {
    let from = row * look.columns;
    Look { columns: look.columns, codes: look.codes[from..].to_vec(), colours: look.colours[from..].to_vec() }
}

/// Waits until Xemu shows what is shown here, from a row on.
#[track_caller]
fn same(scenario: &mut Scenario, other: &mut Xemu, first_row: usize, after: &str) {
    let ours = below(&scenario.look(), first_row);
    let begun = Instant::now();
    loop {
        let differences = ours.differences(&below(&other.look(), first_row));
        if differences.is_empty() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "after {after}:\n{}", differences.join("\n"));
    }
}

/// Starts a program in both; here without accelerator, as there.
fn both(program: &[u8], files: &[File<'_>]) -> Option<(Scenario, Xemu)> {
    let emulator = xemu::path()?;
    let start =
        xemu::Start { prg: program, entry: xemu::entry(program), card: card(files), disk: None, default_disk: false };
    let other = Xemu::start(&emulator, start).unwrap_or_else(|e| panic!("{e}"));
    let mut setup = Setup::with(Model::R3, files);
    setup.defect = Defect::Absent;
    Some((setup.start_with(program), other))
}

/// Types in both and waits for a text here.
fn typed(scenario: &mut Scenario, other: &mut Xemu, text: &str, answer: &str) {
    play(scenario, &[Type(text), Expect(answer, 1500)]);
    scenario.frames(60);
    other.type_text(text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn the_list_looks_alike() {
    let (Some(program), Some(emulator)) = (prg(), xemu::path()) else { return };
    let first = &scenarios::starting()[0];
    let Some(media) = player::media(first, &program) else { return };
    let record = player::here(first, &media).unwrap_or_else(|e| panic!("{e}"));
    player::there(first, &media, &record, &emulator).unwrap_or_else(|e| panic!("{e}"));
}

/// Below the clock: the echo, the directory, a file in attic RAM, and the screen scrolled.
#[test]
fn the_demo_looks_alike() {
    let Some(program) = demo() else { return };
    let file: Vec<u8> = (0..5000u32).map(|n| ((n * n) >> 5) as u8).collect();
    let files = [File::new("/ONE.BIN", &file), File::new("/TWO.BIN", &file[..512]), File::new("/SUB/X.BIN", &[1])];
    let Some((mut scenario, mut other)) = both(&program, &files) else { return };
    play(&mut scenario, &[Expect("files go to attic RAM by DMA", 500)]);
    scenario.frames(20);
    same(&mut scenario, &mut other, 2, "the start");
    for (line, answer) in [
        ("Hello<RETURN>", "Hello"),
        ("dir<RETURN>", "3 entries"),
        ("load one.bin<RETURN>", "attic RAM holds the same"),
        ("load x.bin<RETURN>", "no such file"),
        ("load sub<RETURN>", "That is a folder."),
    ] {
        typed(&mut scenario, &mut other, line, answer);
        same(&mut scenario, &mut other, 2, line);
    }
    for _ in 0..8 {
        typed(&mut scenario, &mut other, "dir<RETURN>", "3 entries");
        same(&mut scenario, &mut other, 2, "scrolling");
    }
}
