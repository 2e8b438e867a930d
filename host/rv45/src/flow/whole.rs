//! What functions read of their argument registers and what their callers read of their results,
//! over the whole program.

use super::live::{self, Callees};
use super::{ARGUMENTS, Bytes, Graph, RESULTS};
use crate::asm::Label;
use crate::ir::{Function, Ir};
use crate::runtime;
use std::collections::HashSet;

/// Least solution: nothing is read until something is found that reads it. Calls through pointers
/// read what any function does that a pointer leads to (`pointed`, and those whose address code takes);
/// the results of those are all read. Routines that are not known keep the whole convention.
pub fn analyse(functions: &[Function], pointed: &[Label], entry: Label, name: &dyn Fn(Label) -> String) -> Callees {
    let own: HashSet<Label> = functions.iter().map(|f| f.label).collect();
    let mut callees = Callees::default();
    let mut open: HashSet<Label> = pointed.iter().copied().collect();
    open.insert(entry);
    for line in functions.iter().flat_map(|f| &f.lines) {
        match line.op {
            Ir::CodeAddr { target, .. } => {
                open.insert(target);
            }
            Ir::Call { target } | Ir::TailCall { target } if !own.contains(&target) => {
                if let Some(reads) = runtime::reads(&name(target)) {
                    callees.reads.insert(target, reads);
                }
            }
            _ => {}
        }
    }
    for function in functions {
        callees.reads.insert(function.label, 0);
        let results = if open.contains(&function.label) { RESULTS } else { 0 };
        callees.results.insert(function.label, results);
    }
    // A routine that a pointer leads to and that is not known may read every argument.
    let inside: HashSet<Label> = functions.iter().flat_map(|f| &f.lines).filter_map(|l| l.label).collect();
    let foreign = open.iter().any(|l| !own.contains(l) && !inside.contains(l));
    callees.pointed = (!foreign).then_some(0);
    let graphs: Vec<Graph> = functions.iter().map(Graph::new).collect();
    loop {
        let mut changed = false;
        for (function, graph) in functions.iter().zip(&graphs) {
            let found = live::analyse(function, graph, &callees);
            changed |= widen(&mut callees.reads, function.label, found.entry & ARGUMENTS);
            if open.contains(&function.label)
                && let Some(reads) = &mut callees.pointed
            {
                let wider = *reads | (found.entry & ARGUMENTS);
                changed |= std::mem::replace(reads, wider) != wider;
            }
            let mine = callees.results_of(function.label);
            for (line, &after) in function.lines.iter().zip(&found.after) {
                match line.op {
                    Ir::Call { target } if own.contains(&target) => {
                        changed |= widen(&mut callees.results, target, after & RESULTS);
                    }
                    Ir::TailCall { target } if own.contains(&target) => {
                        changed |= widen(&mut callees.results, target, mine);
                    }
                    _ => {}
                }
            }
        }
        if !changed {
            return callees;
        }
    }
}

fn widen(map: &mut std::collections::HashMap<Label, Bytes>, label: Label, bytes: Bytes) -> bool {
    let entry = map.entry(label).or_insert(0);
    let wider = *entry | bytes;
    std::mem::replace(entry, wider) != wider
}
