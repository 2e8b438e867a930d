//! A load under every fault that card and core can have, at every place where it can strike: the program ends with the
//! list or with a whole model, never with a half one.
//!
//! The normal run takes a sample of the places; `SSNAIL_WHOLE_MATRIX=1` takes all.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../host/convert/tests/common/mod.rs"]
mod tiny;

use ssnail_convert::Options;
use ssnail_m65::expansion::{Defect, When};
use ssnail_m65::{Model, Scenario};
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::matrix::{
    CARD_FAULTS, Figures, LONG, SHORT, back_to_list, card, keys_work, loaded, places, rescan,
};
use ssnail_xemu_tests::part;
use ssnail_xemu_tests::scenario::Step::{Expect, Never, Type};
use ssnail_xemu_tests::scenario::{CHAT, COMPUTES, LIST, Setup, play, shown};
use tiny::Tiny;

/// A machine with a small model on its card, at the list; the image.
fn listed() -> Option<(Scenario, Vec<u8>)> {
    let image = Tiny::llama().image(&Options::default()).unwrap();
    let mut s = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", &image)]).start()?;
    play(&mut s, &[Expect(LIST, SHORT), Expect("1 model", SHORT)]);
    Some((s, image))
}

/// Loads the model once for each fault of the card and each read of a load.
fn every_read_of_a_load(s: &mut Scenario, image: &[u8], some: u64) {
    let before = card(s).reads;
    play(s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
    let reads = card(s).reads - before;
    assert!(reads >= image.len() as u64 / 512, "{reads} reads");
    back_to_list(s);
    for fault in CARD_FAULTS {
        let mut figures = Figures::default();
        for n in places(reads, some) {
            let what = format!("{} at read {n} of {reads}", fault.name());
            fault.inject(card(s), n);
            play(s, &[Type("<RETURN>")]);
            s.frames(30);
            let whole = loaded(s, image, &what);
            figures.count(whole);
            if whole {
                card(s).heal();
                back_to_list(s);
            } else {
                keys_work(s);
                card(s).heal();
                rescan(s);
                play(s, &[Never("failed: ")]);
            }
        }
        println!("{}: {figures:?}", fault.name());
        assert!(fault.once || figures.loaded == 0, "a model came from a card that cannot be read");
    }
    play(s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
}

#[test]
fn a_card_that_fails_at_any_read_of_a_load() {
    let Some((mut s, image)) = listed() else { return };
    every_read_of_a_load(&mut s, &image, 5);
}

#[test]
fn a_card_that_fails_at_any_read_of_a_load_without_the_core() {
    let image = Tiny::llama().image(&Options::default()).unwrap();
    let files = [File::new("/SSNAIL/MODEL.SSN", &image)];
    let Some(mut s) = Setup::without_core(Model::R3, &files).and_then(Setup::start) else { return };
    play(&mut s, &[Expect("1 model", LONG), Expect(LIST, SHORT)]);
    every_read_of_a_load(&mut s, &image, 3);
}

/// The list is either whole or says what is wrong with the card; with a card that is whole again it is whole.
#[test]
fn a_card_that_fails_at_any_read_of_the_list() {
    let Some((mut s, _)) = listed() else { return };
    let before = card(&mut s).reads;
    rescan(&mut s);
    let reads = card(&mut s).reads - before;
    assert!(reads > 3, "{reads} reads");
    for fault in CARD_FAULTS {
        let (mut whole, mut told) = (0, 0);
        for n in places(reads, 4) {
            let what = format!("{} at read {n} of {reads}", fault.name());
            fault.inject(card(&mut s), n);
            play(&mut s, &[Type("<CLR>")]);
            s.frames(60);
            play(&mut s, &[Expect(LIST, LONG)]);
            let screen = s.screen();
            match (screen.contains("Card: "), screen.contains("cannot be read"), screen.contains("MODEL.SSN")) {
                (false, false, true) => whole += 1,
                (true, _, _) | (_, true, _) => told += 1,
                _ => panic!("{what}: the list is short, and nothing says why:\n{}", shown(&s)),
            }
            keys_work(&mut s);
            card(&mut s).heal();
            rescan(&mut s);
            play(&mut s, &[Never("Card: "), Never("cannot be read")]);
        }
        println!("{}: {whole} lists whole, {told} with a reason", fault.name());
    }
    play(&mut s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
}

/// At the start settings, SSNAIL.CPU and the list are read: what computes is whole, or there is none until the card is read
/// again.
#[test]
fn a_card_that_fails_at_any_read_of_the_start_without_the_core() {
    let Some(part) = part() else { return };
    let image = Tiny::llama().image(&Options::default()).unwrap();
    let files = [File::new("/SSNAIL/MODEL.SSN", &image)];
    let started = |inject: &dyn Fn(&mut Scenario)| {
        let mut s = Setup::without_core(Model::R3, &files)?.start()?;
        inject(&mut s);
        play(&mut s, &[Expect(LIST, LONG)]);
        Some(s)
    };
    let Some(mut s) = started(&|_| {}) else { return };
    play(&mut s, &[Expect(COMPUTES, 5)]);
    let reads = card(&mut s).reads;
    assert!(reads >= part.len() as u64 / 512, "{reads} reads");
    for fault in CARD_FAULTS {
        let (mut computing, mut told) = (0, 0);
        for n in places(reads, 3) {
            let what = format!("{} at read {n} of {reads}", fault.name());
            let Some(mut s) = started(&|s| fault.inject(card(s), n)) else { return };
            if s.screen().contains(COMPUTES) {
                computing += 1;
            } else {
                assert!(s.screen().contains("SSNAIL.CPU"), "{what}:\n{}", shown(&s));
                told += 1;
            }
            card(&mut s).heal();
            keys_work(&mut s);
            rescan(&mut s);
            play(&mut s, &[Expect(COMPUTES, SHORT), Type("<RETURN>"), Expect(CHAT, LONG)]);
            play(&mut s, &[Type("/n 1<RETURN>abc<RETURN>/stats<RETURN>")]);
            play(&mut s, &[Expect("of context]", LONG), Never("error")]);
        }
        println!("{}: {computing} starts with what computes, {told} without and a reason", fault.name());
    }
}

#[test]
fn a_core_that_fails_at_any_moment_of_a_load() {
    let Some((mut s, image)) = listed() else { return };
    let counters = |s: &Scenario| {
        let core = &s.machine.board.expansion.accelerator;
        (core.commits, core.looks)
    };
    let before = counters(&s);
    play(&mut s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
    let after = counters(&s);
    let (commits, looks) = (after.0 - before.0, after.1 - before.1);
    back_to_list(&mut s);
    for (name, ready) in [("READY lost", true), ("ERROR raised", false)] {
        let kind = |when| if ready { Defect::LosesReady(when) } else { Defect::RaisesError(when) };
        let mut figures = Figures::default();
        let whens = places(commits, 5).into_iter().map(When::Commits);
        let whens = whens.chain(places(looks, 4).into_iter().map(When::Looks));
        for when in whens.collect::<Vec<_>>() {
            let what = format!("{name} at {when:?} of {commits} commits and {looks} looks");
            let (c, l) = counters(&s);
            let when = match when {
                When::Commits(n) => When::Commits(c + n),
                When::Looks(n) => When::Looks(l + n),
            };
            s.machine.board.expansion.accelerator.defect = kind(when);
            play(&mut s, &[Type("<RETURN>")]);
            s.frames(30);
            let whole = loaded(&mut s, &image, &what);
            figures.count(whole);
            if !whole {
                keys_work(&mut s);
            }
            s.machine.board.expansion.accelerator.defect = Defect::None;
            if whole {
                back_to_list(&mut s);
            } else {
                rescan(&mut s);
                play(&mut s, &[Never("failed: ")]);
            }
        }
        println!("{name}: {figures:?}");
        assert!(figures.refused > figures.loaded);
    }
    play(&mut s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
}

#[test]
fn a_core_that_fails_at_any_moment_of_an_answer() {
    let Some((mut s, _)) = listed() else { return };
    let commits = |s: &Scenario| s.machine.board.expansion.accelerator.commits;
    play(&mut s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
    let before = commits(&s);
    play(&mut s, &[Type("abc<RETURN>")]);
    s.frames(200);
    play(&mut s, &[Type("/stats<RETURN>"), Expect("tokens of context]", LONG)]);
    let count = commits(&s) - before;
    assert!(count > 4, "{count} commits in an answer");
    let kinds: [fn(When) -> Defect; 2] = [Defect::LosesReady, Defect::RaisesError];
    let mut tried = 0;
    for kind in kinds {
        for n in places(count, 4) {
            play(&mut s, &[Type("/reset<RETURN>")]);
            s.frames(60);
            let now = commits(&s);
            s.machine.board.expansion.accelerator.defect = kind(When::Commits(now + n));
            play(&mut s, &[Type("abc<RETURN>")]);
            s.frames(150);
            s.machine.board.expansion.accelerator.defect = Defect::None;
            play(&mut s, &[Type("/stats<RETURN>"), Expect("tokens of context]", LONG)]);
            tried += 1;
        }
    }
    for defect in (1..=4).chain([255]).map(Defect::JobError).chain([Defect::Hangs]) {
        play(&mut s, &[Type("/reset<RETURN>")]);
        s.frames(60);
        s.machine.board.expansion.accelerator.defect = defect;
        play(&mut s, &[Type("abc<RETURN>")]);
        if defect == Defect::Hangs {
            s.frames(50);
            play(&mut s, &[Type("<RUN/STOP><RUN/STOP><RUN/STOP>"), Expect("[the core is busy", SHORT)]);
        } else {
            s.frames(100);
        }
        s.machine.board.expansion.accelerator.defect = Defect::None;
        play(&mut s, &[Type("/stats<RETURN>"), Expect("tokens of context]", LONG)]);
        tried += 1;
    }
    println!("{tried} faults in an answer of {count} commits");
    play(&mut s, &[Type("/model<RETURN>"), Expect(LIST, LONG)]);
    keys_work(&mut s);
}
