//! Data flow inside one function: control-flow graph, byte-wise liveness, known bytes.

pub mod frames;
pub mod heat;
pub mod known;
pub mod link_register;
pub mod live;
pub mod whole;

use crate::asm::Label;
use crate::ir::{Function, Ir};
use crate::rv::Reg;
use std::collections::{BTreeSet, HashMap};

/// A set of register bytes: bit `4 * register + byte`.
pub type Bytes = u128;

/// All four bytes of a register.
pub const fn all(r: Reg) -> Bytes {
    0xF << (4 * r.0)
}

/// The `mask`'s bytes (bit 0: the lowest) of a register.
pub const fn some(r: Reg, mask: u8) -> Bytes {
    (mask as u128 & 0xF) << (4 * r.0)
}

/// Which bytes of `r` are in `bytes`.
pub const fn mask_of(bytes: Bytes, r: Reg) -> u8 {
    (bytes >> (4 * r.0) & 0xF) as u8
}

/// The union of whole registers.
pub const fn regs<const N: usize>(list: [u8; N]) -> Bytes {
    let mut out = 0;
    let mut i = 0;
    while i < N {
        out |= all(Reg(list[i]));
        i += 1;
    }
    out
}

/// s0..s11, sp, gp, tp: survive calls.
pub const PRESERVED: Bytes = regs([2, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27]);
/// What a callee may read: a0..a7, and t2..t6 by LLVM's internal convention.
pub const ARGUMENTS: Bytes = regs([10, 11, 12, 13, 14, 15, 16, 17, 7, 28, 29, 30, 31]);
/// What is always kept for a call through a pointer, which may lead out of the program.
pub const POINTED: Bytes = regs([10, 11, 12, 13]);
/// What a caller may read after a return (a2, a3 beyond the standard, to be safe).
pub const RESULTS: Bytes = regs([10, 11, 12, 13]);

/// A straight run of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// First line.
    pub start: usize,
    /// One past the last line.
    pub end: usize,
    /// Blocks that may follow.
    pub next: Vec<usize>,
    /// Blocks that may come before.
    pub prev: Vec<usize>,
}

/// The control-flow graph of a function.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Blocks in address order; the first is the entry.
    pub blocks: Vec<Block>,
    /// Block of each label.
    pub by_label: HashMap<Label, usize>,
}

impl Graph {
    /// The graph of `function`.
    pub fn new(function: &Function) -> Graph {
        let lines = &function.lines;
        let mut starts: BTreeSet<usize> = BTreeSet::from([0]);
        for (i, line) in lines.iter().enumerate() {
            if line.label.is_some() {
                starts.insert(i);
            }
            if line.op.ends_block() || matches!(line.op, Ir::Branch { .. }) {
                starts.insert(i + 1);
            }
        }
        starts.retain(|&s| s < lines.len());
        let starts: Vec<usize> = starts.into_iter().collect();
        let mut graph = Graph::default();
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(lines.len());
            graph.blocks.push(Block { start, end, ..Block::default() });
            if let Some(label) = lines[start].label {
                graph.by_label.insert(label, i);
            }
        }
        for i in 0..graph.blocks.len() {
            let mut next = graph.successors(function, i);
            next.sort_unstable();
            next.dedup();
            for &n in &next {
                graph.blocks[n].prev.push(i);
            }
            graph.blocks[i].next = next;
        }
        graph
    }

    fn successors(&self, function: &Function, i: usize) -> Vec<usize> {
        let block = &self.blocks[i];
        let Some(last) = function.lines[block.start..block.end].last() else { return Vec::new() };
        let mut next = Vec::new();
        if !last.op.ends_block() && i + 1 < self.blocks.len() {
            next.push(i + 1);
        }
        match last.op {
            Ir::Branch { target, .. } | Ir::Jump { target } => next.extend(self.by_label.get(&target)),
            Ir::JumpReg { .. } => {
                next.extend(function.address_taken.iter().filter_map(|label| self.by_label.get(label)));
            }
            _ => {}
        }
        next
    }
}
