//! Constants, moves, addition, logic, comparison into a register, multiplication, division.

use super::branch::signed_less;
use super::cells::{W1, cell};
use super::context::{Byte, Context, Mode};
use super::control::check_stacks;
use super::shift;
use crate::asm::{Label, Mnemonic as M, Mode as AddrMode, Operand};
use crate::ir::Src;
use crate::rv::{AluOp, Reg, UnaryOp};

/// Multiplier input A and B, product.
pub const MUL_A: u16 = 0xD770;
/// Multiplier input B.
pub const MUL_B: u16 = 0xD774;
/// Low word of the product; the high word follows.
pub const PRODUCT: u16 = 0xD778;

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
            2..=255 => cx.style == Mode::Speed,
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
fn move_stack(cx: &mut Context<'_>, k: u32) {
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

/// What a byte of a logical operation comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteResult {
    Constant(u8),
    OfA,
    OfB,
    Both,
}

fn byte_result(op: AluOp, a: Option<u8>, b: Option<u8>) -> ByteResult {
    use ByteResult::*;
    match (op, a, b) {
        (AluOp::And, Some(x), Some(y)) => Constant(x & y),
        (AluOp::Or, Some(x), Some(y)) => Constant(x | y),
        (AluOp::Xor, Some(x), Some(y)) => Constant(x ^ y),
        (AluOp::And, Some(0), _) | (AluOp::And, _, Some(0)) => Constant(0),
        (AluOp::Or, Some(255), _) | (AluOp::Or, _, Some(255)) => Constant(255),
        (AluOp::And, _, Some(255)) | (AluOp::Or | AluOp::Xor, _, Some(0)) => OfA,
        (AluOp::And, Some(255), _) | (AluOp::Or | AluOp::Xor, Some(0), _) => OfB,
        _ => Both,
    }
}

fn logic(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    let (m, mq) = match op {
        AluOp::And => (M::AND, M::ANDQ),
        AluOp::Or => (M::ORA, M::ORQ),
        _ => (M::EOR, M::EORQ),
    };
    let wanted = if cx.peepholes.liveness { cx.wanted(rd) } else { 15 };
    let b_byte = |cx: &Context<'_>, i: u8| match b {
        Src::Imm(k) => Some(k.to_le_bytes()[usize::from(i)]),
        Src::Reg(r) => cx.known_byte(r, i),
    };
    let plan: Vec<(u8, ByteResult)> = (0..4)
        .filter(|i| wanted & 1 << i != 0)
        .map(|i| (i, byte_result(op, cx.known_byte(a, i), b_byte(cx, i))))
        .collect();
    let cost: u32 = plan
        .iter()
        .map(|&(i, r)| match r {
            ByteResult::Constant(v) if cx.peepholes.tracking && cx.known_byte(rd, i) == Some(v) => 0,
            ByteResult::Constant(_) => 2,
            ByteResult::OfA if rd == a => 0,
            ByteResult::OfB if b == Src::Reg(rd) => 0,
            ByteResult::OfA | ByteResult::OfB => 4,
            ByteResult::Both => 6,
        })
        .sum();
    let mut constants: Vec<u8> = plan
        .iter()
        .filter_map(|&(i, r)| match r {
            ByteResult::Constant(v) if !(cx.peepholes.tracking && cx.known_byte(rd, i) == Some(v)) => Some(v),
            _ => None,
        })
        .collect();
    constants.sort_unstable();
    constants.dedup();
    let cost = cost + 2 * constants.len() as u32;
    if let Src::Imm(k @ (0..=255 | 0xFFFF_FF00..)) = b
        && wanted == 15
        && matches!((op, k >> 8), (AluOp::Or | AluOp::Xor, 0) | (AluOp::And, 0xFF_FFFF))
        && (rd != a || cx.q_holds(a))
        && cost > 8
    {
        // Only the low byte changes: work on A between LDQ and STQ.
        cx.ldq(a);
        cx.a_imm(m, k as u8);
        return cx.stq(rd);
    }
    let wide = if cx.q_holds(a) { 8 } else { 12 } + u32::from(matches!(b, Src::Imm(_)));
    if cost >= wide {
        cx.ldq(a);
        match b {
            Src::Imm(k) => cx.q_op_const(mq, k),
            Src::Reg(r) => cx.q_op(mq, r),
        }
        return cx.stq(rd);
    }
    // Constants last, so that they share their loads.
    let mut plan = plan;
    plan.sort_by_key(|p| match p.1 {
        ByteResult::Constant(v) => 1 + u16::from(v),
        _ => 0,
    });
    for (i, result) in plan {
        let to = Context::byte(rd, i);
        match (result, b) {
            (ByteResult::Constant(v), _) => {
                if !(cx.peepholes.tracking && cx.known_byte(rd, i) == Some(v)) {
                    cx.load_imm(Byte::A, v);
                    cx.store(Byte::A, to);
                }
            }
            (ByteResult::OfA, _) if rd == a => {}
            (ByteResult::OfA, _) => {
                cx.load(Byte::A, Context::byte(a, i));
                cx.store(Byte::A, to);
            }
            (ByteResult::OfB, Src::Reg(r)) if r == rd => {}
            (ByteResult::OfB, Src::Reg(r)) => {
                cx.load(Byte::A, Context::byte(r, i));
                cx.store(Byte::A, to);
            }
            (ByteResult::OfB | ByteResult::Both, Src::Imm(k)) => {
                cx.load(Byte::A, Context::byte(a, i));
                cx.a_imm(m, k.to_le_bytes()[usize::from(i)]);
                cx.store(Byte::A, to);
            }
            (ByteResult::Both, Src::Reg(r)) => {
                cx.load(Byte::A, Context::byte(a, i));
                cx.a_bp(m, Context::byte(r, i));
                cx.store(Byte::A, to);
            }
        }
    }
}

fn inverted_logic(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
    let mq = match op {
        AluOp::Andn => M::ANDQ,
        AluOp::Orn => M::ORQ,
        _ => M::EORQ,
    };
    match b {
        Src::Imm(k) => {
            let plain = match op {
                AluOp::Andn => AluOp::And,
                AluOp::Orn => AluOp::Or,
                _ => AluOp::Xor,
            };
            logic(cx, plain, rd, a, Src::Imm(!k));
        }
        Src::Reg(r) => {
            cx.ldq(r);
            cx.q_op_const(M::EORQ, u32::MAX);
            cx.q_op(mq, a);
            cx.stq(rd);
        }
    }
}

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

fn set_less(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
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

fn extreme(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
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

fn multiply(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
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

fn two_operand_helper(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
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
