//! Megabytes of single-precision weights encoded and decoded per second, one core.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssnail_quant::{GgmlType, decode, encode, is_decodable};

fn codecs(c: &mut Criterion) {
    let n = 1 << 18;
    let mut state = 1u32;
    let x: Vec<f32> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect();
    let mut group = c.benchmark_group("encode");
    group.throughput(Throughput::Bytes(4 * n as u64));
    for kind in [GgmlType::F16, GgmlType::BF16, GgmlType::Q8_0, GgmlType::Q4_0] {
        let mut out = vec![0; kind.row_bytes(n as u64).unwrap() as usize];
        group.bench_function(kind.name(), |b| b.iter(|| encode(kind, &x, &mut out).unwrap()));
    }
    group.finish();
    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Bytes(4 * n as u64));
    let mut y = vec![0f32; n];
    for &kind in GgmlType::ALL.iter().filter(|k| is_decodable(**k)) {
        let bytes = vec![0x35; kind.row_bytes(n as u64).unwrap() as usize];
        group.bench_function(kind.name(), |b| b.iter(|| decode(kind, &bytes, &mut y).unwrap()));
    }
    group.finish();
}

criterion_group!(benches, codecs);
criterion_main!(benches);
