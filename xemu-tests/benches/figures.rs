//! Figures of the native program in 45GS02 cycles at 40.5 MHz: `cargo bench -p ssnail-xemu-tests`; with `-- without`
//! only those without the core, with `-- program` only the others.
#![allow(clippy::unwrap_used, missing_docs)]

use ssnail_gguf::Gguf;
use ssnail_m65::expansion::Defect;
use ssnail_m65::hdos::{Hdos, Options};
use ssnail_m65::io::card::Card;
use ssnail_m65::{Machine, Model, Scenario, Stop};
use ssnail_xemu_tests::bench::{HERTZ, busy, generated, milliseconds, press, rows, until};
use ssnail_xemu_tests::card::{File, card};
use ssnail_xemu_tests::compute::{Part, at_position, profile};
use ssnail_xemu_tests::scenario::{Setup, Step, play};
use ssnail_xemu_tests::{model, prg};

const LONG: u64 = 3000;
const RETURN: u8 = 13;
/// Rows of the conversation, and of the line being typed.
const PANE: std::ops::Range<usize> = 2..46;
/// Row of the status line.
const STATUS: usize = 46;
const INPUT: std::ops::Range<usize> = 47..50;
const SENTENCE: &str = "Once upon a time there was a little girl who lived near a big forest with her mother, two brothers \
     and a cat named Tom; every day they went out to play, and 12 of the 345 birds sang to them, didn't they";

fn main() {
    let Some(prg) = prg() else { return };
    sizes(&prg);
    let only = |word: &str| std::env::args().any(|a| a == word);
    if !only("program") {
        without();
    }
    if only("without") {
        return;
    }
    let (Some(small), Some(large)) =
        (model::image("stories260K-Q8_0", "keep"), model::tiny_with_vocabulary("vocab-smollm2", "q8_0"))
    else {
        return;
    };
    loading(&large);
    listing(&small);
    for (name, image, tokenizing, sampling) in
        [("SPM, 512 tokens", &small, 250.0, 6.0), ("BPE, 49,152 tokens", &large, 1000.0, 400.0)]
    {
        let mut s = loaded(image);
        watch_stacks(&mut s);
        let text: String = SENTENCE.chars().take(200).collect();
        play(&mut s, &[Step::Type("/greedy<RETURN>/n 20<RETURN>"), Step::Expect("at most 20", LONG)]);
        s.type_text(&text).unwrap();
        s.frames(600);
        let job = until_job(&mut s);
        print("200 characters to tokens, with their echo", name, job, tokenizing);
        play(&mut s, &[Step::Type("/stats<RETURN>"), Step::Expect("of context]", LONG), Step::Type("/reset<RETURN>")]);
        play(&mut s, &[Step::Expect("fresh context", LONG)]);
        s.frames(20);
        s.type_text("The").unwrap();
        s.frames(100);
        until_job(&mut s);
        let (mean, most) = token_to_screen(&mut s);
        print("a token to the screen, mean", name, mean, 2.0);
        print("a token to the screen, slowest", name, most, 2.0);
        sample(&mut s, name, sampling);
        if name.starts_with("SPM") {
            echo(&mut s);
        }
        stacks(&s, name);
    }
}

/// Tokens without the core: of two models in two formats, near the start of the context and far into it, in SSNAIL.CPU
/// alone by opcode, and from one token to the next in the whole program.
fn without() {
    let Some(file) = ssnail_xemu_tests::part() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/storyteller-small.gguf");
    let small = Gguf::open(std::path::Path::new(path)).unwrap();
    let small = |wtype| {
        Some(model::convert(
            &small,
            &ssnail_convert::Options { wtype: model::policy(wtype), ..ssnail_convert::Options::default() },
        ))
    };
    for (name, image, least) in [
        ("stories260K, Q8_0", model::image("stories260K-Q8_0", "keep"), [0.7, 0.5]),
        ("stories260K, Q4_0", model::image("stories260K-Q4_0", "keep"), [0.7, 0.5]),
        ("storyteller-small, Q8_0", small("q8_0"), [1.0, 0.8]),
        ("storyteller-small, Q4_0", small("q4_0"), [1.0, 0.8]),
    ] {
        let Some(image) = image else { continue };
        for (position, least) in [0, 200].into_iter().zip(least) {
            let (before, code, _) = at_position(&image, position);
            let cycles = Part::new(&file, &before, code).token();
            let rate = HERTZ as f64 / cycles as f64;
            let verdict = if rate >= least { "" } else { "  MISSED" };
            println!(
                "without the core, {name}, position {position}: {cycles} cycles a token, {rate:.2} tokens/s of {least} \
                 at least{verdict}"
            );
            let list = profile(&file, &before, code);
            let parts: Vec<String> = list.iter().take(7).map(|(op, _, cycles)| format!("{op:?} {cycles}")).collect();
            println!("  {}", parts.join(", "));
        }
        told(&file, &image, "/greedy<RETURN>", if name.ends_with("Q8_0") { 200 } else { 10 }, least);
        told(&file, &image, "", 10, least);
    }
}

/// Cycles from token to token in the program on a machine without a core, by the count in its status line: at the start,
/// and at the end where that is far away.
fn told(part: &[u8], image: &[u8], keys: &str, count: u32, least: [f64; 2]) {
    let files = [File::new("/SSNAIL/SSNAIL.CPU", part), File::new("/SSNAIL/MODEL.SSN", image)];
    let mut setup = Setup::with(Model::R3, &files);
    setup.defect = Defect::Absent;
    let mut s = setup.start().unwrap();
    play(&mut s, &[Step::Expect("1 model", LONG), Step::Expect("s a token", LONG)]);
    if keys.is_empty() {
        let list = s.screen().text();
        println!("  in the list: {}", list.lines().find_map(|l| l.split("about ").nth(1)).unwrap_or("nothing").trim());
    }
    play(&mut s, &[Step::Type("<RETURN>"), Step::Expect("/help lists", LONG)]);
    play(&mut s, &[Step::Type(keys), Step::Type(&format!("/n {count}<RETURN>"))]);
    play(&mut s, &[Step::Expect(&format!("most {count}"), LONG)]);
    s.type_text("One day<RETURN>").unwrap();
    let mut times = vec![(1, s.machine.board.cycles + 30 * HERTZ)];
    // Until nothing comes any more.
    while times.last().is_some_and(|(position, last)| *position < count && s.machine.board.cycles < last + 5 * HERTZ) {
        s.frame();
        let line = s.screen().row(STATUS);
        let position =
            line.split("| context ").nth(1).and_then(|rest| rest.split('/').next()?.parse().ok()).unwrap_or(0);
        if times.last().is_some_and(|(last, _)| position > *last) {
            times.push((position, s.machine.board.cycles));
        }
    }
    let how = if keys.is_empty() { "sampled" } else { "greedy" };
    for (at, least) in [(3, least[0]), (times.len().saturating_sub(6), least[1])] {
        let Some([(from, start), .., (to, end)]) = times.get(at..at + 6) else { continue };
        let cycles = (end - start) / u64::from(to - from);
        let rate = HERTZ as f64 / cycles as f64;
        let verdict = if rate >= least { "" } else { "  MISSED" };
        println!(
            "  on the screen, {how}, positions {from} to {to}: {cycles} cycles a token, {rate:.2} tokens/s{verdict}"
        );
        if count < 100 {
            break;
        }
    }
}

fn print(what: &str, of: &str, cycles: u64, limit: f64) {
    let ms = milliseconds(cycles);
    let verdict = if ms <= limit { "" } else { "  MISSED" };
    println!("{what} ({of}): {cycles} cycles, {ms:.2} ms of {limit} allowed{verdict}");
}

fn sizes(prg: &[u8]) {
    println!("SSNAIL.PRG: {} bytes as a file", prg.len());
    if let Ok(map) = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../build/SSNAIL.map")) {
        println!("{}", map.lines().next().unwrap_or_default());
        let bytes = |part: &str| -> u32 {
            let lines = map.lines().filter(|l| l.contains(part));
            lines.filter_map(|l| l.split_whitespace().nth(1)?.parse::<u32>().ok()).sum()
        };
        println!("overlays {} bytes, high {} bytes", bytes("[Overlay"), bytes("[High"));
    }
}

fn loaded(image: &[u8]) -> Scenario {
    let mut s = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", image)]).start().unwrap();
    play(&mut s, &[Step::Expect("1 model", 300), Step::Type("<RETURN>"), Step::Expect("/help lists", LONG)]);
    s
}

/// From RETURN to the start of the job.
fn until_job(s: &mut Scenario) -> u64 {
    press(s, RETURN);
    until(s, 20 * HERTZ, |s| busy(s))
}

/// Mean and slowest time from a token's publication to its text on the screen.
fn token_to_screen(s: &mut Scenario) -> (u64, u64) {
    let (mut sum, mut most, mut count, mut seen) = (0, 0, 0, 0);
    loop {
        until(s, 10 * HERTZ, |s| generated(s) > seen || !busy(s));
        if !busy(s) {
            break;
        }
        seen = generated(s);
        let before = rows(s, PANE);
        let took = until(s, 10 * HERTZ, |s| rows(s, PANE) != before || generated(s) > seen);
        if generated(s) == seen {
            sum += took;
            count += 1;
            most = most.max(took);
        }
    }
    play(s, &[Step::Expect("tokens/s", LONG)]);
    s.frames(20);
    (sum.checked_div(count).unwrap_or(0), most)
}

/// Time from the end of one job to the start of the next: choosing a token and showing it.
fn sample(s: &mut Scenario, name: &str, limit: f64) {
    play(
        s,
        &[
            Step::Type("/temp 0.8<RETURN>/topk 40<RETURN>/penalty 1.15<RETURN>/seed 1<RETURN>/n 12<RETURN>"),
            Step::Expect("at most 12", LONG),
        ],
    );
    s.type_text("The").unwrap();
    s.frames(100);
    until_job(s);
    let (mut sum, mut count) = (0, 0);
    for _ in 0..10 {
        until(s, 10 * HERTZ, |s| !busy(s));
        sum += until(s, 100 * HERTZ, |s| busy(s));
        count += 1;
    }
    print("a token chosen (top-k 40, penalty) and shown", name, sum / count, limit);
    play(s, &[Step::Expect("s", LONG)]);
    s.frames(200);
}

/// From a keypress to its echo while an answer comes.
fn echo(s: &mut Scenario) {
    play(s, &[Step::Type("/greedy<RETURN>/n 100<RETURN>/reset<RETURN>"), Step::Expect("fresh context", LONG)]);
    s.type_text("Once upon a time").unwrap();
    s.frames(200);
    until_job(s);
    let mut most = 0;
    for key in b"hello" {
        s.machine.run_until(s.machine.board.cycles + HERTZ / 60);
        if !busy(s) {
            break;
        }
        let before = rows(s, INPUT);
        press(s, *key);
        most = most.max(until(s, HERTZ, |s| rows(s, INPUT) != before));
    }
    print("a keypress echoed while an answer comes, slowest", "SPM", most, 20.0);
    s.frames(300);
}

const PATTERN: u8 = 0xB7;
/// The stack, but for its last pages, which the sampler borrows.
const HARDWARE: std::ops::Range<usize> = 0x1900..0x1DF8;
const SOFT_TOP: usize = 0x5_FFF0;

/// End of the program's data.
fn data_end() -> usize {
    let map = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../build/SSNAIL.map")).unwrap_or_default();
    map.lines()
        .filter_map(|l| {
            let (address, rest) = l.strip_prefix('$')?.split_once(' ')?;
            let address = usize::from_str_radix(address, 16).ok()?;
            let size: usize = rest.split_whitespace().next()?.parse().ok()?;
            (address >= 0x4_0000).then_some(address + size)
        })
        .max()
        .unwrap_or(SOFT_TOP)
}

/// Marks the free parts of both stacks.
fn watch_stacks(s: &mut Scenario) {
    let sp = usize::from(s.machine.cpu.sp) - 64;
    let ram = s.machine.board.chip_ram_mut();
    ram[HARDWARE.start..sp].fill(PATTERN);
    let end = data_end();
    // The soft pointer is x2, in the base page behind x0 and x1.
    let soft = usize::from(ram[0x1E08]) | usize::from(ram[0x1E09]) << 8 | usize::from(ram[0x1E0A]) << 16;
    ram[end..soft - 64].fill(PATTERN);
}

fn stacks(s: &Scenario, name: &str) {
    let ram = s.machine.board.chip_ram();
    let lowest = |range: std::ops::Range<usize>| range.clone().find(|&i| ram[i] != PATTERN).unwrap_or(range.end);
    let hard = lowest(HARDWARE);
    let end = data_end();
    let soft = lowest(end..SOFT_TOP);
    println!(
        "stacks ({name}): hardware {} of {} bytes used; soft {} bytes used, {} free above the data",
        HARDWARE.end - hard,
        HARDWARE.len(),
        SOFT_TOP - soft,
        soft - end
    );
}

/// Rate of loading a model, against a loop that reads the same file through HDOS and does nothing with it.
fn loading(image: &[u8]) {
    let mut s = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", image)]).start().unwrap();
    play(&mut s, &[Step::Expect("1 model", 300)]);
    press(&mut s, RETURN);
    let seen = |s: &mut Scenario, text: &str| {
        let start = s.machine.board.cycles;
        let outcome = s.until(text, LONG);
        assert_eq!(outcome, ssnail_m65::Outcome::Found, "{text}:\n{}", ssnail_xemu_tests::scenario::shown(s));
        s.machine.board.cycles - start
    };
    seen(&mut s, "KB/s");
    let first = s.machine.board.storage.card.as_ref().unwrap().reads;
    let start = s.machine.board.cycles;
    let reads = |s: &Scenario| s.machine.board.storage.card.as_ref().unwrap().reads;
    // Most of the file, but not its end, behind which comes the proof.
    let enough = first + image.len() as u64 / 512 * 9 / 10;
    while reads(&s) < enough {
        s.frame();
    }
    let (cycles, read) = (s.machine.board.cycles - start, reads(&s) - first);
    let (bare, all) = bare_loop(image);
    // Sectors a second: both read what the DOS reads for the file.
    let rate = |reads: u64, cycles: u64| reads as f64 * HERTZ as f64 / cycles as f64;
    let percent = 100.0 * rate(read, cycles) / rate(all, bare);
    println!(
        "loading {} bytes: {:.0} sectors/s, the DOS alone {:.0} ({:.0} KB/s), {percent:.1} % (at least 90){}",
        image.len(),
        rate(read, cycles),
        rate(all, bare),
        image.len() as f64 * HERTZ as f64 / bare as f64 / 1000.0,
        if percent < 90.0 { "  MISSED" } else { "" }
    );
}

/// Time to read a card with 120 models, with the core and without it, where the script of each is counted as well.
fn listing(image: &[u8]) {
    let names: Vec<String> = (1..=120).map(|i| format!("/SSNAIL/M{i:03}.SSN")).collect();
    let part = ssnail_xemu_tests::part();
    for defect in [Defect::None, Defect::Absent] {
        let mut files: Vec<File<'_>> = names.iter().map(|name| File::new(name, image)).collect();
        files.extend(part.as_ref().map(|part| File::new("/SSNAIL/SSNAIL.CPU", part)));
        let mut setup = Setup::with(Model::R3, &files);
        setup.defect = defect;
        let mut s = setup.start().unwrap();
        play(&mut s, &[Step::Expect("Looking for models", LONG)]);
        let start = s.machine.board.cycles;
        play(&mut s, &[Step::Expect("120 models - page 1", LONG)]);
        let seconds = (s.machine.board.cycles - start) as f64 / HERTZ as f64;
        println!("listing 120 models, {}: {seconds:.1} s", if defect == Defect::None { "core" } else { "no core" });
    }
}

/// Cycles of reading the file by HDOS alone, and sectors read.
fn bare_loop(image: &[u8]) -> (u64, u64) {
    let source = "
        LDA #$22
        JSR trap
        LDY #$1E
        LDA #$2E
        JSR trap
        LDA #$34
        JSR trap
        LDA #$18
        JSR trap
loop:   LDA #$1A
        JSR trap
        BCC done
        STX $1F00
        TYA
        ORA $1F00
        BNE loop
done:   RTS
trap:   STA $D640
        CLV
        RTS
";
    let code = rv45::asm::assemble(source, 0x2001).unwrap();
    let mut machine = Machine::new(Model::R3);
    machine.board.chip_ram_mut()[0x2001..0x2001 + code.bytes.len()].copy_from_slice(&code.bytes);
    machine.board.chip_ram_mut()[0x1E00..0x1E0A].copy_from_slice(b"MODEL.SSN\0");
    machine.board.storage.card = Some(Card::new(card(&[File::new("/MODEL.SSN", image)])));
    machine.set_hypervisor(Box::new(Hdos::new(Options::default())));
    let p = machine.cpu.p();
    machine.cpu.set_p(p | 0x04);
    machine.sys(0x2001);
    assert_eq!(machine.run_until(60 * HERTZ), Some(Stop::Returned));
    let reads = machine.board.storage.card.as_ref().unwrap().reads;
    (machine.board.cycles, reads)
}
