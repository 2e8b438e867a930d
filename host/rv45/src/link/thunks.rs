//! Calls between overlays, high memory and main memory when a program has overlays.
//!
//! A thunk in main memory names the callee and its overlay to `rv_far`, which maps the overlay, calls,
//! and maps again what was there.

use super::Piece;
use super::regions::overlay_number;
use crate::asm::{Builder, Item, Label, Operand, Symbols};
use crate::front::CodePointer;
use crate::ir::Placement;
use std::collections::{BTreeMap, HashMap};

/// What must be mapped for code of this placement; `None` where it is always visible.
fn needs(placement: Placement) -> Option<u8> {
    match placement {
        Placement::High => Some(0),
        _ => overlay_number(placement),
    }
}

/// Redirects calls and pointers to functions that may not be visible to thunks, which are added.
pub fn insert(pieces: &mut Vec<Piece>, pointers: &mut [CodePointer], symbols: &mut Symbols) {
    if !pieces.iter().any(|p| overlay_number(p.placement).is_some()) {
        return;
    }
    let homes: HashMap<Label, u8> = pieces
        .iter()
        .filter_map(|p| match (p.items.first(), needs(p.placement)) {
            (Some(Item::Label(label)), Some(n)) => Some((*label, n)),
            _ => None,
        })
        .collect();
    let mut thunks: BTreeMap<Label, Label> = BTreeMap::new();
    let mut thunk = |label: Label, symbols: &mut Symbols| {
        *thunks.entry(label).or_insert_with(|| {
            let name = format!("rv_thunk_{}", symbols.name(label));
            symbols.named(&name)
        })
    };
    for piece in pieces.iter_mut() {
        let here = needs(piece.placement);
        for item in &mut piece.items {
            let Item::Inst(inst) = item else { continue };
            match &mut inst.operand {
                Operand::Addr(label, 0) if homes.get(label).is_some_and(|&n| Some(n) != here) => {
                    *label = thunk(*label, symbols);
                }
                Operand::Lo(label, 0) | Operand::Hi(label, 0) if homes.contains_key(label) => {
                    *label = thunk(*label, symbols);
                }
                _ => {}
            }
        }
    }
    for pointer in pointers.iter_mut().filter(|p| homes.contains_key(&p.target)) {
        pointer.target = thunk(pointer.target, symbols);
    }
    for (target, label) in thunks {
        let mut b = Builder::default();
        b.label(label);
        b.jsr(symbols.named("rv_far"));
        b.items.push(Item::Word(target, 0));
        b.items.push(Item::Bytes(vec![homes[&target]]));
        pieces.push(Piece {
            name: symbols.name(label),
            placement: Placement::Normal,
            source_bytes: 0,
            movable: false,
            items: b.items,
        });
    }
}
