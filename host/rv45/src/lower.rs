//! From [`Ir`] to 45GS02 instructions: one sequence per operation, with what the CPU registers
//! already hold and what nobody reads left out.

mod arith;
mod branch;
pub mod cells;
mod compare;
mod constant;
mod context;
mod control;
mod leading;
mod logic;
mod memory;
mod multiply;
mod quad;
mod shift;
mod threaded;

pub use context::{Context, Mode as Style};

use crate::asm::{Builder, Label, Symbols};
use crate::flow::live::{self, Callees, Live};
use crate::flow::{Bytes, Graph, known};
use crate::ir::{Function, Ir, Line};
use std::collections::HashMap;

/// Labels of the constants that code refers to.
#[derive(Debug, Default, Clone)]
pub struct Pool {
    labels: HashMap<u32, Label>,
}

impl Pool {
    /// The label of a 4-byte cell that holds `value`.
    pub fn label(&mut self, value: u32, symbols: &mut Symbols) -> Label {
        *self.labels.entry(value).or_insert_with(|| symbols.named(&format!("rv_const_{value:08x}")))
    }

    /// All constants with their labels, in order of value.
    pub fn entries(&self) -> Vec<(u32, Label)> {
        let mut list: Vec<(u32, Label)> = self.labels.iter().map(|(&v, &l)| (v, l)).collect();
        list.sort_unstable();
        list
    }
}

/// What may be left out of the plain sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peepholes {
    /// Use what is already in A, X, Y, Z and in memory.
    pub tracking: bool,
    /// Leave out stores of bytes that nothing reads.
    pub liveness: bool,
    /// Compute constants beforehand.
    pub constants: bool,
}

impl Peepholes {
    /// Everything on.
    pub const ALL: Peepholes = Peepholes { tracking: true, liveness: true, constants: true };
    /// Each instruction alone.
    pub const NONE: Peepholes = Peepholes { tracking: false, liveness: false, constants: false };
}

/// Replaces operations whose result is known by constants; returns the liveness that then holds.
pub fn fold_constants(function: &mut Function, graph: &Graph, callees: &Callees) -> Live {
    let mut live = live::analyse(function, graph, callees);
    for _ in 0..2 {
        let at = known::analyse(function, graph, &live);
        let mut changed = false;
        for (i, block) in graph.blocks.iter().enumerate() {
            let mut values = at[i];
            for j in block.start..block.end {
                let op = function.lines[j].op;
                let new = fold(&op, &values);
                known::step(&op, &mut values, live.after[j]);
                changed |= new != op;
                function.lines[j].op = new;
            }
        }
        if !changed {
            break;
        }
        live = live::analyse(function, graph, callees);
    }
    live
}

fn fold(op: &Ir, values: &known::Values) -> Ir {
    match *op {
        Ir::Alu { rd, .. } | Ir::Unary { rd, .. } => match known::result(op, values) {
            [Some(a), Some(b), Some(c), Some(d)] => Ir::Li { rd, value: u32::from_le_bytes([a, b, c, d]) },
            _ => *op,
        },
        _ => *op,
    }
}

/// Translates `function`; its label comes first. `settings`: what may be left out, and whether stacks
/// are checked.
///
/// The result holds labels for every place that something refers to, and a note per operation.
pub fn function(
    function: &mut Function,
    style: Style,
    settings: (Peepholes, bool),
    callees: &Callees,
    symbols: &mut Symbols,
    pool: &mut Pool,
) -> Builder {
    let (peepholes, checks) = settings;
    let graph = Graph::new(function);
    let live = match (peepholes.liveness, peepholes.constants) {
        (true, true) => fold_constants(function, &graph, callees),
        (true, false) => live::analyse(function, &graph, callees),
        _ => live::everything(function),
    };
    let known = match peepholes.constants && peepholes.liveness {
        true => known::analyse(function, &graph, &live),
        false => vec![known::nothing(); graph.blocks.len()],
    };
    let mut cx = Context::new(symbols, pool, style, peepholes);
    cx.checks = checks;
    if function.lines.first().is_none_or(|l| l.label != Some(function.label)) {
        cx.out.label(function.label);
    }
    for (i, block) in graph.blocks.iter().enumerate() {
        // A block that only the one before falls into goes on with its registers.
        let continues = block.prev == [i.wrapping_sub(1)] && function.lines[block.start].label.is_none();
        if !continues {
            cx.forget_registers();
            cx.values = known[i];
        }
        for j in block.start..block.end {
            let following = function.lines.get(j + 1);
            let next = following.filter(|_| j + 1 < block.end).map(|l| (l.op, live.after[j + 1]));
            line(&mut cx, &function.lines[j], next, live.after[j]);
            if j + 1 == block.end {
                end_of_block(&mut cx, &function.lines[j].op, following);
            }
        }
    }
    cx.out
}

fn line(cx: &mut Context<'_>, line: &Line, next: Option<(Ir, Bytes)>, live: Bytes) {
    if let Some(label) = line.label {
        cx.out.label(label);
    }
    cx.out.note(format!("{:X} {}", line.addr, line.text));
    cx.live = live;
    cx.next = next.map(|n| n.0);
    cx.next_live = next.map_or(Bytes::MAX, |n| n.1);
    cx.result_known = known::result(&line.op, &cx.values).iter().any(Option::is_some);
    // Before emission: that changes what is known of the operands when one is also the result.
    let mut after = cx.values;
    known::step(&line.op, &mut after, live);
    operation(cx, &line.op);
    cx.unstored = None;
    if cx.peepholes.constants && cx.peepholes.liveness {
        cx.values = after;
    }
}

/// Jumps where the next line in memory is not where control goes.
fn end_of_block(cx: &mut Context<'_>, op: &Ir, following: Option<&Line>) {
    if let Ir::Jump { target } = *op
        && following.and_then(|l| l.label) != Some(target)
    {
        cx.out.branch(crate::asm::Mnemonic::BRA, target);
    }
}

/// Emits one operation in the context's style.
pub fn operation(cx: &mut Context<'_>, op: &Ir) {
    match cx.style {
        Style::Tiny => threaded::operation(cx, op),
        _ => inline(cx, op),
    }
}

/// Emits one operation as instructions.
fn inline(cx: &mut Context<'_>, op: &Ir) {
    match *op {
        Ir::Nop | Ir::Jump { .. } => {}
        Ir::Li { rd, value } => constant::load_constant(cx, rd, value),
        Ir::CodeAddr { rd, target } => constant::code_address(cx, rd, target),
        Ir::Alu { op, rd, a, b } => arith::alu(cx, op, rd, a, b),
        Ir::Unary { op, rd, a } => arith::unary(cx, op, rd, a),
        Ir::Load { width, rd, base, offset } => memory::load(cx, width, rd, base, offset),
        Ir::Store { width, src, base, offset } => memory::store(cx, width, src, base, offset),
        Ir::Digits { rd, low, high, offset } => control::digits(cx, rd, low, high, offset),
        Ir::Branch { op, a, b, target } => branch::branch(cx, op, a, b, target),
        _ => control::control(cx, op),
    }
}
