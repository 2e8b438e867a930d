//! Hand-written f32 against the host's.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::bench::{Bench, line};
use rv45::ir::{Ir, Placement};
use rv45::link::Options;

const CORNERS: [u32; 26] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x7F_FFFF,
    0x80_0000,
    0x80_0001,
    0x0100_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F7F_FFFF,
    0x4000_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC0_1234,
    0x7F80_0001,
    0x4B00_0000,
    0x4B80_0000,
    0x4F00_0000,
    0xCF00_0000,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x33FF_FFFF,
];

struct Random(u64);
impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 ^ (self.0 >> 11) as u32
    }
    fn float(&mut self) -> u32 {
        match self.next() % 8 {
            0 => CORNERS[self.next() as usize % CORNERS.len()],
            1 => self.next() & 0x80FF_FFFF,
            2 | 3 => self.next(),
            4 => (self.next() & 0x80FF_FFFF) | 0x7F00_0000 & !0x80_0000,
            // Exponents near each other, where cancellation and ties happen.
            5 => 0x3F80_0000 ^ (self.next() & 0x8100_0003),
            _ => 0x3F00_0000 + (self.next() & 0x80FF_FFFF),
        }
    }
}

fn bench(name: &str) -> Bench {
    Bench::new(&Options::default(), Placement::Normal, |symbols| {
        let target = symbols.named(name);
        vec![line(Ir::Call { target }), line(Ir::Ret)]
    })
}

fn pairs() -> Vec<(u32, u32)> {
    let mut random = Random(7);
    let mut list: Vec<(u32, u32)> = CORNERS.iter().flat_map(|&a| CORNERS.iter().map(move |&b| (a, b))).collect();
    list.extend((0..1500).map(|_| (random.float(), random.float())));
    list.extend((0..300).map(|_| {
        let a = random.float();
        (a, a ^ (random.next() & 0x8000_0003))
    }));
    list
}

fn call(bench: &mut Bench, a: u32, b: u32) -> (u32, u64) {
    let mut regs = [0; 32];
    (regs[2], regs[10], regs[11]) = (0x5_FF00, a, b);
    let (got, cycles) = bench.call(&regs);
    (got[10], cycles)
}

fn binary(name: &str, f: impl Fn(f32, f32) -> f32) {
    let mut bench = bench(name);
    for (a, b) in pairs() {
        let (got, _) = call(&mut bench, a, b);
        let want = f(f32::from_bits(a), f32::from_bits(b));
        let got = f32::from_bits(got);
        let same = if want.is_nan() { got.is_nan() } else { got.to_bits() == want.to_bits() };
        assert!(same, "{name}({a:08X}, {b:08X}): {:08X}, not {:08X}", got.to_bits(), want.to_bits());
    }
    let mut random = Random(9);
    let mut total = 0;
    for _ in 0..300 {
        let mut ordinary = || 0x3C00_0000 + (random.next() & 0x87FF_FFFF);
        total += call(&mut bench, ordinary(), ordinary()).1;
    }
    println!("{name}: {} cycles on average, call included", total / 300);
}

#[test]
fn addition() {
    binary("__addsf3", |a, b| a + b);
}

#[test]
fn subtraction() {
    binary("__subsf3", |a, b| a - b);
}

#[test]
fn multiplication() {
    binary("__mulsf3", |a, b| a * b);
}

#[test]
fn division() {
    binary("__divsf3", |a, b| a / b);
}

#[test]
fn comparison() {
    for (name, holds) in [
        ("__ltsf2", (|r, a, b| (r < 0) == (a < b)) as fn(i32, f32, f32) -> bool),
        ("__lesf2", |r, a, b| (r <= 0) == (a <= b)),
        ("__eqsf2", |r, a, b| (r == 0) == (a == b)),
        ("__nesf2", |r, a, b| (r != 0) == (a != b)),
        ("__gesf2", |r, a, b| (r >= 0) == (a >= b)),
        ("__gtsf2", |r, a, b| (r > 0) == (a > b)),
        ("__unordsf2", |r, a, b| (r != 0) == (a.is_nan() || b.is_nan())),
    ] {
        let mut bench = bench(name);
        for (a, b) in pairs() {
            let (got, _) = call(&mut bench, a, b);
            assert!(holds(got as i32, f32::from_bits(a), f32::from_bits(b)), "{name}({a:08X}, {b:08X}): {got:08X}");
        }
    }
}

#[test]
fn conversion() {
    let mut random = Random(11);
    let mut ints: Vec<u32> = CORNERS.to_vec();
    ints.extend((0..32).flat_map(|k| [1u32 << k, (1u32 << k).wrapping_sub(1), 3 << k, 0x00FF_FFFF << k]));
    ints.extend((0..600).map(|_| random.next() >> (random.next() % 32)));
    let mut from_signed = bench("__floatsisf");
    let mut from_unsigned = bench("__floatunsisf");
    for &n in &ints {
        assert_eq!(call(&mut from_signed, n, 0).0, (n as i32 as f32).to_bits(), "{n:08X}");
        assert_eq!(call(&mut from_unsigned, n, 0).0, (n as f32).to_bits(), "{n:08X}");
    }
    let mut to_signed = bench("__fixsfsi");
    let mut to_unsigned = bench("__fixunssfsi");
    for x in pairs().into_iter().map(|p| p.0).chain(ints.iter().map(|&n| (n as f32).to_bits())) {
        let f = f32::from_bits(x);
        assert_eq!(call(&mut to_signed, x, 0).0, f as i32 as u32, "{x:08X}");
        assert_eq!(call(&mut to_unsigned, x, 0).0, f as u32, "{x:08X}");
    }
}
