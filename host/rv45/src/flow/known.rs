//! Which register bytes in memory have a value that is known before the program runs.
//!
//! Only bytes that are stored count: a byte that nothing reads may be left unwritten by the
//! translation, so it is unknown from there on, whatever the program means by it.

use super::live::Live;
use super::{Bytes, Graph, PRESERVED, mask_of};
use crate::ir::{Function, Ir, Src};
use crate::rv::{AluOp, Reg, UnaryOp, Width};

/// Values of the 128 register bytes, where known.
pub type Values = [Option<u8>; 128];

/// Nothing known but x0.
pub fn nothing() -> Values {
    let mut values = [None; 128];
    values[..4].fill(Some(0));
    values
}

/// The known bytes of a register.
pub fn of(values: &Values, r: Reg) -> [Option<u8>; 4] {
    let at = usize::from(r.0) * 4;
    [values[at], values[at + 1], values[at + 2], values[at + 3]]
}

/// The whole register, where all bytes are known.
pub fn word(values: &Values, r: Reg) -> Option<u32> {
    let [a, b, c, d] = of(values, r);
    Some(u32::from_le_bytes([a?, b?, c?, d?]))
}

/// Known bytes at the start of each block.
pub fn analyse(function: &Function, graph: &Graph, live: &Live) -> Vec<Values> {
    let mut at: Vec<Option<Values>> = vec![None; graph.blocks.len()];
    if let Some(first) = at.first_mut() {
        *first = Some(nothing());
    }
    let mut todo = vec![0];
    while let Some(i) = todo.pop() {
        let (Some(block), Some(Some(mut values))) = (graph.blocks.get(i), at.get(i).copied()) else { continue };
        for j in block.start..block.end {
            step(&function.lines[j].op, &mut values, live.after[j]);
        }
        for &next in &block.next {
            let merged = at[next].map_or(values, |old| meet(&old, &values));
            if at[next] != Some(merged) {
                at[next] = Some(merged);
                todo.push(next);
            }
        }
    }
    at.into_iter().map(|v| v.unwrap_or_else(nothing)).collect()
}

fn meet(a: &Values, b: &Values) -> Values {
    std::array::from_fn(|i| if a[i] == b[i] { a[i] } else { None })
}

/// Known bytes after `op`; `live` are the bytes read later.
pub fn step(op: &Ir, values: &mut Values, live: Bytes) {
    if let Some(rd) = op.def() {
        if rd != Reg::ZERO {
            let result = result(op, values);
            let mask = mask_of(live, rd);
            for (i, byte) in result.into_iter().enumerate() {
                values[usize::from(rd.0) * 4 + i] = byte.filter(|_| mask & 1 << i != 0);
            }
        }
        return;
    }
    match op {
        Ir::Call { .. } | Ir::CallReg { .. } | Ir::Ecall => {
            for r in (1..32).map(Reg) {
                if mask_of(PRESERVED, r) == 0 {
                    forget(values, r);
                }
            }
        }
        Ir::Save { .. } => forget(values, Reg::SP),
        Ir::Leave { .. } => {
            for r in (1..32).map(Reg).filter(|&r| mask_of(PRESERVED, r) != 0) {
                forget(values, r);
            }
        }
        _ => {}
    }
}

fn forget(values: &mut Values, r: Reg) {
    let at = usize::from(r.0) * 4;
    values[at..at + 4].fill(None);
}

fn whole(value: u32) -> [Option<u8>; 4] {
    value.to_le_bytes().map(Some)
}

/// The bytes of the result of `op` that follow from what is known.
pub fn result(op: &Ir, values: &Values) -> [Option<u8>; 4] {
    const NONE: [Option<u8>; 4] = [None; 4];
    let zero_above = |n: usize| std::array::from_fn(|i| if i < n { None } else { Some(0) });
    match *op {
        Ir::Li { value, .. } => whole(value),
        Ir::CodeAddr { .. } => [None, None, Some(0), Some(0)],
        Ir::Digits { .. } | Ir::Load { width: Width::ByteUnsigned, .. } => zero_above(1),
        Ir::Load { width: Width::HalfUnsigned, .. } => zero_above(2),
        Ir::Alu { op, a, b, .. } => {
            let va = of(values, a);
            let vb = match b {
                Src::Imm(k) => whole(k),
                Src::Reg(r) => of(values, r),
            };
            alu(op, va, vb)
        }
        Ir::Unary { op, a, .. } => {
            let va = of(values, a);
            if let Some(value) = joined(va) {
                return whole(op.eval(value));
            }
            match op {
                UnaryOp::ZextH => [va[0], va[1], Some(0), Some(0)],
                UnaryOp::Rev8 => [va[3], va[2], va[1], va[0]],
                UnaryOp::Clz | UnaryOp::Ctz | UnaryOp::Cpop => zero_above(1),
                UnaryOp::SextB => [va[0], None, None, None],
                UnaryOp::SextH => [va[0], va[1], None, None],
                UnaryOp::OrcB => va.map(|b| b.map(|b| if b == 0 { 0 } else { 0xFF })),
            }
        }
        _ => NONE,
    }
}

fn joined(v: [Option<u8>; 4]) -> Option<u32> {
    Some(u32::from_le_bytes([v[0]?, v[1]?, v[2]?, v[3]?]))
}

fn alu(op: AluOp, a: [Option<u8>; 4], b: [Option<u8>; 4]) -> [Option<u8>; 4] {
    if let (Some(x), Some(y)) = (joined(a), joined(b)) {
        return whole(op.eval(x, y));
    }
    let pick = |f: &dyn Fn(Option<u8>, Option<u8>) -> Option<u8>| std::array::from_fn(|i| f(a[i], b[i]));
    match op {
        AluOp::And => pick(&|x, y| match (x, y) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (Some(0xFF), other) | (other, Some(0xFF)) => other,
            (Some(x), Some(y)) => Some(x & y),
            _ => None,
        }),
        AluOp::Or => pick(&|x, y| match (x, y) {
            (Some(0xFF), _) | (_, Some(0xFF)) => Some(0xFF),
            (Some(0), other) | (other, Some(0)) => other,
            (Some(x), Some(y)) => Some(x | y),
            _ => None,
        }),
        AluOp::Xor => pick(&|x, y| Some(x? ^ y?)),
        AluOp::Slt | AluOp::Sltu => [None, Some(0), Some(0), Some(0)],
        AluOp::Add if joined(b) == Some(0) => a,
        AluOp::Sll | AluOp::Srl => match joined(b) {
            Some(k) => shift(a, k & 31, op == AluOp::Sll),
            None => [None; 4],
        },
        AluOp::Remu | AluOp::Minu => {
            // Not above the second operand.
            match joined(b) {
                Some(n) if n > 0 => std::array::from_fn(|i| if (n >> (8 * i)) == 0 { Some(0) } else { None }),
                _ => [None; 4],
            }
        }
        _ => [None; 4],
    }
}

fn shift(a: [Option<u8>; 4], k: u32, left: bool) -> [Option<u8>; 4] {
    let (bytes, bits) = ((k / 8) as i32, k % 8);
    let at = |i: i32| if (0..4).contains(&i) { a[i as usize] } else { Some(0) };
    std::array::from_fn(|i| {
        let i = i as i32;
        let (near, far) = if left { (at(i - bytes), at(i - bytes - 1)) } else { (at(i + bytes), at(i + bytes + 1)) };
        match (bits, near, far) {
            (0, near, _) => near,
            (_, Some(near), Some(far)) if left => Some((u16::from(near) << bits | u16::from(far) >> (8 - bits)) as u8),
            (_, Some(near), Some(far)) => Some((near >> bits) | ((u16::from(far) << (8 - bits)) as u8)),
            _ => None,
        }
    })
}
