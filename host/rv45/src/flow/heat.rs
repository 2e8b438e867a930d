//! How often functions call each other, guessed from loops: enough to keep together in memory what
//! runs together.

use super::Graph;
use crate::asm::Label;
use crate::ir::{Function, Ir};
use std::collections::HashMap;

/// A call in a loop counts this much more for each loop around it.
const LOOP: f64 = 8.0;
/// Loops deeper than this count no further.
const DEEPEST: i32 = 4;
/// Rounds in which frequencies flow from callers to callees.
const ROUNDS: usize = 12;

/// Guessed calls between functions.
#[derive(Debug, Default, Clone)]
pub struct Heat {
    /// Calls from the first to the second function.
    pub calls: HashMap<(Label, Label), f64>,
}

impl Heat {
    /// The guess for a program that starts at `entry`.
    pub fn new(functions: &[Function], entry: Label) -> Heat {
        let mut local: HashMap<(Label, Label), f64> = HashMap::new();
        for function in functions {
            let graph = Graph::new(function);
            let depth = loop_depth(&graph);
            for (block, &depth) in graph.blocks.iter().zip(&depth) {
                for line in &function.lines[block.start..block.end] {
                    if let Ir::Call { target } | Ir::TailCall { target } | Ir::CodeAddr { target, .. } = line.op {
                        *local.entry((function.label, target)).or_insert(0.0) += LOOP.powi(depth.min(DEEPEST));
                    }
                }
            }
        }
        let mut frequency: HashMap<Label, f64> = functions.iter().map(|f| (f.label, 0.01)).collect();
        frequency.insert(entry, 1.0);
        for _ in 0..ROUNDS {
            let mut next: HashMap<Label, f64> = functions.iter().map(|f| (f.label, 0.01)).collect();
            next.insert(entry, 1.0);
            for (&(from, to), &weight) in &local {
                if let Some(slot) = next.get_mut(&to) {
                    *slot = (*slot + weight * frequency.get(&from).copied().unwrap_or(0.0)).min(1e12);
                }
            }
            frequency = next;
        }
        let calls = local
            .into_iter()
            .map(|((from, to), weight)| ((from, to), weight * frequency.get(&from).copied().unwrap_or(0.0)))
            .collect();
        Heat { calls }
    }

    /// Calls from and to `label`.
    pub fn of(&self, label: Label) -> f64 {
        self.calls.iter().filter(|((a, b), _)| *a == label || *b == label).map(|(_, &w)| w).sum()
    }
}

/// Loops around each block; a jump to an earlier block closes one.
fn loop_depth(graph: &Graph) -> Vec<i32> {
    let mut depth = vec![0; graph.blocks.len()];
    for (i, block) in graph.blocks.iter().enumerate() {
        for &start in block.next.iter().filter(|&&n| n <= i) {
            depth[start..=i].iter_mut().for_each(|d| *d += 1);
        }
    }
    depth
}
