//! Finding a place for everything: attempts until code fits.

use super::{LinkError, MAIN_END, Options, Piece, assign, constants, payload, regions, thunks};
use crate::asm::{Item, Label, Symbols};
use crate::flow::heat::Heat;
use crate::front::{CodePointer, Data};
use crate::ir::Placement;
use crate::runtime::Runtime;
use std::collections::HashSet;

/// What every attempt at placing the code has in common.
pub(super) struct Room<'a> {
    pub(super) begin: &'a [Item],
    pub(super) data: &'a [Data],
    pub(super) constants: &'a constants::Placed,
    pub(super) runtime: &'a Runtime,
    pub(super) options: &'a Options,
}

/// Code that was placed, with the pointers to it and the start-up's list.
pub(super) struct Built {
    pub(super) placed: regions::Placed,
    pub(super) pointers: Vec<CodePointer>,
    pub(super) table: payload::Table,
}

impl Room<'_> {
    /// One attempt: thunks, hand-written routines, addresses.
    fn build(
        &self,
        mut pieces: Vec<Piece>,
        mut pointers: Vec<CodePointer>,
        symbols: &mut Symbols,
    ) -> Result<Built, LinkError> {
        thunks::insert(&mut pieces, &mut pointers, symbols);
        let targets: Vec<Label> = pointers.iter().map(|p| p.target).collect();
        add_runtime(&mut pieces, self.begin, &targets, self.runtime, symbols)?;
        // The list's size must be known before addresses are, so it has a job for all there may be.
        let table = payload::Table::new(self.data, &overlay_numbers(&pieces), symbols);
        let constants = [self.constants.absolute_items.clone(), self.constants.image_items(symbols)].concat();
        let tail = Piece {
            name: "constants and the start-up's table".into(),
            placement: Placement::Normal,
            source_bytes: 0,
            movable: false,
            items: [constants, table.items()].concat(),
        };
        let placed = regions::place(pieces, self.begin, tail, self.data, symbols)?;
        Ok(Built { placed, pointers, table })
    }

    /// Places code so that it fits: in main memory, else with high memory, else with overlays.
    pub(super) fn fit(
        &self,
        pieces: Vec<Piece>,
        pointers: &[CodePointer],
        heat: &Heat,
        symbols: &mut Symbols,
    ) -> Result<Built, LinkError> {
        let limit = u32::from(self.options.main_end.min(MAIN_END));
        let over = |built: &Built| built.placed.main_end().saturating_sub(limit);
        let mut built = self.build(pieces.clone(), pointers.to_vec(), symbols)?;
        let explicit = pieces.iter().any(|p| regions::overlay_number(p.placement).is_some());
        if over(&built) > 0 && !explicit {
            let mut moved = pieces.clone();
            let room = regions::HIGH_SIZE.saturating_sub(built.placed.high_used());
            if regions::spill(&mut moved, &built.placed.sizes(), over(&built) + 32, room) {
                built = self.build(moved, pointers.to_vec(), symbols)?;
            }
        }
        if over(&built) > 0 {
            let sizes = built.placed.sizes();
            let movable: u32 = built
                .placed
                .pieces
                .iter()
                .filter(|p| p.movable && assign::free(p.placement))
                .filter_map(|p| sizes.get(&regions::label_of(p)?))
                .sum();
            let fixed = built.placed.main_end() - movable;
            let mut budget = limit.saturating_sub(fixed + 128);
            for _ in 0..6 {
                let mut moved = pieces.clone();
                if !assign::assign(&mut moved, &sizes, heat, budget) {
                    break;
                }
                let attempt = self.build(moved, pointers.to_vec(), symbols)?;
                let over = over(&attempt);
                if over == 0 {
                    built = attempt;
                    break;
                }
                budget = budget.saturating_sub(over + 32);
            }
        }
        if over(&built) > 0 {
            return Err(built.placed.map.too_large("the code", built.placed.main_end(), limit));
        }
        built.placed.check_high()?;
        Ok(built)
    }
}

fn overlay_numbers(pieces: &[Piece]) -> Vec<u8> {
    let mut list: Vec<u8> = pieces.iter().filter_map(|p| regions::overlay_number(p.placement)).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Adds the hand-written routines that something refers to.
fn add_runtime(
    pieces: &mut Vec<Piece>,
    begin: &[Item],
    pointers: &[Label],
    runtime: &Runtime,
    symbols: &mut Symbols,
) -> Result<(), LinkError> {
    let mut defined: HashSet<Label> = HashSet::new();
    let mut todo: Vec<Label> = pointers.to_vec();
    let mut scan = |items: &[Item], todo: &mut Vec<Label>| {
        for item in items {
            match item {
                Item::Label(label) => {
                    defined.insert(*label);
                }
                Item::Inst(inst) => todo.extend(inst.operand.label()),
                Item::Word(label, _) => todo.push(*label),
                _ => {}
            }
        }
        todo.retain(|label| !defined.contains(label));
    };
    for piece in pieces.iter() {
        scan(&piece.items, &mut todo);
    }
    scan(begin, &mut todo);
    while let Some(label) = todo.pop() {
        let name = symbols.name(label);
        if name.starts_with("rv_const_") || name.starts_with("rv_table") {
            continue;
        }
        let items = runtime.routine(&name, symbols).ok_or(LinkError::Undefined(name.clone()))?;
        scan(&items, &mut todo);
        pieces.push(Piece { name, placement: Placement::Normal, source_bytes: 0, movable: false, items });
    }
    Ok(())
}
