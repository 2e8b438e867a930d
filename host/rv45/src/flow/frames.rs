//! Moving sp once: the adjustment next to a prologue or epilogue becomes part of it.

use crate::ir::{Function, Ir, Line, Src};
use crate::runtime::frame_size;
use crate::rv::{AluOp, Reg};

/// Merges `addi sp, sp, -k` after a save and `addi sp, sp, k` before a restore.
pub fn merge(function: &mut Function) {
    let lines = &mut function.lines;
    for i in 0..lines.len() {
        match lines[i].op {
            Ir::Save { n, extra: 0 } => {
                let next = (i + 1..lines.len()).find(|&j| lines[j].op != Ir::Nop || lines[j].label.is_some());
                if let Some(j) = next.filter(|&j| lines[j].label.is_none())
                    && let Some(extra) = moved(&lines[j]).and_then(|k| fits(n, k.checked_neg()?))
                {
                    lines[i].op = Ir::Save { n, extra };
                    lines[j].op = Ir::Nop;
                }
            }
            Ir::Restore { n, extra: 0 } if lines[i].label.is_none() => {
                let before = (0..i).rev().find(|&j| lines[j].op != Ir::Nop || lines[j].label.is_some());
                if let Some(j) = before
                    && let Some(extra) = moved(&lines[j]).and_then(|k| fits(n, k))
                {
                    lines[i].op = Ir::Restore { n, extra };
                    lines[j].op = Ir::Nop;
                }
            }
            _ => {}
        }
    }
}

fn moved(line: &Line) -> Option<i32> {
    match line.op {
        Ir::Alu { op: AluOp::Add, rd: Reg::SP, a: Reg::SP, b: Src::Imm(k) } => Some(k as i32),
        _ => None,
    }
}

fn fits(n: u8, k: i32) -> Option<u8> {
    let k = u8::try_from(k).ok()?;
    frame_size(n).checked_add(k).map(|_| k)
}
