//! Without the core: SSNAIL.CPU computes, and the text is the same.
#![allow(clippy::unwrap_used)]

use ssnail_m65::expansion::Defect;
use ssnail_m65::{Model, Scenario};
use ssnail_shared::sampler::Settings;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::reference::{Choosing, answer};
use ssnail_xemu_tests::scenario::Step::{Expect, Type};
use ssnail_xemu_tests::scenario::{Setup, play, tokens};
use ssnail_xemu_tests::{model, part};

/// Frames in which the list is there, and in which a small model is loaded.
const SHORT: u64 = 1500;
/// Frames for some tokens.
const LONG: u64 = 6000;

/// A machine without a core, and the only model of its card loaded.
fn loaded(board: Model, image: &[u8]) -> Option<Scenario> {
    let part = part()?;
    let files = [File::new("/SSNAIL/MODEL.SSN", image), File::new("/SSNAIL/SSNAIL.CPU", &part)];
    let mut setup = Setup::with(board, &files);
    setup.defect = Defect::Absent;
    let mut s = setup.start()?;
    play(&mut s, &[Expect("1 model", SHORT), Expect("The 45GS02 itself computes", 5), Expect("s a token", 5)]);
    play(&mut s, &[Type("<RETURN>"), Expect("/help lists", SHORT)]);
    Some(s)
}

#[test]
fn a_story() {
    let Some(image) = model::image("stories260K-Q8_0", "keep") else { return };
    let Some(mut s) = loaded(Model::R3, &image) else { return };
    let want = answer(&image, "Lily", 6, Choosing { settings: Settings::GREEDY, seed: 0 });
    play(&mut s, &[Type("/greedy<RETURN>/n 6<RETURN>Lily<RETURN>/stats<RETURN>"), Expect("of context]", LONG)]);
    let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
    assert_eq!(tokens(&s, all.len()), all);
}
