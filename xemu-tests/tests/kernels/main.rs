//! The hand-written kernels of the native program against their portable bodies, bit for bit.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod attention;
mod bench;
mod vectors;

use bench::{Bench, MATRIX};
use ssnail_shared::exec::kernels::{Kernels, Operand, Portable, Rows};
use ssnail_shared::exec::num::{f16_to_f32, f32_to_f16};
use ssnail_shared::isa::format;
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::rng::Rng;

const ATTIC: u32 = 0x0800_0000;
const X: u32 = 0x4_0000;
const SCALES: u32 = 0x4_8000;
const OUT: u32 = 0x5_0000;

/// A random F16 scale: mostly ordinary, now and then zero, subnormal or negative.
fn scale(rng: &mut Rng, strange: bool) -> u16 {
    match rng.next_u32() % 16 {
        0 if strange => 0,
        1 if strange => (rng.next_u32() & 0x83FF) as u16,
        2 if strange => 0x8000,
        3 if strange => 0x7BFF,
        _ => ((rng.next_u32() & 0x83FF) | (8 + rng.next_u32() % 8) << 10) as u16,
    }
}

fn quantised(number: u8, rows: u32, blocks: u32, seed: u64, strange: bool, at: u32) -> u64 {
    let mut rng = Rng::new(seed as u32);
    let mut bench = Bench::new(&MATRIX);
    let (size, kind) = if number == format::Q8_0 { (34, 0) } else { (18, 1) };
    let stride = size * blocks;
    let mut weights: Vec<u8> = (0..stride * rows).map(|_| rng.next_u32() as u8).collect();
    for block in weights.chunks_exact_mut(size as usize) {
        block[..2].copy_from_slice(&scale(&mut rng, strange).to_le_bytes());
        if strange && rng.next_u32() % 4 == 0 {
            let fill = [0x80, 0x7F, 0, 0xFF][rng.next_u32() as usize % 4];
            block[2..].fill(fill);
        }
    }
    let columns = 32 * blocks as usize;
    let mut q: Vec<i8> = (0..columns).map(|_| (rng.next_u32() % 255) as i8).map(|v| v.max(-127)).collect();
    let scale: Vec<f32> = (0..blocks).map(|_| f16_to_f32(scale(&mut rng, strange) & 0x7FFF)).collect();
    if strange {
        for block in q.chunks_exact_mut(32) {
            match rng.next_u32() % 4 {
                0 => block.fill(127),
                1 => block.fill(-127),
                2 => block.fill(0),
                _ => {}
            }
        }
    }
    let memory = SliceMemory::new(at, weights.clone());
    let mut want = vec![0.0; rows as usize];
    let operand = Operand { x: &[], q: &q, scale: &scale };
    Kernels::rows(&mut Portable, &memory, Rows { format: number, at, stride }, operand, &mut want).unwrap();
    bench.poke(at, &weights);
    bench.poke(X, &q.iter().map(|v| *v as u8).collect::<Vec<_>>());
    bench.poke_floats(SCALES, &scale);
    let (result, cycles) = bench.call(1, &[at, stride, X, SCALES, OUT, rows, blocks, kind]);
    assert_eq!(result, 0);
    let got = bench.floats(OUT, rows as usize);
    for (row, (got, want)) in got.iter().zip(&want).enumerate() {
        assert_eq!(
            got.to_bits(),
            want.to_bits(),
            "row {row} of {rows}, {blocks} blocks, seed {seed}: {got:e} {want:e}"
        );
    }
    cycles
}

#[test]
fn quantised_rows() {
    println!("{} bytes", Bench::new(&MATRIX).code);
    for number in [format::Q8_0, format::Q4_0] {
        let cycles = quantised(number, 64, 2, 1, false, ATTIC + 0x12345);
        println!("format {number}: 64 rows of 64 in {cycles} cycles, {} a product", cycles / 4096);
        for seed in 0..12 {
            quantised(number, 9, 1 + seed as u32 % 5, seed, false, ATTIC + 0x12345);
            quantised(number, 9, 1 + seed as u32 % 5, 100 + seed, true, ATTIC + 0x12345);
        }
        // Rows across a megabyte.
        for seed in 0..3 {
            quantised(number, 64, 3, seed, false, ATTIC + 0x10_0000 - 1000);
        }
    }
}

/// A float around 1, of either sign; `spread` exponents around it.
fn float(rng: &mut Rng, spread: u32) -> f32 {
    let e = 127 + rng.next_u32() % (2 * spread + 1) - spread;
    f32::from_bits((rng.next_u32() & 0x807F_FFFF) | e << 23)
}

fn exact(rows: u32, columns: u32, seed: u32, spread: u32, at: u32) -> (u32, u64) {
    let mut rng = Rng::new(seed);
    let mut bench = Bench::new(&MATRIX);
    let stride = 2 * columns;
    let weights: Vec<u8> = (0..rows * columns)
        .flat_map(|_| match rng.next_u32() % 20 {
            0 => 0u16.to_le_bytes(),
            1 => ((rng.next_u32() & 0x83FF) as u16).to_le_bytes(),
            2 => ((rng.next_u32() & 0x80FF) as u16).to_le_bytes(),
            _ => f32_to_f16(float(&mut rng, spread.min(13))).to_le_bytes(),
        })
        .collect();
    let mut x: Vec<f32> = (0..columns).map(|_| float(&mut rng, spread)).collect();
    for v in &mut x {
        if rng.next_u32() % 12 == 0 {
            *v = 0.0;
        }
    }
    if seed % 3 == 1 {
        // Sums that cancel, so that few bits remain.
        for i in (1..x.len()).step_by(2) {
            x[i] = -x[i - 1];
        }
    }
    let mut weights = weights;
    if seed % 3 == 1 {
        for pair in weights.chunks_exact_mut(4) {
            pair.copy_within(0..2, 2);
            if rng.next_u32() % 50 == 0 {
                pair[2] ^= 1;
            }
        }
    }
    let memory = SliceMemory::new(at, weights.clone());
    let mut want = vec![0.0; rows as usize];
    let operand = Operand { x: &x, q: &[], scale: &[] };
    Kernels::rows(&mut Portable, &memory, Rows { format: format::F16, at, stride }, operand, &mut want).unwrap();
    bench.poke(at, &weights);
    bench.poke_floats(X, &x);
    let (result, cycles) = bench.call(2, &[at, stride, X, 0, OUT, rows, columns]);
    if result == 0 {
        let got = bench.floats(OUT, rows as usize);
        for (row, (got, want)) in got.iter().zip(&want).enumerate() {
            assert_eq!(
                got.to_bits(),
                want.to_bits(),
                "row {row} of {rows}, {columns} columns, seed {seed}: {got:e} {want:e}"
            );
        }
    }
    (result, cycles)
}

#[test]
fn exact_rows() {
    let (result, cycles) = exact(32, 172, 3, 8, ATTIC + 0x12345);
    assert_eq!(result, 0);
    println!("32 rows of 172 in {cycles} cycles, {} a product", cycles / (32 * 172));
    for seed in 0..24 {
        let columns = [172, 1, 7, 256, 255, 300, 513, 64][seed as usize % 8];
        assert_eq!(exact(5, columns, seed, 3 + seed, ATTIC + 0x12345).0, 0);
    }
    for seed in 0..3 {
        assert_eq!(exact(5, 171, seed, 9, ATTIC + 0x10_0000 - 700 + seed).0, 0);
    }
    // Too far apart for the accumulators: left to the portable body.
    assert_eq!(exact(2, 200, 1, 60, ATTIC).0, 1);
}
