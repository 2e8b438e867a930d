//! Which bytes of which registers are still read: backwards, byte by byte.

use super::{ARGUMENTS, Bytes, Graph, POINTED, PRESERVED, RESULTS, all, mask_of, regs, some};
use crate::asm::Label;
use crate::ir::{Function, Ir, Src};
use crate::rv::{AluOp, Reg, UnaryOp, Width};
use std::collections::HashMap;

/// What called routines read; those not listed may read all argument registers.
#[derive(Debug, Clone, Default)]
pub struct Callees {
    /// Bytes read, by label.
    pub reads: HashMap<Label, Bytes>,
    /// Bytes of its results that some caller reads, by label of the function.
    pub results: HashMap<Label, Bytes>,
    /// Bytes read by any function that a pointer leads to; `None`: not known.
    pub pointed: Option<Bytes>,
}

impl Callees {
    fn of(&self, target: Label) -> Bytes {
        self.reads.get(&target).copied().unwrap_or(ARGUMENTS) & !PRESERVED
    }

    fn pointed(&self) -> Bytes {
        self.pointed.map_or(ARGUMENTS, |reads| reads | POINTED)
    }

    /// What is read of the results of a function.
    pub fn results_of(&self, function: Label) -> Bytes {
        self.results.get(&function).copied().unwrap_or(RESULTS)
    }
}

/// Liveness of one function.
#[derive(Debug, Clone)]
pub struct Live {
    /// After each line, the bytes that something reads later.
    pub after: Vec<Bytes>,
    /// At the function's entry.
    pub entry: Bytes,
}

/// Everything is live everywhere: for checks of single sequences and unoptimised output.
pub fn everything(function: &Function) -> Live {
    Live { after: vec![Bytes::MAX; function.lines.len()], entry: Bytes::MAX }
}

/// Liveness of `function`.
pub fn analyse(function: &Function, graph: &Graph, callees: &Callees) -> Live {
    let results = callees.results_of(function.label);
    let mut live_in = vec![0; graph.blocks.len()];
    let mut after = vec![0; function.lines.len()];
    let mut todo: Vec<usize> = (0..graph.blocks.len()).collect();
    while let Some(i) = todo.pop() {
        let block = &graph.blocks[i];
        let mut live = block.next.iter().fold(0, |l, &n| l | live_in[n]);
        for j in (block.start..block.end).rev() {
            after[j] = live;
            live = before(&function.lines[j].op, live, callees, results);
        }
        if live != live_in[i] {
            live_in[i] = live;
            todo.extend(&block.prev);
        }
    }
    Live { after, entry: live_in.first().copied().unwrap_or(0) }
}

/// Registers that `Save` and `Restore` handle.
pub fn saved_registers(n: u8) -> Bytes {
    const ORDER: [u8; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
    ORDER.iter().take(usize::from(n)).fold(0, |s, &r| s | all(Reg(r)))
}

/// Bytes live before `op`, given those live after it and those of the function's results that are
/// read.
pub fn before(op: &Ir, live: Bytes, callees: &Callees, results: Bytes) -> Bytes {
    let exit = PRESERVED | results;
    match *op {
        Ir::Nop => live,
        Ir::Li { rd, .. } | Ir::CodeAddr { rd, .. } => live & !all(rd),
        Ir::Alu { op, rd, a, b } => {
            let want = mask_of(live, rd);
            let (wa, wb) = operands(op, want, b);
            let read_b = match b {
                Src::Reg(b) => some(b, wb),
                Src::Imm(_) => 0,
            };
            (live & !all(rd)) | some(a, wa) | read_b
        }
        Ir::Unary { op, rd, a } => (live & !all(rd)) | some(a, unary_operand(op, mask_of(live, rd))),
        Ir::Digits { rd, low, high, .. } => (live & !all(rd)) | all(low) | high.map_or(0, all) | all(Reg::SP),
        Ir::Load { rd, base, .. } => (live & !all(rd)) | all(base),
        Ir::Store { src, base, width, .. } => {
            let mask = match width {
                Width::Byte | Width::ByteUnsigned => 1,
                Width::Half | Width::HalfUnsigned => 3,
                Width::Word => 15,
            };
            live | all(base) | some(src, mask)
        }
        Ir::Branch { a, b, .. } => live | all(a) | all(b),
        Ir::Jump { .. } => live,
        Ir::TailCall { target } => PRESERVED | callees.of(target),
        Ir::Call { target } => (live & PRESERVED) | callees.of(target) | all(Reg::SP),
        Ir::CallReg { reg } => (live & PRESERVED) | callees.pointed() | all(reg) | all(Reg::SP),
        Ir::JumpReg { reg } => live | PRESERVED | RESULTS | callees.pointed() | all(reg),
        Ir::Ret => exit,
        Ir::Save { n, .. } => live | saved_registers(n) | all(Reg::SP),
        Ir::Restore { n, .. } => exit & !saved_registers(n),
        Ir::Leave { n, .. } => (live & !saved_registers(n)) | all(Reg::SP),
        Ir::Ecall => live & !all(Reg::A0) | regs([10, 11, 12, 17]),
        Ir::Halt => 0,
    }
}

/// All bytes up to the highest wanted one.
fn up_to(want: u8) -> u8 {
    match want {
        0 => 0,
        1 => 1,
        2 | 3 => 3,
        4..=7 => 7,
        _ => 15,
    }
}

fn any(want: u8) -> u8 {
    if want == 0 { 0 } else { 15 }
}

/// Bytes of the operands that the wanted bytes of the result depend on.
fn operands(op: AluOp, want: u8, b: Src) -> (u8, u8) {
    match (op, b) {
        (AluOp::And, Src::Imm(k)) => (want & !bytes_equal(k, 0), 0),
        (AluOp::Or, Src::Imm(k)) => (want & !bytes_equal(k, 0xFF), 0),
        (AluOp::Xor | AluOp::And | AluOp::Or | AluOp::Andn | AluOp::Orn | AluOp::Xnor, _) => (want, want),
        (AluOp::Add | AluOp::Sub | AluOp::Mul | AluOp::Sh1add | AluOp::Sh2add | AluOp::Sh3add, Src::Imm(0)) => {
            (want, 0)
        }
        (AluOp::Add | AluOp::Sub | AluOp::Mul | AluOp::Sh1add | AluOp::Sh2add | AluOp::Sh3add, _) => {
            (up_to(want), up_to(want))
        }
        (AluOp::Sll, Src::Imm(k)) => (shifted(want, k & 31, true), 0),
        (AluOp::Srl, Src::Imm(k)) => (shifted(want, k & 31, false), 0),
        (AluOp::Sra, Src::Imm(k)) => {
            let top = 7 - want.leading_zeros().min(7) + (k & 31).div_ceil(8);
            let sign = if want != 0 && top >= 3 { 8 } else { 0 };
            (shifted(want, k & 31, false) | sign, 0)
        }
        (AluOp::Sll | AluOp::Srl | AluOp::Sra | AluOp::Rol | AluOp::Ror, Src::Reg(_)) => {
            (any(want), if want == 0 { 0 } else { 1 })
        }
        _ => (any(want), any(want)),
    }
}

/// Bytes of `k` that equal `value`, as a mask.
fn bytes_equal(k: u32, value: u8) -> u8 {
    (0..4).fold(0, |m, i| if k.to_le_bytes()[i] == value { m | 1 << i } else { m })
}

/// Bytes of the source that wanted bytes of a constant shift come from.
fn shifted(want: u8, k: u32, left: bool) -> u8 {
    let (bytes, bits) = ((k / 8) as u8, k % 8);
    let moved = |n: u8| if left { want >> n } else { (want << n) & 15 };
    let (near, far) = (moved(bytes), moved(bytes + 1));
    if bits == 0 { near } else { near | far }
}

fn unary_operand(op: UnaryOp, want: u8) -> u8 {
    match op {
        UnaryOp::SextB => u8::from(want != 0),
        UnaryOp::SextH => (want & 3) | if want & 12 != 0 { 2 } else { 0 },
        UnaryOp::ZextH => want & 3,
        UnaryOp::Rev8 => want.reverse_bits() >> 4,
        UnaryOp::OrcB => want,
        UnaryOp::Clz | UnaryOp::Ctz | UnaryOp::Cpop => any(want),
    }
}
