//! What the matrices of faults have in common: which places are tried, and what must hold behind a fault.

use crate::scenario::Step::{Expect, Type};
use crate::scenario::{CHAT, LIST, play, shown};
use ssnail_m65::Scenario;
use ssnail_m65::io::card::{Card, Effect, Fault, Trigger};
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD};

/// Frames for what is there at once.
pub const SHORT: u64 = 400;
/// Frames for what reads the card.
pub const LONG: u64 = 3000;

/// Which of `count` places are tried: all where `SSNAIL_WHOLE_MATRIX` is set, or some spread over them with both ends.
pub fn places(count: u64, some: u64) -> Vec<u64> {
    if std::env::var_os("SSNAIL_WHOLE_MATRIX").is_some() || count <= some {
        return (0..count).collect();
    }
    let mut places: Vec<u64> = (0..some).map(|i| i * (count - 1) / (some - 1)).collect();
    places.dedup();
    places
}

/// The card in the machine.
pub fn card(s: &mut Scenario) -> &mut Card {
    s.machine.board.storage.card.as_mut().expect("a card")
}

/// How a card fails.
#[derive(Clone, Copy, Debug)]
pub struct CardFault {
    /// What happens.
    pub effect: Effect,
    /// At one read only, or from it on.
    pub once: bool,
}

/// The kinds.
pub const CARD_FAULTS: [CardFault; 5] = [
    CardFault { effect: Effect::Error, once: true },
    CardFault { effect: Effect::Silence, once: true },
    CardFault { effect: Effect::Remove, once: true },
    CardFault { effect: Effect::Error, once: false },
    CardFault { effect: Effect::Silence, once: false },
];

impl CardFault {
    /// Lets it strike at the read behind the next `n`.
    pub fn inject(self, card: &mut Card, n: u64) {
        // From a read on: as many as a load and its repetitions can have.
        let last = if self.once { n } else { n + 40 };
        for read in n..=last {
            card.inject(Fault { trigger: Trigger::Read(read + 1), effect: self.effect, times: 1 });
        }
    }

    /// What it is called.
    pub fn name(self) -> String {
        format!("{:?}, {}", self.effect, if self.once { "once" } else { "and then always" })
    }
}

/// Waits for the end of a load: true with a model that is whole, false with the list and a reason on it.
#[track_caller]
pub fn loaded(s: &mut Scenario, image: &[u8], what: &str) -> bool {
    for _ in 0..LONG {
        let screen = s.screen();
        if screen.contains(CHAT) {
            let start = (PAYLOAD - MEMORY_BASE) as usize;
            let payload = &image[HEADER_LEN as usize..];
            let memory = &s.machine.board.expansion.memory()[start..start + payload.len()];
            let from = memory.iter().zip(payload).position(|(here, there)| here != there);
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
pub fn keys_work(s: &mut Scenario) {
    play(s, &[Type("<HELP>"), Expect("Press a key", SHORT), Type(" "), Expect(LIST, SHORT)]);
}

/// From a conversation to the list; what is in memory does not count as loaded any more.
#[track_caller]
pub fn back_to_list(s: &mut Scenario) {
    play(s, &[Type("/model<RETURN>"), Expect(LIST, LONG)]);
    s.machine.board.expansion.slice_mut(MEMORY_BASE, HEADER_LEN).expect("the header").fill(0);
    rescan(s);
}

/// Has the card read again; the list that was there would answer at once, so the time that reading takes is waited for.
#[track_caller]
pub fn rescan(s: &mut Scenario) {
    play(s, &[Type("<CLR>")]);
    s.frames(60);
    play(s, &[Expect("1 model", LONG), Expect(LIST, SHORT)]);
}

/// How the loads of a matrix ended.
#[derive(Default, Debug)]
pub struct Figures {
    /// Loads.
    pub tried: u32,
    /// Ended with the list and a reason.
    pub refused: u32,
    /// Ended with a whole model.
    pub loaded: u32,
}

impl Figures {
    /// One more.
    pub fn count(&mut self, loaded: bool) {
        self.tried += 1;
        if loaded {
            self.loaded += 1;
        } else {
            self.refused += 1;
        }
    }
}
