//! A load under every fault that card and core can have, at every place where it can strike: the program ends with the
//! list or with a whole model, never with a half one.
//!
//! The normal run takes a sample of the places; `SSNAIL_WHOLE_MATRIX=1` takes all.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../host/convert/tests/common/mod.rs"]
mod tiny;

use ssnail_convert::Options;
use ssnail_m65::expansion::{Defect, When};
use ssnail_m65::io::card::{Effect, Fault, Trigger};
use ssnail_m65::{Model, Scenario};
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::scenario::Step::{Expect, Never, Type};
use ssnail_xemu_tests::scenario::{Setup, play, shown};
use tiny::Tiny;

const SHORT: u64 = 400;
const LONG: u64 = 3000;
/// The list is there and takes keys.
const LIST: &str = "cursor keys, number or first letter";
/// A model is loaded and can be talked to.
const CHAT: &str = "/help lists";

/// Which of `count` places are tried: all, or some spread over them with both ends.
fn places(count: u64, some: u64) -> Vec<u64> {
    if std::env::var_os("SSNAIL_WHOLE_MATRIX").is_some() || count <= some {
        return (0..count).collect();
    }
    let mut places: Vec<u64> = (0..some).map(|i| i * (count - 1) / (some - 1)).collect();
    places.dedup();
    places
}

/// A machine with a small model on its card, at the list; the image.
fn listed() -> Option<(Scenario, Vec<u8>)> {
    let image = Tiny::llama().image(&Options::default()).unwrap();
    let mut s = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", &image)]).start()?;
    play(&mut s, &[Expect(LIST, SHORT), Expect("1 model", SHORT)]);
    Some((s, image))
}

/// Waits for the end of a load: true with a model that is whole, false with the list and a reason on it.
#[track_caller]
fn loaded(s: &mut Scenario, image: &[u8], what: &str) -> bool {
    for _ in 0..LONG {
        let screen = s.screen();
        if screen.contains(CHAT) {
            let start = (PAYLOAD - ssnail_shared::map::MEMORY_BASE) as usize;
            let payload = &image[HEADER_LEN as usize..];
            let memory = &s.machine.board.expansion.memory()[start..start + payload.len()];
            let same = |(a, b): (&u8, &u8)| a == b;
            let from = memory.iter().zip(payload).position(|p| !same(p));
            assert_eq!(
                from, None,
                "{what}: a model is offered that is not the file's from this byte of its payload on"
            );
            return true;
        }
        if screen.contains(LIST) && screen.contains("failed: ") {
            assert!(!screen.contains("still in memory"), "{what}: a half model is offered:\n{}", shown(s));
            return false;
        }
        assert_eq!(s.frame(), None, "{what}: the program ended");
    }
    panic!("{what}: neither a model nor the list:\n{}", shown(s));
}

/// The list's keys work.
#[track_caller]
fn keys_work(s: &mut Scenario) {
    play(s, &[Type("<HELP>"), Expect("Press a key", SHORT), Type(" "), Expect(LIST, SHORT)]);
}

/// From a conversation to the list; what is in memory does not count as loaded any more.
#[track_caller]
fn back_to_list(s: &mut Scenario) {
    play(s, &[Type("/model<RETURN>"), Expect(LIST, LONG)]);
    let start = ssnail_shared::map::MEMORY_BASE;
    s.machine.board.expansion.slice_mut(start, HEADER_LEN).unwrap().fill(0);
    rescan(s);
}

/// Has the card read again; the list that was there would answer at once, so the time that reading takes is waited for.
#[track_caller]
fn rescan(s: &mut Scenario) {
    play(s, &[Type("<CLR>")]);
    s.frames(60);
    play(s, &[Expect("1 model", LONG), Expect(LIST, SHORT)]);
}

#[derive(Default, Debug)]
struct Figures {
    tried: u32,
    refused: u32,
    loaded: u32,
}

impl Figures {
    fn count(&mut self, loaded: bool) {
        self.tried += 1;
        if loaded {
            self.loaded += 1;
        } else {
            self.refused += 1;
        }
    }
}

#[test]
fn a_card_that_fails_at_any_read_of_a_load() {
    let Some((mut s, image)) = listed() else { return };
    let card = |s: &mut Scenario| s.machine.board.storage.card.as_ref().unwrap().reads;
    let before = card(&mut s);
    play(&mut s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
    let reads = card(&mut s) - before;
    assert!(reads >= image.len() as u64 / 512, "{reads} reads");
    back_to_list(&mut s);
    for (effect, once) in
        [(Effect::Error, true), (Effect::Silence, true), (Effect::Remove, true), (Effect::Error, false)]
    {
        let mut figures = Figures::default();
        for n in places(reads, 5) {
            let what = format!("{effect:?} at read {n} of {reads}, {}", if once { "once" } else { "and then always" });
            let card = s.machine.board.storage.card.as_mut().unwrap();
            // Always: from this read on, as many as a load and its repetitions can have.
            let last = if once { n } else { n + 40 };
            for read in n..=last {
                card.inject(Fault { trigger: Trigger::Read(read + 1), effect, times: 1 });
            }
            play(&mut s, &[Type("<RETURN>")]);
            s.frames(30);
            let whole = loaded(&mut s, &image, &what);
            figures.count(whole);
            if whole {
                s.machine.board.storage.card.as_mut().unwrap().heal();
                back_to_list(&mut s);
            } else {
                keys_work(&mut s);
                s.machine.board.storage.card.as_mut().unwrap().heal();
                rescan(&mut s);
                play(&mut s, &[Never("failed: ")]);
            }
        }
        println!("{effect:?} {}: {figures:?}", if once { "once" } else { "always" });
        assert!(once || figures.loaded == 0, "a model came from a card that cannot be read");
    }
    play(&mut s, &[Type("<RETURN>"), Expect(CHAT, LONG)]);
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
