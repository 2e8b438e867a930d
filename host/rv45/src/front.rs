//! From the linked ELF to functions of [`Ir`]: which words are code, where calls go, which
//! addresses are code addresses.

mod demangle;
mod error;
mod objects;
mod reader;

use crate::asm::{Label, Symbols};
use crate::elf::{Elf, Reloc, Section};
use crate::ir::{Function, Placement};
use crate::runtime::is_panic;
pub use demangle::demangle;
pub use error::FrontError;
use objects::{Object, Objects};
use reader::{R_RELAX, Reader, Target, drop_before_stop};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const R_32: u32 = 1;

/// A 32-bit word of data that holds a code address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodePointer {
    /// Address of the word.
    pub addr: u32,
    /// Where it points.
    pub target: Label,
}

/// Initialised data or .bss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// Section name.
    pub name: String,
    /// Its address: final, in chip RAM.
    pub addr: u32,
    /// Size in memory.
    pub size: u32,
    /// Contents; empty for .bss.
    pub bytes: Vec<u8>,
}

/// A program before translation.
#[derive(Debug, Clone)]
pub struct Source {
    /// Functions that can be reached, in address order.
    pub functions: Vec<Function>,
    /// Data sections.
    pub data: Vec<Data>,
    /// Words of data that hold code addresses.
    pub pointers: Vec<CodePointer>,
    /// Label of the function to start at.
    pub entry: Label,
}

/// Reads functions out of an ELF.
struct Front<'a> {
    elf: &'a Elf,
    symbols: &'a mut Symbols,
    /// Relocations by address of their place.
    relocs: HashMap<u32, Vec<Reloc>>,
    /// Start, end and name of every function.
    bounds: BTreeMap<u32, (u32, String)>,
    /// Label of every code address that something refers to.
    labels: HashMap<u32, Label>,
    /// What takes the place of functions of the program, by name.
    redirect: Redirect<'a>,
    /// Data objects that can be dropped one by one.
    objects: Objects,
}

/// Gives the routine that takes the place of a function of the program, by the function's name.
pub type Redirect<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads the program in `elf`, starting at `entry`; the function at `handler` is kept as well. Calls of
/// functions for which `redirect` names another routine go there, and their bodies are left out. What only
/// panics lead to is marked [`Placement::Cold`].
///
/// # Errors
/// [`FrontError`] with the place of what cannot be translated.
pub fn read(
    elf: &Elf,
    entry: &str,
    handler: Option<u32>,
    symbols: &mut Symbols,
    redirect: Redirect<'_>,
) -> Result<Source, FrontError> {
    if elf.relocs.is_empty() {
        return Err(FrontError::NoRelocations);
    }
    let mut relocs: HashMap<u32, Vec<Reloc>> = HashMap::new();
    for &reloc in &elf.relocs {
        if reloc.kind != R_RELAX {
            relocs.entry(reloc.addr).or_default().push(reloc);
        }
    }
    let bounds = function_bounds(elf);
    let mut front =
        Front { elf, symbols, relocs, bounds, labels: HashMap::new(), redirect, objects: Objects::new(elf) };
    front.read(entry, handler)
}

/// Functions by address. Sizes come from the symbols; where a symbol has none, the next one ends it.
fn function_bounds(elf: &Elf) -> BTreeMap<u32, (u32, String)> {
    let mut bounds: BTreeMap<u32, (u32, String, bool)> = BTreeMap::new();
    let code = |s: &crate::elf::Symbol| s.section.and_then(|i| elf.sections.get(i)).filter(|s| s.code);
    for symbol in elf.symbols.iter().filter(|s| !s.name.is_empty() && !s.name.starts_with('$')) {
        let Some(section) = code(symbol) else { continue };
        if !symbol.function && !symbol.global {
            continue;
        }
        let end = if symbol.size > 0 {
            symbol.value.saturating_add(symbol.size)
        } else {
            section.addr.saturating_add(section.size)
        };
        let new = (end, symbol.name.clone(), symbol.global);
        match bounds.get(&symbol.value) {
            // Of several names for one place the global one is the one that others know.
            Some(old) if old.2 || !symbol.global => {}
            _ => {
                bounds.insert(symbol.value, new);
            }
        }
    }
    let nexts: Vec<u32> = bounds.keys().copied().skip(1).chain([u32::MAX]).collect();
    bounds
        .into_iter()
        .zip(nexts)
        .map(|((start, (end, name, _)), next)| (start, (end.min(next).max(start), name)))
        .collect()
}

impl Front<'_> {
    fn read(&mut self, entry: &str, handler: Option<u32>) -> Result<Source, FrontError> {
        let start = self
            .bounds
            .iter()
            .find(|(_, (_, name))| name == entry)
            .map(|(&start, _)| start)
            .ok_or_else(|| FrontError::NoEntry(entry.into()))?;
        let references = self.references()?;
        let mut todo: BTreeSet<u32> = BTreeSet::from([start]);
        let mut data: Vec<Object> = Vec::new();
        let mut kept: BTreeSet<Object> = BTreeSet::new();
        let mut done: BTreeMap<u32, Function> = BTreeMap::new();
        let mut panics: BTreeSet<u32> = handler.into_iter().filter(|a| self.bounds.contains_key(a)).collect();
        let mut cold = false;
        while !todo.is_empty() || !data.is_empty() || !panics.is_empty() {
            if todo.is_empty() && data.is_empty() {
                cold = true;
                todo.append(&mut panics);
                todo.retain(|a| !done.contains_key(a));
            }
            if let Some(addr) = todo.pop_first() {
                if !cold && self.bounds.get(&addr).is_some_and(|b| is_panic(&b.1)) {
                    panics.insert(addr);
                    continue;
                }
                let (mut function, calls, objects) = self.function(addr)?;
                if cold && function.placement == Placement::Normal {
                    function.placement = Placement::Cold;
                }
                done.insert(addr, function);
                let called = calls.into_iter().filter_map(|a| self.function_of(a));
                todo.extend(called.filter(|a| !done.contains_key(a)));
                data.extend(objects);
            } else if let Some(object) = data.pop()
                && kept.insert(object)
            {
                for reference in references.iter().filter(|r| object.holds(r.owner)) {
                    match reference.to {
                        Pointee::Code(addr) => {
                            todo.extend(self.function_of(addr).filter(|a| !done.contains_key(a)));
                        }
                        Pointee::Data(object) => data.push(object),
                    }
                }
            }
        }
        let pointers: Vec<(u32, u32)> = references
            .iter()
            .filter(|r| kept.iter().any(|k| k.holds(r.owner)))
            .filter_map(|r| match r.to {
                Pointee::Code(target) => Some((r.addr, target)),
                Pointee::Data(_) => None,
            })
            .collect();
        for &(_, target) in &pointers {
            let Some(start) = self.function_of(target) else { continue };
            if start != target
                && let Some(function) = done.get_mut(&start)
            {
                let label = self.label(target);
                if !function.address_taken.contains(&label) {
                    function.address_taken.push(label);
                }
            }
        }
        let mut functions: Vec<Function> = done.into_values().collect();
        for function in &mut functions {
            for line in &mut function.lines {
                line.label = self.labels.get(&line.addr).copied();
            }
            crate::flow::link_register::erase(function);
        }
        let pointers: Vec<CodePointer> =
            pointers.into_iter().map(|(addr, target)| CodePointer { addr, target: self.label(target) }).collect();
        let data = self.data();
        Ok(Source { functions, data, pointers, entry: self.label(start) })
    }

    /// The start of the function that holds `addr`, unless it is replaced.
    fn function_of(&self, addr: u32) -> Option<u32> {
        let (&start, (end, name)) = self.bounds.range(..=addr).next_back()?;
        (addr < *end && (self.redirect)(name).is_none()).then_some(start)
    }

    fn place(&self, addr: u32) -> String {
        match self.bounds.range(..=addr).next_back() {
            Some((start, (_, name))) => format!("{}+${:X} (at ${addr:X})", demangle(name), addr - start),
            None => format!("${addr:X}"),
        }
    }

    fn code_at(&self, addr: u32) -> bool {
        self.elf.sections.iter().any(|s| s.code && s.alloc && s.contains(addr))
    }

    /// The label for the code at `addr`; functions have their names.
    fn label(&mut self, addr: u32) -> Label {
        if let Some(&label) = self.labels.get(&addr) {
            return label;
        }
        let label = match self.bounds.get(&addr) {
            Some((_, name)) => match (self.redirect)(name) {
                Some(other) => self.symbols.named(&other),
                None => {
                    let name = demangle(name);
                    let unique = if self.symbols.lookup(&name).is_some() { format!("{name}@{addr:X}") } else { name };
                    self.symbols.named(&unique)
                }
            },
            None => self.symbols.named(&format!("L{addr:X}")),
        };
        self.labels.insert(addr, label);
        label
    }

    /// Label of the symbol of a relocation: by address where it is defined, else by name.
    fn reloc_target(&mut self, reloc: &Reloc) -> Result<Target, FrontError> {
        let symbol = &self.elf.symbols[reloc.symbol];
        let redirected = (self.redirect)(&symbol.name).filter(|_| reloc.addend == 0);
        if !symbol.defined && !symbol.name.is_empty() {
            let name = redirected.unwrap_or_else(|| symbol.name.clone());
            return Ok(Target::Code(self.symbols.named(&name), None));
        }
        let addr = symbol.value.wrapping_add_signed(reloc.addend);
        if !self.code_at(addr) {
            return Ok(Target::Data(addr, self.objects.of(symbol, addr)));
        }
        if let Some(name) = redirected {
            return Ok(Target::Code(self.symbols.named(&name), None));
        }
        Ok(Target::Code(self.label(addr), Some(addr)))
    }

    /// Words in data sections that hold addresses.
    fn references(&self) -> Result<Vec<Reference>, FrontError> {
        let mut out = Vec::new();
        for reloc in &self.elf.relocs {
            let section = &self.elf.sections[reloc.section];
            if section.code || reloc.kind == R_RELAX {
                continue;
            }
            let symbol = &self.elf.symbols[reloc.symbol];
            let place = || format!("{} at ${:X}", section.name, reloc.addr);
            if reloc.kind != R_32 {
                return Err(FrontError::Relocation { place: place(), kind: reloc.kind, symbol: symbol.name.clone() });
            }
            if !symbol.defined && !symbol.name.is_empty() {
                let problem = format!("pointer to `{}`, which is not defined", symbol.name);
                return Err(FrontError::Control { place: place(), problem });
            }
            let target = symbol.value.wrapping_add_signed(reloc.addend);
            let to = if self.code_at(target) {
                Pointee::Code(target)
            } else {
                Pointee::Data(self.objects.of(symbol, target))
            };
            out.push(Reference { addr: reloc.addr, owner: self.objects.at(reloc.addr), to });
        }
        Ok(out)
    }

    fn data(&self) -> Vec<Data> {
        let live = |s: &&Section| s.alloc && !s.code && s.size > 0;
        self.elf
            .sections
            .iter()
            .filter(live)
            .map(|s| Data { name: s.name.clone(), addr: s.addr, size: s.size, bytes: s.data.clone() })
            .collect()
    }

    fn placement(&self, addr: u32) -> Placement {
        let name = self.elf.section_at(addr).map_or("", |s| s.name.as_str());
        match name {
            ".text.hot" => Placement::Hot,
            ".text.cold" => Placement::Cold,
            ".text.high" => Placement::High,
            _ => match name.strip_prefix(".text.ovl").map(str::parse) {
                Some(Ok(n)) => Placement::Overlay(n),
                _ => Placement::Normal,
            },
        }
    }

    /// Translates the function at `start` to IR; also the code and data it refers to.
    fn function(&mut self, start: u32) -> Result<(Function, Vec<u32>, Vec<Object>), FrontError> {
        let (end, name) = self.bounds[&start].clone();
        let label = self.label(start);
        let mut reader = Reader { front: self, start, end, calls: Vec::new(), objects: Vec::new(), lines: Vec::new() };
        reader.run()?;
        let Reader { calls, objects, mut lines, .. } = reader;
        let stop = self.symbols.named("rv_panic");
        let dropped = drop_before_stop(&mut lines, stop);
        let calls = calls.into_iter().filter(|c| !dropped.contains(&c.0)).map(|c| c.1).collect();
        let objects = objects.into_iter().filter(|o| !dropped.contains(&o.0)).map(|o| o.1).collect();
        let function = Function {
            name: demangle(&name),
            label,
            addr: start,
            size: end - start,
            placement: self.placement(start),
            lines,
            address_taken: Vec::new(),
        };
        Ok((function, calls, objects))
    }
}

/// A word of data that holds an address.
struct Reference {
    addr: u32,
    /// The object that the word is part of.
    owner: Object,
    to: Pointee,
}

enum Pointee {
    Code(u32),
    Data(Object),
}
