//! Which operations begin by loading a register into Q and never read it again: for those the
//! store before and the load can both be left out.

use super::context::Context;
use crate::flow::known;
use crate::ir::{Ir, Src};
use crate::rv::{AluOp, BranchOp, Reg, Width};

/// True when `op` reads `r` exactly once, as the first thing, with [`Context::ldq`].
pub fn takes_first(op: &Ir, r: Reg, cx: &Context<'_>) -> bool {
    let wide = |rd: Reg| crate::flow::mask_of(cx.next_live, rd) > 7;
    match *op {
        Ir::Alu { op: AluOp::Add, rd, a, b: Src::Imm(k) } => {
            // A copy onto itself emits nothing, not even a store that was left out.
            let takes = if k == 0 { rd != a } else { !super::arith::in_place(cx, rd, a, k) };
            a == r && r != Reg::SP && takes && wide(rd)
        }
        Ir::Alu { op: AluOp::Add, rd, a, b: Src::Reg(b) } => {
            (a == r) != (b == r) && wide(rd) && constant(cx, a).is_none() && constant(cx, b).is_none()
        }
        Ir::Alu { op: AluOp::Sub, rd, a, b: Src::Reg(b) } => a == r && b != r && wide(rd) && constant(cx, b).is_none(),
        Ir::Alu { op: AluOp::And | AluOp::Or | AluOp::Xor, rd, a, b: Src::Reg(b) } => {
            // Bytes known in the other operand may make the bytewise form the shorter one.
            let other = if a == r { b } else { a };
            (a == r) != (b == r)
                && crate::flow::mask_of(cx.next_live, rd).count_ones() >= 2
                && known::of(&cx.values, other) == [None; 4]
        }
        Ir::Alu { op: AluOp::Mul | AluOp::Mulhu, a, b: Src::Reg(b), .. } => {
            (a == r) != (b == r) && constant(cx, a).is_none() && constant(cx, b).is_none()
        }
        Ir::Alu { op: AluOp::Sh1add | AluOp::Sh2add | AluOp::Sh3add, rd, a, b: Src::Reg(b) } => {
            a == r && b != r && wide(rd)
        }
        Ir::Alu { op: AluOp::Sll | AluOp::Srl, rd, a, b: Src::Imm(k) } => {
            a == r && (1..7).contains(&k) && crate::flow::mask_of(cx.next_live, rd) == 15
        }
        Ir::Branch { op: BranchOp::Eq | BranchOp::Ne, a, b, .. } => {
            a == r && b != r && b != Reg::ZERO && !cx.zero_from(b, 1)
        }
        Ir::Branch { op: BranchOp::Ltu | BranchOp::Geu, a, b, .. } => a == r && b != r && !cx.zero_from(b, 1),
        Ir::Store { width: Width::Word, src, base, offset: 0 } => src == r && base != r && constant(cx, src).is_none(),
        _ => false,
    }
}

fn constant(cx: &Context<'_>, r: Reg) -> Option<u32> {
    known::word(&cx.values, r)
}
