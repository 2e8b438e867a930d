//! Time of 10,000-character lines: each vocabulary's own tokenizer, and image tables made from a model.
//!
//! `cargo bench -p ssnail-text`; vocabularies are read from the test data.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssnail_shared::header::Header;
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::tokenizer::{Place, Rules, Tables};
use ssnail_text::{Options, check};

const LEN: usize = 10_000;

fn texts() -> [(&'static str, String); 3] {
    let prose = "Once upon a time a little girl named Lily found 12 shiny shells; \"Oh, they're lovely!\" she said. ";
    [
        ("prose", prose.repeat(LEN / prose.len() + 1)[..LEN].to_owned()),
        ("one letter", "a".repeat(LEN)),
        ("spaces", " ".repeat(LEN)),
    ]
}

fn own(c: &mut Criterion) {
    let files =
        ["vocab-stories260K-spm512.gguf", "ggml-vocab-gpt-2.gguf", "vocab-smollm2.gguf", "ggml-vocab-bert-bge.gguf"];
    for file in files {
        let Some(tokenizer) = common::tokenizer(&format!("vocab/{file}")) else { return };
        let mut group = c.benchmark_group(file);
        group.throughput(Throughput::Bytes(LEN as u64)).sample_size(10);
        for (name, text) in texts() {
            group.bench_function(name, |b| b.iter(|| tokenizer.encode(&text, Options::default())));
        }
        group.finish();
    }
}

fn image(c: &mut Criterion) {
    for file in ["llama_q4_0", "gpt2_q4_0", "bert_q4_0"] {
        let Some(bytes) = common::data(&format!("vectors/images/{file}.ssnail")) else { return };
        let (header, payload) = bytes.split_at(HEADER_LEN as usize);
        let header = Header::parse(header.try_into().unwrap()).unwrap();
        let memory = SliceMemory::new(PAYLOAD, payload);
        let mut tables = Tables::open(&memory, &header).unwrap();
        let mut group = c.benchmark_group(format!("image {file}"));
        group.throughput(Throughput::Bytes(LEN as u64)).sample_size(10);
        for (name, text) in texts() {
            group.bench_function(name, |b| {
                b.iter(|| check::image_ids(&mut tables, &text, Place::First, Rules::REAL).unwrap());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, own, image);
criterion_main!(benches);
