//! Calls, returns, jumps, prologues, host calls.

use super::arith::move_stack;
use super::cells::{BASE, W2, W5};
use super::constant::zero_above;
use super::context::{Byte, Context, Mode};
use crate::asm::{Mnemonic as M, Mode as AddrMode, Operand};
use crate::ir::Ir;
use crate::lower::cells::cell;
use crate::rv::Reg;

/// Emits an operation that changes the flow of control.
pub fn control(cx: &mut Context<'_>, op: &Ir) {
    match *op {
        Ir::Call { target } => cx.out.jsr(target),
        Ir::TailCall { target } => cx.out.jmp(target),
        Ir::CallReg { reg } => indirect(cx, M::JSR, reg),
        Ir::JumpReg { reg } => indirect(cx, M::JMP, reg),
        Ir::Ret => cx.out.imp(M::RTS),
        // Without registers to save the call would cost more than it does.
        Ir::Save { n: 0, frame } if cx.style == Mode::Speed => move_stack(cx, u32::from(frame).wrapping_neg()),
        Ir::Leave { n: 0, frame } if cx.style == Mode::Speed => move_stack(cx, frame.into()),
        Ir::Restore { n: 0, frame } if cx.style == Mode::Speed => {
            move_stack(cx, frame.into());
            cx.out.imp(M::RTS);
        }
        Ir::Save { n, frame } => {
            named(cx, M::JSR, &format!("rv_save_{n}_{frame}"));
            check_stacks(cx);
        }
        Ir::Restore { n, frame } => named(cx, M::JMP, &format!("rv_restore_{n}_{frame}")),
        Ir::Leave { n, frame } => named(cx, M::JSR, &format!("rv_leave_{n}_{frame}")),
        Ir::Ecall => named(cx, M::JSR, "rv_ecall"),
        Ir::Halt => named(cx, M::JMP, "rv_halt"),
        _ => {}
    }
    cx.forget_registers();
}

/// A call of the check, where it is wanted.
pub fn check_stacks(cx: &mut Context<'_>) {
    if cx.checks {
        cx.helper("rv_check");
    }
}

fn indirect(cx: &mut Context<'_>, m: M, reg: Reg) {
    cx.push(m, AddrMode::AbsIndirect, Operand::Word(BASE + u16::from(cell(reg))));
}

fn named(cx: &mut Context<'_>, m: M, name: &str) {
    let label = cx.symbols.named(name);
    cx.out.abs_label(m, label);
}

/// Decimal digits on the stack.
pub fn digits(cx: &mut Context<'_>, rd: Reg, low: Reg, high: Option<Reg>, offset: i32) {
    cx.ldq(Reg::SP);
    cx.imp(M::CLC);
    cx.q_op_const(M::ADCQ, offset as u32);
    cx.out.bp(M::STQ, W5);
    cx.forget_registers();
    if let Some(high) = high {
        cx.ldq(high);
        cx.out.bp(M::STQ, W2);
    }
    cx.ldq(low);
    cx.helper(if high.is_some() { "rv_decimal64" } else { "rv_decimal" });
    cx.store(Byte::A, cell(rd));
    zero_above(cx, rd, 1);
}
