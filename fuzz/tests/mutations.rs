//! Every target over its seeds, its corpus, what once broke it, and some thousand mutations.
#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_fuzz::mutate::{Random, mutate};
use ssnail_fuzz::target;
use std::panic::catch_unwind;
use std::path::Path;

/// Inputs from a folder of this crate, by name; none where there is no folder.
fn folder(kind: &str, name: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(name);
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    files.sort();
    files.into_iter().map(|p| (p.display().to_string(), std::fs::read(&p).unwrap())).collect()
}

/// The damaged GGUF files that come with the test data.
fn bad_gguf() -> Vec<(String, Vec<u8>)> {
    let data = std::env::var("SSNAIL_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data").into());
    let Ok(entries) = std::fs::read_dir(Path::new(&data).join("badgguf")) else {
        println!("skipped: seeds from {data}/badgguf: no such folder");
        return Vec::new();
    };
    let mut files: Vec<_> =
        entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "gguf")).collect();
    files.sort();
    files.into_iter().map(|p| (p.display().to_string(), std::fs::read(&p).unwrap())).collect()
}

fn try_one(name: &str, what: &str, input: &[u8]) {
    let run = target(name).unwrap().run;
    if catch_unwind(|| run(input)).is_err() {
        let path = std::env::temp_dir().join(format!("ssnail-fuzz-{name}"));
        std::fs::write(&path, input).unwrap();
        panic!("{name}: {what} breaks it; the input is in {}", path.display());
    }
}

fn mutations(name: &str, count: usize) {
    let made = (target(name).unwrap().seeds)();
    let mut inputs: Vec<_> = made.into_iter().enumerate().map(|(i, s)| (format!("seed {i}"), s)).collect();
    inputs.extend(folder("corpus", name));
    inputs.extend(folder("crashes", name));
    if name == "gguf" {
        inputs.extend(bad_gguf());
    }
    for (what, input) in &inputs {
        try_one(name, what, input);
    }
    for n in 0..count {
        let mut random = Random::new(n as u64);
        let (what, input) = &inputs[random.below(inputs.len())];
        let other = &inputs[random.below(inputs.len())].1;
        let mut input = input.clone();
        mutate(&mut input, other, &mut random);
        try_one(name, &format!("mutation {n} of {what}"), &input);
    }
    println!("{name}: {} inputs, {count} mutations", inputs.len());
}

#[test]
fn gguf() {
    mutations("gguf", 3000);
}

#[test]
fn image() {
    mutations("image", 1500);
}

#[test]
fn script() {
    mutations("script", 6000);
}

#[test]
fn tokenizer() {
    mutations("tokenizer", 4000);
}

#[test]
fn d81() {
    mutations("d81", 1000);
}

#[test]
fn card() {
    mutations("card", 1000);
}

#[test]
fn hdos() {
    mutations("hdos", 1000);
}

#[test]
fn elf() {
    mutations("elf", 2000);
}

#[test]
fn args() {
    mutations("args", 3000);
}
