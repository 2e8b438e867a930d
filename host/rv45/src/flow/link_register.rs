//! Removing saves and restores of the return address, which lives on the hardware stack.
//!
//! A store of ra is removed only where ra still holds what the function was entered with on every
//! path (LLVM also uses ra as an ordinary register between calls); a load of ra only from a place
//! where such a store was.

use super::Graph;
use crate::ir::{Function, Ir};
use crate::rv::{Reg, Width};
use std::collections::BTreeSet;

/// Turns the saving and restoring of the return address into [`Ir::Nop`].
pub fn erase(function: &mut Function) {
    let graph = Graph::new(function);
    let mut entry = vec![None; graph.blocks.len()];
    if entry.is_empty() {
        return;
    }
    entry[0] = Some(true);
    let mut saved = BTreeSet::new();
    let mut todo = vec![0];
    while let Some(i) = todo.pop() {
        let block = &graph.blocks[i];
        let mut link = entry[i] == Some(true);
        for line in &function.lines[block.start..block.end] {
            link = step(&line.op, link, &mut saved);
        }
        for &next in &block.next {
            let merged = entry[next].unwrap_or(true) && link;
            if entry[next] != Some(merged) {
                entry[next] = Some(merged);
                todo.push(next);
            }
        }
    }
    for (i, block) in graph.blocks.iter().enumerate() {
        let mut link = entry[i] == Some(true);
        for line in &mut function.lines[block.start..block.end] {
            let op = line.op;
            if removable(&op, link, &saved) {
                line.op = Ir::Nop;
            }
            link = step(&op, link, &mut BTreeSet::new());
        }
    }
}

fn removable(op: &Ir, link: bool, saved: &BTreeSet<i32>) -> bool {
    match *op {
        Ir::Store { src: Reg::RA, base: Reg::SP, .. } => link,
        Ir::Load { rd: Reg::RA, base: Reg::SP, offset, width: Width::Word } => saved.contains(&offset),
        _ => false,
    }
}

/// Whether ra holds the return address after `op`, if `link` says so before.
fn step(op: &Ir, link: bool, saved: &mut BTreeSet<i32>) -> bool {
    match *op {
        Ir::Store { src: Reg::RA, base: Reg::SP, offset, .. } if link => {
            saved.insert(offset);
            link
        }
        Ir::Call { .. } | Ir::CallReg { .. } => false,
        _ => link && op.def() != Some(Reg::RA),
    }
}
