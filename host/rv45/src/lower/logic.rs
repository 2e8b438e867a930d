//! And, or, exclusive or, bytewise where that is shorter.

use super::context::{Byte, Context};
use crate::asm::Mnemonic as M;
use crate::ir::Src;
use crate::rv::{AluOp, Reg};

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

pub fn logic(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
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

pub fn inverted_logic(cx: &mut Context<'_>, op: AluOp, rd: Reg, a: Reg, b: Src) {
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
