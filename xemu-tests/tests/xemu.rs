//! The same steps here and in Xemu: after each, screen and colours are the same. Xemu has no accelerator.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_m65::expansion::Defect;
use ssnail_m65::{Machine, Model, Scenario, keys};
use ssnail_xemu_tests::card::{File, card};
use ssnail_xemu_tests::scenario::Step::{Expect, Type};
use ssnail_xemu_tests::scenario::{Setup, play, shown};
use ssnail_xemu_tests::xemu::{self, Xemu};
use ssnail_xemu_tests::{demo, model, prg};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const COLOURS: u32 = 0x0ff8_0000;

/// Bytes of a row.
const ROW: usize = 80;

/// Waits until Xemu shows what is shown here, from a row on.
#[track_caller]
fn same(scenario: &Scenario, other: &mut Xemu, first_row: usize, after: &str) {
    let board = &scenario.machine.board;
    let (start, cells) = (board.vic.screen_address(), board.vic.line_step() * board.vic.rows());
    let skipped = first_row * ROW;
    let ours = &board.chip_ram()[start as usize..][..cells as usize][skipped..];
    let begun = Instant::now();
    let theirs = loop {
        let theirs = other.memory(start, cells).split_off(skipped);
        if theirs == ours || begun.elapsed() > PATIENCE {
            break theirs;
        }
    };
    let rows = || ours.chunks(ROW).zip(theirs.chunks(ROW)).enumerate();
    let different: Vec<String> =
        rows().filter(|(_, (a, b))| a != b).map(|(n, (a, b))| format!("row {n}\n{a:02x?}\n{b:02x?}")).collect();
    assert!(different.is_empty(), "after {after}, of\n{}\n{}", shown(scenario), different.join("\n"));
    let colours = other.memory(COLOURS, cells);
    assert!(colours == board.colour_ram()[..cells as usize], "colours after {after}");
}

/// Starts a program in both; here without accelerator, as there.
fn both(program: &[u8], files: &[File<'_>]) -> Option<(Scenario, Xemu)> {
    let emulator = xemu::path()?;
    let mut entry = Machine::new(Model::R3);
    entry.load_prg(program).unwrap();
    let other = Xemu::start(emulator, program, entry.cpu.pc, card(files));
    let mut setup = Setup::with(Model::R3, files);
    setup.defect = Defect::Absent;
    Some((setup.start_with(program), other))
}

/// Types in both and waits for a text here.
fn typed(scenario: &mut Scenario, other: &mut Xemu, text: &str, answer: &str) {
    play(scenario, &[Type(text), Expect(answer, 1500)]);
    scenario.frames(60);
    for key in keys::parse(text).unwrap() {
        other.press(&key);
    }
}

#[test]
fn boot_list_and_help_look_alike() {
    let Some(program) = prg() else { return };
    let (Some(one), Some(two)) = (model::image("stories260K-Q8_0", "keep"), model::image("gpt-nano-sort-F32", "keep"))
    else {
        return;
    };
    let files = [File::new("/SSNAIL/STORY.SSN", &one), File::new("/SSNAIL/SORT.SSN", &two)];
    let Some((mut scenario, mut other)) = both(&program, &files) else { return };
    play(&mut scenario, &[Expect("cursor keys, number or first letter", 1500)]);
    scenario.frames(20);
    same(&scenario, &mut other, 0, "the start");
    for (key, text) in
        [("<DOWN>", "2 models"), ("<RETURN>", "needs the SSNAIL core"), ("<HELP>", "Press a key"), (" ", "2 models")]
    {
        typed(&mut scenario, &mut other, key, text);
        same(&scenario, &mut other, 0, key);
    }
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
    same(&scenario, &mut other, 2, "the start");
    for (line, answer) in [
        ("Hello<RETURN>", "Hello"),
        ("dir<RETURN>", "3 entries"),
        ("load one.bin<RETURN>", "attic RAM holds the same"),
        ("load x.bin<RETURN>", "no such file"),
        ("load sub<RETURN>", "That is a folder."),
    ] {
        typed(&mut scenario, &mut other, line, answer);
        same(&scenario, &mut other, 2, line);
    }
    for _ in 0..8 {
        typed(&mut scenario, &mut other, "dir<RETURN>", "3 entries");
        same(&scenario, &mut other, 2, "scrolling");
    }
}
