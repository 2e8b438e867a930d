//! Constants: the most used ones lie in the base page, where they cost a byte and a cycle less.

use super::Piece;
use crate::asm::{Inst, Item, Label, Mnemonic as M, Mode, Operand, Symbols};
use crate::lower::Pool;
use crate::lower::cells::CONSTANTS;
use crate::runtime::THREADED;
use std::collections::HashMap;

/// Where the constants went.
pub struct Placed {
    /// Values in the base page from [`CONSTANTS`] up.
    base: Vec<u32>,
    /// The others: label and value of each.
    pub absolute_items: Vec<Item>,
}

/// Decides where each constant lies and rewrites the instructions that use the base page.
pub fn place(pieces: &mut [Piece], pool: &Pool) -> Placed {
    let mut uses: HashMap<Label, usize> = HashMap::new();
    let labels: HashMap<Label, u32> = pool.entries().into_iter().map(|(v, l)| (l, v)).collect();
    for item in pieces.iter().flat_map(|p| &p.items) {
        if let Some(label) = constant_of(item, &labels) {
            *uses.entry(label).or_default() += 1;
        }
    }
    let mut order: Vec<(usize, u32, Label)> = uses.iter().map(|(&l, &n)| (n, labels[&l], l)).collect();
    order.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let room = usize::from((THREADED - CONSTANTS) / 4);
    let cells: HashMap<Label, u8> =
        order.iter().take(room).enumerate().map(|(i, o)| (o.2, CONSTANTS + 4 * i as u8)).collect();
    for item in pieces.iter_mut().flat_map(|p| &mut p.items) {
        if let Some(label) = constant_of(item, &labels)
            && let Some(&cell) = cells.get(&label)
            && let Item::Inst(inst) = item
            && let Some(short) = Inst::new(inst.describe().0, Mode::BasePage, Operand::Byte(cell))
        {
            *inst = short;
        }
    }
    let base = order.iter().take(room).map(|o| o.1).collect();
    let absolute_items =
        order.iter().skip(room).flat_map(|o| [Item::Label(o.2), Item::Bytes(o.1.to_le_bytes().to_vec())]).collect();
    Placed { base, absolute_items }
}

fn constant_of(item: &Item, labels: &HashMap<Label, u32>) -> Option<Label> {
    match item {
        Item::Inst(Inst { operand: Operand::Addr(label, 0), .. }) if labels.contains_key(label) => Some(*label),
        _ => None,
    }
}

impl Placed {
    /// The image of the base page's constants, which start-up copies; its length is `rv_table_constants_len`.
    pub fn image_items(&self, symbols: &mut Symbols) -> Vec<Item> {
        let mut bytes: Vec<u8> = self.base.iter().flat_map(|v| v.to_le_bytes()).collect();
        bytes.resize(usize::from(THREADED - CONSTANTS), 0);
        vec![Item::Label(symbols.named("rv_table_constants")), Item::Bytes(bytes)]
    }
}

/// Copies the constants into the base page: LDX, loop.
pub fn copy_code(symbols: &mut Symbols, out: &mut crate::asm::Builder) {
    let table = symbols.named("rv_table_constants");
    let again = symbols.fresh();
    out.imm(M::LDX, THREADED - CONSTANTS);
    out.label(again);
    out.inst(M::LDA, Mode::AbsoluteX, Operand::Addr(table, -1));
    out.inst(M::STA, Mode::BasePageX, Operand::Byte(CONSTANTS - 1));
    out.imp(M::DEX);
    out.branch(M::BNE, again);
}
