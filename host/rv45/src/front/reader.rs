//! One function: words to operations, with relocations telling what is a code address.

use super::objects::Object;
use super::{Front, FrontError};
use crate::asm::Label;
use crate::elf::Reloc;
use crate::ir::{Ir, Line, Src};
use crate::runtime::frame_size;
use crate::rv::{AluOp, Inst, Reg, Width, decode};
use std::collections::BTreeSet;

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
pub(super) const R_RELAX: u32 = 51;

pub(super) enum Target {
    /// A label, with its address where the ELF defines it.
    Code(Label, Option<u32>),
    /// A data address and the object it belongs to.
    Data(u32, Object),
}

pub(super) struct Reader<'f, 'a> {
    pub(super) front: &'f mut Front<'a>,
    pub(super) start: u32,
    pub(super) end: u32,
    /// What the instruction at an address refers to.
    pub(super) calls: Vec<(u32, u32)>,
    pub(super) objects: Vec<(u32, Object)>,
    pub(super) lines: Vec<Line>,
}

impl Reader<'_, '_> {
    pub(super) fn run(&mut self) -> Result<(), FrontError> {
        let mut addr = self.start;
        while addr < self.end {
            let word = self.front.elf.word(addr);
            let word = word.ok_or_else(|| self.control(addr, "the function is longer than what the file has of it"))?;
            let place = || self.front.place(addr);
            let inst = decode(word).ok_or_else(|| FrontError::Instruction { place: place(), word })?;
            let (op, len) = self.translate(addr, inst)?;
            self.lines.push(Line { addr, op, label: None, text: inst.to_string() });
            addr = addr.saturating_add(len);
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
        let next = self.front.elf.word(addr.wrapping_add(4)).and_then(decode);
        let Some(Inst::Jalr { rd: link, rs1, offset }) = next else {
            return Err(self.control(addr, "auipc without a jalr after it"));
        };
        if rs1 != rd || self.end - addr < 8 {
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
                Reg::T0 => Ok(Ir::Save { n, frame: frame_size(n) }),
                _ => Err(self.control(addr, "__riscv_save called with an unusual link register")),
            };
        }
        if let Some(n) = name.as_deref().and_then(|n| n.strip_prefix("__riscv_restore_")).and_then(|n| n.parse().ok()) {
            return match link {
                Reg::ZERO => Ok(Ir::Restore { n, frame: frame_size(n) }),
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
pub(super) fn drop_before_stop(lines: &mut [Line], stop: Label) -> BTreeSet<u32> {
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
