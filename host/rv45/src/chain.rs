//! Calls in tail position become jumps; a jump to a routine that can lie right behind vanishes.

use crate::asm::{Encoding, Inst};
use crate::asm::{Item, Label, Mnemonic as M, Mode, Operand, Symbols};
use crate::link::Piece;
use std::collections::HashMap;

fn plain(inst: &Inst, mnemonic: M, mode: Mode) -> bool {
    let found = inst.describe();
    (found.0, found.1) == (mnemonic, mode)
}

fn jump_target(item: &Item) -> Option<Label> {
    match item {
        Item::Inst(inst) if plain(inst, M::JMP, Mode::Absolute) => match inst.operand {
            Operand::Addr(label, 0) => Some(label),
            _ => None,
        },
        _ => None,
    }
}

/// JSR before RTS becomes JMP. The save routine is left alone: it is no ordinary call.
pub fn tail_calls(piece: &mut Piece, symbols: &Symbols) {
    let (Some(rts), Some(jmp)) =
        (crate::asm::opcode::encoding(M::RTS, Mode::Implied), crate::asm::opcode::encoding(M::JMP, Mode::Absolute))
    else {
        return;
    };
    let mut out: Vec<Item> = Vec::with_capacity(piece.items.len());
    for item in piece.items.drain(..) {
        let returns = matches!(&item, Item::Inst(inst) if inst.encoding == rts);
        if returns
            && let Some(at) = out.iter().rposition(|i| !matches!(i, Item::Note(_)))
            && let Item::Inst(inst) = &mut out[at]
            && is_call(inst, symbols)
        {
            inst.encoding = Encoding { ..jmp };
            continue;
        }
        out.push(item);
    }
    piece.items = out;
}

fn is_call(inst: &Inst, symbols: &Symbols) -> bool {
    plain(inst, M::JSR, Mode::Absolute)
        && matches!(inst.operand, Operand::Addr(label, 0) if !crate::runtime::digs(&symbols.name(label)))
}

/// Removes routines that only jump elsewhere; everything refers to the other place then.
pub fn aliases(pieces: &mut Vec<Piece>, removable: &dyn Fn(&Piece) -> bool) {
    let mut other: HashMap<Label, Label> = HashMap::new();
    pieces.retain(|piece| {
        let mut code = piece.items.iter().filter(|i| !matches!(i, Item::Note(_)));
        match (code.next(), code.next(), code.next()) {
            (Some(Item::Label(label)), Some(jump), None) if removable(piece) => match jump_target(jump) {
                Some(target) if target != *label => {
                    other.insert(*label, target);
                    false
                }
                _ => true,
            },
            _ => true,
        }
    });
    let resolve = |mut label: Label| {
        for _ in 0..other.len() {
            match other.get(&label) {
                Some(&next) => label = next,
                None => break,
            }
        }
        label
    };
    for item in pieces.iter_mut().flat_map(|p| &mut p.items) {
        match item {
            Item::Inst(inst) => {
                if let Operand::Addr(label, _) | Operand::Lo(label, _) | Operand::Hi(label, _) = &mut inst.operand {
                    *label = resolve(*label);
                }
            }
            Item::Word(label, _) => *label = resolve(*label),
            _ => {}
        }
    }
}

/// Puts pieces behind the ones that end by jumping to them, and leaves those jumps out.
pub fn order(pieces: Vec<Piece>) -> Vec<Piece> {
    let starts: HashMap<Label, usize> = pieces
        .iter()
        .enumerate()
        .filter_map(|(i, p)| match p.items.first() {
            Some(Item::Label(label)) => Some((*label, i)),
            _ => None,
        })
        .collect();
    let mut next: Vec<Option<usize>> = vec![None; pieces.len()];
    let mut taken = vec![false; pieces.len()];
    for (i, piece) in pieces.iter().enumerate() {
        if let Some(target) = piece.items.last().and_then(jump_target)
            && let Some(&j) = starts.get(&target)
            && !taken[j]
            && pieces[j].placement == piece.placement
            && !leads_to(&next, j, i)
        {
            next[i] = Some(j);
            taken[j] = true;
        }
    }
    let mut order = Vec::with_capacity(pieces.len());
    for (i, &t) in taken.iter().enumerate() {
        let mut at = (!t).then_some(i);
        while let Some(j) = at {
            order.push((j, next[j].is_some()));
            at = next[j];
        }
    }
    let mut slots: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
    let mut out = Vec::with_capacity(slots.len());
    for (i, falls) in order {
        if let Some(mut piece) = slots[i].take() {
            if falls {
                piece.items.pop();
            }
            out.push(piece);
        }
    }
    out
}

fn leads_to(next: &[Option<usize>], from: usize, to: usize) -> bool {
    let mut at = Some(from);
    while let Some(i) = at {
        if i == to {
            return true;
        }
        at = next[i];
    }
    false
}
