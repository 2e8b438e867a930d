//! Shifts and rotations.

use super::constant::{copy, zero_above};
use super::context::{Byte, Context};
use crate::asm::Mnemonic as M;
use crate::lower::cells::cell;
use crate::rv::{AluOp, Reg};

/// Loads A, X, Y, Z with the given bytes of `r` (4 and above: 0).
pub fn load_bytes(cx: &mut Context<'_>, r: Reg, bytes: [u8; 4]) {
    let targets = [Byte::A, Byte::X, Byte::Y, Byte::Z];
    // Z is reached through A only, so it comes first and A last.
    match bytes[3] {
        i @ 0..=3 => {
            cx.load(Byte::A, Context::byte(r, i));
            cx.transfer(M::TAZ);
        }
        _ => cx.load_imm(Byte::Z, 0),
    }
    for n in [2, 1, 0] {
        match bytes[n] {
            i @ 0..=3 => cx.load(targets[n], Context::byte(r, i)),
            _ => cx.load_imm(targets[n], 0),
        }
    }
}

/// rd = a shifted by a constant.
pub fn constant(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, k: u32) {
    if k == 0 {
        return copy(cx, rd, a);
    }
    match op {
        AluOp::Sll => left(cx, rd, a, k),
        AluOp::Srl => right(cx, rd, a, k),
        AluOp::Sra => arithmetic(cx, rd, a, k),
        AluOp::Ror => rotate(cx, rd, a, (32 - k) & 31),
        _ => rotate(cx, rd, a, k),
    }
}

fn repeat(cx: &mut Context<'_>, m: M, n: u32) {
    for _ in 0..n {
        cx.q_acc(m);
    }
}

/// The single byte that is read later, where it is only one.
fn only_byte(cx: &Context<'_>, rd: Reg) -> Option<u8> {
    let wanted = cx.wanted(rd);
    (cx.peepholes.liveness && wanted.count_ones() == 1).then(|| wanted.trailing_zeros() as u8)
}

fn left(cx: &mut Context<'_>, rd: Reg, a: Reg, k: u32) {
    let (m, r) = ((k / 8) as u8, k % 8);
    if let Some(i) = only_byte(cx, rd)
        && (i == m || r == 0)
    {
        // The byte comes from one byte of the source alone.
        if i < m {
            return zero_byte(cx, rd, i);
        }
        cx.load(Byte::A, Context::byte(a, i - m));
        (0..r).for_each(|_| cx.a_acc(M::ASL));
        return cx.store(Byte::A, Context::byte(rd, i));
    }
    if k == 1 && rd == a && !cx.q_holds(a) && !cx.zero_from(a, 1) {
        cx.out.bp(M::ASLQ, cell(rd));
        return cx.touch_register(rd);
    }
    match (m, r) {
        (0, 7) | (1, 7) | (2, 7) => {
            // One rotation to the right of what lies a byte higher.
            let bytes = [[0, 1, 2], [9, 0, 1], [9, 9, 0]][usize::from(m)];
            cx.load(Byte::A, Context::byte(a, 3 - m));
            cx.a_acc(M::LSR);
            load_shifted(cx, a, [9, bytes[0], bytes[1], bytes[2]]);
            cx.q_acc(M::RORQ);
            cx.stq(rd);
        }
        (3, 7) => {
            cx.load(Byte::A, Context::byte(a, 0));
            cx.a_acc(M::LSR);
            cx.load_imm_keeping_carry(Byte::A, 0);
            cx.a_acc(M::ROR);
            cx.store(Byte::A, Context::byte(rd, 3));
            low_zeros(cx, rd, 3);
        }
        (0, _) => {
            cx.ldq(a);
            repeat(cx, M::ASLQ, r);
            cx.stq(rd);
        }
        (3, _) => {
            cx.load(Byte::A, Context::byte(a, 0));
            (0..r).for_each(|_| cx.a_acc(M::ASL));
            cx.store(Byte::A, Context::byte(rd, 3));
            low_zeros(cx, rd, 3);
        }
        (2, 0) => {
            move_byte(cx, rd, 3, a, 1);
            move_byte(cx, rd, 2, a, 0);
            low_zeros(cx, rd, 2);
        }
        _ => {
            let at = |i: u8| if i >= m { i - m } else { 9 };
            load_bytes(cx, a, [at(0), at(1), at(2), at(3)]);
            repeat(cx, M::ASLQ, r);
            cx.stq(rd);
        }
    }
}

/// Like [`load_bytes`], keeping the carry.
fn load_shifted(cx: &mut Context<'_>, a: Reg, bytes: [u8; 4]) {
    // Loads, transfers and counts leave the carry alone.
    load_bytes(cx, a, bytes);
}

fn move_byte(cx: &mut Context<'_>, rd: Reg, to: u8, a: Reg, from: u8) {
    let wanted = cx.wanted(rd) & 1 << to != 0 || !cx.peepholes.liveness;
    if wanted && (rd, to) != (a, from) {
        cx.load(Byte::A, Context::byte(a, from));
        cx.store(Byte::A, Context::byte(rd, to));
    }
}

fn zero_byte(cx: &mut Context<'_>, rd: Reg, i: u8) {
    let wanted = cx.wanted(rd) & 1 << i != 0 || !cx.peepholes.liveness;
    if wanted && !(cx.peepholes.tracking && cx.known_byte(rd, i) == Some(0)) {
        cx.load_imm(Byte::A, 0);
        cx.store(Byte::A, Context::byte(rd, i));
    }
}

fn low_zeros(cx: &mut Context<'_>, rd: Reg, n: u8) {
    (0..n).for_each(|i| zero_byte(cx, rd, i));
}

fn right(cx: &mut Context<'_>, rd: Reg, a: Reg, k: u32) {
    let (m, r) = ((k / 8) as u8, k % 8);
    let upper_zero = (m + 1..4).all(|i| cx.known_byte(a, i) == Some(0));
    let only = only_byte(cx, rd);
    if r == 0 {
        // Bytes move; ascending order never overwrites one that is still to be read.
        for i in 0..4 - m {
            move_byte(cx, rd, i, a, i + m);
        }
        return zero_above(cx, rd, 4 - m);
    }
    if m == 3 || upper_zero || (only == Some(3 - m) && m < 4) {
        // One byte of the source is left.
        let (from, to) = if m == 3 || upper_zero { (m, 0) } else { (3, 3 - m) };
        cx.load(Byte::A, Context::byte(a, from));
        if r == 7 {
            cx.a_acc(M::ASL);
            cx.load_imm_keeping_carry(Byte::A, 0);
            cx.a_acc(M::ROL);
        } else {
            (0..r).for_each(|_| cx.a_acc(M::LSR));
        }
        cx.store(Byte::A, Context::byte(rd, to));
        if to == 0 {
            zero_above(cx, rd, 1);
        }
        return;
    }
    if k == 1 && rd == a && !cx.q_holds(a) {
        cx.out.bp(M::LSRQ, cell(rd));
        return cx.touch_register(rd);
    }
    let at = |i: u8| if i + m < 4 { i + m } else { 9 };
    if r == 7 {
        // One rotation to the left of what lies a byte lower.
        cx.load(Byte::A, Context::byte(a, m));
        cx.a_acc(M::ASL);
        load_bytes(cx, a, [at(1), at(2), at(3), 9]);
        cx.q_acc(M::ROLQ);
        return cx.stq(rd);
    }
    if m == 0 {
        cx.ldq(a);
    } else {
        load_bytes(cx, a, [at(0), at(1), at(2), at(3)]);
    }
    repeat(cx, M::LSRQ, r);
    cx.stq(rd);
}

fn arithmetic(cx: &mut Context<'_>, rd: Reg, a: Reg, k: u32) {
    if cx.known_byte(a, 3).is_some_and(|b| b < 0x80) {
        return right(cx, rd, a, k);
    }
    let (m, r) = ((k / 8) as u8, k % 8);
    if k == 1 && rd == a && !cx.q_holds(a) {
        cx.out.bp(M::ASRQ, cell(rd));
        return cx.touch_register(rd);
    }
    if k == 31 || m == 3 {
        cx.load_imm(Byte::X, 0xFF);
        cx.load_flags(Byte::A, Context::byte(a, 3));
        let negative = cx.skip(M::BMI);
        cx.out.imp(M::INX);
        cx.join(negative, &[Byte::X]);
        if k == 31 {
            cx.store(Byte::X, Context::byte(rd, 0));
        } else {
            (0..r).for_each(|_| cx.a_acc(M::ASR));
            cx.store(Byte::A, Context::byte(rd, 0));
        }
        for i in 1..4 {
            cx.store(Byte::X, Context::byte(rd, i));
        }
        return;
    }
    if m == 0 {
        cx.ldq(a);
    } else {
        // The bytes that remain, and the sign above them.
        if m == 1 {
            cx.load(Byte::A, Context::byte(a, 1));
            cx.load(Byte::X, Context::byte(a, 2));
            cx.load_imm(Byte::Z, 0xFF);
            cx.load_flags(Byte::Y, Context::byte(a, 3));
            let negative = cx.skip(M::BMI);
            cx.out.imp(M::INZ);
            cx.join(negative, &[Byte::Z]);
        } else {
            cx.load(Byte::A, Context::byte(a, 2));
            cx.load_imm(Byte::Z, 0xFF);
            cx.load_flags(Byte::X, Context::byte(a, 3));
            let negative = cx.skip(M::BMI);
            cx.out.imp(M::INZ);
            cx.join(negative, &[Byte::Z]);
            // Y = Z; there is no direct transfer that spares A, so once more by the sign.
            cx.load_imm(Byte::Y, 0xFF);
            cx.load_flags(Byte::X, Context::byte(a, 3));
            let negative = cx.skip(M::BMI);
            cx.out.imp(M::INY);
            cx.join(negative, &[Byte::Y]);
        }
    }
    repeat(cx, M::ASRQ, r);
    cx.stq(rd);
}

/// Rotation to the left.
fn rotate(cx: &mut Context<'_>, rd: Reg, a: Reg, k: u32) {
    if k == 0 {
        return copy(cx, rd, a);
    }
    let (m, r) = ((k / 8) as u8, k % 8);
    if m == 0 {
        cx.ldq(a);
    } else {
        let at = |i: u8| (i + 4 - m) & 3;
        load_bytes(cx, a, [at(0), at(1), at(2), at(3)]);
    }
    for _ in 0..r {
        // Bit 0 is clear after ASLQ, so adding the carry completes the rotation.
        cx.q_acc(M::ASLQ);
        cx.a_imm(M::ADC, 0);
    }
    cx.stq(rd);
}

/// rd = a shifted by a register.
pub fn variable(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Reg) {
    let name = match op {
        AluOp::Sll => "rv_sll",
        AluOp::Srl => "rv_srl",
        AluOp::Sra => "rv_sra",
        AluOp::Rol => "rv_rol",
        _ => "rv_ror",
    };
    cx.ldq(a);
    cx.out.abs(M::STQ, super::multiply::MUL_A);
    cx.load(Byte::A, Context::byte(b, 0));
    cx.helper(name);
    cx.stq(rd);
}
