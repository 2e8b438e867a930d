//! Real models on both boards: what the screen shows and what the token buffer holds is what the golden model says.
#![allow(clippy::unwrap_used)]

use ssnail_m65::{Model, Scenario};
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD};
use ssnail_shared::sampler::Settings;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::reference::{Choosing, answer};
use ssnail_xemu_tests::scenario::{Setup, Step, play, tokens, words_after};
use ssnail_xemu_tests::{model, prg};

const BOARDS: [Model; 2] = [Model::R3, Model::R6];
/// Frames in which a small model is loaded, or an answer has come.
const LONG: u64 = 1500;

/// Starts the program and loads the only model of the card.
fn loaded(board: Model, image: &[u8]) -> Option<Scenario> {
    let mut scenario = Setup::with(board, &[File::new("/SSNAIL/MODEL.SSN", image)]).start()?;
    play(&mut scenario, &[Step::Expect("1 model", 300), Step::Type("<RETURN>"), Step::Expect("/help lists", LONG)]);
    Some(scenario)
}

/// The memory holds the file, apart from the words where the program notes that it is loaded.
fn assert_memory_is(scenario: &Scenario, image: &[u8]) {
    let read = |address, length| ssnail_m65::scenario::dump(&scenario.machine, address, length).unwrap();
    let (header, payload) = image.split_at(HEADER_LEN as usize);
    let mut found = read(MEMORY_BASE, HEADER_LEN);
    for at in [0x60, 0x68] {
        found[at..at + 4].fill(0);
    }
    assert_eq!(found, header);
    assert!(read(PAYLOAD, payload.len() as u32) == payload, "the payload differs");
}

/// Lets the program and the golden model answer and compares.
fn compare(scenario: &mut Scenario, image: &[u8], prompt: &str, n: u32, settings: &str, choosing: Choosing) {
    let want = answer(image, prompt, n, choosing);
    let line = format!("{settings}/n {n}<RETURN>{prompt}<RETURN>/stats<RETURN>");
    play(scenario, &[Step::Type(&line), Step::Expect("tokens of context]", LONG)]);
    let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
    assert_eq!(tokens(scenario, all.len()), all, "{prompt}");
    let words = words_after(scenario, prompt);
    let expected: Vec<&str> = want.text.split_whitespace().collect();
    assert_eq!(words[..expected.len().min(words.len())], expected, "{prompt}");
    let rest = words.get(expected.len()).map_or("", String::as_str);
    assert!(rest.starts_with('['), "{prompt}: {words:?}");
}

fn greedy() -> Choosing {
    Choosing { settings: Settings::GREEDY, seed: 0 }
}

#[test]
fn stories_are_told_as_the_golden_model_tells_them() {
    if prg().is_none() {
        return;
    }
    for (name, wtype) in [("stories260K-F16", "f16"), ("stories260K-Q8_0", "keep"), ("stories260K-Q4_0", "keep")] {
        let Some(image) = model::image(name, wtype) else { return };
        for board in BOARDS {
            let Some(mut scenario) = loaded(board, &image) else { return };
            assert_memory_is(&scenario, &image);
            compare(&mut scenario, &image, "Once upon a time", 100, "/greedy<RETURN>", greedy());
        }
    }
}

#[test]
fn sampling_chooses_what_the_golden_model_chooses() {
    let Some(image) = model::image("stories260K-Q8_0", "keep") else { return };
    for board in BOARDS {
        let Some(mut scenario) = loaded(board, &image) else { return };
        let settings = Settings { temperature: 0.8, top_k: 40, penalty: 1.15 };
        let keys = "/temp 0.8<RETURN>/topk 40<RETURN>/penalty 1.15<RETURN>/seed 7<RETURN>";
        compare(&mut scenario, &image, "Lily saw a", 80, keys, Choosing { settings, seed: 7 });
    }
}

#[test]
fn letters_are_sorted() {
    let Some(image) = model::image("gpt-nano-sort-F32", "f32") else { return };
    for board in BOARDS {
        let Some(mut scenario) = loaded(board, &image) else { return };
        compare(&mut scenario, &image, "CBACBA", 6, "/greedy<RETURN>", greedy());
    }
}
