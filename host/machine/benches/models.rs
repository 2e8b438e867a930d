//! Loading through the load port, and positions per second of whole models: generation, and prompts of 33 tokens.
//!
//! `cargo bench -p ssnail-machine --bench models`. The models are those of the shared test data (`SSNAIL_DATA`), and
//! any image named in `SSNAIL_BENCH_IMAGES` (separated by colons); `SSNAIL_BENCH_THREADS` sets the threads (default 1).

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssnail_convert::Options as Convert;
use ssnail_gguf::Gguf;
use ssnail_machine::{Accelerator, Numerics, Options};

fn images() -> Vec<(String, Vec<u8>)> {
    let mut images = Vec::new();
    for format in ["F32", "F16", "Q8_0", "Q4_0"] {
        let name = format!("stories260K-{format}");
        let Some(path) = common::data(&format!("models/{name}.gguf")) else { continue };
        let gguf = Gguf::open(path).unwrap();
        let plan = ssnail_convert::plan(&gguf, &Convert { ctx: Some(256), ..Convert::default() }).unwrap();
        let mut image = Vec::new();
        plan.write(&mut image, &mut |_, _| {}).unwrap();
        images.push((name, image));
    }
    if let Some(more) = std::env::var_os("SSNAIL_BENCH_IMAGES") {
        for path in std::env::split_paths(&more) {
            images.push((path.file_stem().unwrap_or_default().to_string_lossy().into(), fs::read(&path).unwrap()));
        }
    }
    images
}

fn models(c: &mut Criterion) {
    let threads = std::env::var("SSNAIL_BENCH_THREADS").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    for (name, image) in images() {
        let mut group = c.benchmark_group(&name);
        group.sample_size(10);
        group.throughput(Throughput::Bytes(image.len() as u64));
        group.bench_function("load", |b| {
            b.iter(|| Accelerator::load(black_box(&image), &Options::default(), |_| {}).unwrap());
        });
        for numerics in [Numerics::Hardware, Numerics::Float] {
            let options = Options { numerics, threads, max_instructions: u64::MAX, ..Options::default() };
            let mut accelerator = Accelerator::load(&image, &options, |_| {}).unwrap();
            let generated = accelerator.generate(&[1], 64, &mut ()).unwrap().generated.len() as u64;
            group.throughput(Throughput::Elements(generated));
            group.bench_function(format!("generate/{numerics:?}"), |b| {
                b.iter(|| accelerator.generate(&[1], 64, &mut ()).unwrap());
            });
            let prompt: Vec<u32> = (3..36).collect();
            group.throughput(Throughput::Elements(prompt.len() as u64));
            group.bench_function(format!("prompt/{numerics:?}"), |b| {
                b.iter(|| accelerator.generate(&prompt, 1, &mut ()).unwrap());
            });
        }
    }
}

criterion_group!(benches, models);
criterion_main!(benches);
