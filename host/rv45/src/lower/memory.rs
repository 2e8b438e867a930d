//! Loads and stores, all through 28-bit pointers.

use super::cells::{W0, W4, cell};
use super::constant::zero_above;
use super::context::{Byte, Context, Mode};
use crate::asm::{Mnemonic as M, Mode as AddrMode, Operand};
use crate::rv::{Reg, Width};

/// Makes `offset(base)` a pointer cell and a Z that reach `bytes` bytes.
fn address(cx: &mut Context<'_>, base: Reg, offset: i32, bytes: i32) -> (u8, u8) {
    if (0..=256 - bytes).contains(&offset) {
        return (cell(base), offset as u8);
    }
    pointer(cx, base, offset);
    (if base == Reg::SP { W4 } else { W0 }, 0)
}

/// W0 (or W4 for sp) = base + offset.
fn pointer(cx: &mut Context<'_>, base: Reg, offset: i32) {
    if base == Reg::SP {
        // The bank in W4's upper half is preset.
        let sp = cell(Reg::SP);
        cx.load(Byte::A, sp);
        cx.imp(M::CLC);
        cx.a_imm(M::ADC, offset as u8);
        cx.store_always(Byte::A, W4);
        cx.load(Byte::A, sp + 1);
        cx.a_imm(M::ADC, (offset >> 8) as u8);
        cx.store_always(Byte::A, W4 + 1);
        return;
    }
    cx.ldq(base);
    cx.imp(M::CLC);
    cx.q_op_const(M::ADCQ, offset as u32);
    cx.out.bp(M::STQ, W0);
    cx.forget_registers();
}

fn flat(cx: &mut Context<'_>, m: M, pointer: u8) {
    cx.push(m, AddrMode::FlatZ, Operand::Byte(pointer));
}

/// rd = memory.
pub fn load(cx: &mut Context<'_>, width: Width, rd: Reg, base: Reg, offset: i32) {
    let wanted = if cx.peepholes.liveness || rd == Reg::ZERO { cx.wanted(rd) } else { 15 };
    let width = match (width, wanted) {
        // Upper bytes that nobody reads need not be right.
        (Width::Byte, m) if m <= 1 => Width::ByteUnsigned,
        (Width::Half, m) if m <= 3 => Width::HalfUnsigned,
        _ => width,
    };
    let (at, z) = address(cx, base, offset, width.bytes() as i32);
    match width {
        Width::Word | Width::HalfUnsigned if wanted == 1 => {
            cx.load_imm(Byte::Z, z);
            flat(cx, M::LDA, at);
            cx.forget(Byte::A);
            cx.store(Byte::A, cell(rd));
        }
        Width::Word => {
            cx.load_imm(Byte::Z, z);
            flat(cx, M::LDQ, at);
            cx.forget_registers();
            cx.stq(rd);
        }
        Width::ByteUnsigned => {
            cx.load_imm(Byte::Z, z);
            flat(cx, M::LDA, at);
            cx.forget(Byte::A);
            cx.store(Byte::A, Context::byte(rd, 0));
            zero_above(cx, rd, 1);
        }
        Width::Byte => {
            cx.load_imm(Byte::X, 0xFF);
            cx.load_imm(Byte::Z, z);
            flat(cx, M::LDA, at);
            cx.forget(Byte::A);
            let negative = cx.skip(M::BMI);
            cx.out.imp(M::INX);
            cx.join(negative, &[Byte::X]);
            cx.store(Byte::A, Context::byte(rd, 0));
            for i in 1..4 {
                cx.store(Byte::X, Context::byte(rd, i));
            }
        }
        Width::HalfUnsigned | Width::Half => {
            halfword(cx, at, z);
            if width == Width::HalfUnsigned && wanted > 7 && !(cx.zero_from(rd, 2) && cx.peepholes.tracking) {
                // Leaves the whole value in Q.
                cx.load_imm(Byte::Y, 0);
                cx.load_imm(Byte::Z, 0);
                return cx.stq(rd);
            }
            cx.store(Byte::A, Context::byte(rd, 0));
            cx.store(Byte::X, Context::byte(rd, 1));
            if width == Width::HalfUnsigned {
                zero_above(cx, rd, 2);
            } else {
                cx.load_imm(Byte::Y, 0xFF);
                cx.transfer(M::TXA);
                let negative = cx.skip(M::BMI);
                cx.out.imp(M::INY);
                cx.join(negative, &[Byte::Y]);
                cx.store(Byte::Y, Context::byte(rd, 2));
                cx.store(Byte::Y, Context::byte(rd, 3));
            }
        }
    }
}

/// A and X = the halfword; what lies after it is not touched in I/O's sense only by being read.
fn halfword(cx: &mut Context<'_>, at: u8, z: u8) {
    cx.load_imm(Byte::Z, z);
    flat(cx, M::LDQ, at);
    cx.forget_registers();
}

/// memory = src.
pub fn store(cx: &mut Context<'_>, width: Width, src: Reg, base: Reg, offset: i32) {
    match width {
        Width::Byte | Width::ByteUnsigned => {
            let (at, z) = address(cx, base, offset, 1);
            cx.load_imm(Byte::Z, z);
            cx.load(Byte::A, cell(src));
            flat(cx, M::STA, at);
        }
        Width::Half | Width::HalfUnsigned => {
            let (at, z) = address(cx, base, offset, 2);
            cx.load_imm(Byte::Z, z);
            cx.load(Byte::A, cell(src));
            flat(cx, M::STA, at);
            next_z(cx);
            cx.load(Byte::A, cell(src) + 1);
            flat(cx, M::STA, at);
        }
        Width::Word => store_word(cx, src, base, offset),
    }
}

fn next_z(cx: &mut Context<'_>) {
    cx.out.imp(M::INZ);
    cx.forget(Byte::Z);
}

fn store_word(cx: &mut Context<'_>, src: Reg, base: Reg, offset: i32) {
    let bytes: Option<[u8; 4]> = cx.known(src).map(u32::to_le_bytes);
    let uniform = bytes.is_some_and(|b| b.iter().all(|&x| x == b[0]));
    if offset == 0 {
        cx.ldq(src);
        cx.push(M::STQ, AddrMode::FlatQ, Operand::Byte(cell(base)));
        return;
    }
    if uniform && cx.style == Mode::Speed && (0..=252).contains(&offset) {
        return store_bytes(cx, src, base, offset as u8);
    }
    if cx.style != Mode::Speed && (0..=252).contains(&offset) {
        if base == Reg::SP && src != Reg::ZERO && cx.style == Mode::Size {
            // The most frequent base: a routine per source as well.
            cx.load_imm(Byte::Z, offset as u8);
            cx.helper(&format!("rv_spill_{src}"));
            return;
        }
        // LDX #source; LDZ #offset; JSR: a routine per base register.
        cx.load_imm(Byte::X, cell(src));
        cx.load_imm(Byte::Z, offset as u8);
        cx.helper(&format!("rv_sw_{base}"));
        return;
    }
    pointer(cx, base, offset);
    cx.ldq(src);
    cx.push(M::STQ, AddrMode::FlatQ, Operand::Byte(if base == Reg::SP { W4 } else { W0 }));
}

fn store_bytes(cx: &mut Context<'_>, src: Reg, base: Reg, offset: u8) {
    cx.load_imm(Byte::Z, offset);
    for i in 0..4 {
        if i > 0 {
            next_z(cx);
        }
        cx.load(Byte::A, Context::byte(src, i));
        flat(cx, M::STA, cell(base));
    }
}
