//! Random straight and branching sequences, translated with every setting, against an evaluation of
//! the operations themselves. `RV45_RANDOM=n` sets how many are tried (the slow set: 100,000).
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::bench::{Bench, line};
use rv45::asm::Label;
use rv45::ir::{Ir, Line, Placement, Src};
use rv45::link::Options;
use rv45::lower::Peepholes;
use rv45::rv::{AluOp, BranchOp, Reg, UnaryOp, Width};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 ^ (self.0 >> 11) as u32
    }
    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }
}

/// Registers that the sequences use; s1 (9) points to memory.
const USED: [u8; 10] = [10, 11, 12, 13, 14, 15, 8, 18, 5, 0];
const MEMORY: u32 = 0x5_8000;
/// What is compared at the end: results and preserved registers.
const COMPARED: [u8; 9] = [10, 11, 12, 13, 8, 9, 18, 19, 2];

fn operation(r: &mut Random) -> Ir {
    let reg = |r: &mut Random| Reg(r.pick(&USED));
    let rd = Reg(r.pick(&USED[..9]));
    match r.below(20) {
        0..=5 => Ir::Alu { op: r.pick(&AluOp::ALL), rd, a: reg(r), b: Src::Reg(reg(r)) },
        6..=9 => {
            let op = r.pick(&[AluOp::Add, AluOp::And, AluOp::Or, AluOp::Xor, AluOp::Slt, AluOp::Sltu]);
            let k = r.pick(&[0u32, 1, 2, 4, 7, 16, 0x7F, 0x80, 0xFF, 0x7FF, !0, !1, 0xFFFF_FF00, 0xFFFF_F800]);
            Ir::Alu { op, rd, a: reg(r), b: Src::Imm(k) }
        }
        10 | 11 => {
            let op = r.pick(&[AluOp::Sll, AluOp::Srl, AluOp::Sra, AluOp::Ror]);
            Ir::Alu { op, rd, a: reg(r), b: Src::Imm(r.below(32)) }
        }
        12 => Ir::Unary { op: r.pick(&UnaryOp::ALL), rd, a: reg(r) },
        13 => {
            let wide = r.next();
            let small = r.below(300);
            Ir::Li { rd, value: r.pick(&[0, 1, 0xFF, 0x100, 0xFFFF, u32::MAX, small, wide, wide & 0xFFFF_F000]) }
        }
        14..=16 => {
            let width = r.pick(&[Width::Byte, Width::ByteUnsigned, Width::Half, Width::HalfUnsigned, Width::Word]);
            Ir::Load { width, rd, base: Reg(9), offset: r.below(300) as i32 - 8 }
        }
        _ => {
            let width = r.pick(&[Width::ByteUnsigned, Width::HalfUnsigned, Width::Word]);
            Ir::Store { width, src: reg(r), base: Reg(9), offset: r.below(300) as i32 - 8 }
        }
    }
}

/// Operations with forward branches between them; targets are line numbers.
fn sequence(r: &mut Random) -> Vec<(Ir, Option<usize>)> {
    let n = 4 + r.below(14) as usize;
    let mut out: Vec<(Ir, Option<usize>)> = Vec::new();
    for i in 0..n {
        if r.below(6) == 0 && i + 2 < n {
            let target = i + 2 + r.below((n - i - 1) as u32) as usize;
            let (a, b) = (Reg(r.pick(&USED)), Reg(r.pick(&USED)));
            let op = r.pick(&BranchOp::ALL);
            out.push((Ir::Branch { op, a, b, target: Label(0) }, Some(target.min(n))));
        } else {
            out.push((operation(r), None));
        }
    }
    out.push((Ir::Ret, None));
    if r.below(2) == 0 {
        add_loop(&mut out, r);
    }
    out
}

/// A jump back that is taken twice, counted in s3.
fn add_loop(code: &mut Vec<(Ir, Option<usize>)>, r: &mut Random) {
    let end = 1 + r.below(code.len() as u32 - 1) as usize;
    let start = r.below(end as u32) as usize;
    for (_, target) in code.iter_mut() {
        if let Some(t) = target.filter(|&t| t > end) {
            *target = Some(t + 2);
        }
    }
    let count = Ir::Alu { op: AluOp::Add, rd: Reg(19), a: Reg(19), b: Src::Imm(u32::MAX) };
    let back = Ir::Branch { op: BranchOp::Ne, a: Reg(19), b: Reg(0), target: Label(0) };
    code.splice(end..end, [(count, None), (back, Some(start))]);
}

fn evaluate(code: &[(Ir, Option<usize>)], x: &mut [u32; 32], memory: &mut [u8]) {
    let mut pc = 0;
    loop {
        let (op, target) = code[pc];
        pc += 1;
        let get = |r: Reg, x: &[u32; 32]| if r == Reg::ZERO { 0 } else { x[usize::from(r.0)] };
        match op {
            Ir::Ret => return,
            Ir::Li { rd, value } => x[usize::from(rd.0)] = value,
            Ir::Alu { op, rd, a, b } => {
                let b = match b {
                    Src::Reg(b) => get(b, x),
                    Src::Imm(k) => k,
                };
                x[usize::from(rd.0)] = op.eval(get(a, x), b);
            }
            Ir::Unary { op, rd, a } => x[usize::from(rd.0)] = op.eval(get(a, x)),
            Ir::Branch { op, a, b, .. } => {
                if op.eval(get(a, x), get(b, x)) {
                    pc = target.unwrap();
                }
            }
            Ir::Load { width, rd, base, offset } => {
                let at = (x[usize::from(base.0)].wrapping_add_signed(offset) - (MEMORY - 0x100)) as usize;
                let v = u32::from_le_bytes(memory[at..at + 4].try_into().unwrap());
                x[usize::from(rd.0)] = match width {
                    Width::Byte => v as i8 as u32,
                    Width::ByteUnsigned => v & 0xFF,
                    Width::Half => v as i16 as u32,
                    Width::HalfUnsigned => v & 0xFFFF,
                    Width::Word => v,
                };
            }
            Ir::Store { width, src, base, offset } => {
                let at = (x[usize::from(base.0)].wrapping_add_signed(offset) - (MEMORY - 0x100)) as usize;
                let n = width.bytes() as usize;
                memory[at..at + n].copy_from_slice(&get(src, x).to_le_bytes()[..n]);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn lines(code: &[(Ir, Option<usize>)], symbols: &mut rv45::asm::Symbols) -> Vec<Line> {
    let labels: Vec<Label> = (0..code.len()).map(|i| symbols.named(&format!("at{i}"))).collect();
    let mut out: Vec<Line> = code
        .iter()
        .map(|&(op, target)| match (op, target) {
            (Ir::Branch { op, a, b, .. }, Some(t)) => line(Ir::Branch { op, a, b, target: labels[t] }),
            _ => line(op),
        })
        .collect();
    for &(_, target) in code {
        if let Some(t) = target {
            out[t].label = Some(labels[t]);
        }
    }
    out
}

/// Each found by a long run of the random test.
#[test]
fn sequences_that_were_wrong_once() {
    let alu = |op, rd, a, b| (Ir::Alu { op, rd: Reg(rd), a: Reg(a), b }, None);
    let copy_onto_itself = vec![
        alu(AluOp::Xor, 13, 8, Src::Reg(Reg(13))),
        alu(AluOp::Add, 13, 13, Src::Imm(0)),
        alu(AluOp::Add, 12, 11, Src::Imm(7)),
        alu(AluOp::Ror, 13, 13, Src::Imm(14)),
        (Ir::Ret, None),
    ];
    check("a copy onto itself", &copy_onto_itself, &mut Random(5));
}

#[test]
fn random_sequences() {
    let count: u64 = std::env::var("RV45_RANDOM").ok().and_then(|v| v.parse().ok()).unwrap_or(300);
    for seed in 0..count {
        let mut r = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234);
        let code = sequence(&mut r);
        check(&format!("seed {seed}"), &code, &mut r);
    }
}

fn check(what: &str, code: &[(Ir, Option<usize>)], r: &mut Random) {
    let settings = [
        (Placement::Normal, Peepholes::NONE),
        (Placement::Normal, Peepholes { constants: false, ..Peepholes::ALL }),
        (Placement::Normal, Peepholes::ALL),
        (Placement::Hot, Peepholes::ALL),
        (Placement::Cold, Peepholes::ALL),
    ];
    let mut regs: [u32; 32] =
        std::array::from_fn(|_| if r.below(3) == 0 { r.below(4) } else { r.next() << 1 ^ r.next() });
    (regs[0], regs[2], regs[9], regs[19]) = (0, 0x5_FF00, MEMORY, 3);
    let memory: Vec<u8> = (0..1024).map(|_| r.next() as u8).collect();
    let (mut want, mut want_memory) = (regs, memory.clone());
    evaluate(code, &mut want, &mut want_memory);
    for (placement, peepholes) in settings {
        let options = Options { peepholes, ..Options::default() };
        let mut bench = Bench::new(&options, placement, |symbols| lines(code, symbols));
        bench.poke(MEMORY - 0x100, &memory);
        let (got, _) = bench.call(&regs);
        for r in COMPARED.map(usize::from) {
            assert_eq!(
                got[r],
                want[r],
                "{what} {placement:?} {peepholes:?}: {} (from {:08X?})\n{}",
                Reg(r as u8),
                &regs,
                bench.listing
            );
        }
        assert!(
            bench.peek(MEMORY - 0x100, 1024) == want_memory,
            "{what} {placement:?} {peepholes:?}: memory\n{}",
            bench.listing
        );
    }
}
