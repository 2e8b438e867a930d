//! Constants and moves.

use super::context::{Byte, Context, Mode};
use crate::asm::{Label, Mnemonic as M, Mode as AddrMode, Operand};
use crate::rv::Reg;

/// rd = value.
pub fn load_constant(cx: &mut Context<'_>, rd: Reg, value: u32) {
    let wanted = cx.wanted(rd);
    if wanted == 0 && (cx.peepholes.liveness || rd == Reg::ZERO) {
        return;
    }
    let bytes = value.to_le_bytes();
    let need =
        |i: usize| wanted & 1 << i != 0 && !(cx.peepholes.tracking && cx.known_byte(rd, i as u8) == Some(bytes[i]));
    let stores = (0..4).filter(|&i| need(i)).count();
    let mut distinct: Vec<u8> = (0..4).filter(|&i| need(i)).map(|i| bytes[i]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let held = (0..4).all(|i| cx.held[i].value == Some(bytes[i]) && cx.peepholes.tracking);
    if cx.style == Mode::Size && value <= 0xFFFF && 2 * (stores + distinct.len()) > 6 && !held {
        let [low, high, ..] = bytes;
        if value > 0 {
            cx.load_imm(Byte::A, low);
        }
        if value > 0xFF {
            cx.load_imm(Byte::X, high);
        }
        cx.small(["zero", "byte", "half"][usize::from(value > 0) + usize::from(value > 0xFF)], rd);
        return cx.set(Byte::A, Some(0), 0);
    }
    // Two bytes a value and a store, against LDQ constant; STQ.
    if 2 * (stores + distinct.len()) > if cx.style == Mode::Speed { 12 } else { 8 } {
        cx.ldq_const(value);
        cx.stq(rd);
        return;
    }
    for v in distinct {
        cx.load_imm(Byte::A, v);
        for i in (0..4).filter(|&i| bytes[i] == v) {
            cx.store(Byte::A, Context::byte(rd, i as u8));
        }
    }
}

/// rd = address of code: 16 bits.
pub fn code_address(cx: &mut Context<'_>, rd: Reg, target: Label) {
    if rd == Reg::ZERO || (cx.peepholes.liveness && cx.wanted(rd) == 0) {
        return;
    }
    for (i, operand) in [(0, Operand::Lo(target, 0)), (1, Operand::Hi(target, 0))] {
        cx.push(M::LDA, AddrMode::Immediate, operand);
        cx.forget(Byte::A);
        cx.store(Byte::A, Context::byte(rd, i));
    }
    zero_above(cx, rd, 2);
}

/// Bytes `from..4` of rd = 0; uses A.
pub fn zero_above(cx: &mut Context<'_>, rd: Reg, from: u8) {
    for i in from..4 {
        zero_byte(cx, rd, i);
    }
}

fn zero_byte(cx: &mut Context<'_>, rd: Reg, i: u8) {
    let needed = cx.wanted(rd) & 1 << i != 0 || !cx.peepholes.liveness;
    if rd != Reg::ZERO && needed && !(cx.peepholes.tracking && cx.known_byte(rd, i) == Some(0)) {
        cx.load_imm(Byte::A, 0);
        cx.store(Byte::A, Context::byte(rd, i));
    }
}

/// rd = a.
pub fn copy(cx: &mut Context<'_>, rd: Reg, a: Reg) {
    if rd == a || rd == Reg::ZERO {
        return;
    }
    if let Some(value) = cx.known(a).filter(|_| cx.peepholes.constants) {
        return load_constant(cx, rd, value);
    }
    let wanted = if cx.peepholes.liveness { cx.wanted(rd) } else { 15 };
    if cx.q_holds(a) {
        return cx.stq(rd);
    }
    let cost: u32 = (0..4)
        .filter(|i| wanted & 1 << i != 0)
        .map(|i| match cx.known_byte(a, i) {
            Some(v) if cx.known_byte(rd, i) == Some(v) && cx.peepholes.tracking => 0,
            Some(_) => 2,
            None => 4,
        })
        .sum();
    if cost + u32::from(cost % 4 != 0) * 2 > 8 {
        cx.ldq(a);
        cx.stq(rd);
        return;
    }
    // Copied bytes first: zeros at the end may share one LDA.
    let mut order: Vec<u8> = (0..4).filter(|i| wanted & 1 << i != 0).collect();
    order.sort_by_key(|&i| cx.known_byte(a, i).is_some());
    for i in order {
        if cx.known_byte(a, i).is_some() && cx.known_byte(a, i) == cx.known_byte(rd, i) && cx.peepholes.tracking {
            continue;
        }
        cx.load(Byte::A, Context::byte(a, i));
        cx.store(Byte::A, Context::byte(rd, i));
    }
}
