//! What lies where: the map file and the listing.

use super::{LinkError, Piece};
use crate::asm::{Item, Layout, Symbols, disasm};
use crate::front::Data;
use crate::ir::Placement;
use std::fmt::{self, Write};

/// A function or routine in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its address.
    pub addr: u16,
    /// Its size in bytes.
    pub size: u16,
    /// Bytes of RISC-V code it came from, 0 for hand-written routines.
    pub source_bytes: u32,
    /// Where it was to lie.
    pub placement: Placement,
    /// Cycles when every instruction is executed once and no branch is taken.
    pub cycles: u32,
}

/// The whole memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Map {
    /// Code, in address order.
    pub code: Vec<Entry>,
    /// Data sections: name, address, size.
    pub data: Vec<(String, u32, u32)>,
    /// Bytes of code, constants and start-up together.
    pub image: usize,
}

impl Map {
    /// The map of `pieces` as they were laid out (after the start-up code).
    pub fn new(pieces: &[Piece], layout: &Layout, data: &[Data]) -> Map {
        let code: Vec<Entry> = pieces
            .iter()
            .enumerate()
            .map(|(i, piece)| {
                let (start, end) = layout.spans[i + 1];
                let cycles = piece.items.iter().map(cycles).sum();
                Entry {
                    name: piece.name.clone(),
                    addr: start as u16,
                    size: (end - start) as u16,
                    source_bytes: piece.source_bytes,
                    placement: piece.placement,
                    cycles,
                }
            })
            .collect();
        let start = (layout.spans[0].1 - layout.spans[0].0) as usize;
        let image = start + code.iter().map(|e| usize::from(e.size)).sum::<usize>();
        Map { code, data: data.iter().map(|d| (d.name.clone(), d.addr, d.size)).collect(), image }
    }

    /// Address of the function called `name`.
    pub fn address(&self, name: &str) -> Option<u16> {
        self.code.iter().find(|e| e.name == name).map(|e| e.addr)
    }

    /// Bytes of translated functions and of hand-written routines.
    pub fn sizes(&self) -> (usize, usize) {
        let sum =
            |own: bool| self.code.iter().filter(|e| (e.source_bytes > 0) == own).map(|e| usize::from(e.size)).sum();
        (sum(true), sum(false))
    }

    /// The error for something that ends too late.
    pub fn too_large(&self, what: &'static str, end: u32, limit: u32) -> LinkError {
        let mut list: Vec<&Entry> = self.code.iter().collect();
        list.sort_by_key(|e| std::cmp::Reverse(e.size));
        let largest: Vec<String> = list.iter().take(8).map(|e| format!("{} ({})", e.name, e.size)).collect();
        LinkError::TooLarge { what, end, limit, largest: largest.join(", ") }
    }
}

fn cycles(item: &Item) -> u32 {
    match item {
        Item::Inst(inst) => inst.describe().2.into(),
        _ => 0,
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (own, runtime) = self.sizes();
        writeln!(f, "image {} bytes: translated {own}, hand-written {runtime}", self.image)?;
        writeln!(f, "addr   size  from  cycles  name")?;
        for e in &self.code {
            let place = match e.placement {
                Placement::Normal => String::new(),
                other => format!("  [{other:?}]"),
            };
            writeln!(f, "${:04X} {:5} {:5} {:7}  {}{place}", e.addr, e.size, e.source_bytes, e.cycles, e.name)?;
        }
        for (name, addr, size) in &self.data {
            writeln!(f, "${addr:05X} {size:5}  {name}")?;
        }
        Ok(())
    }
}

/// The listing: 45GS02 code on the left, on the right the source operation that it begins.
pub fn listing(pieces: &[Piece], layout: &Layout, symbols: &Symbols) -> String {
    let mut out = String::new();
    let name = |label| symbols.name(label);
    // Operations that came to nothing, or to what a shared routine does, stand before the next code.
    let mut waiting: Vec<&str> = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        layout.walk(i + 1, &piece.items, |at, _, item| {
            let _ = match item {
                Item::Note(text) => {
                    waiting.push(text);
                    Ok(())
                }
                Item::Label(_) => writeln!(out, "{}", disasm::item_text(item, &name)),
                _ => {
                    let last = waiting.pop();
                    for text in waiting.drain(..) {
                        let _ = writeln!(out, "{:48}; {text}", "");
                    }
                    let code = disasm::item_text(item, &name);
                    match last {
                        Some(text) => writeln!(out, "{at:04X}{code:44}; {text}"),
                        None => writeln!(out, "{at:04X}{code}"),
                    }
                }
            };
        });
    }
    out
}
