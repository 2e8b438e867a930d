//! Frames: registers that a function saves go to the hardware stack by one call, whatever way the compiler
//! chose; sp moves once, and not at all where nothing lies in the frame.

use super::live::saved_registers;
use super::{Graph, all};
use crate::ir::{Function, Ir, Line, Src};
use crate::rv::{AluOp, Reg, Width};
use std::collections::BTreeMap;

/// Frame pointer, where a function has one.
const FP: Reg = Reg(8);

/// Makes the most of every prologue and epilogue.
pub fn simplify(function: &mut Function, checks: bool) {
    // Functions that have no such pointer or prologue stay as they are.
    let _ = without_pointer(function);
    let _ = gather(function);
    merge(function);
    if !checks {
        shrink(function);
    }
}

/// What `addi sp, sp, k` adds.
fn moved(op: &Ir) -> Option<i32> {
    match *op {
        Ir::Alu { op: AluOp::Add, rd: Reg::SP, a: Reg::SP, b: Src::Imm(k) } => Some(k as i32),
        _ => None,
    }
}

/// Merges `addi sp, sp, -k` after a save and `addi sp, sp, k` before a restore.
fn merge(function: &mut Function) {
    let lines = &mut function.lines;
    for i in 0..lines.len() {
        match lines[i].op {
            Ir::Save { n, frame } => {
                let next = (i + 1..lines.len()).find(|&j| lines[j].op != Ir::Nop || lines[j].label.is_some());
                if let Some(j) = next.filter(|&j| lines[j].label.is_none())
                    && let Some(frame) = moved(&lines[j].op).and_then(|k| fits(frame, k.checked_neg()?))
                {
                    lines[i].op = Ir::Save { n, frame };
                    lines[j].op = Ir::Nop;
                }
            }
            Ir::Restore { n, frame } if lines[i].label.is_none() => {
                let before = (0..i).rev().find(|&j| lines[j].op != Ir::Nop || lines[j].label.is_some());
                if let Some(j) = before
                    && let Some(frame) = moved(&lines[j].op).and_then(|k| fits(frame, k))
                {
                    lines[i].op = Ir::Restore { n, frame };
                    lines[j].op = Ir::Nop;
                }
            }
            _ => {}
        }
    }
}

fn fits(frame: u8, k: i32) -> Option<u8> {
    frame.checked_add(u8::try_from(k).ok()?)
}

/// Lines at the start that always run, once, one after the other.
fn prologue(function: &Function) -> usize {
    let targets: Vec<_> = function.lines.iter().filter_map(|l| l.op.target()).collect();
    let again = |l: &Line| l.label.is_some_and(|l| targets.contains(&l));
    if function.lines.first().is_some_and(again) {
        return 0;
    }
    let stops =
        |l: &Line| l.op.ends_block() || matches!(l.op, Ir::Branch { .. } | Ir::Call { .. } | Ir::CallReg { .. });
    function.lines.iter().take_while(|l| !again(l) && !stops(l)).count()
}

/// Replaces a frame pointer by sp where it is only a base of addresses; `None` where nothing is changed.
fn without_pointer(function: &mut Function) -> Option<()> {
    let end = prologue(function);
    let lines = &function.lines;
    let set = |op: &Ir| match *op {
        Ir::Alu { op: AluOp::Add, rd: FP, a: Reg::SP, b: Src::Imm(k) } => Some(k as i32),
        _ => None,
    };
    let place = lines[..end].iter().position(|l| set(&l.op).is_some())?;
    let height = set(&lines[place].op)?;
    // sp stays where it is from there on, up to the epilogues, which only restore.
    let down: i32 = lines[..place].iter().filter_map(|l| moved(&l.op)).sum();
    let own = |l: &Line| matches!(l.op, Ir::Load { rd: FP, base: Reg::SP, width: Width::Word, .. });
    if height != -down || lines.iter().any(|l| matches!(l.op, Ir::Save { .. } | Ir::Restore { .. })) {
        return None;
    }
    for (i, line) in lines.iter().enumerate().filter(|&(i, _)| i != place) {
        let fine = match line.op {
            Ir::Load { base, rd, .. } => base != FP || i > place && rd != FP,
            Ir::Store { src: FP, base, .. } => base == Reg::SP && i < place,
            Ir::Store { base, .. } => base != FP || i > place,
            Ir::Alu { op: AluOp::Add, a: FP, b: Src::Imm(_), rd } => i > place && rd != Reg::SP && rd != FP,
            op => !reads(&op, FP),
        };
        let alters = line.op.def() == Some(FP) && !own(line);
        let moves = line.op.def() == Some(Reg::SP) && moved(&line.op) != Some(if i < place { down } else { -down });
        if !fine || alters || moves {
            return None;
        }
    }
    // Once it is restored or sp has gone back up, nothing is addressed by it.
    for block in &Graph::new(function).blocks {
        let ends = |i: &usize| own(&function.lines[*i]) || moved(&function.lines[*i].op) == Some(-down);
        if let Some(end) = (block.start..block.end).find(ends)
            && (!block.next.is_empty() || function.lines[end..block.end].iter().any(|l| reads(&l.op, FP)))
        {
            return None;
        }
    }
    for line in &mut function.lines[place + 1..] {
        match &mut line.op {
            Ir::Load { base, offset, .. } | Ir::Store { base, offset, .. } if *base == FP => {
                *base = Reg::SP;
                *offset += height;
            }
            Ir::Alu { op: AluOp::Add, a, b: Src::Imm(k), .. } if *a == FP => {
                *a = Reg::SP;
                *k = k.wrapping_add_signed(height);
            }
            _ => {}
        }
    }
    function.lines[place].op = Ir::Nop;
    Some(())
}

/// True where `op` reads `r` explicitly.
fn reads(op: &Ir, r: Reg) -> bool {
    match *op {
        Ir::Alu { a, b, .. } => a == r || b == Src::Reg(r),
        Ir::Unary { a, .. } => a == r,
        Ir::Load { base, .. } => base == r,
        Ir::Store { src, base, .. } => src == r || base == r,
        Ir::Branch { a, b, .. } => a == r || b == r,
        Ir::CallReg { reg } | Ir::JumpReg { reg } => reg == r,
        Ir::Digits { low, high, .. } => low == r || high == Some(r) || r == Reg::SP,
        _ => false,
    }
}

/// The number of s0..s(n-1) of which `r` is the last.
fn rank(r: Reg) -> Option<u8> {
    (1..=12).find(|&n| saved_registers(n) & !saved_registers(n - 1) == all(r))
}

/// Saves and restores one by one become [`Ir::Save`], [`Ir::Restore`] and [`Ir::Leave`].
fn gather(function: &mut Function) -> Option<()> {
    let end = prologue(function);
    let lines = &function.lines;
    let down = lines[..end].iter().position(|l| moved(&l.op).is_some_and(|k| k < 0))?;
    let frame = u8::try_from(-moved(&lines[down].op)?).ok()?;
    // Where each register is saved: slot and line.
    let mut slots: BTreeMap<i32, (Reg, usize)> = BTreeMap::new();
    for (i, line) in lines[..end].iter().enumerate().skip(down + 1) {
        match line.op {
            Ir::Store { width: Width::Word, src, base: Reg::SP, offset } if rank(src).is_some() => {
                let fresh = lines[..i].iter().all(|l| l.op.def() != Some(src));
                if !fresh || slots.values().any(|s| s.0 == src) || slots.insert(offset, (src, i)).is_some() {
                    return None;
                }
            }
            _ => {}
        }
    }
    let graph = Graph::new(function);
    let tables = !function.address_taken.is_empty();
    // Lines of each exit that restore, and the exit.
    let mut exits: Vec<(Vec<usize>, usize)> = Vec::new();
    let mut known: Vec<usize> = slots.values().map(|s| s.1).chain([down]).collect();
    for block in &graph.blocks {
        let last = block.end - 1;
        match lines[last].op {
            Ir::Restore { .. } => return None,
            // A jump table, unless the frame is gone.
            Ir::JumpReg { .. }
                if tables && lines[block.start..last].iter().all(|l| moved(&l.op) != Some(i32::from(frame))) => {}
            Ir::JumpReg { .. } if tables => return None,
            Ir::Ret | Ir::TailCall { .. } | Ir::JumpReg { .. } => {
                let up = (block.start..last).rev().find(|&i| moved(&lines[i].op) == Some(i32::from(frame)))?;
                let mut found: Vec<usize> = vec![up];
                let restores = |l: &Line| match l.op {
                    Ir::Load { width: Width::Word, rd, base: Reg::SP, offset } => {
                        slots.get(&offset).is_some_and(|s| s.0 == rd)
                    }
                    _ => false,
                };
                found.extend((block.start..up).filter(|&i| restores(&lines[i])));
                // Each register once; what it held before is not needed after.
                if found.len() != slots.len() + 1 {
                    return None;
                }
                for &i in &found[1..] {
                    let r = lines[i].op.def()?;
                    if lines[i + 1..=last].iter().any(|l| reads(&l.op, r) || l.op.def() == Some(r)) {
                        return None;
                    }
                }
                if lines[up + 1..last].iter().any(|l| reads(&l.op, Reg::SP) || l.op.def() == Some(Reg::SP)) {
                    return None;
                }
                known.extend(&found);
                exits.push((found, last));
            }
            _ => {}
        }
    }
    // Nothing else moves sp or touches the slots.
    let strange = |(i, l): (usize, &Line)| {
        !known.contains(&i)
            && match l.op {
                Ir::Load { base: Reg::SP, offset, width, .. } | Ir::Store { base: Reg::SP, offset, width, .. } => {
                    slots.keys().any(|&s| offset < s + 4 && s < offset + width.bytes() as i32)
                }
                Ir::Save { .. } => true,
                op => op.def() == Some(Reg::SP),
            }
    };
    if lines.iter().enumerate().any(strange) || exits.is_empty() {
        return None;
    }
    let n = slots.values().filter_map(|s| rank(s.0)).max().unwrap_or(0);
    let lines = &mut function.lines;
    lines[down].op = Ir::Save { n, frame };
    for (_, i) in slots.into_values() {
        lines[i].op = Ir::Nop;
    }
    for (restores, last) in exits {
        for i in restores.iter().skip(1) {
            lines[*i].op = Ir::Nop;
        }
        match lines[last].op {
            Ir::Ret => {
                lines[restores[0]].op = Ir::Nop;
                lines[last].op = Ir::Restore { n, frame };
            }
            _ => lines[restores[0]].op = Ir::Leave { n, frame },
        }
    }
    Some(())
}

/// Frames in which nothing lies vanish, and with them prologues that save nothing.
fn shrink(function: &mut Function) {
    let lines = &mut function.lines;
    let single = lines.iter().filter(|l| matches!(l.op, Ir::Save { .. })).count() == 1;
    let used = lines.iter().any(|l| reads(&l.op, Reg::SP) || l.op.def() == Some(Reg::SP));
    if !single || used {
        return;
    }
    for line in lines {
        line.op = match line.op {
            Ir::Save { n: 0, .. } | Ir::Leave { n: 0, .. } => Ir::Nop,
            Ir::Restore { n: 0, .. } => Ir::Ret,
            Ir::Save { n, .. } => Ir::Save { n, frame: 0 },
            Ir::Leave { n, .. } => Ir::Leave { n, frame: 0 },
            Ir::Restore { n, .. } => Ir::Restore { n, frame: 0 },
            op => op,
        };
    }
}
