//! Images made to do harm, in SSNAIL.PRG: each gets the answer of the table, with the core and without it.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../host/convert/tests/common/adversarial.rs"]
mod adversarial;
#[path = "../../host/convert/tests/common/mod.rs"]
mod tiny;

use adversarial::{Answer, CASES, Case};
use ssnail_convert::Options as Convert;
use ssnail_m65::expansion::Defect;
use ssnail_m65::{Model, Scenario};
use ssnail_shared::header::Header;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::part;
use ssnail_xemu_tests::scenario::Step::{Expect, Type};
use ssnail_xemu_tests::scenario::{LIST, Setup, play};
use tiny::Tiny;

const SHORT: u64 = 1500;
const LONG: u64 = 6000;
/// Without the core the list already sees that this is more than there is room for.
const TOO_WIDE: &str = "a vector that wraps 32 bits";

fn sound() -> Vec<u8> {
    Tiny::llama().image(&Convert { ctx: Some(64), ..Convert::default() }).unwrap()
}

/// A machine with these images in its list, in this order.
fn started(cases: &[&Case], core: bool) -> Option<Scenario> {
    let image = sound();
    let part = part()?;
    let files: Vec<(String, Vec<u8>)> = cases
        .iter()
        .enumerate()
        .map(|(n, case)| (format!("/SSNAIL/M{n:02}.SSN"), case.of(&image)))
        .chain(core.then_some(()).is_none().then(|| ("/SSNAIL/SSNAIL.CPU".to_owned(), part)))
        .collect();
    let files: Vec<File<'_>> = files.iter().map(|(path, data)| File::new(path, data)).collect();
    let mut setup = Setup::with(Model::R3, &files);
    setup.defect = if core { Defect::None } else { Defect::Absent };
    let mut s = setup.start()?;
    play(&mut s, &[Expect(LIST, LONG), Expect(&format!("{} models", cases.len()), 5)]);
    Some(s)
}

fn header_is_wrong(case: &Case) -> bool {
    Header::parse(case.of(&sound()).first_chunk().unwrap()).is_err()
}

/// Keys that choose a model of the list, whichever is chosen now.
fn chosen(n: usize) -> String {
    format!("{}{}<RETURN>", "<UP>".repeat(40), "<DOWN>".repeat(n))
}

#[test]
fn headers() {
    let cases: Vec<&Case> = CASES.iter().filter(|case| header_is_wrong(case)).collect();
    let Some(mut s) = started(&cases, true) else { return };
    for (n, case) in cases.iter().enumerate() {
        let Answer::Field(field) = case.answer else { panic!("{}", case.name) };
        println!("{}", case.name);
        let sentence = format!("damaged: header field {field} at $");
        play(&mut s, &[Type(&chosen(n)), Expect(&sentence, SHORT), Expect(LIST, SHORT)]);
    }
}

#[test]
fn tables_and_caches() {
    let refused = |case: &&Case| matches!(case.answer, Answer::Field(_)) && !header_is_wrong(case);
    let cases: Vec<&Case> = CASES.iter().filter(refused).collect();
    let Some(mut s) = started(&cases, true) else { return };
    for (n, case) in cases.iter().enumerate() {
        let Answer::Field(field) = case.answer else { panic!("{}", case.name) };
        println!("{}", case.name);
        let sentence = format!("[damaged image: {field} at $");
        play(&mut s, &[Type(&chosen(n)), Expect(&sentence, LONG), Expect(LIST, SHORT)]);
    }
}

/// What stands on the screen between two lines, the last of their kind.
fn between(s: &Scenario, first: &str, last: &str) -> String {
    let text = s.screen().text();
    let rows: Vec<&str> = text.lines().map(str::trim_end).collect();
    let find = |line: &str| rows.iter().rposition(|row| *row == line).unwrap_or_else(|| panic!("no {line} in\n{text}"));
    rows[find(first) + 1..find(last)].join("\n")
}

/// Scripts that fail, and what is odd and harmless: a line is typed, the answer is due.
fn scripts(core: bool) {
    let played = |case: &&Case| match case.answer {
        Answer::Field(_) => false,
        // With the emulated core a circle is what a core is that never ends (tests/faults.rs), and as slow as the PC.
        Answer::Endless => !core,
        Answer::Stops(_) | Answer::Works => true,
    };
    let cases: Vec<&Case> = CASES.iter().filter(played).collect();
    let Some(mut s) = started(&cases, core) else { return };
    for (n, case) in cases.iter().enumerate() {
        println!("{}", case.name);
        // Conversations stay on the screen, so each case has lines of its own.
        let [first, last] = [100 + n, 200 + n].map(|n| format!("[greedy, at most {n} tokens]"));
        if !core && case.name == TOO_WIDE {
            play(&mut s, &[Type(&chosen(n)), Expect("too wide: vectors of 1073741825 elements", LONG)]);
            continue;
        }
        play(&mut s, &[Type(&chosen(n)), Expect("ype a", LONG)]);
        play(&mut s, &[Type(&format!("/greedy<RETURN>/n {}<RETURN>", 100 + n)), Expect(&first, SHORT)]);
        play(&mut s, &[Type("abc ab<RETURN>")]);
        if case.answer == Answer::Endless {
            s.frames(60);
            play(&mut s, &[Type("<RUN/STOP>")]);
        } else if case.answer == Answer::Works {
            // Some tokens are enough.
            s.frames(400);
            play(&mut s, &[Type("<RUN/STOP>")]);
        }
        play(&mut s, &[Type(&format!("/n {}<RETURN>", 200 + n)), Expect(&last, LONG)]);
        let said = between(&s, &first, &last);
        let right = match case.answer {
            Answer::Stops(error) => {
                said.contains(&format!("[the core stopped: {} (error {})", error.text(), error as u8))
            }
            Answer::Endless => said.contains("[stopped]"),
            _ => !said.contains("[the core stopped") && !said.contains("damaged"),
        };
        assert!(right, "{}: {:?} expected:\n{said}", case.name, case.answer);
        play(&mut s, &[Type("/model<RETURN>"), Expect(LIST, LONG)]);
    }
}

#[test]
fn scripts_on_the_core() {
    scripts(true);
}

#[test]
fn scripts_without_the_core() {
    scripts(false);
}
