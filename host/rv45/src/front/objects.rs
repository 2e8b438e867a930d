//! Data objects: what the program's symbols say about the data sections, so that objects which
//! nothing refers to do not keep functions alive through their pointers.

use crate::elf::{Elf, Symbol};
use std::collections::BTreeMap;

/// A data object, or a whole section where no symbol tells more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// The object that starts at an address, in a section.
    At(u32, usize),
    /// Something in a section.
    Section(usize),
    /// No section at all (an absolute address).
    Nowhere,
}

impl Object {
    /// True when keeping `self` keeps `part`.
    pub fn holds(self, part: Object) -> bool {
        match (self, part) {
            (Object::Section(a), Object::At(_, b) | Object::Section(b)) => a == b,
            // What belongs to no known object is kept as soon as anything of its section is.
            (Object::At(_, a), Object::Section(b)) => a == b,
            _ => self == part,
        }
    }
}

/// Objects by their start.
pub struct Objects {
    starts: BTreeMap<u32, (u32, usize)>,
    sections: Vec<(u32, u32)>,
}

impl Objects {
    /// The data objects of `elf`.
    pub fn new(elf: &Elf) -> Objects {
        let sections: Vec<(u32, u32)> = elf
            .sections
            .iter()
            .map(|s| if s.alloc && !s.code { (s.addr, s.addr.saturating_add(s.size)) } else { (0, 0) })
            .collect();
        let mut starts: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
        for symbol in elf.symbols.iter().filter(|s| !s.name.is_empty() && !s.name.starts_with('$')) {
            if let Some(section) = symbol.section.filter(|&s| sections.get(s).is_some_and(|r| r.1 > r.0)) {
                let end = symbol.value.saturating_add(symbol.size);
                let entry = starts.entry(symbol.value).or_insert((end, section));
                entry.0 = entry.0.max(end);
            }
        }
        // A label without a size reaches to the next one.
        let keys: Vec<u32> = starts.keys().copied().collect();
        for (i, key) in keys.iter().enumerate() {
            let next = keys.get(i + 1).copied();
            if let Some(entry) = starts.get_mut(key)
                && entry.0 == *key
            {
                entry.0 = next.unwrap_or(u32::MAX).min(sections[entry.1].1);
            }
        }
        Objects { starts, sections }
    }

    /// The object that holds `addr`.
    pub fn at(&self, addr: u32) -> Object {
        if let Some((&start, &(end, section))) = self.starts.range(..=addr).next_back()
            && addr < end
        {
            return Object::At(start, section);
        }
        self.sections
            .iter()
            .position(|&(start, end)| start <= addr && addr < end)
            .map_or(Object::Nowhere, Object::Section)
    }

    /// The object that a reference to `symbol` with result `addr` means: the symbol's own, even when
    /// the address is the object's end.
    pub fn of(&self, symbol: &Symbol, addr: u32) -> Object {
        match symbol.section {
            Some(section) if !symbol.name.is_empty() && self.starts.contains_key(&symbol.value) => {
                Object::At(symbol.value, section)
            }
            _ => self.at(addr),
        }
    }
}
