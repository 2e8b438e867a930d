//! Addition and subtraction; which operation goes where.

use super::cells::cell;
use super::compare::{extreme, set_less};
use super::constant::{copy, zero_above};
use super::context::{Byte, Context, Mode};
use super::control::check_stacks;
use super::logic::{inverted_logic, logic};
use super::multiply::{multiply, two_operand_helper};
use super::shift;
use crate::asm::Mnemonic as M;
use crate::ir::Src;
use crate::rv::{AluOp, Reg, UnaryOp};

/// rd = a op b.
pub fn alu(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    if rd == Reg::ZERO || (cx.peepholes.liveness && cx.wanted(rd) == 0) {
        return;
    }
    let b = match b {
        Src::Reg(r) => match cx.known(r).filter(|_| cx.peepholes.constants) {
            Some(value) => Src::Imm(value),
            None => b,
        },
        Src::Imm(_) => b,
    };
    let (a, b) = match (cx.known(a).filter(|_| cx.peepholes.constants), b) {
        (Some(value), Src::Reg(r)) if op.commutes() => (r, Src::Imm(value)),
        (None, Src::Reg(r)) if op.commutes() && cx.q_holds(r) && !cx.q_holds(a) => (r, Src::Reg(a)),
        _ => (a, b),
    };
    match op {
        AluOp::Add => add(cx, rd, a, b),
        AluOp::Sub => match b {
            Src::Imm(k) => add(cx, rd, a, Src::Imm(k.wrapping_neg())),
            Src::Reg(r) => subtract(cx, rd, a, r),
        },
        AluOp::And | AluOp::Or | AluOp::Xor => logic(cx, op, rd, a, b),
        AluOp::Andn | AluOp::Orn | AluOp::Xnor => inverted_logic(cx, op, rd, a, b),
        AluOp::Slt | AluOp::Sltu => set_less(cx, op, rd, a, b),
        AluOp::Min | AluOp::Max | AluOp::Minu | AluOp::Maxu => extreme(cx, op, rd, a, b),
        AluOp::Sh1add | AluOp::Sh2add | AluOp::Sh3add => shift_add(cx, op, rd, a, b),
        AluOp::Mul | AluOp::Mulhu => multiply(cx, op, rd, a, b),
        AluOp::Mulh | AluOp::Mulhsu | AluOp::Div | AluOp::Divu | AluOp::Rem | AluOp::Remu => {
            two_operand_helper(cx, op, rd, a, b);
        }
        AluOp::Sll | AluOp::Srl | AluOp::Sra | AluOp::Rol | AluOp::Ror => match b {
            Src::Imm(k) => shift::constant(cx, op, rd, a, k & 31),
            Src::Reg(r) => shift::variable(cx, op, rd, a, r),
        },
    }
}

/// True when adding `k` is done on the cell itself, without Q.
pub fn in_place(cx: &Context<'_>, rd: Reg, a: Reg, k: u32) -> bool {
    rd == a
        && match k {
            1 | u32::MAX => true,
            2..=255 => cx.style != Mode::Tiny,
            // Down by 2 to 255.
            0xFFFF_FF01.. => cx.style == Mode::Size,
            _ => false,
        }
}

fn add(cx: &mut Context<'_>, rd: Reg, a: Reg, b: Src) {
    let wanted = if cx.peepholes.liveness { cx.wanted(rd) } else { 15 };
    match b {
        Src::Imm(0) => return copy(cx, rd, a),
        Src::Imm(k) if rd == Reg::SP && a == Reg::SP => return move_stack(cx, k),
        _ if wanted <= 3 => return add_narrow(cx, M::ADC, rd, a, b, wanted),
        Src::Imm(k @ (1 | u32::MAX)) => {
            if rd == a && !cx.q_holds(a) {
                return count(cx, rd, k == 1);
            }
            cx.ldq(a);
            cx.q_acc(if k == 1 { M::INQ } else { M::DEQ });
            return cx.stq(rd);
        }
        Src::Imm(k @ (2..=255 | 0xFFFF_FF01..)) if rd == a && cx.style == Mode::Size && !cx.q_holds(a) => {
            cx.load_imm(Byte::A, k as u8);
            return cx.small(if k < 256 { "inc" } else { "dec" }, rd);
        }
        Src::Imm(k @ ..=255) if a == Reg::SP && cx.style == Mode::Size => {
            cx.load_imm(Byte::A, k as u8);
            return cx.small("frame", rd);
        }
        Src::Imm(k @ 2..=255) if rd == a && cx.style == Mode::Speed && !cx.q_holds(a) => {
            return add_fast(cx, rd, k as u8);
        }
        _ => {}
    }
    match b {
        Src::Reg(r) if r == a => {
            cx.ldq(a);
            cx.q_acc(M::ASLQ);
        }
        Src::Reg(r) => {
            cx.ldq(a);
            cx.imp(M::CLC);
            cx.q_op(M::ADCQ, r);
        }
        Src::Imm(k) => {
            cx.ldq(a);
            cx.imp(M::CLC);
            cx.q_op_const(M::ADCQ, k);
        }
    }
    cx.stq(rd);
}

/// Register plus or minus 1, in its cell.
fn count(cx: &mut Context<'_>, rd: Reg, up: bool) {
    if cx.style == Mode::Speed && up {
        let at = cell(rd);
        let done = cx.symbols.fresh();
        for i in 0..4 {
            cx.out.bp(M::INC, at + i);
            if i < 3 {
                cx.out.branch(M::BNE, done);
            }
        }
        cx.out.label(done);
    } else {
        cx.out.bp(if up { M::INQ } else { M::DEQ }, cell(rd));
    }
    cx.touch_register(rd);
}

/// Register plus 2..=255 in its cell: most often no carry.
fn add_fast(cx: &mut Context<'_>, rd: Reg, k: u8) {
    let at = cell(rd);
    cx.load(Byte::A, at);
    cx.imp(M::CLC);
    cx.a_imm(M::ADC, k);
    cx.store_always(Byte::A, at);
    let done = cx.symbols.fresh();
    cx.out.branch(M::BCC, done);
    for i in 1..4 {
        cx.out.bp(M::INC, at + i);
        if i < 3 {
            cx.out.branch(M::BNE, done);
        }
    }
    cx.out.label(done);
    (1..4).for_each(|i| cx.touch(at + i));
}

/// Stack pointer plus constant: the stack lies in one bank, 16 bits are enough.
pub fn move_stack(cx: &mut Context<'_>, k: u32) {
    let sp = cell(Reg::SP);
    let down = (k as i32) < 0;
    let n = (k as i32).unsigned_abs();
    let done = cx.symbols.fresh();
    cx.load(Byte::A, sp);
    cx.imp(if down { M::SEC } else { M::CLC });
    cx.a_imm(if down { M::SBC } else { M::ADC }, n as u8);
    cx.store_always(Byte::A, sp);
    if n < 256 {
        cx.out.branch(if down { M::BCS } else { M::BCC }, done);
        cx.out.bp(if down { M::DEC } else { M::INC }, sp + 1);
        cx.out.label(done);
        cx.touch(sp + 1);
    } else {
        cx.load(Byte::A, sp + 1);
        cx.a_imm(if down { M::SBC } else { M::ADC }, (n >> 8) as u8);
        cx.store_always(Byte::A, sp + 1);
    }
    if down {
        check_stacks(cx);
    }
}

/// The lowest one or two bytes of a sum or difference.
fn add_narrow(cx: &mut Context<'_>, m: M, rd: Reg, a: Reg, b: Src, wanted: u8) {
    let at = cell(rd);
    if wanted == 1 && rd == a && matches!(b, Src::Imm(k) if matches!(k as u8, 1 | 255)) {
        let up = matches!(b, Src::Imm(k) if k as u8 == 1);
        cx.out.bp(if up { M::INC } else { M::DEC }, at);
        return cx.touch(at);
    }
    for i in 0..if wanted > 1 { 2 } else { 1 } {
        cx.load(Byte::A, Context::byte(a, i));
        match b {
            Src::Imm(k) if wanted == 1 && k as u8 == 1 => cx.a_acc(M::INC),
            Src::Imm(k) if wanted == 1 && k as u8 == 255 => cx.a_acc(M::DEC),
            _ => {
                if i == 0 {
                    cx.imp(if m == M::ADC { M::CLC } else { M::SEC });
                }
                match b {
                    Src::Imm(k) => cx.a_imm(m, k.to_le_bytes()[usize::from(i)]),
                    Src::Reg(r) => cx.a_bp(m, Context::byte(r, i)),
                }
            }
        }
        cx.store(Byte::A, Context::byte(rd, i));
    }
}

fn subtract(cx: &mut Context<'_>, rd: Reg, a: Reg, b: Reg) {
    let wanted = if cx.peepholes.liveness { cx.wanted(rd) } else { 15 };
    if wanted <= 3 {
        return add_narrow(cx, M::SBC, rd, a, Src::Reg(b), wanted);
    }
    cx.ldq(a);
    cx.imp(M::SEC);
    cx.q_op(M::SBCQ, b);
    cx.stq(rd);
}

fn shift_add(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    let n = match op {
        AluOp::Sh1add => 1,
        AluOp::Sh2add => 2,
        _ => 3,
    };
    cx.ldq(a);
    for _ in 0..n {
        cx.q_acc(M::ASLQ);
    }
    match b {
        Src::Imm(0) => {}
        Src::Imm(k) => {
            cx.imp(M::CLC);
            cx.q_op_const(M::ADCQ, k);
        }
        Src::Reg(r) => {
            cx.imp(M::CLC);
            cx.q_op(M::ADCQ, r);
        }
    }
    cx.stq(rd);
}

/// rd = op a.
pub fn unary(cx: &mut Context<'_>, op: UnaryOp, rd: Reg, a: Reg) {
    if rd == Reg::ZERO || (cx.peepholes.liveness && cx.wanted(rd) == 0) {
        return;
    }
    match op {
        UnaryOp::ZextH => logic(cx, AluOp::And, rd, a, Src::Imm(0xFFFF)),
        UnaryOp::SextB => sign_extend(cx, rd, a, 1),
        UnaryOp::SextH => sign_extend(cx, rd, a, 2),
        UnaryOp::Rev8 => {
            if cx.peepholes.liveness && cx.wanted(rd).count_ones() == 1 {
                let i = cx.wanted(rd).trailing_zeros() as u8;
                cx.load(Byte::A, Context::byte(a, 3 - i));
                return cx.store(Byte::A, Context::byte(rd, i));
            }
            shift::load_bytes(cx, a, [3, 2, 1, 0]);
            cx.stq(rd);
        }
        UnaryOp::OrcB => {
            cx.ldq(a);
            cx.helper("rv_orcb");
            cx.stq(rd);
        }
        UnaryOp::Clz | UnaryOp::Ctz | UnaryOp::Cpop => {
            cx.ldq(a);
            cx.helper(match op {
                UnaryOp::Clz => "rv_clz",
                UnaryOp::Ctz => "rv_ctz",
                _ => "rv_cpop",
            });
            cx.store(Byte::A, Context::byte(rd, 0));
            zero_above(cx, rd, 1);
        }
    }
}

/// rd = the lowest `n` bytes of a, sign extended.
fn sign_extend(cx: &mut Context<'_>, rd: Reg, a: Reg, n: u8) {
    for i in 0..n - 1 {
        if rd != a {
            cx.load(Byte::A, Context::byte(a, i));
            cx.store(Byte::A, Context::byte(rd, i));
        }
    }
    let top = n - 1;
    let upper_wanted = (n..4).any(|i| cx.wanted(rd) & 1 << i != 0) || !cx.peepholes.liveness;
    if !upper_wanted {
        cx.load(Byte::A, Context::byte(a, top));
        return cx.store(Byte::A, Context::byte(rd, top));
    }
    cx.load_imm(Byte::X, 0xFF);
    cx.load_flags(Byte::A, Context::byte(a, top));
    let negative = cx.skip(M::BMI);
    cx.out.imp(M::INX);
    cx.join(negative, &[Byte::X]);
    cx.store(Byte::A, Context::byte(rd, top));
    for i in n..4 {
        cx.store(Byte::X, Context::byte(rd, i));
    }
}
