//! Element-wise kernels and those with one result.

use super::bench::{Bench, MATRIX, VECTOR};
use super::{OUT, X, float};
use ssnail_shared::exec::kernels::{Kernels, Portable, quantise};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::rng::Rng;
use ssnail_shared::tables;

const OTHER: u32 = 0x0800_2000;
const C0: u32 = 0x4_4000;
const C1: u32 = 0x4_4400;
const ONE: u32 = 0x3F80_0000;

fn vector(rng: &mut Rng, n: usize, spread: u32, strange: bool) -> Vec<f32> {
    (0..n)
        .map(|_| match rng.next_u32() % 40 {
            0 if strange => 0.0,
            1 if strange => -0.0,
            2 if strange => f32::from_bits(rng.next_u32()),
            3 if strange => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40, f32::MIN_POSITIVE]
                [rng.next_u32() as usize % 6],
            4 if strange => {
                [12.0, -12.0, -16.0, 16.0, 11.999_999, -11.999_999, -15.999_999][rng.next_u32() as usize % 7]
            }
            _ => float(rng, spread),
        })
        .collect()
}

/// Runs an element-wise kernel, computing with `portable` what it leaves.
fn through(
    bench: &mut Bench,
    kernel: u32,
    x: &[f32],
    factor: u32,
    mut portable: impl FnMut(usize, f32) -> f32,
) -> (Vec<f32>, u64) {
    let mut x = x.to_vec();
    let (mut done, mut total) = (0, 0);
    while done < x.len() {
        let left = x.len() - done;
        bench.poke_floats(X, &x[done..]);
        let other = OTHER + 4 * done as u32;
        let (status, cycles) = bench.call(kernel, &[X, other, C0, C1, left as u32, factor]);
        total += cycles;
        let rest = if status == 0 { 0 } else { bench.second() as usize };
        assert!(rest <= left);
        let n = left - rest;
        let got = bench.floats(X, n);
        x[done..done + n].copy_from_slice(&got);
        done += n;
        if rest > 0 {
            x[done] = portable(done, x[done]);
            done += 1;
        }
    }
    (x, total)
}

fn table(bench: &mut Bench, table: &tables::Table) {
    for (at, list) in [(C0, table.c0), (C1, table.c1)] {
        bench.poke(at, &list.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>());
    }
}

fn same(name: &str, x: &[f32], got: &[f32], want: &[f32]) {
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let equal = g.to_bits() == w.to_bits() || (g.is_nan() && w.is_nan());
        assert!(equal, "{name} {i} of {:e}: {g:e} {w:e}", x[i]);
    }
}

#[test]
fn element_wise() {
    let mut rng = Rng::new(7);
    let mut bench = Bench::new(&VECTOR);
    for round in 0..12 {
        let strange = round > 0;
        let n = 100;
        let spread = [3, 1, 5, 30][round % 4];
        let x = vector(&mut rng, n, spread, strange);
        let other = vector(&mut rng, n, spread, strange);
        let memory = SliceMemory::new(OTHER, other.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        bench.poke_floats(OTHER, &other);
        let factor = float(&mut rng, 2);

        let mut want = x.clone();
        want.iter_mut().for_each(|v| *v *= factor);
        let (got, cycles) = through(&mut bench, 4, &x, factor.to_bits(), |_, v| v * factor);
        same("times", &x, &got, &want);
        report(round, "times", cycles, n);

        let mut want = x.clone();
        Kernels::scale(&mut Portable, &memory, &mut want, factor, OTHER).unwrap();
        let (got, cycles) = through(&mut bench, 5, &x, factor.to_bits(), |i, v| v * factor * other[i]);
        same("scale", &x, &got, &want);
        report(round, "scale", cycles, n);

        table(&mut bench, &tables::SILU);
        let mut want = x.clone();
        Kernels::silu_times(&mut Portable, &memory, &mut want, OTHER).unwrap();
        let (got, cycles) = through(&mut bench, 6, &x, ONE, |i, v| tables::SILU.eval(v) * other[i]);
        same("silu", &x, &got, &want);
        report(round, "silu", cycles, n);

        let mut want = x.clone();
        Kernels::add(&mut Portable, &memory, &mut want, OTHER).unwrap();
        let (got, cycles) = through(&mut bench, 7, &x, ONE, |i, v| v + other[i]);
        same("plus", &x, &got, &want);
        report(round, "plus", cycles, n);

        table(&mut bench, &tables::EXP);
        let largest = if strange { x.iter().copied().fold(f32::MIN_POSITIVE, f32::max).min(20.0) } else { 8.0 };
        let want: Vec<f32> = x.iter().map(|v| tables::EXP.eval(*v - largest)).collect();
        let (got, cycles) = through(&mut bench, 3, &x, largest.to_bits(), |_, v| tables::EXP.eval(v - largest));
        same("exp", &x, &got, &want);
        report(round, "exp", cycles, n);
        // The sum, also where the last of them are zero.
        let mut x: Vec<f32> = (0..n).map(|_| -8.0 * float(&mut rng, 1).abs()).collect();
        x.push(if strange { 0.0 } else { -40.0 });
        let (got, _) = through(&mut bench, 3, &x, 0, |_, v| v);
        assert_eq!(bench.second(), got[1..].iter().fold(got[0], |a, b| a + b).to_bits());
    }
}

fn report(round: usize, name: &str, cycles: u64, n: usize) {
    if round == 0 {
        println!("{name}: {} cycles an element", cycles / n as u64);
    }
}

#[test]
fn rotation() {
    let mut rng = Rng::new(8);
    let mut bench = Bench::new(&VECTOR);
    for round in 0..20 {
        let x = vector(&mut rng, 16, [2, 20][round % 2], round > 3);
        let angles: Vec<f32> = (0..8)
            .flat_map(|i| {
                let a = (i * round) as f32 * 0.37;
                [a.cos(), a.sin()]
            })
            .collect();
        let memory = SliceMemory::new(OTHER, angles.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        let mut want = x.clone();
        Kernels::rotate(&mut Portable, &memory, &mut want, 16, OTHER).unwrap();
        bench.poke_floats(OTHER, &angles);
        let mut got = x.clone();
        let mut done = 0;
        while done < 8 {
            bench.poke_floats(X, &got[2 * done..]);
            let (status, cycles) = bench.call(8, &[X, OTHER + 8 * done as u32, 0, 0, 8 - done as u32]);
            report(round, "a pair rotated (in 8)", cycles, 8);
            let n = if status == 0 { 8 - done } else { 8 - done - bench.second() as usize };
            let part = bench.floats(X, 2 * n);
            got[2 * done..2 * (done + n)].copy_from_slice(&part);
            done += n;
            if done < 8 {
                let (p, q, c, s) = (got[2 * done], got[2 * done + 1], angles[2 * done], angles[2 * done + 1]);
                (got[2 * done], got[2 * done + 1]) = (p * c - q * s, p * s + q * c);
                done += 1;
            }
        }
        same("rotate", &x, &got, &want);
    }
}

#[test]
fn reductions() {
    let mut rng = Rng::new(9);
    let mut bench = Bench::new(&VECTOR);
    let mut declined = 0;
    for round in 0..60 {
        let n = [64, 1, 33, 200][round % 4];
        let mut x = vector(&mut rng, n, [2, 9, 25][round % 3], round > 10);
        if round % 7 == 3 {
            for i in 1..n {
                if i % 2 == 1 {
                    x[i] = -x[i - 1];
                }
            }
        }
        bench.poke_floats(X, &x);
        let memory = SliceMemory::new(OTHER, Vec::new());
        let squares = Kernels::<SliceMemory<Vec<u8>>>::squares(&mut Portable, &x);
        let sum = x[1..].iter().fold(x[0], |a, b| a + b);
        let peak = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let _ = memory;
        for (kernel, want) in [(9, squares), (10, sum), (11, peak)] {
            let (status, cycles) = bench.call(kernel, &[X, 0, 0, 0, n as u32]);
            report(round, ["squares", "sum", "peak"][kernel as usize - 9], cycles, n);
            if status == 0 {
                let got = f32::from_bits(bench.second());
                assert!(
                    got.to_bits() == want.to_bits() || (got == 0.0 && want == 0.0),
                    "{kernel}: {got:e} {want:e} {x:?}"
                );
            } else {
                declined += 1;
                assert!(round > 10 || round % 3 == 2, "declined: kernel {kernel} round {round} {x:?}");
            }
        }
    }
    assert!(declined > 5);
}

#[test]
fn quantised_vectors() {
    let mut rng = Rng::new(10);
    let mut bench = Bench::new(&MATRIX);
    for round in 0..60 {
        let mut x = vector(&mut rng, 32, [1, 4, 30][round % 3], round % 2 == 1);
        if round % 5 == 2 {
            // Halves, which round away from zero.
            for (i, v) in x.iter_mut().enumerate() {
                *v = (i as f32 - 15.0) / 2.0;
            }
            x[0] = 127.0;
        }
        bench.poke_floats(X, &x);
        let (mut q, mut scale) = ([0i8; 32], [0.0]);
        quantise(&x, &mut q, &mut scale);
        let (_, cycles) = bench.call(3, &[X, 0, 0, 0, 32]);
        report(round, "largest", cycles, 32);
        let largest = bench.second();
        let want = x.iter().map(|v| v.to_bits() & 0x7FFF_FFFF).max().unwrap();
        assert_eq!(largest, want);
        let d = f32::from_bits(largest) / 127.0;
        let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
        let (status, cycles) = bench.call(4, &[X, OUT, 0, 0, 32, inverse.to_bits()]);
        report(round, "round", cycles, 32);
        if status == 0 {
            let got: Vec<i8> = (0..32).map(|i| bench.machine.read_flat(OUT + i) as i8).collect();
            assert_eq!(got, q, "{x:?}");
        } else {
            assert!(round % 2 == 1);
        }
    }
}
