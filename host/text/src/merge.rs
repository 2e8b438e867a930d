//! Merging neighbours, best pair first, in time near to linear: a queue of candidate pairs over a linked list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Symbols in a row that are merged two at a time. A symbol is the stretch of the text that it stands for and some value.
pub(crate) struct Row<T> {
    symbols: Vec<Symbol<T>>,
}

struct Symbol<T> {
    start: usize,
    /// Zero once the symbol has been merged into the one before it.
    len: usize,
    previous: usize,
    next: usize,
    value: T,
}

const NONE: usize = usize::MAX;

impl<T: Copy> Row<T> {
    /// Symbols by their ends in the text; the first begins at 0.
    pub(crate) fn new(ends: impl Iterator<Item = (usize, T)>) -> Self {
        let mut symbols: Vec<Symbol<T>> = Vec::new();
        let mut start = 0;
        for (end, value) in ends {
            let at = symbols.len();
            symbols.push(Symbol { start, len: end - start, previous: at.wrapping_sub(1), next: at + 1, value });
            start = end;
        }
        if let Some(last) = symbols.last_mut() {
            last.next = NONE;
        }
        Self { symbols }
    }

    /// Merges until `pair` knows nothing to make of any neighbours. `pair` gets start and end of the joined stretch and
    /// both values; it says how good the pair is (lower is sooner, the leftmost of equals first) and the new value.
    pub(crate) fn merge<P: Ord + Copy>(&mut self, mut pair: impl FnMut(usize, usize, T, T) -> Option<(P, T)>) {
        let mut queue = BinaryHeap::new();
        let mut made: Vec<T> = Vec::new();
        let mut offer = |symbols: &[Symbol<T>], left: usize, queue: &mut BinaryHeap<_>, made: &mut Vec<T>| {
            let Some(a) = symbols.get(left) else { return };
            let Some(b) = symbols.get(a.next) else { return };
            if let Some((priority, value)) = pair(a.start, b.start + b.len, a.value, b.value) {
                queue.push(Reverse((priority, left, a.next, a.len + b.len, made.len())));
                made.push(value);
            }
        };
        for left in 0..self.symbols.len() {
            offer(&self.symbols, left, &mut queue, &mut made);
        }
        while let Some(Reverse((_, left, right, len, value))) = queue.pop() {
            // An offer is void when one of its symbols has changed since.
            let (Some(a), Some(b)) = (self.symbols.get(left), self.symbols.get(right)) else { continue };
            if a.len == 0 || b.len == 0 || a.next != right || a.len + b.len != len {
                continue;
            }
            let (behind, before) = (b.next, a.previous);
            if let Some(b) = self.symbols.get_mut(right) {
                b.len = 0;
            }
            if let (Some(a), Some(&value)) = (self.symbols.get_mut(left), made.get(value)) {
                a.len = len;
                a.next = behind;
                a.value = value;
            }
            if let Some(behind) = self.symbols.get_mut(behind) {
                behind.previous = left;
            }
            offer(&self.symbols, left, &mut queue, &mut made);
            offer(&self.symbols, before, &mut queue, &mut made);
        }
    }

    /// What is left: start, end and value of each symbol.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = (usize, usize, T)> + '_ {
        self.symbols.iter().filter(|s| s.len != 0).map(|s| (s.start, s.start + s.len, s.value))
    }
}
