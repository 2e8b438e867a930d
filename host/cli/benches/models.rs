//! The base for later work: converting, loading and running the small models of the test data, per
//! weight format and numerics. `cargo bench -p ssnail-cli`, or `make bench-criterion` for all crates.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ssnail_convert::{Options, plan};
use ssnail_gguf::Gguf;
use ssnail_machine::{Accelerator, Numerics};
use std::path::PathBuf;

const FORMATS: [&str; 4] = ["F32", "F16", "Q8_0", "Q4_0"];
/// Steps measured at a time: the context is short enough for attention to matter little.
const STEPS: u32 = 64;

fn model(format: &str) -> Option<PathBuf> {
    let data = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = data.join(format!("models/stories260K-{format}.gguf"));
    if path.is_file() {
        return Some(path);
    }
    println!("skipped: no model at {}", path.display());
    None
}

fn image(gguf: &Gguf<'_>) -> Vec<u8> {
    let mut image = Vec::new();
    plan(gguf, &Options::default()).unwrap().write(&mut image, &mut |_, _| {}).unwrap();
    image
}

fn models(c: &mut Criterion) {
    for format in FORMATS {
        let Some(path) = model(format) else { continue };
        let gguf = Gguf::open(&path).unwrap();
        let bytes = image(&gguf);

        let mut group = c.benchmark_group("convert");
        group.throughput(Throughput::Bytes(gguf.total_bytes()));
        group.bench_function(BenchmarkId::from_parameter(format), |b| b.iter(|| image(&gguf)));
        group.finish();

        let mut group = c.benchmark_group("load");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let options = ssnail_machine::Options::default();
        group.bench_function(BenchmarkId::from_parameter(format), |b| {
            b.iter(|| Accelerator::load(&bytes, &options, |_| {}).unwrap());
        });
        group.finish();

        let mut group = c.benchmark_group("steps");
        group.throughput(Throughput::Elements(STEPS.into()));
        for (name, numerics) in [("float", Numerics::Float), ("hardware", Numerics::Hardware)] {
            let options = ssnail_machine::Options { numerics, ..options };
            let mut accelerator = Accelerator::load(&bytes, &options, |_| {}).unwrap();
            group.bench_function(BenchmarkId::new(format, name), |b| {
                b.iter(|| accelerator.generate(&[1], STEPS, &mut ()).unwrap());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, models);
criterion_main!(benches);
