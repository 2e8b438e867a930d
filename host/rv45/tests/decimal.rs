//! Decimal digits by the hand-written routine, against the host's.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::bench::{Bench, line};
use rv45::ir::{Ir, Placement};
use rv45::link::Options;
use rv45::rv::Reg;

const STACK: u32 = 0x5_F0F0;
const FIELD: i32 = 24;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
}

/// Numbers around every power of two and of ten, and random ones of every length.
fn numbers() -> Vec<u64> {
    let around = |n: u64| [n.wrapping_sub(1), n, n.wrapping_add(1)];
    let mut out: Vec<u64> = (0..64).flat_map(|k| around(1 << k)).collect();
    out.extend((0..20).flat_map(|k| around(10u64.pow(k))));
    out.extend([65_535, 65_536, 99_999_999, 100_000_000, u64::from(u32::MAX), u64::MAX, 0]);
    let mut random = Random(1);
    out.extend((0..2000).map(|i| random.next() >> (i % 64)));
    out
}

fn check(bench: &mut Bench, n: u64, registers: &[u32; 32], field: u32, room: usize) -> u64 {
    bench.poke(field - 1, &[b'#'; 22]);
    let (out, cycles) = bench.call(registers);
    let text = n.to_string();
    assert_eq!(out[10] as usize, room - text.len(), "{n}");
    let mut want = vec![b'#'; 1 + room - text.len()];
    want.extend(text.bytes());
    want.push(b'#');
    assert_eq!(bench.peek(field - 1, room as u32 + 2), want, "{n}");
    cycles
}

#[test]
fn thirty_two_bits_into_a_field_anywhere() {
    let mut bench = Bench::new(&Options::default(), Placement::Normal, |symbols| {
        let target = symbols.named("rv45_decimal");
        vec![line(Ir::Call { target }), line(Ir::Ret)]
    });
    let mut registers = [0; 32];
    registers[2] = STACK;
    let mut cycles = [0; 11];
    for n in numbers().into_iter().map(|n| n as u32) {
        // Attic RAM, across a page and a bank of 64 KB.
        for field in [0x800_0123, 0x801_FFFB] {
            (registers[10], registers[11]) = (n, field);
            cycles[n.to_string().len()] = check(&mut bench, n.into(), &registers, field, 10);
        }
    }
    println!("cycles of a call by count of digits: {:?}", &cycles[1..]);
}

#[test]
fn on_the_stack() {
    for high in [None, Some(Reg(11))] {
        for placement in [Placement::Normal, Placement::Hot, Placement::Cold] {
            let op = Ir::Digits { rd: Reg(10), low: Reg(10), high, offset: FIELD };
            let mut bench = Bench::new(&Options::default(), placement, |_| vec![line(op), line(Ir::Ret)]);
            let mut registers = [0; 32];
            registers[2] = STACK;
            let mut cycles = [0; 21];
            for n in numbers() {
                let n = if high.is_some() { n } else { n & u64::from(u32::MAX) };
                (registers[10], registers[11]) = (n as u32, (n >> 32) as u32);
                let room = if high.is_some() { 20 } else { 10 };
                cycles[n.to_string().len()] = check(&mut bench, n, &registers, STACK + FIELD as u32, room);
            }
            println!("cycles of a call by count of digits: {:?}", &cycles[1..]);
        }
    }
}
