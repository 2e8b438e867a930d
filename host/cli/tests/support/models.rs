//! What is done with a synthetic model: convert it and be refused, run it, ask for its ids.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::panic)]

use crate::support::Test;
use crate::tiny::Tiny;
use serde_json::Value;
use std::fs;

/// Converts a model and expects the refusal to say this; nothing is written.
#[track_caller]
pub fn refused(model: &Tiny, options: &[&str], parts: &[&str]) {
    let mut test = Test::new().file("m.gguf", model.file()).args(["convert", "m.gguf", "-o", "m.ssnail"]);
    test = test.args(options.iter().copied()).status(1).stdout("");
    for part in parts {
        test = test.stderr_contains(*part);
    }
    assert_eq!(test.run().files(), ["m.gguf"]);
}

/// Converts and gives what was said.
#[track_caller]
pub fn said(model: &Tiny, options: &[&str]) -> String {
    let test = Test::new().file("m.gguf", model.file()).args(["convert", "m.gguf", "-o", "m.ssnail"]);
    test.args(options.iter().copied()).stdout("").run().stderr()
}

/// Logits of every position, in rows of `rows`.
#[track_caller]
pub fn logits(model: &Tiny, tokens: &str, rows: usize) -> Vec<Vec<f32>> {
    let ran = Test::new()
        .image("m", &model.file(), &["--kv", "f32"])
        .args(["run", "m.ssnail", "--tokens", tokens, "-n", "1", "--logits", "out.f32"])
        .run();
    let bytes = fs::read(ran.folder().join("out.f32")).unwrap();
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    values.chunks(rows).map(<[f32]>::to_vec).collect()
}

#[track_caller]
pub fn run_json(model: &Tiny, options: &[&str]) -> Value {
    Test::new()
        .image("m", &model.file(), &[])
        .args(["run", "m.ssnail", "--json"])
        .args(options.iter().copied())
        .run()
        .json()
}

#[track_caller]
pub fn ids(file: Vec<u8>, text: &str, options: &[&str]) -> Vec<u64> {
    let ran = Test::new()
        .file("m.gguf", file)
        .file("text", text)
        .args(["tokenize", "m.gguf", "--file", "text", "--json"])
        .args(options.iter().copied())
        .run();
    ran.json().as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect()
}

/// The address of a part of an image, by `info`.
pub fn address(test: &Test, part: &str) -> usize {
    let output = test.command().args(["info", "m.ssnail", "--json"]).output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    let parts = info["memory_map"].as_array().unwrap();
    let found = parts.iter().find(|known| known["name"] == part).unwrap_or_else(|| panic!("no {part}: {info:#}"));
    found["address"].as_u64().unwrap() as usize
}

/// Where an address of the payload stands in the file.
pub fn offset(address: usize) -> usize {
    address - 0x0800_5000 + 256
}
