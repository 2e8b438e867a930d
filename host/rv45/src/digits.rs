//! Decimal formatting of `core::fmt` by the hand-written routine.
//!
//! What turns a number into digits is a part of each `Display::fmt` of an integer (or a reference to one),
//! between its prologue and the call that pads and prints. That part is found by what it does, not by how it looks: the function is
//! interpreted with many numbers, and the first place at which the digits stand on the stack and every
//! register that is still needed has a simple meaning (what it was before, a constant, the place of the
//! digits, their count, the sign) is where the function goes on behind the routine. A function in which no
//! such place is found stays as it is.

mod model;
mod trial;

use crate::asm::Label;
use crate::elf::Elf;
use crate::flow::live::{self, Callees, Live};
use crate::flow::{Graph, all, whole};
use crate::front::Source;
use crate::ir::{Function, Ir, Line, Src};
use crate::rv::{AluOp, Reg, Width};
use model::{Goal, Model};
use std::collections::{BTreeSet, HashMap, HashSet};
use trial::{Kind, State, Trial};

/// References to a number, one within the other, that are followed.
const REFERENCES: usize = 2;

/// Replaces the making of digits in the program's `Display::fmt` of integers, and drops functions that
/// nothing needs any more, but for the one at `kept`; returns how many were changed.
pub fn replace(elf: &Elf, source: &mut Source, kept: Option<Label>, name: &dyn Fn(Label) -> String) -> usize {
    let candidates: Vec<usize> = (0..source.functions.len()).filter(|&i| formats(&source.functions[i].name)).collect();
    if candidates.is_empty() {
        return 0;
    }
    let pointed: Vec<Label> = source.pointers.iter().map(|p| p.target).collect();
    let callees = whole::analyse(&source.functions, &pointed, source.entry, name);
    let mut changed = 0;
    for i in candidates {
        let function = &source.functions[i];
        let graph = Graph::new(function);
        let live = live::analyse(function, &graph, &callees);
        if let Some(lines) = (Subject { function, graph, live, callees: &callees }).shortened(elf) {
            source.functions[i].lines = lines;
            changed += 1;
        }
    }
    if changed > 0 {
        drop_unused(source, pointed.iter().copied().chain(kept));
    }
    changed
}

/// True for the functions that format a value, in either mangling: those are looked at.
fn formats(name: &str) -> bool {
    name.ends_with("::fmt") || name.contains("Display3fmt") || name.contains("Debug3fmt")
}

/// A function and what is known of it.
struct Subject<'a> {
    function: &'a Function,
    graph: Graph,
    live: Live,
    callees: &'a Callees,
}

/// A part of a function that begins somewhere in its first straight lines and ends before line `end`.
struct Part {
    kind: Kind,
    begin: usize,
    end: usize,
}

impl Subject<'_> {
    /// The lines of the function with the routine in them.
    fn shortened(&self, elf: &Elf) -> Option<Vec<Line>> {
        let lines = &self.function.lines;
        if !self.function.address_taken.is_empty() {
            return None;
        }
        let targets: HashSet<Label> = lines.iter().filter_map(|l| l.op.target()).collect();
        let straight = |(i, l): &(usize, &Line)| {
            let joined = *i > 0 && l.label.is_some_and(|l| targets.contains(&l));
            let leaves = matches!(l.op, Ir::Call { .. } | Ir::CallReg { .. } | Ir::Branch { .. } | Ir::Ecall);
            !joined && !leaves && !l.op.ends_block()
        };
        let prefix = lines.iter().enumerate().take_while(straight).count();
        let cases = Kind::ALL.into_iter().flat_map(|kind| (0..=REFERENCES).map(move |depth| (kind, depth)));
        cases.into_iter().find_map(|(kind, depth)| {
            let trials = trial::run(elf, self.function, kind, depth)?;
            let mut ends = (prefix..lines.len()).filter(|&c| trials.iter().all(|t| t.at.contains_key(&lines[c].addr)));
            ends.find_map(|end| {
                let rest = self.rest(prefix, end)?;
                (0..=prefix).find_map(|begin| self.attempt(&trials, &Part { kind, begin, end }, &rest))
            })
        })
    }

    /// Lines that can be reached from line `from` without passing `stop`.
    fn reach(&self, from: usize, stop: Option<usize>) -> BTreeSet<usize> {
        let lines = &self.function.lines;
        let place = |target| self.graph.by_label.get(&target).map(|&b| self.graph.blocks[b].start);
        let mut seen = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(i) = todo.pop() {
            if Some(i) == stop || i >= lines.len() || !seen.insert(i) {
                continue;
            }
            match lines[i].op {
                Ir::Branch { target, .. } => todo.extend([i + 1].into_iter().chain(place(target))),
                Ir::Jump { target } => todo.extend(place(target)),
                op if op.ends_block() => {}
                _ => todo.push(i + 1),
            }
        }
        seen
    }

    /// The lines from `end` on, if every way from line `prefix` leads there and none comes back.
    fn rest(&self, prefix: usize, end: usize) -> Option<BTreeSet<usize>> {
        let (part, rest) = (self.reach(prefix, Some(end)), self.reach(end, None));
        let leaves = |i: &usize| {
            use Ir::{CallReg, Ecall, JumpReg, Restore, Ret, TailCall};
            let op = self.function.lines[*i].op;
            matches!(op, Ret | Restore { .. } | TailCall { .. } | JumpReg { .. } | CallReg { .. } | Ecall)
        };
        let apart = part.is_disjoint(&rest) && !part.iter().any(leaves) && rest.first().is_some_and(|&i| i >= prefix);
        apart.then_some(rest)
    }

    /// The function with `part` left to the routine.
    fn attempt(&self, trials: &[Trial], part: &Part, rest: &BTreeSet<usize>) -> Option<Vec<Line>> {
        let lines = &self.function.lines;
        let (begin, end) = (&lines[part.begin], &lines[part.end]);
        let states: Vec<(&State, &State, &Trial)> =
            trials.iter().map(|t| Some((t.at.get(&begin.addr)?, t.at.get(&end.addr)?, t))).collect::<Option<_>>()?;
        if states.iter().any(|s| s.0.x[2] != s.1.x[2]) {
            return None;
        }
        let number = trial::pointer(&states)?;
        let field = trial::field(&states, part.kind)?;
        let after: Vec<&Line> = rest.iter().map(|&i| &lines[i]).collect();
        if trial::disturbs(&states, field, &after, part.kind) {
            return None;
        }
        let results = self.callees.results_of(self.function.label);
        let needed = live::before(&end.op, self.live.after[part.end], self.callees, results);
        let goals: Vec<Goal> = (1..32)
            .map(Reg)
            .filter(|&r| needed & all(r) != 0 && r != Reg::SP)
            .map(|register| Some(Goal { register, model: model::meaning(&states, register, part.kind)? }))
            .collect::<Option<_>>()?;
        let ops = code(number, &goals, field, part.kind)?;
        let line = |op: Ir| Line { addr: begin.addr, op, label: None, text: "decimal digits".into() };
        let mut out: Vec<Line> = lines[..part.begin].to_vec();
        out.extend(ops.into_iter().map(line));
        if rest.first() != Some(&part.end) {
            out.push(line(Ir::Jump { target: end.label? }));
        }
        out.extend(after.into_iter().cloned());
        // Callers know the function by the label of its first line.
        if part.begin == 0 {
            out[0].label = begin.label;
        }
        Some(out)
    }
}

/// Operations that make the digits of the number that `number` points to, through so many references, and give every register what it must hold.
fn code((number, references): (Reg, usize), goals: &[Goal], field: i32, kind: Kind) -> Option<Vec<Ir>> {
    let used = |r: Reg| r == number || goals.iter().any(|g| g.register == r || g.model == Model::Before(r));
    let mut free = [28, 29, 30, 31, 5, 6, 7, 17, 16, 15, 14, 13, 12, 11, 10].map(Reg).into_iter().filter(|&r| !used(r));
    let (place, second) = (free.next()?, free.next()?);
    let mut out = Vec::new();
    let mut base = number;
    for _ in 0..references {
        out.push(Ir::Load { width: Width::Word, rd: second, base, offset: 0 });
        base = second;
    }
    let load = |rd, width, offset| Ir::Load { width, rd, base, offset };
    let alu = |op, rd, a, b| Ir::Alu { op, rd, a, b };
    match kind {
        Kind::U64 => {
            out.push(load(place, Width::Word, 0));
            out.push(load(second, Width::Word, 4));
            out.push(Ir::Digits { rd: place, low: place, high: Some(second), offset: field });
        }
        _ => {
            out.push(load(place, kind.width(), 0));
            if kind.signed() {
                out.push(alu(AluOp::Sra, second, place, Src::Imm(31)));
                out.push(alu(AluOp::Xor, place, place, Src::Reg(second)));
                out.push(alu(AluOp::Sub, place, place, Src::Reg(second)));
            }
            out.push(Ir::Digits { rd: place, low: place, high: None, offset: field + kind.field() as i32 - 10 });
        }
    }
    // Copies first, each before its source is overwritten.
    let mut copies: Vec<(Reg, Reg)> = goals
        .iter()
        .filter_map(|g| match g.model {
            Model::Before(r) if r != g.register => Some((g.register, r)),
            _ => None,
        })
        .collect();
    let still = |r: Reg| goals.iter().any(|g| g.register == r && g.model == Model::Before(r));
    while !copies.is_empty() {
        let next = copies.iter().position(|&(to, _)| !still(to) && !copies.iter().any(|&(_, from)| from == to))?;
        let (to, from) = copies.swap_remove(next);
        out.push(alu(AluOp::Add, to, from, Src::Imm(0)));
    }
    // The routine counts places in a field of 10 or 20; the function in its own.
    let shift = if kind == Kind::U64 { 0 } else { 10 - kind.field() as i32 };
    for goal in goals {
        let rd = goal.register;
        match goal.model {
            Model::Before(_) => {}
            Model::Constant(value) => out.push(Ir::Li { rd, value }),
            Model::Stack(k) => out.push(alu(AluOp::Add, rd, Reg::SP, Src::Imm(k as u32))),
            Model::Place(k) => out.push(alu(AluOp::Add, rd, place, Src::Imm((k - shift) as u32))),
            Model::Count(k) => {
                out.push(Ir::Li { rd, value: (k + shift) as u32 });
                out.push(alu(AluOp::Sub, rd, rd, Src::Reg(place)));
            }
            Model::Pointer(k) => {
                out.push(alu(AluOp::Add, rd, Reg::SP, Src::Imm((k - shift) as u32)));
                out.push(alu(AluOp::Add, rd, rd, Src::Reg(place)));
            }
            Model::Sign(plus, minus) => {
                out.push(alu(AluOp::And, rd, second, Src::Imm(plus ^ minus)));
                out.push(alu(AluOp::Xor, rd, rd, Src::Imm(plus)));
            }
        }
    }
    Some(out)
}

/// Leaves out functions that can no longer be reached.
fn drop_unused(source: &mut Source, roots: impl Iterator<Item = Label>) {
    let owner: HashMap<Label, usize> = source
        .functions
        .iter()
        .enumerate()
        .flat_map(|(i, f)| f.address_taken.iter().chain([&f.label]).map(move |&l| (l, i)))
        .collect();
    let mut todo: Vec<Label> = roots.chain([source.entry]).collect();
    let mut kept = vec![false; source.functions.len()];
    while let Some(label) = todo.pop() {
        if let Some(&i) = owner.get(&label)
            && !std::mem::replace(&mut kept[i], true)
        {
            todo.extend(source.functions[i].lines.iter().filter_map(|l| l.op.target()));
        }
    }
    let mut kept = kept.into_iter();
    source.functions.retain(|_| kept.next().unwrap_or(true));
}
