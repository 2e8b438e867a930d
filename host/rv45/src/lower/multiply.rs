//! Multiplication and division.

use super::cells::W1;
use super::context::{Context, Mode};
use crate::asm::Mnemonic as M;
use crate::ir::Src;
use crate::rv::{AluOp, Reg};

/// Multiplier input A and B, product.
pub const MUL_A: u16 = 0xD770;

/// Multiplier input B.
pub const MUL_B: u16 = 0xD774;

/// Low word of the product; the high word follows.
pub const PRODUCT: u16 = 0xD778;

pub fn multiply(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    let load = |cx: &mut Context<'_>, v: Src| match v {
        Src::Reg(r) => cx.ldq(r),
        Src::Imm(k) => cx.ldq_const(k),
    };
    cx.ldq(a);
    cx.out.abs(M::STQ, MUL_A);
    if b != Src::Reg(a) {
        load(cx, b);
    }
    if cx.style != Mode::Speed && op == AluOp::Mul {
        cx.helper("rv_mul");
    } else {
        cx.out.abs(M::STQ, MUL_B);
        cx.out.abs(M::LDQ, if op == AluOp::Mul { PRODUCT } else { PRODUCT + 4 });
        cx.forget_registers();
    }
    cx.stq(rd);
}

pub fn two_operand_helper(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    if let Src::Imm(k) = b
        && matches!(op, AluOp::Divu | AluOp::Remu)
        && constant_division(cx, op, rd, a, k)
    {
        return;
    }
    let name = match op {
        AluOp::Mulh => "rv_mulh",
        AluOp::Mulhsu => "rv_mulhsu",
        AluOp::Div => "rv_div",
        AluOp::Divu => "rv_divu",
        AluOp::Rem => "rv_rem",
        _ => "rv_remu",
    };
    cx.ldq(a);
    cx.out.bp(M::STQ, W1);
    match b {
        Src::Reg(r) => cx.ldq(r),
        Src::Imm(k) => cx.ldq_const(k),
    }
    cx.helper(name);
    cx.stq(rd);
}

/// Multiplier and shift with which every 32-bit number is divided by `k`: the upper word of the
/// product, shifted right. `None` where 32 bits are not enough for the multiplier.
fn reciprocal(k: u32) -> Option<(u32, u32)> {
    if k < 3 || k.is_power_of_two() {
        return None;
    }
    let shift = 31 - k.leading_zeros();
    let power = 1u64 << (32 + shift);
    let multiplier = power / u64::from(k) + 1;
    // Exact for all n when the excess times n stays below one unit.
    let excess = multiplier * u64::from(k) - power;
    (excess <= 1 << shift && multiplier <= u64::from(u32::MAX)).then_some((multiplier as u32, shift))
}

/// Division by a constant as a multiplication: always where speed matters, by 10 everywhere.
fn constant_division(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, k: u32) -> bool {
    if k == 10 && cx.style != Mode::Speed {
        cx.ldq(a);
        cx.helper(if op == AluOp::Divu { "rv_divu10" } else { "rv_remu10" });
        cx.stq(rd);
        return true;
    }
    let Some((multiplier, shift)) = reciprocal(k).filter(|_| cx.style == Mode::Speed) else { return false };
    cx.ldq(a);
    cx.out.abs(M::STQ, MUL_A);
    cx.ldq_const(multiplier);
    cx.out.abs(M::STQ, MUL_B);
    cx.out.abs(M::LDQ, PRODUCT + 4);
    cx.forget_registers();
    for _ in 0..shift {
        cx.q_acc(M::LSRQ);
    }
    if op == AluOp::Remu {
        cx.out.abs(M::STQ, MUL_A);
        cx.ldq_const(k);
        cx.out.abs(M::STQ, MUL_B);
        cx.forget_registers();
        cx.ldq(a);
        cx.imp(M::SEC);
        cx.out.abs(M::SBCQ, PRODUCT);
        cx.forget_registers();
    }
    cx.stq(rd);
    true
}
