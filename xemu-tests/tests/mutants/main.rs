//! A search for images that PC and MEGA65 do not agree about: sound images with something changed, each judged by the PC's
//! loader and computed by the golden model or the portable executor, then loaded and talked to in SSNAIL.PRG.
//!
//! The normal run takes some; `SSNAIL_MUTANTS=3000` takes more, `SSNAIL_MUTANTS_FROM=1000` begins at that number.
#![allow(clippy::unwrap_used, clippy::panic)]

mod host;
mod machine;
mod mutate;
#[path = "../../../host/convert/tests/common/mod.rs"]
mod tiny;

use host::{Due, End};
use machine::{Bench, CODE};
use mutate::{Base, Mutant};
use ssnail_convert::Options;
use ssnail_quant::GgmlType;
use std::collections::BTreeSet;
use tiny::Tiny;

/// Images on a card.
const CARD: usize = 60;

fn bases() -> Vec<Base> {
    let image = |model: &Tiny| model.image(&Options { ctx: Some(24), ..Options::default() }).unwrap();
    vec![
        Base::new("llama", image(&Tiny::llama())),
        Base::new("llama in Q8_0", image(Tiny::llama().matrices_in(GgmlType::Q8_0))),
        Base::new("gpt2", image(&Tiny::gpt2())),
        Base::new("gpt2 in F16", image(Tiny::gpt2().matrices_in(GgmlType::F16))),
        Base::new("bert", image(&Tiny::bert())),
        Base::new("bert in Q4_0", image(Tiny::bert().matrices_in(GgmlType::Q4_0))),
    ]
}

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// What is typed; each line of its own, so that it is found again.
fn text(base: &Base, number: u32) -> String {
    if base.name.starts_with("bert") { format!("the cats {number}") } else { "abc ab".into() }
}

#[derive(Default, Debug)]
struct Figures {
    refused: u32,
    answered: u32,
    stopped: u32,
    left_out: u32,
}

/// Sound images one after the other: all is well, and these places of the code change (instructions that the program
/// writes itself).
fn sound(bases: &[Base], core: bool) -> Option<BTreeSet<usize>> {
    let all = CODE.iter().flat_map(Clone::clone).collect();
    let images: Vec<Vec<u8>> = bases.iter().map(|base| base.image.clone()).collect();
    let mut bench = Bench::new(&images, core, &all)?.unwrap();
    let mut changed = BTreeSet::new();
    for (place, base) in bases.iter().enumerate() {
        let text = text(base, place as u32);
        let due = host::due(&base.image, core, &text);
        assert!(matches!(&due, Due::Answer(answer) if matches!(answer.end, End::Note(_))), "{}: {due:?}", base.name);
        bench.trial(place, &base.image, &due, &text).unwrap();
        changed.append(&mut bench.changed());
    }
    Some(changed)
}

fn search(core: bool, some: u32) {
    let bases = bases();
    let Some(restless) = sound(&bases, core) else { return };
    println!("{} bytes of code change: {restless:X?}", restless.len());
    let from = number("SSNAIL_MUTANTS_FROM", 0);
    let numbers: Vec<u32> = (from..from + number("SSNAIL_MUTANTS", some)).collect();
    let mut figures = Figures::default();
    let mut found = Vec::new();
    for numbers in numbers.chunks(CARD) {
        let mut trials: Vec<(Mutant, Due, String)> = Vec::new();
        for &n in numbers {
            let base = &bases[n as usize % bases.len()];
            let mutant = base.mutant(n);
            let text = text(base, n);
            let due = host::due(&mutant.image, core, &text);
            match &due {
                // With the emulated core that is a core that never ends, of which there are tests.
                Due::Answer(answer) if core && answer.end == End::Endless => {
                    figures.left_out += 1;
                    continue;
                }
                Due::Refused(_) => figures.refused += 1,
                Due::Answer(answer) if matches!(answer.end, End::Note(_)) => figures.answered += 1,
                Due::Answer(_) => figures.stopped += 1,
            }
            trials.push((mutant, due, text));
        }
        let mut at = 0;
        while at < trials.len() {
            let images: Vec<Vec<u8>> = trials[at..].iter().map(|(mutant, ..)| mutant.image.clone()).collect();
            let Some(bench) = Bench::new(&images, core, &restless) else { return };
            let mut bench = match bench {
                Ok(bench) => bench,
                Err(error) => {
                    found.push(format!("the list of {numbers:?}: {error}"));
                    break;
                }
            };
            for (place, (mutant, due, text)) in trials[at..].iter().enumerate() {
                at += 1;
                if let Err(error) = bench.trial(place, &mutant.image, due, text) {
                    println!("{}\n{error}\n", mutant.name);
                    found.push(format!("{}: {error}", mutant.name));
                    // Whatever state it is in: the others get another machine.
                    break;
                }
            }
        }
        println!("{} of {}: {figures:?}, {} found", numbers[numbers.len() - 1], numbers[0], found.len());
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn with_the_core() {
    search(true, 48);
}

#[test]
fn without_the_core() {
    search(false, 18);
}
