//! The same steps here and in Xemu: after each, screen and colours are the same. Xemu has no accelerator.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_m65::expansion::Defect;
use ssnail_m65::{Machine, Model, Scenario, keys};
use ssnail_xemu_tests::card::{File, card};
use ssnail_xemu_tests::scenario::Step::{Expect, Type};
use ssnail_xemu_tests::scenario::{Setup, play, shown};
use ssnail_xemu_tests::xemu::{self, Xemu};
use ssnail_xemu_tests::{model, prg};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const COLOURS: u32 = 0x0ff8_0000;

/// Waits until Xemu shows what is shown here.
#[track_caller]
fn same(scenario: &Scenario, other: &mut Xemu, after: &str) {
    let board = &scenario.machine.board;
    let (start, cells) = (board.vic.screen_address(), board.vic.line_step() * board.vic.rows());
    let ours = &board.chip_ram()[start as usize..][..cells as usize];
    let begun = Instant::now();
    let theirs = loop {
        let theirs = other.memory(start, cells);
        if theirs == ours || begun.elapsed() > PATIENCE {
            break theirs;
        }
    };
    let rows = || ours.chunks(80).zip(theirs.chunks(80)).enumerate();
    let different: Vec<String> =
        rows().filter(|(_, (a, b))| a != b).map(|(n, (a, b))| format!("row {n}\n{a:02x?}\n{b:02x?}")).collect();
    assert!(different.is_empty(), "after {after}, of\n{}\n{}", shown(scenario), different.join("\n"));
    let colours = other.memory(COLOURS, cells);
    assert!(colours == board.colour_ram()[..cells as usize], "colours after {after}");
}

#[test]
fn boot_list_and_help_look_alike() {
    let Some(emulator) = xemu::path() else { return };
    let Some(program) = prg() else { return };
    let (Some(one), Some(two)) = (model::image("stories260K-Q8_0", "keep"), model::image("gpt-nano-sort-F32", "keep"))
    else {
        return;
    };
    let files = [File::new("/SSNAIL/STORY.SSN", &one), File::new("/SSNAIL/SORT.SSN", &two)];
    let mut entry = Machine::new(Model::R3);
    entry.load_prg(&program).unwrap();
    let mut other = Xemu::start(emulator, &program, entry.cpu.pc, card(&files));
    let mut setup = Setup::with(Model::R3, &files);
    setup.defect = Defect::Absent;
    let mut scenario = setup.start().unwrap();
    play(&mut scenario, &[Expect("cursor keys, number or first letter", 1500)]);
    scenario.frames(20);
    same(&scenario, &mut other, "the start");
    for (key, text) in
        [("<DOWN>", "2 models"), ("<RETURN>", "needs the SSNAIL core"), ("<HELP>", "Press a key"), (" ", "2 models")]
    {
        play(&mut scenario, &[Type(key), Expect(text, 1500)]);
        scenario.frames(60);
        for key in keys::parse(key).unwrap() {
            other.press(&key);
        }
        same(&scenario, &mut other, key);
    }
}
