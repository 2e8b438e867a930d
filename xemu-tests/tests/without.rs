//! Without the core: SSNAIL.CPU computes, and the text is the same.
#![allow(clippy::unwrap_used)]

use ssnail_disk::d81::{Source, demo_disk};
use ssnail_m65::expansion::Defect;
use ssnail_m65::io::keyboard::Key;
use ssnail_m65::{Model, Scenario};
use ssnail_shared::header::{Header, offset};
use ssnail_shared::isa::{INSTRUCTION_LEN, Opcode};
use ssnail_shared::map::{HEADER_LEN, MEGABYTE, PAYLOAD};
use ssnail_shared::runtime;
use ssnail_shared::sampler::Settings;
use ssnail_xemu_tests::bench::HERTZ;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::compute::ESTIMATE;
use ssnail_xemu_tests::reference::{Choosing, answer};
use ssnail_xemu_tests::scenario::Step::{Expect, Never, Type};
use ssnail_xemu_tests::scenario::{COMPUTES, Setup, play, shown, tokens, words_after};
use ssnail_xemu_tests::{data, model, part};

/// Frames in which the list is there, and in which a small model is loaded.
const SHORT: u64 = 1500;
/// Frames for some tokens.
const LONG: u64 = 6000;
/// Key code of RUN/STOP.
const STOP: u8 = 3;
const GREEDY: Choosing = Choosing { settings: Settings::GREEDY, seed: 0 };

/// A machine with these files, the part among them, and this accelerator.
fn started(board: Model, files: &[File<'_>], defect: Defect) -> Option<Scenario> {
    Setup { defect, ..Setup::without_core(board, files)? }.start()
}

/// A machine without a core, and the only model of its card loaded.
fn loaded(board: Model, image: &[u8]) -> Option<Scenario> {
    let mut s = started(board, &[File::new("/SSNAIL/MODEL.SSN", image)], Defect::Absent)?;
    play(&mut s, &[Expect("1 model", SHORT), Expect(COMPUTES, 5), Expect("s a token", 5)]);
    play(&mut s, &[Type("<RETURN>"), Expect("ype a", SHORT)]);
    Some(s)
}

/// An image of the vectors.
fn vector(name: &str) -> Option<Vec<u8>> {
    let path = data()?.join("vectors/images").join(format!("{name}.ssnail"));
    let file = std::fs::read(&path).ok();
    if file.is_none() {
        println!("skipped: no {}", path.display());
    }
    file
}

/// What core, memory, card and disk there are can only be found out by asking where nothing may be.
#[test]
fn looking_around_is_no_fault() {
    let boards = [(Model::R3, Defect::Absent), (Model::R6, Defect::Absent), (Model::Nexys4Ddr, Defect::Absent)];
    for (board, defect) in boards.into_iter().chain([(Model::R3, Defect::None), (Model::R6, Defect::None)]) {
        let Some(mut s) = started(board, &[], defect) else { return };
        play(&mut s, &[Expect("No models on the card", SHORT)]);
        assert_eq!(s.machine.board.diagnostics.to_string(), "", "{board}, {defect:?}");
    }
}

/// Presses a key as soon as everything has been typed and so many frames have passed.
fn press_after(s: &mut Scenario, frames: u64, ascii: u8) {
    while s.untyped() > 0 {
        s.frame();
    }
    s.frames(frames);
    s.machine.board.keyboard.press(Key { ascii, petscii: ascii, modifiers: 0 });
}

#[test]
fn a_story_stopped_in_a_token_and_gone_on_with() {
    let Some(image) = model::image("stories260K-Q8_0", "keep") else { return };
    let Some(mut s) = loaded(Model::R3, &image) else { return };
    let want = answer(&image, "Lily", 8, GREEDY);
    let keys = "/core<RETURN>/greedy<RETURN>/n 3<RETURN>Lily<RETURN>/stats<RETURN>";
    play(&mut s, &[Type(keys), Expect("of context]", LONG), Expect("[the 45GS02 computes]", 5)]);
    let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
    let told = want.prompt.len() + 3;
    assert_eq!(tokens(&s, told), all[..told]);
    let words = words_after(&s, "Lily").join(" ");
    assert!(want.text.trim_start().starts_with(words.split(" [").next().unwrap()), "{words}");
    // What has been told stays, and the rest comes as it would have.
    play(&mut s, &[Type("/n 50<RETURN>"), Expect("most 50 tokens]", SHORT), Type("<RETURN>")]);
    press_after(&mut s, 10, STOP);
    play(&mut s, &[Expect("[stopped]", 30), Type("/n 2<RETURN>"), Expect("most 2 tokens]", SHORT)]);
    play(&mut s, &[Type("<RETURN>/stats<RETURN>"), Expect("[5 tokens in", LONG)]);
    assert_eq!(tokens(&s, told + 2), all[..told + 2]);
}

/// Types the same with the core and without and waits for what is to come: the same tokens and the same text.
fn alike(board: Model, image: &[u8], steps: &[(&str, &str)]) -> Option<(Scenario, Scenario)> {
    let mut with = Setup::with(board, &[File::new("/SSNAIL/MODEL.SSN", image)]).start()?;
    let mut without = loaded(board, image)?;
    play(&mut with, &[Expect("1 model", SHORT), Type("<RETURN>"), Expect("ype a", SHORT)]);
    for (keys, then) in steps {
        for s in [&mut with, &mut without] {
            play(s, &[Type(keys), Expect(then, LONG)]);
        }
    }
    let text = |s: &Scenario| {
        let screen = s.screen();
        // Times differ, everything else does not.
        let rows = (2..45).map(|row| screen.row(row).trim_end().to_owned());
        rows.filter(|row| !row.contains("tokens/s") && !row.starts_with("[temperature")).collect::<Vec<_>>()
    };
    assert_eq!(text(&with), text(&without));
    assert_eq!(tokens(&with, 64), tokens(&without, 64));
    Some((with, without))
}

#[test]
fn sampling_and_a_second_turn() {
    let Some(image) = vector("llama_q4_0") else { return };
    let steps = [
        ("/temp 0.8<RETURN>/topk 40<RETURN>/seed 7<RETURN>/n 4<RETURN>", "most 4 tokens]"),
        ("ab<RETURN>/stats<RETURN>", "[4 tokens in"),
        ("cd<RETURN>/stats<RETURN>", "[8 tokens in"),
    ];
    alike(Model::R6, &image, &steps);
}

#[test]
fn lines_are_compared() {
    let Some(image) = vector("bert_q8_0") else { return };
    let steps = [("ab cd<RETURN>", "1 lines"), ("ef<RETURN>", "2 lines"), ("ab cd<RETURN>", "3 lines")];
    let Some((with, without)) = alike(Model::R3, &image, &steps) else { return };
    let header = Header::parse(image[..HEADER_LEN as usize].try_into().unwrap()).unwrap();
    let read = |s: &Scenario| ssnail_m65::scenario::dump(&s.machine, header.output, 4 * header.output_len).unwrap();
    assert_eq!(read(&with), read(&without));
    assert!(without.screen().contains("+1.000  ab cd"));
}

#[test]
fn the_core_can_be_left_aside_and_taken() {
    let Some(image) = vector("llama_q8_0") else { return };
    let files = [File::new("/SSNAIL/MODEL.SSN", &image), File::new("/SSNAIL/CONFIG.TXT", b"core = off\n")];
    for board in [Model::R3, Model::R6] {
        let Some(mut s) = started(board, &files, Defect::None) else { return };
        play(&mut s, &[Expect("1 model", SHORT), Expect(COMPUTES, 5), Type("<RETURN>"), Expect("ype a", SHORT)]);
        play(&mut s, &[Type("/greedy<RETURN>/n 2<RETURN>ab<RETURN>/stats<RETURN>"), Expect("of context]", LONG)]);
        let want = answer(&image, "ab", 6, GREEDY);
        let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
        play(&mut s, &[Type("/core on<RETURN>"), Expect("[the SSNAIL core computes]", SHORT)]);
        play(&mut s, &[Type("<RETURN>/reset<RETURN>"), Expect("[a fresh context]", LONG)]);
        assert_eq!(tokens(&s, all.len() - 2), all[..all.len() - 2], "{board}");
        play(&mut s, &[Type("/core off<RETURN>"), Expect("[the 45GS02 computes]", SHORT)]);
    }
}

#[test]
fn the_part_comes_from_the_disk_as_well() {
    let (Some(part), Some(image)) = (part(), vector("llama_q8_0")) else { return };
    let parts = [Source { name: "SSNAIL.CPU", data: &part }];
    let disk = demo_disk(b"\x01\x20", &parts, "readme", None).unwrap().disk.to_bytes();
    let mut setup = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", &image)]);
    setup.defect = Defect::Absent;
    let Some(mut s) = setup.start() else { return };
    s.machine.insert_disk(&disk, false).unwrap();
    play(&mut s, &[Expect("1 model", SHORT), Expect(COMPUTES, 5), Type("<RETURN>"), Expect("ype a", SHORT)]);
    play(&mut s, &[Type("/greedy<RETURN>/n 1<RETURN>ab<RETURN>/stats<RETURN>"), Expect("of context]", LONG)]);
    let want = answer(&image, "ab", 1, GREEDY);
    let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
    assert_eq!(tokens(&s, all.len()), all);
    play(&mut s, &[Type("/core on<RETURN>"), Expect("No SSNAIL core answers at $FFD7500.", SHORT)]);
    play(&mut s, &[Expect("[the 45GS02 computes]", SHORT)]);
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let (Some(image), Some(part)) = (vector("llama_q8_0"), part()) else { return };
    let mut large = image.clone();
    let needed = offset::MEMORY_NEEDED as usize;
    large[needed..needed + 4].copy_from_slice(&(8 * MEGABYTE).to_le_bytes());
    let mut wide = image.clone();
    let code = (Header::parse(image[..HEADER_LEN as usize].try_into().unwrap()).unwrap().code - PAYLOAD) as usize;
    let script = &mut wide[HEADER_LEN as usize + code..];
    let setn = script.chunks_exact_mut(INSTRUCTION_LEN as usize).find(|i| i[0] == Opcode::Setn.number()).unwrap();
    setn[4..8].copy_from_slice(&4096u32.to_le_bytes());
    let files = [File::new("/SSNAIL/LARGE.SSN", &large), File::new("/SSNAIL/WIDE.SSN", &wide)];
    let Some(mut s) = started(Model::R3, &files, Defect::Absent) else { return };
    play(&mut s, &[Expect("2 models", SHORT), Expect("too big: needs 8.0 MB, here are 7.9 MB", 5)]);
    play(&mut s, &[Expect("too wide: vectors of 4096 elements; without the core at most 2048", 5)]);
    play(&mut s, &[Type("<RETURN>"), Expect("letter: choose", SHORT), Never("Loading"), Type("<DOWN><RETURN>")]);
    play(&mut s, &[Expect("letter: choose", SHORT), Never("Loading")]);
    for damage in [0, 4, 300] {
        let mut bad = part.clone();
        match damage {
            0 => bad.truncate(1000),
            4 => bad[4] ^= 1,
            _ => bad[0] = b'X',
        }
        let mut setup = Setup::with(Model::R3, &[File::new("/SSNAIL/SSNAIL.CPU", &bad)]);
        setup.defect = Defect::Absent;
        let Some(mut s) = setup.start() else { return };
        play(&mut s, &[Expect("SSNAIL.CPU on the card is damaged or of another version", SHORT)]);
    }
}

/// Models of some size tell what the emulator tells, and the list says how long a token takes: 15 % at most beside what it
/// takes near the start of the context.
#[test]
fn models_of_some_size_and_their_estimates() {
    const FROM: u32 = 3;
    const TO: u32 = 6;
    let small = |wtype: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/storyteller-small.gguf");
        let gguf = ssnail_gguf::Gguf::open(std::path::Path::new(path)).unwrap();
        let options = ssnail_convert::Options { wtype: model::policy(wtype), ..ssnail_convert::Options::default() };
        Some(model::convert(&gguf, &options))
    };
    let word = |s: &Scenario, at: u32| {
        let bytes = ssnail_m65::scenario::dump(&s.machine, at, 4).unwrap();
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    for (name, image) in [
        ("stories260K in Q8_0", model::image("stories260K-Q8_0", "keep")),
        ("the storyteller", Some(model::storyteller())),
        ("the small storyteller in Q8_0", small("q8_0")),
        ("the small storyteller in Q4_0", small("q4_0")),
        ("the small storyteller in F16", small("f16")),
    ] {
        let Some(image) = image else { continue };
        let Some(mut s) = loaded(Model::R3, &image) else { return };
        let estimate = f64::from(word(&s, ESTIMATE)) / 1000.0;
        play(&mut s, &[Type("/greedy<RETURN>/n 8<RETURN>"), Expect("most 8 tokens]", SHORT), Type("Lily<RETURN>")]);
        let mut reached = |position| {
            // Ten minutes of the machine's time: a program that has stopped ends the test.
            for _ in 0..30_000 {
                if word(&s, runtime::POS) >= position {
                    break;
                }
                s.frame();
            }
            assert!(word(&s, runtime::POS) >= position, "position {position} is not reached:\n{}", shown(&s));
            s.machine.board.cycles as f64 / HERTZ as f64
        };
        let start = reached(FROM);
        let took = (reached(TO) - start) / f64::from(TO - FROM);
        println!("{name}: {took:.3} s a token, {estimate:.3} s estimated");
        let want = answer(&image, "Lily", 8, GREEDY);
        let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
        assert_eq!(tokens(&s, TO as usize), all[..TO as usize], "{name}");
        assert!((estimate / took - 1.0).abs() < 0.15, "{name}: {took:.3} s a token, {estimate:.3} s estimated");
    }
}

#[test]
fn the_core_is_kept_where_nothing_else_can_compute() {
    let (Some(image), Some(part)) = (vector("llama_q8_0"), part()) else { return };
    let mut large = image.clone();
    let needed = offset::MEMORY_NEEDED as usize;
    large[needed..needed + 4].copy_from_slice(&(8 * MEGABYTE).to_le_bytes());
    let short = &part[..1000];
    for (image, part, why) in [
        (&large, Some(&part[..]), "[the model fills the memory that SSNAIL.CPU needs]"),
        (&image, Some(short), "SSNAIL.CPU on the card is damaged or of another version"),
        (&image, None, "Neither card nor disk has SSNAIL.CPU"),
    ] {
        let mut files = vec![File::new("/SSNAIL/MODEL.SSN", image)];
        files.extend(part.map(|part| File::new("/SSNAIL/SSNAIL.CPU", part)));
        let Some(mut s) = Setup::with(Model::R3, &files).start() else { return };
        play(&mut s, &[Expect("1 model", SHORT), Type("<RETURN>"), Expect("ype a", SHORT), Type("/core off<RETURN>")]);
        play(&mut s, &[Expect(why, SHORT), Expect("[the SSNAIL core computes]", 30)]);
        play(&mut s, &[Type("/greedy<RETURN>/n 1<RETURN>ab<RETURN>/stats<RETURN>"), Expect("of context]", LONG)]);
    }
}

/// In F32 a multiplication with a matrix takes seconds: RUN/STOP ends it between two rows.
#[test]
fn an_answer_is_stopped_in_a_long_instruction() {
    let Some(image) = vector("llama_f32") else { return };
    let Some(mut s) = loaded(Model::R3, &image) else { return };
    play(&mut s, &[Type("ab<RETURN>")]);
    press_after(&mut s, 77, STOP);
    play(&mut s, &[Expect("[stopped]", 10)]);
}
