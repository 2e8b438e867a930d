//! Every operation in every aliasing of its registers, with random and corner operands, against
//! the interpreter's arithmetic.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::bench::{Bench, line};
use rv45::ir::{Ir, Placement, Src};
use rv45::link::Options;
use rv45::lower::Peepholes;
use rv45::rv::{AluOp, BranchOp, Reg, UnaryOp, Width};

const CORNERS: [u32; 18] = [
    0,
    1,
    2,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0xFF_FFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FF00,
    0xFFFF_FF80,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
    0x1234_5678,
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }
    fn word(&mut self) -> u32 {
        match self.next() % 4 {
            0 => CORNERS[self.next() as usize % CORNERS.len()],
            1 => self.next() >> (self.next() % 32),
            _ => self.next(),
        }
    }
}

fn options(peepholes: Peepholes) -> Options {
    Options { peepholes, ..Options::default() }
}

/// rd, rs1, rs2: all different, and each way of being the same.
const ALIASES: [[u8; 3]; 5] = [[12, 10, 11], [10, 10, 11], [11, 10, 11], [12, 10, 10], [10, 10, 10]];

fn check(op: Ir, eval: &dyn Fn(u32, u32) -> u32, rd: u8, a: u8, b: u8, runs: usize, random: &mut Random) {
    let settings = [
        (Placement::Normal, Peepholes::NONE),
        (Placement::Hot, Peepholes::NONE),
        (Placement::Normal, Peepholes::ALL),
        (Placement::Cold, Peepholes::ALL),
    ];
    for (placement, peepholes) in settings {
        // Results past a2 are dead at a return, so everything ends up in a0..a2.
        let mut bench = Bench::new(&options(peepholes), placement, |_| vec![line(op), line(Ir::Ret)]);
        for _ in 0..runs {
            let mut regs: [u32; 32] = std::array::from_fn(|_| random.next());
            regs[0] = 0;
            regs[2] = 0x5_FF00;
            regs[usize::from(a)] = random.word();
            if b != a {
                regs[usize::from(b)] = random.word();
            }
            regs[0] = 0;
            let (got, _) = bench.call(&regs);
            let mut want = regs;
            want[usize::from(rd)] = eval(regs[usize::from(a)], regs[usize::from(b)]);
            want[0] = 0;
            assert_eq!(
                got,
                want,
                "{op:?} {placement:?} {peepholes:?} on {:08X} {:08X}\n{}",
                regs[usize::from(a)],
                regs[usize::from(b)],
                bench.listing
            );
        }
    }
}

#[test]
fn two_register_operations() {
    let mut random = Random(1);
    for op in AluOp::ALL {
        for [rd, a, b] in ALIASES {
            let ir = Ir::Alu { op, rd: Reg(rd), a: Reg(a), b: Src::Reg(Reg(b)) };
            check(ir, &|x, y| op.eval(x, y), rd, a, b, 40, &mut random);
        }
        // x0 on either side.
        let ir = Ir::Alu { op, rd: Reg(12), a: Reg(0), b: Src::Reg(Reg(11)) };
        check(ir, &|x, y| op.eval(x, y), 12, 0, 11, 10, &mut random);
    }
}

#[test]
fn immediate_operations() {
    let mut random = Random(2);
    let imms = [
        0u32,
        1,
        2,
        7,
        8,
        0x7F,
        0x80,
        0xFF,
        0x100,
        0x7FF,
        0xFFFF_F800,
        0xFFFF_FF00,
        0xFFFF_FF7F,
        0xFFFF_FFFE,
        0xFFFF_FFFF,
    ];
    for op in [AluOp::Add, AluOp::Slt, AluOp::Sltu, AluOp::Xor, AluOp::Or, AluOp::And] {
        for imm in imms {
            for [rd, a] in [[12, 10], [10, 10]] {
                let ir = Ir::Alu { op, rd: Reg(rd), a: Reg(a), b: Src::Imm(imm) };
                check(ir, &|x, _| op.eval(x, imm), rd, a, 11, 25, &mut random);
            }
        }
    }
}

#[test]
fn division_by_constants() {
    let mut random = Random(8);
    for k in [
        0u32,
        1,
        2,
        3,
        5,
        6,
        7,
        9,
        10,
        12,
        60,
        100,
        255,
        256,
        641,
        1000,
        10_000,
        65_535,
        1_000_000,
        0x8000_0001,
        u32::MAX,
    ] {
        for op in [AluOp::Divu, AluOp::Remu, AluOp::Div, AluOp::Rem] {
            for [rd, a] in [[12, 10], [10, 10]] {
                let ir = Ir::Alu { op, rd: Reg(rd), a: Reg(a), b: Src::Imm(k) };
                check(ir, &|x, _| op.eval(x, k), rd, a, 11, 30, &mut random);
            }
        }
    }
}

#[test]
fn constant_shifts() {
    let mut random = Random(3);
    for op in [AluOp::Sll, AluOp::Srl, AluOp::Sra, AluOp::Ror] {
        for k in 0..32 {
            for [rd, a] in [[12, 10], [10, 10]] {
                let ir = Ir::Alu { op, rd: Reg(rd), a: Reg(a), b: Src::Imm(k) };
                check(ir, &|x, _| op.eval(x, k), rd, a, 11, 12, &mut random);
            }
        }
    }
}

#[test]
fn one_register_operations_and_constants() {
    let mut random = Random(4);
    for op in UnaryOp::ALL {
        for [rd, a] in [[12, 10], [10, 10]] {
            let ir = Ir::Unary { op, rd: Reg(rd), a: Reg(a) };
            check(ir, &|x, _| op.eval(x), rd, a, 11, 60, &mut random);
        }
    }
    for _ in 0..60 {
        let value = random.word();
        check(Ir::Li { rd: Reg(12), value }, &|_, _| value, 12, 10, 11, 2, &mut random);
    }
}

#[test]
fn branches() {
    let mut random = Random(5);
    for op in BranchOp::ALL {
        for [a, b] in [[10u8, 11u8], [10, 0], [0, 11], [10, 10]] {
            for peepholes in [Peepholes::NONE, Peepholes::ALL] {
                let mut bench = Bench::new(&options(peepholes), Placement::Normal, |symbols| {
                    let target = symbols.named("taken");
                    let mut lines = vec![
                        line(Ir::Branch { op, a: Reg(a), b: Reg(b), target }),
                        line(Ir::Li { rd: Reg(12), value: 1 }),
                        line(Ir::Ret),
                        line(Ir::Li { rd: Reg(12), value: 2 }),
                        line(Ir::Ret),
                    ];
                    lines[3].label = Some(target);
                    lines
                });
                for i in 0..60 {
                    let mut regs = [0; 32];
                    (regs[10], regs[11]) = (random.word(), random.word());
                    if i % 6 == 0 {
                        regs[11] = regs[10];
                    }
                    let (got, _) = bench.call(&regs);
                    let want = if op.eval(regs[usize::from(a)], regs[usize::from(b)]) { 2 } else { 1 };
                    assert_eq!(got[12], want, "{op:?} {a} {b} on {:08X} {:08X}\n{}", regs[10], regs[11], bench.listing);
                }
            }
        }
    }
}

#[test]
fn loads_and_stores() {
    let mut random = Random(6);
    let widths = [Width::Byte, Width::ByteUnsigned, Width::Half, Width::HalfUnsigned, Width::Word];
    for offset in [0i32, 1, 2, 4, 100, 252, 253, 254, 255, 256, 2047, -1, -4, -2048] {
        for base in [10u8, 2] {
            for width in widths {
                for placement in [Placement::Normal, Placement::Hot, Placement::Cold] {
                    for rd in [11u8, 10] {
                        let op = Ir::Load { width, rd: Reg(rd), base: Reg(base), offset };
                        one_load(&mut random, placement, op, width, rd, base, offset);
                    }
                    let op = Ir::Store { width, src: Reg(11), base: Reg(base), offset };
                    one_store(&mut random, placement, op, width, 11, base, offset);
                    let op = Ir::Store { width, src: Reg(0), base: Reg(base), offset };
                    one_store(&mut random, placement, op, width, 0, base, offset);
                    if base == 10 {
                        let op = Ir::Store { width, src: Reg(10), base: Reg(base), offset };
                        one_store(&mut random, placement, op, width, 10, base, offset);
                    }
                }
            }
        }
    }
}

fn one_load(random: &mut Random, placement: Placement, op: Ir, width: Width, rd: u8, base: u8, offset: i32) {
    for peepholes in [Peepholes::NONE, Peepholes::ALL] {
        let mut bench = Bench::new(&options(peepholes), placement, |_| vec![line(op), line(Ir::Ret)]);
        for _ in 0..3 {
            let mut regs: [u32; 32] = std::array::from_fn(|_| random.next());
            regs[0] = 0;
            regs[2] = 0x5_8000 + random.next() % 256;
            regs[10] = 0x5_8000 + random.next() % 1024;
            let at = regs[usize::from(base)].wrapping_add_signed(offset);
            let bytes = random.next().to_le_bytes();
            bench.poke(at, &bytes);
            let (got, _) = bench.call(&regs);
            let mut want = regs;
            want[usize::from(rd)] = match width {
                Width::Byte => bytes[0] as i8 as u32,
                Width::ByteUnsigned => bytes[0].into(),
                Width::Half => i16::from_le_bytes([bytes[0], bytes[1]]) as u32,
                Width::HalfUnsigned => u16::from_le_bytes([bytes[0], bytes[1]]).into(),
                Width::Word => u32::from_le_bytes(bytes),
            };
            assert_eq!(got, want, "{op:?}\n{}", bench.listing);
        }
    }
}

fn one_store(random: &mut Random, placement: Placement, op: Ir, width: Width, src: u8, base: u8, offset: i32) {
    for peepholes in [Peepholes::NONE, Peepholes::ALL] {
        let mut bench = Bench::new(&options(peepholes), placement, |_| vec![line(op), line(Ir::Ret)]);
        for _ in 0..2 {
            let mut regs: [u32; 32] = std::array::from_fn(|_| random.next());
            regs[0] = 0;
            regs[2] = 0x5_8000 + random.next() % 256;
            regs[10] = 0x5_8000 + random.next() % 1024;
            let at = regs[usize::from(base)].wrapping_add_signed(offset);
            let before: Vec<u8> = (0..12).map(|_| random.next() as u8).collect();
            bench.poke(at - 4, &before);
            let (got, _) = bench.call(&regs);
            assert_eq!(got, regs, "{op:?}\n{}", bench.listing);
            let mut want = before;
            let value = regs[usize::from(src)].to_le_bytes();
            let n = width.bytes() as usize;
            want[4..4 + n].copy_from_slice(&value[..n]);
            assert_eq!(bench.peek(at - 4, 12), want, "{op:?}\n{}", bench.listing);
        }
    }
}
