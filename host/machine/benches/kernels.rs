//! Bytes of weights per second through each kernel, and through a plain read of memory as the bound.
//!
//! `cargo bench -p ssnail-machine --bench kernels`; `SSNAIL_BENCH_MB` sets the size of the matrix (default 64).

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ssnail_machine::kernel::{self, Format, Level, Numerics, Room, Rows};
use ssnail_machine::num::quantise::Activations;

/// Random finite weights: every 16-bit piece is a half (or the top of a single) near one.
fn weights(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u16
    };
    (0..length / 2).flat_map(|_| (next() & 0x83ff | 0x3c00).to_le_bytes()).collect()
}

fn kernels(c: &mut Criterion) {
    let megabytes: usize = std::env::var("SSNAIL_BENCH_MB").ok().and_then(|v| v.parse().ok()).unwrap_or(64);
    let weights = weights(megabytes << 20);
    let columns = 1024;
    let x: Vec<f32> = (0..columns).map(|i| ((i * 37 % 101) as f32 - 50.0) / 77.0).collect();
    let mut group = c.benchmark_group("gemv");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(weights.len() as u64));
    group.bench_function("read", |b| {
        b.iter(|| {
            let mut lanes = [0u64; 32];
            for chunk in weights.chunks_exact(256) {
                for (lane, bytes) in lanes.iter_mut().zip(chunk.as_chunks().0) {
                    *lane ^= u64::from_ne_bytes(*bytes);
                }
            }
            black_box(lanes)
        });
    });
    for format in [Format::Q8_0, Format::Q4_0, Format::F32, Format::F16, Format::BF16] {
        for numerics in [Numerics::Hardware, Numerics::Float] {
            for level in Level::available() {
                let row_bytes = format.ggml().row_bytes(columns as u64).unwrap() as usize;
                let rows = weights.len() / row_bytes;
                let mut input = Activations { x: x.clone(), ..Activations::default() };
                kernel::prepare(Level::best(), format, numerics, &mut input);
                let job = Rows { format, numerics, input: &input, weights: &weights[..rows * row_bytes], row_bytes };
                let (mut out, mut room) = (vec![0.0; rows], Room::default());
                let name = format!("{}/{numerics:?}/{level:?}", format.ggml().name());
                group.throughput(Throughput::Bytes((rows * row_bytes) as u64));
                group.bench_function(BenchmarkId::from_parameter(name), |b| {
                    b.iter(|| kernel::rows(level, black_box(&job), &mut room, &mut out));
                });
            }
        }
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
