//! From the linked ELF to functions of [`Ir`]: which words are code, where calls go, which
//! addresses are code addresses.

mod objects;

use crate::asm::{Label, Symbols};
use crate::elf::{Elf, Reloc, Section};
use crate::ir::{Function, Ir, Line, Placement, Src};
use crate::rv::{AluOp, Inst, Reg, Width, decode};
use objects::{Object, Objects};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Why a program cannot be translated; `place` names function and address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontError {
    /// A word is no RV32IM, Zba or Zbb instruction.
    #[error(
        "{place}: instruction word ${word:08X} is not RV32IM, Zba or Zbb (build for riscv32im with +zba,+zbb only)"
    )]
    Instruction {
        /// Where.
        place: String,
        /// The word.
        word: u32,
    },
    /// A relocation is of a kind that is not handled.
    #[error("{place}: relocation type {kind} against `{symbol}` is not handled")]
    Relocation {
        /// Where.
        place: String,
        /// R_RISCV_* number.
        kind: u32,
        /// Its symbol.
        symbol: String,
    },
    /// Control flow that the translator cannot follow.
    #[error("{place}: {problem}")]
    Control {
        /// Where.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// No function of that name to start at.
    #[error("the program has no function `{0}` to start at")]
    NoEntry(String),
    /// The ELF has no relocations.
    #[error("the ELF holds no relocations: link it with --emit-relocs")]
    NoRelocations,
}

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

const R_32: u32 = 1;
const R_BRANCH: u32 = 16;
const R_JAL: u32 = 17;
const R_CALL: u32 = 18;
const R_CALL_PLT: u32 = 19;
const R_PCREL_HI20: u32 = 23;
const R_PCREL_LO12_I: u32 = 24;
const R_PCREL_LO12_S: u32 = 25;
const R_HI20: u32 = 26;
const R_LO12_I: u32 = 27;
const R_LO12_S: u32 = 28;
const R_RELAX: u32 = 51;

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

/// Reads the program in `elf`, starting at `entry`. Calls of functions for which `redirect` names
/// another routine go there, and their bodies are left out.
///
/// # Errors
/// [`FrontError`] with the place of what cannot be translated.
pub fn read(elf: &Elf, entry: &str, symbols: &mut Symbols, redirect: Redirect<'_>) -> Result<Source, FrontError> {
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
    front.read(entry)
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
        let end = if symbol.size > 0 { symbol.value.saturating_add(symbol.size) } else { section.addr + section.size };
        let new = (end, symbol.name.clone(), symbol.global);
        match bounds.get(&symbol.value) {
            // Of several names for one place the global one is the one that others know.
            Some(old) if old.2 || !symbol.global => {}
            _ => {
                bounds.insert(symbol.value, new);
            }
        }
    }
    let starts: Vec<u32> = bounds.keys().copied().collect();
    bounds
        .into_iter()
        .map(|(start, (end, name, _))| {
            let next = starts.iter().copied().find(|&s| s > start).unwrap_or(u32::MAX);
            (start, (end.min(next), name))
        })
        .collect()
}

impl Front<'_> {
    fn read(&mut self, entry: &str) -> Result<Source, FrontError> {
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
        while !todo.is_empty() || !data.is_empty() {
            if let Some(addr) = todo.pop_first() {
                let (function, calls, objects) = self.function(addr)?;
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
            crate::flow::frames::merge(function);
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

enum Target {
    /// A label, with its address where the ELF defines it.
    Code(Label, Option<u32>),
    /// A data address and the object it belongs to.
    Data(u32, Object),
}

struct Reader<'f, 'a> {
    front: &'f mut Front<'a>,
    start: u32,
    end: u32,
    /// What the instruction at an address refers to.
    calls: Vec<(u32, u32)>,
    objects: Vec<(u32, Object)>,
    lines: Vec<Line>,
}

impl Reader<'_, '_> {
    fn run(&mut self) -> Result<(), FrontError> {
        let mut addr = self.start;
        while addr < self.end {
            let word = self.front.elf.word(addr).unwrap_or(0);
            let place = || self.front.place(addr);
            let inst = decode(word).ok_or_else(|| FrontError::Instruction { place: place(), word })?;
            let (op, len) = self.translate(addr, inst)?;
            self.lines.push(Line { addr, op, label: None, text: inst.to_string() });
            addr += len;
        }
        Ok(())
    }

    fn control(&self, addr: u32, problem: impl Into<String>) -> FrontError {
        FrontError::Control { place: self.front.place(addr), problem: problem.into() }
    }

    fn reloc(&self, addr: u32, kinds: &[u32]) -> Option<Reloc> {
        self.front.relocs.get(&addr)?.iter().find(|r| kinds.contains(&r.kind)).copied()
    }

    fn translate(&mut self, addr: u32, inst: Inst) -> Result<(Ir, u32), FrontError> {
        self.check_relocs(addr)?;
        let op = match inst {
            Inst::Lui { rd, imm } => match self.reloc(addr, &[R_HI20]) {
                // A code address is loaded whole here; the low part adds nothing (see OpImm).
                Some(reloc) => match self.front.reloc_target(&reloc)? {
                    Target::Code(target, at) => {
                        self.calls.extend(at.map(|a| (addr, a)));
                        Ir::CodeAddr { rd, target }
                    }
                    Target::Data(_, object) => {
                        self.objects.push((addr, object));
                        Ir::Li { rd, value: imm }
                    }
                },
                None => Ir::Li { rd, value: imm },
            },
            Inst::Auipc { rd, imm } => return self.auipc(addr, rd, imm),
            Inst::Jal { rd, offset } => self.jump(addr, rd, addr.wrapping_add_signed(offset), None)?,
            Inst::Jalr { rd: Reg::ZERO, rs1: Reg::RA, offset: 0 } => Ir::Ret,
            Inst::Jalr { rd: Reg::ZERO, rs1, offset: 0 } => Ir::JumpReg { reg: rs1 },
            Inst::Jalr { rd: Reg::RA, rs1, offset: 0 } => Ir::CallReg { reg: rs1 },
            Inst::Jalr { .. } => {
                return Err(self.control(addr, "indirect jump with an offset or an unusual link register"));
            }
            Inst::Branch { op, rs1, rs2, offset } => {
                let target = addr.wrapping_add_signed(offset);
                if target < self.start || target >= self.end {
                    return Err(self.control(addr, "conditional branch to another function"));
                }
                Ir::Branch { op, a: rs1, b: rs2, target: self.front.label(target) }
            }
            Inst::Load { width, rd, rs1, offset } => {
                Ir::Load { width, rd, base: rs1, offset: self.low_part(addr, offset)? }
            }
            Inst::Store { width, rs1, rs2, offset } => {
                Ir::Store { width, src: rs2, base: rs1, offset: self.low_part(addr, offset)? }
            }
            Inst::OpImm { op, rd, rs1, imm } => {
                let imm = if op == AluOp::Add { self.low_part(addr, imm)? } else { imm };
                Ir::Alu { op, rd, a: rs1, b: Src::Imm(imm as u32) }
            }
            Inst::Op { op, rd, rs1, rs2 } => Ir::Alu { op, rd, a: rs1, b: Src::Reg(rs2) },
            Inst::Unary { op, rd, rs1 } => Ir::Unary { op, rd, a: rs1 },
            Inst::Fence => Ir::Nop,
            Inst::Ecall => Ir::Ecall,
            Inst::Ebreak | Inst::Unimp => Ir::Halt,
        };
        Ok((normalise(op), 4))
    }

    /// The low 12 bits of an address: nothing for code addresses and for pc-relative ones, whose
    /// upper part was loaded whole.
    fn low_part(&mut self, addr: u32, imm: i32) -> Result<i32, FrontError> {
        if self.reloc(addr, &[R_PCREL_LO12_I, R_PCREL_LO12_S]).is_some() {
            return Ok(0);
        }
        match self.reloc(addr, &[R_LO12_I, R_LO12_S]) {
            Some(reloc) => match self.front.reloc_target(&reloc)? {
                Target::Code(..) => Ok(0),
                Target::Data(_, object) => {
                    self.objects.push((addr, object));
                    Ok(imm)
                }
            },
            None => Ok(imm),
        }
    }

    /// auipc: the first half of a far call, or an address relative to the program counter.
    fn auipc(&mut self, addr: u32, rd: Reg, imm: u32) -> Result<(Ir, u32), FrontError> {
        if let Some(reloc) = self.reloc(addr, &[R_PCREL_HI20]) {
            let op = match self.front.reloc_target(&reloc)? {
                Target::Code(target, at) => {
                    self.calls.extend(at.map(|a| (addr, a)));
                    Ir::CodeAddr { rd, target }
                }
                Target::Data(value, object) => {
                    self.objects.push((addr, object));
                    Ir::Li { rd, value }
                }
            };
            return Ok((op, 4));
        }
        let next = self.front.elf.word(addr + 4).and_then(decode);
        let Some(Inst::Jalr { rd: link, rs1, offset }) = next else {
            return Err(self.control(addr, "auipc without a jalr after it"));
        };
        if rs1 != rd || addr + 8 > self.end {
            return Err(self.control(addr, "auipc and jalr do not belong together"));
        }
        let reloc = self.reloc(addr, &[R_CALL, R_CALL_PLT]);
        let target = addr.wrapping_add(imm).wrapping_add_signed(offset);
        Ok((self.jump(addr, link, target, reloc)?, 8))
    }

    /// A direct jump or call.
    fn jump(&mut self, addr: u32, link: Reg, target: u32, reloc: Option<Reloc>) -> Result<Ir, FrontError> {
        let reloc = reloc.or_else(|| self.reloc(addr, &[R_JAL]));
        let name = reloc.map(|r| self.front.elf.symbols[r.symbol].name.clone()).filter(|n| !n.is_empty());
        let name = name.or_else(|| self.front.bounds.get(&target).map(|b| b.1.clone()));
        if let Some(n) = name.as_deref().and_then(|n| n.strip_prefix("__riscv_save_")).and_then(|n| n.parse().ok()) {
            return match link {
                Reg::T0 => Ok(Ir::Save { n, extra: 0 }),
                _ => Err(self.control(addr, "__riscv_save called with an unusual link register")),
            };
        }
        if let Some(n) = name.as_deref().and_then(|n| n.strip_prefix("__riscv_restore_")).and_then(|n| n.parse().ok()) {
            return match link {
                Reg::ZERO => Ok(Ir::Restore { n, extra: 0 }),
                _ => Err(self.control(addr, "__riscv_restore called instead of jumped to")),
            };
        }
        if link == Reg::ZERO && reloc.is_none_or(|r| r.kind == R_JAL) && (self.start..self.end).contains(&target) {
            return Ok(Ir::Jump { target: self.front.label(target) });
        }
        let label = match reloc {
            Some(reloc) => match self.front.reloc_target(&reloc)? {
                Target::Code(label, at) => {
                    self.calls.extend(at.map(|a| (addr, a)));
                    label
                }
                Target::Data(at, _) => return Err(self.control(addr, format!("call of data at ${at:X}"))),
            },
            None if self.front.bounds.contains_key(&target) => {
                self.calls.push((addr, target));
                self.front.label(target)
            }
            None => return Err(self.control(addr, format!("call to ${target:X}, where no function begins"))),
        };
        match link {
            Reg::RA => Ok(Ir::Call { target: label }),
            Reg::ZERO => Ok(Ir::TailCall { target: label }),
            other => Err(self.control(addr, format!("call with link register {other}"))),
        }
    }

    fn check_relocs(&self, addr: u32) -> Result<(), FrontError> {
        const KNOWN: [u32; 11] = [
            R_BRANCH,
            R_JAL,
            R_CALL,
            R_CALL_PLT,
            R_PCREL_HI20,
            R_PCREL_LO12_I,
            R_PCREL_LO12_S,
            R_HI20,
            R_LO12_I,
            R_LO12_S,
            R_RELAX,
        ];
        let relocs = self.front.relocs.get(&addr).map_or(&[][..], Vec::as_slice);
        match relocs.iter().find(|r| !KNOWN.contains(&r.kind)) {
            Some(r) => Err(FrontError::Relocation {
                place: self.front.place(addr),
                kind: r.kind,
                symbol: self.front.elf.symbols[r.symbol].name.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// Turns what leads straight to a call of `stop` into nothing: nobody is left to see it. Stores that
/// are not to the stack may be for hardware and stay. Returns the addresses of the dropped lines.
fn drop_before_stop(lines: &mut [Line], stop: Label) -> BTreeSet<u32> {
    let mut dropped = BTreeSet::new();
    let mut doomed = false;
    for line in lines.iter_mut().rev() {
        match line.op {
            Ir::Call { target } | Ir::TailCall { target } if target == stop => {
                line.op = Ir::TailCall { target };
                doomed = true;
            }
            Ir::Store { base, .. } if base != Reg::SP => doomed = false,
            Ir::Branch { .. } | Ir::Call { .. } | Ir::CallReg { .. } | Ir::Ecall => doomed = false,
            op if op.ends_block() => doomed = false,
            _ if doomed => {
                line.op = Ir::Nop;
                dropped.insert(line.addr);
            }
            _ => {}
        }
    }
    dropped
}

/// One form for what RISC-V writes in several ways; writes to x0 vanish.
fn normalise(op: Ir) -> Ir {
    match op {
        Ir::Alu { op, rd, a: Reg::ZERO, b: Src::Imm(b) } => Ir::Li { rd, value: op.eval(0, b) },
        Ir::Alu { op: AluOp::Add | AluOp::Or | AluOp::Xor, rd, a: Reg::ZERO, b: Src::Reg(b) } => {
            Ir::Alu { op: AluOp::Add, rd, a: b, b: Src::Imm(0) }
        }
        Ir::Alu { op, rd, a, b: Src::Reg(Reg::ZERO) } => normalise(Ir::Alu { op, rd, a, b: Src::Imm(0) }),
        Ir::Alu { op: AluOp::Sub, rd, a, b: Src::Imm(0) } => Ir::Alu { op: AluOp::Add, rd, a, b: Src::Imm(0) },
        Ir::Alu { op: AluOp::Add, rd, a, b: Src::Imm(0) } if rd == a => Ir::Nop,
        Ir::Load { width, rd: Reg::ZERO, base, offset } => Ir::Load { width, rd: Reg::ZERO, base, offset },
        Ir::Load { width: Width::Word, .. } => op,
        op if op.def() == Some(Reg::ZERO) && !matches!(op, Ir::Load { .. }) => Ir::Nop,
        op => op,
    }
}

/// A readable name: the path of legacy-mangled Rust symbols, everything else unchanged.
pub fn demangle(name: &str) -> String {
    let Some(mut rest) = name.strip_prefix("_ZN") else { return name.to_string() };
    let mut parts: Vec<String> = Vec::new();
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&n| n > 0) {
        let Ok(len) = rest[..digits].parse::<usize>() else { break };
        let Some(part) = rest.get(digits..digits + len) else { return name.to_string() };
        parts.push(part.to_string());
        rest = &rest[digits + len..];
    }
    // The last part is a hash.
    if parts.len() > 1 && parts.last().is_some_and(|p| p.len() == 17 && p.starts_with('h')) {
        parts.pop();
    }
    let text = parts.join("::");
    [("$LT$", "<"), ("$GT$", ">"), ("$u20$", "_"), ("$RF$", "&"), ("$C$", ","), ("..", "::")]
        .iter()
        .fold(text, |t, (from, to)| t.replace(from, to))
}
