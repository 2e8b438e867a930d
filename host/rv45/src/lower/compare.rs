//! Comparisons whose result is a value.

use super::branch::signed_less;
use super::context::{Byte, Context};
use crate::asm::Mnemonic as M;
use crate::ir::Src;
use crate::rv::{AluOp, Reg};

/// CMPQ or SBCQ with either kind of operand.
pub fn q_with(cx: &mut Context<'_>, m: M, b: Src) {
    match b {
        Src::Reg(r) => cx.q_op(m, r),
        Src::Imm(k) => cx.q_op_const(m, k),
    }
}

/// rd = carry or its inverse; bytes above are 0.
fn bit_result(cx: &mut Context<'_>, rd: Reg, invert: bool) {
    // LDA keeps the carry; the zeros are stored before A takes the bit.
    cx.out.imm(M::LDA, 0);
    cx.forget(Byte::A);
    for i in 1..4 {
        let skip = cx.peepholes.tracking && cx.known_byte(rd, i) == Some(0);
        let wanted = cx.wanted(rd) & 1 << i != 0 || !cx.peepholes.liveness;
        if wanted && !skip {
            cx.store_always(Byte::A, Context::byte(rd, i));
        }
    }
    cx.a_acc(M::ROL);
    if invert {
        cx.a_imm(M::EOR, 1);
    }
    cx.store(Byte::A, Context::byte(rd, 0));
}

pub fn set_less(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    let unsigned = op == AluOp::Sltu || (non_negative(cx, Src::Reg(a)) && non_negative(cx, b));
    match (op, a, b) {
        (AluOp::Sltu, _, Src::Imm(1)) => return zero_test(cx, rd, a, true),
        (AluOp::Sltu, Reg::ZERO, Src::Reg(b)) => return zero_test(cx, rd, b, false),
        (AluOp::Slt, _, Src::Imm(0)) => {
            cx.load(Byte::A, Context::byte(a, 3));
            cx.a_acc(M::ASL);
            return bit_result(cx, rd, false);
        }
        _ => {}
    }
    if unsigned {
        compare_unsigned(cx, a, b);
        bit_result(cx, rd, true);
    } else {
        cx.ldq(a);
        cx.imp(M::SEC);
        q_with(cx, M::SBCQ, b);
        signed_less(cx);
        cx.a_acc(M::ASL);
        bit_result(cx, rd, false);
    }
}

/// True when the value cannot be negative.
pub fn non_negative(cx: &Context<'_>, v: Src) -> bool {
    match v {
        Src::Imm(k) => (k as i32) >= 0,
        Src::Reg(r) => cx.known_byte(r, 3).is_some_and(|b| b < 0x80),
    }
}

/// C = 1 where a >= b, Z = 1 where equal: on one byte where the rest is 0, else on 32 bits.
pub fn compare_unsigned(cx: &mut Context<'_>, a: Reg, b: Src) {
    let small = |cx: &Context<'_>, v: Src| match v {
        Src::Imm(k) => k < 256,
        Src::Reg(r) => cx.zero_from(r, 1),
    };
    if cx.peepholes.constants && small(cx, Src::Reg(a)) && small(cx, b) {
        cx.load(Byte::A, Context::byte(a, 0));
        match b {
            Src::Imm(k) => cx.a_imm(M::CMP, k as u8),
            Src::Reg(r) => cx.a_bp(M::CMP, Context::byte(r, 0)),
        }
        return;
    }
    cx.ldq(a);
    q_with(cx, M::CMPQ, b);
}

/// rd = (a == 0) or (a != 0).
fn zero_test(cx: &mut Context<'_>, rd: Reg, a: Reg, equal: bool) {
    if cx.zero_from(a, 1) && cx.peepholes.constants {
        cx.load(Byte::A, Context::byte(a, 0));
        cx.a_imm(M::CMP, 1);
    } else {
        cx.ldq(a);
        cx.q_op_const(M::CMPQ, 1);
    }
    // C = 1 where a >= 1.
    bit_result(cx, rd, equal);
}

pub fn extreme(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    let signed = matches!(op, AluOp::Min | AluOp::Max);
    let keep_if_less = matches!(op, AluOp::Min | AluOp::Minu);
    let load_b = |cx: &mut Context<'_>| match b {
        Src::Reg(r) => cx.ldq(r),
        Src::Imm(k) => cx.ldq_const(k),
    };
    if signed && !(non_negative(cx, Src::Reg(a)) && non_negative(cx, b)) {
        cx.ldq(a);
        cx.imp(M::SEC);
        q_with(cx, M::SBCQ, b);
        signed_less(cx);
        let take_a = cx.skip(if keep_if_less { M::BMI } else { M::BPL });
        cx.forget_registers();
        load_b(cx);
        let store = cx.skip(M::BRA);
        cx.out.label(take_a);
        cx.forget_registers();
        cx.ldq(a);
        cx.join(store, &[Byte::A, Byte::X, Byte::Y, Byte::Z]);
    } else {
        cx.ldq(a);
        q_with(cx, M::CMPQ, b);
        let keep = cx.skip(if keep_if_less { M::BCC } else { M::BCS });
        // Flags say nothing about Q here, and A to Z still hold a.
        load_b(cx);
        cx.join(keep, &[Byte::A, Byte::X, Byte::Y, Byte::Z]);
    }
    cx.stq(rd);
}
