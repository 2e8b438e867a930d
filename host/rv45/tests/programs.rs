//! Whole programs: the interpreter, qemu and the emulated MEGA65 agree on every byte of output.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use rv45::link::{LinkError, Options, link};
use rv45::lower::Peepholes;

fn agree(name: &str, limit: u64) {
    let Some(file) = common::program(name) else { return };
    let expected = common::interpret(&file);
    if let Some(qemu) = common::qemu(&common::programs().unwrap().join(name)) {
        assert_eq!(qemu, expected, "{name}: qemu and the interpreter differ");
    }
    let with = |peepholes| Options { peepholes, ..Options::default() };
    let settings = [
        ("plain", Options { outline: false, ..with(Peepholes::NONE) }),
        ("tracking", with(Peepholes { tracking: true, ..Peepholes::NONE })),
        ("liveness", with(Peepholes { constants: false, ..Peepholes::ALL })),
        ("all", with(Peepholes::ALL)),
        ("smallest", Options { smallest: true, ..Options::default() }),
        ("hot", Options { hot: vec![String::new()], ..Options::default() }),
    ];
    for (label, options) in settings {
        let program = match link(&file, &options) {
            Ok(program) => program,
            // Float formatting alone is too much without the peepholes; with them it must fit.
            Err(e @ (LinkError::TooLarge { .. } | LinkError::Packed { .. }))
                if !matches!(label, "all" | "smallest") =>
            {
                println!("{name} {label}: {e}");
                continue;
            }
            Err(e) => panic!("{name} {label}: {e}"),
        };
        let (outcome, cycles) = common::emulate(&program, limit);
        println!("{name} {label}: {} bytes, {cycles} cycles", program.map.image);
        assert_eq!(outcome, expected, "{name} {label}");
    }
}

#[test]
fn hello() {
    agree("hello", 10_000_000);
}

#[test]
fn selftest() {
    agree("selftest", 400_000_000);
}

#[test]
fn bench() {
    agree("bench", 100_000_000);
    let Some(file) = common::program("bench") else { return };
    let names =
        ["bench_search", "bench_dot_i8", "bench_dot_f32", "bench_fnv", "bench_crc", "bench_decimal", "bench_format"];
    let units = [10, 256, 64, 1024, 512, 10, 10];
    for decimal in [false, true] {
        let program = link(&file, &Options { decimal, ..Options::default() }).unwrap();
        let cycles = common::profile(&program, &names, 100_000_000);
        println!("{}", if decimal { "with hand-written digits:" } else { "as core makes digits:" });
        for ((name, cycles), unit) in names.iter().zip(&cycles).zip(units) {
            println!("{name}: {cycles} cycles, {} a unit", cycles / unit);
        }
    }
}

#[test]
fn a_message_that_the_panic_handler_does_not_look_at_is_left_out() {
    agree("fault", 10_000_000);
    let Some(file) = common::program("fault") else { return };
    let [silent, told] = [true, false]
        .map(|silent_panics| link(&file, &Options { silent_panics, ..Options::default() }).unwrap().map.image);
    println!("{silent} bytes without messages, {told} with them");
    assert!(silent < told);
}

#[test]
fn overlays() {
    agree("overlays", 50_000_000);
    let Some(file) = common::program("overlays") else { return };
    let program = link(&file, &Options { overlay_files: true, ..Options::default() }).unwrap();
    assert_eq!(program.overlays.iter().map(|o| (o.0, o.1)).collect::<Vec<_>>(), [(1, 0x1_2000), (2, 0x1_4000)]);
}

#[test]
fn a_compressed_file_expands_itself() {
    let Some(file) = common::program("selftest") else { return };
    for main_end in [0xD000, 0x4800] {
        let plain = link(&file, &Options { main_end, ..Options::default() }).unwrap();
        let packed = link(&file, &Options { compress: true, main_end, ..Options::default() }).unwrap();
        println!("{} bytes, compressed {}", plain.prg.len(), packed.prg.len());
        assert!(packed.prg.len() < plain.prg.len());
        assert_eq!(common::emulate(&packed, 400_000_000).0, common::interpret(&file));
    }
}

#[test]
fn a_program_larger_than_main_memory_goes_on_above() {
    let Some(file) = common::program("selftest") else { return };
    let options = Options { main_end: 0x6800, ..Options::default() };
    let program = link(&file, &options).unwrap();
    assert!(program.map.code.iter().any(|e| e.addr >= 0xE000), "nothing was moved");
    assert_eq!(common::emulate(&program, 400_000_000).0, common::interpret(&file));
    let tight = Options { main_end: 0x4800, ..Options::default() };
    let program = link(&file, &tight).unwrap();
    let numbers: std::collections::BTreeSet<String> =
        program.map.code.iter().filter(|e| e.addr >= 0xE000).map(|e| format!("{:?}", e.placement)).collect();
    assert!(numbers.len() > 1, "{numbers:?}");
    println!("{}", program.map);
    assert_eq!(common::emulate(&program, 400_000_000).0, common::interpret(&file));
    let small = Options { main_end: 0x3000, ..Options::default() };
    let error = link(&file, &small).unwrap_err().to_string();
    assert!(error.contains("largest functions are") && error.contains("float"), "{error}");
}

#[test]
fn a_stack_overflow_is_detected_where_it_is_checked() {
    let Some(file) = common::program("overflow") else { return };
    let program = link(&file, &Options { checks: true, ..Options::default() }).unwrap();
    let end = program.map.address("rv_overflow").unwrap();
    let mut machine = ssnail_m65::Machine::new(ssnail_m65::Model::R3);
    machine.load_prg(&program.prg).unwrap();
    machine.run_until(10_000_000);
    assert_eq!(machine.cpu.pc, end);
    let Some(file) = common::program("selftest") else { return };
    let program = link(&file, &Options { checks: true, ..Options::default() }).unwrap();
    assert_eq!(common::emulate(&program, 400_000_000).0, common::interpret(&file));
}

#[test]
fn mandelbrot() {
    agree("mandelbrot", 2_000_000_000);
}

/// Every integer type through `core::fmt`, at its edges: with and without the hand-written digits.
#[test]
fn numbers() {
    agree("numbers", 400_000_000);
    let Some(file) = common::program("numbers") else { return };
    let plain = link(&file, &Options { decimal: false, ..Options::default() }).unwrap();
    let program = link(&file, &Options::default()).unwrap();
    let (outcome, before) = common::emulate(&plain, 400_000_000);
    let (same, after) = common::emulate(&program, 400_000_000);
    assert_eq!(same, outcome);
    println!("{before} cycles as core makes digits, {after} now");
}

#[test]
fn formatting() {
    agree("format", 400_000_000);
}

/// What the program `tokens` prints, by the same tokenizer compiled for this machine.
fn native_tokens(image: &[u8], text: &[u8]) -> String {
    use ssnail_shared::tokenizer::{Place, Rules, Tables, WORDS_PER_BYTE, encode};
    let (header, payload) = image.split_at(ssnail_shared::map::HEADER_LEN as usize);
    let header = ssnail_shared::header::Header::parse(header.try_into().unwrap()).unwrap();
    let memory = ssnail_shared::mem::SliceMemory::new(ssnail_shared::map::PAYLOAD, payload.to_vec());
    let mut tables = Tables::open(&memory, &header).unwrap();
    let mut out = String::new();
    for line in text.split_inclusive(|&b| b == b'\n').map(|l| &l[..l.len() - 1]) {
        let mut scratch = vec![0u32; 400 * WORDS_PER_BYTE as usize];
        let mut hash = 0x811C_9DC5u32;
        let made = encode(&mut tables, line, Place::Later, Rules::REFERENCE, &mut scratch[..], |id| {
            hash = (hash ^ id).wrapping_mul(0x0100_0193);
            Ok(())
        })
        .unwrap();
        out.push_str(&format!("ids {:08x}\n", hash ^ made.tokens << 24));
    }
    out
}

#[test]
fn tokenizers_on_real_vocabularies() {
    let root = std::env::var("SSNAIL_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
    let Some(file) = common::program("tokens") else { return };
    let text = "Once upon a time, there was a tiny snail.\nHello World! 123 + 456 = ?\n\nIt's the end;  two  spaces\n\
                Größe, na\u{ef}ve caf\u{e9} \u{2014} UTF-8\nfn main() { println!(\"x\"); }\n";
    for image in ["llama_q4_0", "gpt2_q4_0", "bert_q4_0"] {
        let path = format!("{root}/vectors/images/{image}.ssnail");
        let Ok(bytes) = std::fs::read(&path) else {
            println!("skipped: {path} is not there");
            return;
        };
        let (header, payload) = bytes.split_at(ssnail_shared::map::HEADER_LEN as usize);
        let length = (text.len() as u32).to_le_bytes();
        let attic: [(u32, &[u8]); 4] = [
            (0x800_0000, header),
            (ssnail_shared::map::PAYLOAD, payload),
            (0x850_0000, &length),
            (0x850_0004, text.as_bytes()),
        ];
        let native = native_tokens(&bytes, text.as_bytes());
        assert_eq!(common::interpret_with(&file, &attic).output, native, "{image}, interpreted");
        for options in [Options::default(), Options { smallest: true, abort_on_panic: true, ..Options::default() }] {
            let program = link(&file, &options).unwrap();
            let (outcome, cycles) = common::emulate_with(&program, 4_000_000_000, &attic);
            println!("{image}: {} bytes, {cycles} cycles for {} bytes of text", program.map.image, text.len());
            assert_eq!(outcome.output, native, "{image}");
        }
    }
}
