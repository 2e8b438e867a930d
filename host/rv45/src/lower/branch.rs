//! Conditional branches.

use super::compare::{compare_unsigned, non_negative, q_with};
use super::context::{Byte, Context};
use super::threaded;
use crate::asm::{Label, Mnemonic as M};
use crate::ir::Src;
use crate::rv::{BranchOp, Reg};

/// After SBCQ: A's bit 7 and N tell whether the difference is negative, overflow considered.
pub fn signed_less(cx: &mut Context<'_>) {
    cx.out.imp(M::TZA);
    cx.forget(Byte::A);
    let fine = cx.skip(M::BVC);
    cx.out.imm(M::EOR, 0x80);
    cx.out.label(fine);
}

/// A branch to `target` where `a op b`.
pub fn branch(cx: &mut Context<'_>, op: BranchOp, a: Reg, b: Reg, target: Label) {
    if let (Some(x), Some(y)) = (cx.known(a), cx.known(b)) {
        // Both operands are known (x0 with itself, at least).
        if op.eval(x, y) {
            cx.out.branch(M::BRA, target);
        }
        return;
    }
    match op {
        BranchOp::Eq | BranchOp::Ne => equality(cx, op, a, b, target),
        BranchOp::Ltu | BranchOp::Geu => unsigned(cx, op, a, b, target),
        BranchOp::Lt | BranchOp::Ge => signed(cx, op, a, b, target),
    }
}

fn equality(cx: &mut Context<'_>, op: BranchOp, a: Reg, b: Reg, target: Label) {
    let m = if op == BranchOp::Eq { M::BEQ } else { M::BNE };
    let (a, b) = if cx.known(a).is_some() || (cx.q_holds(b) && !cx.q_holds(a)) { (b, a) } else { (a, b) };
    let constant = cx.known(b).filter(|_| cx.peepholes.constants || b == Reg::ZERO);
    if constant == Some(0) {
        if cx.peepholes.constants && cx.zero_from(a, 1) {
            if !cx.flags_show(&[M::INC, M::DEC], Context::byte(a, 0)) {
                cx.load_flags(Byte::A, Context::byte(a, 0));
            }
        } else if !cx.flags_show(&[M::INQ, M::DEQ, M::LDQ], Context::byte(a, 0)) {
            cx.ldq_flags(a);
        }
    } else if cx.peepholes.constants
        && (1..4).all(|i| cx.known_byte(a, i).is_some() && cx.known_byte(a, i) == cx.known_byte(b, i))
    {
        cx.load(Byte::A, Context::byte(a, 0));
        cx.a_bp(M::CMP, Context::byte(b, 0));
    } else if constant.is_some() || !threaded::compare(cx, a, b) {
        cx.ldq(a);
        cx.q_op(M::CMPQ, b);
    }
    cx.out.branch(m, target);
}

fn unsigned(cx: &mut Context<'_>, op: BranchOp, a: Reg, b: Reg, target: Label) {
    let less = op == BranchOp::Ltu;
    if let Some(x) = cx.known(a).filter(|_| cx.peepholes.constants || a == Reg::ZERO) {
        if x == 0 {
            // 0 < b: b is not 0.
            return equality(cx, if less { BranchOp::Ne } else { BranchOp::Eq }, b, Reg::ZERO, target);
        }
        if x < u32::MAX && cx.peepholes.constants {
            // x < b is b >= x + 1: the constant goes to the right.
            compare_unsigned(cx, b, Src::Imm(x + 1));
            cx.out.branch(if less { M::BCS } else { M::BCC }, target);
            return;
        }
    }
    let b = match cx.known(b).filter(|_| cx.peepholes.constants) {
        Some(k) => Src::Imm(k),
        None => Src::Reg(b),
    };
    compare_unsigned(cx, a, b);
    cx.out.branch(if less { M::BCC } else { M::BCS }, target);
}

fn signed(cx: &mut Context<'_>, op: BranchOp, a: Reg, b: Reg, target: Label) {
    let less = op == BranchOp::Lt;
    if cx.known(b) == Some(0) {
        // The sign of a alone.
        cx.load_flags(Byte::A, Context::byte(a, 3));
        cx.out.branch(if less { M::BMI } else { M::BPL }, target);
        return;
    }
    if cx.known(a) == Some(0) {
        cx.ldq_flags(b);
        if less {
            let negative = cx.skip(M::BMI);
            cx.out.branch(M::BNE, target);
            cx.out.label(negative);
        } else {
            cx.out.branch(M::BMI, target);
            cx.out.branch(M::BEQ, target);
        }
        return;
    }
    let right = match cx.known(b).filter(|_| cx.peepholes.constants) {
        Some(k) => Src::Imm(k),
        None => Src::Reg(b),
    };
    if cx.peepholes.constants && non_negative(cx, Src::Reg(a)) && non_negative(cx, right) {
        compare_unsigned(cx, a, right);
        cx.out.branch(if less { M::BCC } else { M::BCS }, target);
        return;
    }
    cx.ldq(a);
    cx.imp(M::SEC);
    q_with(cx, M::SBCQ, right);
    signed_less(cx);
    cx.out.branch(if less { M::BMI } else { M::BPL }, target);
}
