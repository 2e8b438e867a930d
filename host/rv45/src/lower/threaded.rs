//! The smallest form of operations: a call with operand bytes behind it.

use super::cells::cell;
use super::context::{Context, Mode};
use crate::asm::Item;
use crate::asm::layout::item_len;
use crate::ir::{Ir, Src};
use crate::rv::{AluOp, Reg, Width};

/// Emits `op` inline or threaded, whichever is shorter.
pub fn operation(cx: &mut Context<'_>, op: &Ir) {
    let Some((name, operands)) = form(op) else { return super::inline(cx, op) };
    let before = cx.mark();
    super::inline(cx, op);
    let inline: u16 = cx.out.items[before.items()..].iter().map(|i| item_len(i, false)).sum();
    if inline <= 3 + operands.len() as u16 || inline == 0 {
        return;
    }
    cx.reset(before);
    call(cx, name, operands);
    if let Some(rd) = op.def() {
        cx.touch_register(rd);
    }
}

fn call(cx: &mut Context<'_>, name: &str, operands: Vec<u8>) {
    cx.helper(name);
    cx.out.items.push(Item::Bytes(operands));
}

/// Flags of `a` less `b` for a branch; false where another form is as short.
pub fn compare(cx: &mut Context<'_>, a: Reg, b: Reg) -> bool {
    if cx.style != Mode::Tiny || cx.q_holds(a) {
        return false;
    }
    call(cx, "rv_t_cmp", vec![cell(a), cell(b)]);
    true
}

/// The routine for `op` and its operands.
fn form(op: &Ir) -> Option<(&'static str, Vec<u8>)> {
    let three = |name, rd: Reg, a: Reg, b: u8| (rd != Reg::ZERO).then(|| (name, vec![cell(rd), cell(a), b]));
    match *op {
        Ir::Li { rd, value } if (-128..128).contains(&(value as i32)) && rd != Reg::ZERO => {
            Some(("rv_t_li", vec![cell(rd), value as u8]))
        }
        Ir::Alu { op: AluOp::Add, rd, a, b: Src::Imm(0) } if rd != Reg::ZERO => {
            Some(("rv_t_mv", vec![cell(rd), cell(a)]))
        }
        Ir::Alu { op: AluOp::Add, rd, a, b: Src::Imm(k) } if (-128..128).contains(&(k as i32)) && rd != Reg::SP => {
            three("rv_t_addi", rd, a, k as u8)
        }
        Ir::Alu { op, rd, a, b: Src::Imm(k) } => {
            let name = match op {
                AluOp::Sll => "rv_t_slli",
                AluOp::Srl => "rv_t_srli",
                AluOp::Sra => "rv_t_srai",
                _ => return None,
            };
            three(name, rd, a, (k & 31) as u8)
        }
        Ir::Alu { op, rd, a, b: Src::Reg(b) } => {
            let name = match op {
                AluOp::Add => "rv_t_add",
                AluOp::Sub => "rv_t_sub",
                AluOp::And => "rv_t_and",
                AluOp::Or => "rv_t_or",
                AluOp::Xor => "rv_t_xor",
                AluOp::Mul => "rv_t_mul",
                AluOp::Slt => "rv_t_slt",
                AluOp::Sltu => "rv_t_sltu",
                _ => return None,
            };
            three(name, rd, a, cell(b))
        }
        Ir::Load { width, rd, base, offset } if (0..=252).contains(&offset) => {
            let name = match width {
                Width::Word => "rv_t_lw",
                Width::ByteUnsigned => "rv_t_lbu",
                Width::HalfUnsigned => "rv_t_lhu",
                _ => return None,
            };
            three(name, rd, base, offset as u8)
        }
        Ir::Store { width, src, base, offset } if (0..=252).contains(&offset) => {
            let name = match width.bytes() {
                1 => "rv_t_sb",
                2 => "rv_t_sh",
                _ => "rv_t_sw",
            };
            Some((name, vec![cell(src), cell(base), offset as u8]))
        }
        _ => None,
    }
}
