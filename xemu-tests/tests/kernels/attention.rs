//! Attention over F16 caches.

use super::bench::{Bench, VECTOR};
use super::{ATTIC, OUT, X, float};
use ssnail_shared::exec::kernels::{Cache, Kernels, Portable};
use ssnail_shared::exec::num::f32_to_f16;
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::rng::Rng;

fn half(rng: &mut Rng, strange: bool) -> u16 {
    match rng.next_u32() % 12 {
        0 if strange => (rng.next_u32() & 0x8000) as u16,
        1 if strange => (rng.next_u32() & 0x83FF) as u16,
        2 if strange => (rng.next_u32() & 0x8003) as u16,
        3 if strange => (rng.next_u32() & 0xFBFF) as u16 & !0x0400,
        _ => f32_to_f16(float(rng, 6)),
    }
}

/// Random vectors of a cache, and F32 factors.
fn cache(seed: u32, rows: usize, stride: usize, factors: usize) -> (Vec<u8>, Vec<f32>) {
    let mut rng = Rng::new(seed);
    let strange = seed % 2 == 1;
    let mut bytes: Vec<u8> = (0..rows * stride / 2).flat_map(|_| half(&mut rng, strange).to_le_bytes()).collect();
    let mut x: Vec<f32> = (0..factors).map(|_| float(&mut rng, if strange { 20 } else { 3 })).collect();
    if strange {
        for v in &mut x {
            match rng.next_u32() % 10 {
                0 => *v = 0.0,
                1 => *v = -0.0,
                2 => *v = v.round(),
                _ => {}
            }
        }
        // Terms that cancel.
        for i in (4..bytes.len()).step_by(4) {
            if rng.next_u32() % 3 == 0 {
                bytes.copy_within(i - 4..i - 2, i - 2);
                bytes[i - 1] ^= 0x80;
            }
        }
    }
    (bytes, x)
}

fn compare(name: &str, seed: u32, got: &[f32], want: &[f32]) {
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got.to_bits(), want.to_bits(), "{name} {i}, seed {seed}: {got:e} {want:e}");
    }
}

fn scores(seed: u32, dim: usize, rows: usize) -> u64 {
    let stride = 4 * dim;
    let at = ATTIC + if seed % 5 == 4 { 0x10_0000 - 2 * stride as u32 } else { 0x1_0004 };
    let (bytes, query) = cache(seed, rows, stride, dim);
    let mut want = vec![0.0; rows];
    let keys = Cache { at, stride: stride as u32, halves: true };
    let memory = SliceMemory::new(at, bytes.clone());
    Kernels::scores(&mut Portable, &memory, keys, &query, 0.353_553_4, &mut want).unwrap();
    let mut bench = Bench::new(&VECTOR);
    bench.poke(at, &bytes);
    bench.poke_floats(X, &query);
    let (result, cycles) =
        bench.call(1, &[at, stride as u32, X, dim as u32, 0, 0.353_553_4f32.to_bits(), OUT, rows as u32]);
    assert_eq!(result, 0, "seed {seed}");
    let got = bench.floats(OUT, rows);
    compare("score", seed, &got, &want);
    cycles
}

fn mix(seed: u32, dim: usize, rows: usize) -> u64 {
    let stride = 4 * dim;
    let at = ATTIC + if seed % 5 == 4 { 0x10_0000 - 2 * stride as u32 } else { 0x1_0004 };
    let (bytes, mut weights) = cache(seed, rows, stride, rows);
    if seed % 4 == 3 {
        // Few vectors have a weight.
        let mut rng = Rng::new(seed);
        weights.iter_mut().filter(|_| rng.next_u32() % 8 > 0).for_each(|w| *w = 0.0);
    }
    let mut want = vec![0.0; dim];
    let memory = SliceMemory::new(at, bytes.clone());
    let values = Cache { at, stride: stride as u32, halves: true };
    Kernels::mix(&mut Portable, &memory, values, &weights, 0.011_718_75, &mut want).unwrap();
    let mut bench = Bench::new(&VECTOR);
    bench.poke(at, &bytes);
    bench.poke_floats(X, &weights);
    let (result, cycles) =
        bench.call(2, &[at, stride as u32, X, dim as u32, 0, 0.011_718_75f32.to_bits(), OUT, rows as u32]);
    assert_eq!(result, 0, "seed {seed}");
    let got = bench.floats(OUT, dim);
    compare("sum", seed, &got, &want);
    cycles
}

#[test]
fn attention() {
    let cycles = scores(2, 8, 200);
    println!("200 scores of 8 in {cycles} cycles, {} a product", cycles / 1600);
    let cycles = mix(2, 8, 200);
    println!("200 values of 8 in {cycles} cycles, {} a product", cycles / 1600);
    for seed in 0..24 {
        let dim = [8, 16, 2, 64, 48, 34][seed as usize % 6];
        let rows = [1, 2, 37, 70][seed as usize % 4];
        scores(seed, dim, rows);
        mix(seed, dim, rows);
    }
}

/// What is not finite is left to the portable body, also where it has no weight.
#[test]
fn values_that_are_not_finite() {
    for (value, weight) in [(0x7C00u16, 0.5), (0xFC00, 0.0), (0x7E01, 0.5), (0x7C01, -0.0)] {
        for row in [0, 17] {
            let mut bytes = vec![0; 18 * 16];
            bytes[16 * row + 6..][..2].copy_from_slice(&value.to_le_bytes());
            let mut weights = vec![0.25; 18];
            weights[row] = weight;
            let mut bench = Bench::new(&VECTOR);
            bench.poke(ATTIC, &bytes);
            bench.poke_floats(X, &weights);
            assert_eq!(bench.call(2, &[ATTIC, 16, X, 8, 0, 1.0f32.to_bits(), OUT, 18]).0, 1, "{value:04X} {weight}");
            assert_eq!(bench.call(1, &[ATTIC, 16, X, 8, 0, 1.0f32.to_bits(), OUT, 18]).0, 1, "{value:04X}");
        }
    }
}
