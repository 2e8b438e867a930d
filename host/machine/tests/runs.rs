//! Whole runs of the vector images: logits, tokens, memory, statistics, traces.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use serde_json::Value;
use ssnail_machine::{Accelerator, Executed, Numerics, Options, Watch, trace};
use ssnail_shared::map::MEMORY_BASE;

#[derive(Default)]
struct Record {
    logits: Vec<f32>,
    lines: Option<String>,
    tokens: Vec<u32>,
}

impl Watch for Record {
    fn token(&mut self, token: u32) -> bool {
        self.tokens.push(token);
        true
    }
    fn logits(&mut self, _pos: u32, logits: &[f32]) {
        self.logits.extend_from_slice(logits);
    }
    fn wants_logits(&self) -> bool {
        true
    }
    fn instruction(&mut self, executed: &Executed<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.push_str(&trace::line(executed));
            lines.push('\n');
        }
    }
    fn wants_instructions(&self) -> bool {
        self.lines.is_some()
    }
}

fn execute(run: &Value, record: &mut Record, threads: usize) -> (Accelerator, Vec<f32>) {
    let numerics = if run["mode"] == "hw" { Numerics::Hardware } else { Numerics::Float };
    let file = bytes(&format!("vectors/images/{}.ssnail", text(&run["image"]))).unwrap();
    let mut acc = Accelerator::load(&file, &Options { numerics, threads, ..Options::default() }, |_| {}).unwrap();
    let prompt = words(&run["prompt_ids"]);
    if run["kind"] == "embedding" {
        let out = acc.embed(&prompt, record).unwrap();
        return (acc, out);
    }
    let outcome = acc.generate(&prompt, number(&run["n_generate"]), record).unwrap();
    assert_eq!(outcome.reason as u32, number(&run["reason"]));
    assert_eq!(outcome.pos, number(&run["runtime"]["pos"]));
    assert_eq!(outcome.generated, record.tokens);
    let logits = std::mem::take(&mut record.logits);
    (acc, logits)
}

fn check(run: &Value, threads: usize) {
    let name = format!("{} {} threads {threads}", text(&run["image"]), text(&run["mode"]));
    let mut record = Record::default();
    let (acc, out) = execute(run, &mut record, threads);
    let expected = floats(&format!("vectors/{}", text(&run["file"]))).unwrap();
    assert_eq!(out.len(), expected.len(), "{name}");
    let stats = acc.stats();
    assert_eq!(stats.instructions, run["stats"]["instructions"].as_u64().unwrap(), "{name}");
    assert_eq!(stats.bytes_read, run["stats"]["bytes_read"].as_u64().unwrap(), "{name}");
    assert_eq!(stats.bytes_written, run["stats"]["bytes_written"].as_u64().unwrap(), "{name}");
    if run["mode"] == "hw" {
        let differing = bits(&out).iter().zip(bits(&expected)).filter(|(a, b)| **a != *b).count();
        assert_eq!(differing, 0, "{name}: values that differ, of {}", out.len());
        let needed = u64::from(acc.header().memory_needed);
        let crc = crc32fast::hash(acc.machine().memory().slice(MEMORY_BASE, needed).unwrap());
        assert_eq!(crc, number(&run["mem_crc32_after"]), "{name}: memory");
    } else {
        let largest = expected.iter().fold(0f32, |m, v| m.max(v.abs()));
        let error = out.iter().zip(&expected).fold(0f32, |m, (a, b)| m.max((a - b).abs())) / largest;
        let bound = if text(&run["image"]).ends_with("_kvf32") { 1e-5 } else { 1e-3 };
        assert!(error <= bound, "{name}: error {error:e} of the largest value");
    }
    if let Some(generated) = run.get("generated") {
        assert_eq!(record.tokens, words(generated), "{name}");
    }
}

#[test]
fn every_run_of_the_vectors() {
    let Some(manifest) = json("vectors/manifest.json") else { return };
    for run in manifest["runs"].as_array().unwrap() {
        for threads in [1, 3] {
            check(run, threads);
        }
    }
}

#[test]
fn every_trace_of_the_vectors() {
    let Some(manifest) = json("vectors/manifest.json") else { return };
    for t in manifest["traces"].as_array().unwrap() {
        let runs = manifest["runs"].as_array().unwrap();
        let run = runs.iter().find(|r| r["image"] == t["image"] && r["mode"] == t["mode"]).unwrap();
        let mut record = Record { lines: Some(String::new()), ..Record::default() };
        execute(run, &mut record, 1);
        let mut expected = Vec::new();
        lzma_rs::xz_decompress(&mut &bytes(&format!("vectors/{}", text(&t["file"]))).unwrap()[..], &mut expected)
            .unwrap();
        let expected = String::from_utf8(expected).unwrap();
        let lines = record.lines.unwrap();
        for (i, (ours, theirs)) in lines.lines().zip(expected.lines()).enumerate() {
            assert_eq!(ours, theirs, "{} line {}", text(&t["image"]), i + 1);
        }
        assert_eq!(lines.len(), expected.len(), "{}", text(&t["image"]));
    }
}
