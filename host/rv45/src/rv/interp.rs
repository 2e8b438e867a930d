//! A small interpreter: the meaning of a program before translation.

use super::{Inst, Reg, Width, decode};

/// Memory as the interpreter sees it.
pub trait Memory {
    /// The byte at `addr`.
    fn load(&mut self, addr: u32) -> u8;
    /// Writes the byte at `addr`.
    fn store(&mut self, addr: u32, value: u8);

    /// The little-endian word at `addr`, at any alignment.
    fn load_word(&mut self, addr: u32) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.load(addr.wrapping_add(i as u32))))
    }
}

/// Why execution stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// `ecall`: the caller serves it and goes on.
    Ecall,
    /// `ebreak`.
    Ebreak,
    /// A word that is no instruction (also `unimp`).
    Illegal(u32),
    /// The step limit was reached.
    Limit,
}

/// Registers and program counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// x0..x31; x0 stays 0.
    pub x: [u32; 32],
    /// Address of the next instruction.
    pub pc: u32,
}

impl Cpu {
    /// A processor about to execute at `pc`.
    pub fn new(pc: u32) -> Cpu {
        Cpu { x: [0; 32], pc }
    }

    fn get(&self, r: Reg) -> u32 {
        self.x[usize::from(r.0 & 31)]
    }

    fn set(&mut self, r: Reg, value: u32) {
        if r != Reg::ZERO {
            self.x[usize::from(r.0 & 31)] = value;
        }
    }

    /// Runs until something stops it, `limit` instructions at most.
    pub fn run(&mut self, memory: &mut dyn Memory, limit: u64) -> Stop {
        for _ in 0..limit {
            let word = memory.load_word(self.pc);
            match decode(word) {
                None | Some(Inst::Unimp) => return Stop::Illegal(word),
                Some(inst) => {
                    if let Some(stop) = self.execute(inst, memory) {
                        return stop;
                    }
                }
            }
        }
        Stop::Limit
    }

    /// Executes one instruction and moves the program counter.
    pub fn execute(&mut self, inst: Inst, memory: &mut dyn Memory) -> Option<Stop> {
        let pc = self.pc;
        self.pc = pc.wrapping_add(4);
        match inst {
            Inst::Lui { rd, imm } => self.set(rd, imm),
            Inst::Auipc { rd, imm } => self.set(rd, pc.wrapping_add(imm)),
            Inst::Jal { rd, offset } => {
                self.set(rd, pc.wrapping_add(4));
                self.pc = pc.wrapping_add_signed(offset);
            }
            Inst::Jalr { rd, rs1, offset } => {
                let target = self.get(rs1).wrapping_add_signed(offset) & !1;
                self.set(rd, pc.wrapping_add(4));
                self.pc = target;
            }
            Inst::Branch { op, rs1, rs2, offset } => {
                if op.eval(self.get(rs1), self.get(rs2)) {
                    self.pc = pc.wrapping_add_signed(offset);
                }
            }
            Inst::Load { width, rd, rs1, offset } => {
                let addr = self.get(rs1).wrapping_add_signed(offset);
                let mut byte = |i: u32| u32::from(memory.load(addr.wrapping_add(i)));
                let value = match width {
                    Width::ByteUnsigned => byte(0),
                    Width::Byte => byte(0) as u8 as i8 as u32,
                    Width::HalfUnsigned => byte(0) | byte(1) << 8,
                    Width::Half => (byte(0) | byte(1) << 8) as u16 as i16 as u32,
                    Width::Word => byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24,
                };
                self.set(rd, value);
            }
            Inst::Store { width, rs1, rs2, offset } => {
                let addr = self.get(rs1).wrapping_add_signed(offset);
                let bytes = self.get(rs2).to_le_bytes();
                for (i, &b) in bytes.iter().enumerate().take(width.bytes() as usize) {
                    memory.store(addr.wrapping_add(i as u32), b);
                }
            }
            Inst::OpImm { op, rd, rs1, imm } => self.set(rd, op.eval(self.get(rs1), imm as u32)),
            Inst::Op { op, rd, rs1, rs2 } => self.set(rd, op.eval(self.get(rs1), self.get(rs2))),
            Inst::Unary { op, rd, rs1 } => self.set(rd, op.eval(self.get(rs1))),
            Inst::Fence => {}
            Inst::Ecall => return Some(Stop::Ecall),
            Inst::Ebreak => return Some(Stop::Ebreak),
            Inst::Unimp => return Some(Stop::Illegal(0xC000_1073)),
        }
        None
    }
}
