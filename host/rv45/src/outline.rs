//! Instruction sequences that occur several times become subroutines.
//!
//! RTS changes neither flags nor registers, so any run of instructions can be called as long as it
//! does not touch the stack; a run that ends in RTS or JMP is jumped to. Each use costs 3 bytes and,
//! when called, 10 cycles more.

use crate::asm::{Inst, Item, Label, Mnemonic as M, Mode, Operand, Symbols};
use crate::ir::Placement;
use crate::link::Piece;
use std::collections::HashMap;

/// Longest run that is looked for, in tokens.
const LONGEST: usize = 32;
/// Rounds of searching; each works on what the one before left.
const ROUNDS: usize = 8;

/// Shortest run, in bytes, worth a call, and the least saving of a shared run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a run.
    pub bytes: u16,
    /// Bytes saved by sharing it.
    pub saving: i32,
}

/// What cannot be told apart when it recurs: an instruction, or a skip with what it skips.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Inst(Inst),
    /// A conditional branch over the following instructions.
    Skip(u8, Vec<Inst>),
    /// A call with operand bytes behind it.
    Threaded(Inst, Vec<u8>),
}

struct Token {
    /// Items of the piece: first and one past the last.
    items: (usize, usize),
    bytes: u16,
    /// RTS or JMP.
    ends: bool,
}

/// Shares runs between the pieces for which `eligible` is true; returns the shared subroutines.
pub fn outline(
    pieces: &mut [Piece],
    eligible: &dyn Fn(&Piece) -> bool,
    limits: Limits,
    symbols: &mut Symbols,
) -> Vec<Piece> {
    let mut shared: Vec<Piece> = Vec::new();
    for _ in 0..ROUNDS {
        let found = round(pieces, &mut shared, eligible, limits, symbols);
        if !found {
            break;
        }
    }
    shared
}

/// One token stream over all eligible pieces; barriers have ids of their own.
struct Stream {
    ids: Vec<u32>,
    /// Piece (own ones first, then shared) and token of each id.
    places: Vec<(usize, Token)>,
}

fn round(
    pieces: &mut [Piece],
    shared: &mut Vec<Piece>,
    eligible: &dyn Fn(&Piece) -> bool,
    limits: Limits,
    symbols: &mut Symbols,
) -> bool {
    let own = pieces.len();
    let references = count_references(pieces.iter().chain(shared.iter()));
    let mut stream = Stream { ids: Vec::new(), places: Vec::new() };
    let mut keys: HashMap<Key, u32> = HashMap::new();
    let mut barrier = u32::MAX;
    for (i, piece) in pieces.iter().chain(shared.iter()).enumerate() {
        if i < own && !eligible(piece) {
            continue;
        }
        tokenize(piece, i, &references, symbols, &mut keys, &mut barrier, &mut stream);
    }
    let candidates = candidates(&stream, limits);
    let mut used = vec![false; stream.ids.len()];
    // Replacements per piece: item range and the label to call or jump to.
    let mut replace: Vec<Vec<(usize, usize, Label, bool)>> = vec![Vec::new(); own + shared.len()];
    let mut new = Vec::new();
    for (_, length, occurrences) in candidates {
        let mut starts: Vec<usize> = Vec::new();
        for &at in &occurrences {
            let free = !used[at..at + length].iter().any(|&u| u);
            if free && starts.last().is_none_or(|&last| last + length <= at) {
                starts.push(at);
            }
        }
        let bytes: i32 =
            stream.places[occurrences[0]..occurrences[0] + length].iter().map(|p| i32::from(p.1.bytes)).sum();
        let ends = stream.places[occurrences[0] + length - 1].1.ends;
        if saving(starts.len(), bytes, ends) < limits.saving {
            continue;
        }
        let number = (shared.len() + new.len()..).find(|n| symbols.lookup(&format!("rv_shared_{n}")).is_none());
        let label = symbols.named(&format!("rv_shared_{}", number.unwrap_or(0)));
        let (piece, first) = (stream.places[starts[0]].0, &stream.places[starts[0]].1);
        let last = &stream.places[starts[0] + length - 1].1;
        let source = pieces.iter().chain(shared.iter()).nth(piece).map_or(&[][..], |p| &p.items);
        let mut items = vec![Item::Label(label)];
        items.extend(source[first.items.0..last.items.1].iter().filter(|i| !matches!(i, Item::Note(_))).cloned());
        if !ends {
            items.extend(Inst::new(M::RTS, Mode::Implied, Operand::None).map(Item::Inst));
        }
        new.push(Piece {
            name: symbols.name(label),
            placement: Placement::Normal,
            source_bytes: 0,
            movable: false,
            items,
        });
        for at in starts {
            used[at..at + length].fill(true);
            let (piece, first) = (stream.places[at].0, stream.places[at].1.items.0);
            replace[piece].push((first, stream.places[at + length - 1].1.items.1, label, ends));
        }
    }
    let found = !new.is_empty();
    for (i, list) in replace.into_iter().enumerate() {
        let piece = if i < own { &mut pieces[i] } else { &mut shared[i - own] };
        apply(piece, list);
    }
    shared.extend(new);
    found
}

/// Bytes saved when `n` runs of `bytes` bytes share one copy.
fn saving(n: usize, bytes: i32, ends: bool) -> i32 {
    let n = i32::try_from(n).unwrap_or(i32::MAX);
    n.saturating_mul(bytes - 3) - bytes - i32::from(!ends)
}

fn count_references<'a>(pieces: impl Iterator<Item = &'a Piece>) -> HashMap<Label, usize> {
    let mut out = HashMap::new();
    for item in pieces.flat_map(|p| &p.items) {
        let label = match item {
            Item::Inst(inst) => inst.operand.label(),
            Item::Word(label, _) => Some(*label),
            _ => None,
        };
        if let Some(label) = label {
            *out.entry(label).or_insert(0) += 1;
        }
    }
    out
}

fn tokenize(
    piece: &Piece,
    index: usize,
    references: &HashMap<Label, usize>,
    symbols: &Symbols,
    keys: &mut HashMap<Key, u32>,
    barrier: &mut u32,
    stream: &mut Stream,
) {
    let mut at = 0;
    while at < piece.items.len() {
        let start = at;
        let (key, bytes, ends) = match &piece.items[at] {
            Item::Note(_) => {
                at += 1;
                continue;
            }
            Item::Inst(inst) if threaded(inst, symbols) => {
                let operands = match piece.items.get(at + 1) {
                    Some(Item::Bytes(bytes)) => bytes.clone(),
                    _ => Vec::new(),
                };
                at += 2;
                let bytes = 3 + operands.len() as u16;
                (Some(Key::Threaded(*inst, operands)), bytes, false)
            }
            Item::Inst(inst) if movable(inst, symbols) => {
                at += 1;
                (Some(Key::Inst(*inst)), inst.len(false), inst.ends_flow())
            }
            Item::Inst(inst) => match skip(&piece.items[at..], references) {
                Some((skipped, items)) => {
                    at += items;
                    let bytes = inst.len(false) + skipped.iter().map(|i| i.len(false)).sum::<u16>();
                    (Some(Key::Skip(inst.encoding.opcode, skipped)), bytes, false)
                }
                None => {
                    at += 1;
                    (None, 0, false)
                }
            },
            _ => {
                at += 1;
                (None, 0, false)
            }
        };
        let id = match key {
            Some(key) => {
                let next = keys.len() as u32;
                *keys.entry(key).or_insert(next)
            }
            None => {
                *barrier -= 1;
                *barrier
            }
        };
        stream.ids.push(id);
        stream.places.push((index, Token { items: (start, at), bytes, ends }));
    }
    *barrier -= 1;
    stream.ids.push(*barrier);
    let end = piece.items.len();
    stream.places.push((index, Token { items: (end, end), bytes: 0, ends: false }));
}

/// True for a call whose operands follow it.
fn threaded(inst: &Inst, symbols: &Symbols) -> bool {
    inst.describe().0 == M::JSR && inst.operand.label().is_some_and(|l| symbols.name(l).starts_with("rv_t_"))
}

/// True for instructions that may be executed one call deeper.
fn movable(inst: &Inst, symbols: &Symbols) -> bool {
    let (mnemonic, ..) = inst.describe();
    if matches!(inst.operand, Operand::Rel(_) | Operand::BitRel(..)) {
        return false;
    }
    match mnemonic {
        M::PHA | M::PHX | M::PHY | M::PHZ | M::PHP | M::PHW | M::PLA | M::PLX | M::PLY | M::PLZ | M::PLP => false,
        M::TSX | M::TSY | M::TXS | M::TYS | M::RTI | M::BRK | M::MAP | M::EOM => false,
        // These routines take their return address from the stack.
        M::JSR => inst.operand.label().is_none_or(|l| !crate::runtime::digs(&symbols.name(l))),
        _ => true,
    }
}

/// A forward branch over plain instructions to a label that nothing else uses.
fn skip(items: &[Item], references: &HashMap<Label, usize>) -> Option<(Vec<Inst>, usize)> {
    let Some(Item::Inst(Inst { operand: Operand::Rel(target), .. })) = items.first() else { return None };
    if references.get(target) != Some(&1) {
        return None;
    }
    let mut skipped = Vec::new();
    for (i, item) in items.iter().enumerate().skip(1).take(8) {
        match item {
            Item::Label(label) if label == target => return Some((skipped, i + 1)),
            Item::Inst(inst) if inst.operand.label().is_none() && !inst.ends_flow() => skipped.push(*inst),
            _ => return None,
        }
    }
    None
}

/// Repeated runs with what sharing them would save, best first.
fn candidates(stream: &Stream, limits: Limits) -> Vec<(i32, usize, Vec<usize>)> {
    let ids = &stream.ids;
    let barrier = |i: usize| stream.places[i].1.bytes == 0;
    let mut order: Vec<usize> = (0..ids.len()).filter(|&i| !barrier(i)).collect();
    let run = |i: usize| &ids[i..ids.len().min(i + LONGEST)];
    order.sort_unstable_by(|&a, &b| run(a).cmp(run(b)).then(a.cmp(&b)));
    // Length of the common start of neighbours, up to a barrier or the end of flow.
    let common: Vec<usize> = order
        .windows(2)
        .map(|w| {
            let n = run(w[0]).iter().zip(run(w[1])).take_while(|(a, b)| a == b).count();
            let end = (0..n).find(|&k| stream.places[w[0] + k].1.ends).map_or(n, |k| k + 1);
            (0..end).find(|&k| barrier(w[0] + k)).unwrap_or(end)
        })
        .collect();
    let mut out = Vec::new();
    for length in 1..=LONGEST {
        let mut i = 0;
        while i < common.len() {
            if common[i] < length {
                i += 1;
                continue;
            }
            let from = i;
            while i < common.len() && common[i] >= length {
                i += 1;
            }
            // A longer run with as many occurrences is considered at its own length.
            if (from..i).all(|k| common[k] > length) && length < LONGEST {
                continue;
            }
            let mut places: Vec<usize> = order[from..=i].to_vec();
            places.sort_unstable();
            let bytes: i32 = stream.places[places[0]..places[0] + length].iter().map(|p| i32::from(p.1.bytes)).sum();
            let ends = stream.places[places[0] + length - 1].1.ends;
            let gain = saving(places.len(), bytes, ends);
            if bytes >= i32::from(limits.bytes) && gain >= limits.saving {
                out.push((gain, length, places));
            }
        }
    }
    out.sort_by(|a, b| b.0.cmp(&a.0).then(a.2.cmp(&b.2)));
    out
}

fn apply(piece: &mut Piece, mut list: Vec<(usize, usize, Label, bool)>) {
    if list.is_empty() {
        return;
    }
    list.sort_unstable_by_key(|r| r.0);
    let mut out = Vec::with_capacity(piece.items.len());
    let mut at = 0;
    for (start, end, label, ends) in list {
        out.extend_from_slice(&piece.items[at..start]);
        out.extend(piece.items[start..end].iter().filter(|i| matches!(i, Item::Note(_))).cloned());
        let mnemonic = if ends { M::JMP } else { M::JSR };
        out.extend(Inst::new(mnemonic, Mode::Absolute, Operand::Addr(label, 0)).map(Item::Inst));
        at = end;
    }
    out.extend_from_slice(&piece.items[at..]);
    piece.items = out;
}
