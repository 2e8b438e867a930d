//! A portable executor of the instruction set, in hardware numerics (specification, sections 9 and 11).
//!
//! It computes on the 45GS02 what the core would, where there is no core; on the PC it is the second implementation that
//! the emulator is compared with. It reads memory through [`Memory`], works in buffers that the caller lends, and knows
//! the five weight formats that the core executes.

pub mod exact;
pub mod kernels;
pub mod num;

mod attention;
mod matrix;
mod vector;

use core::fmt;

use crate::isa::{Address, INSTRUCTION_LEN, Instruction, Opcode};
use crate::map::{ADDRESS_MASK, PAYLOAD};
use crate::mem::{self, Memory};
use crate::registers::JobError;
use kernels::{Kernels, Portable};

/// Why a job ended before its HALT. The program counter stays at the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access outside the memory.
    Address(mem::Fault),
    /// A program counter between instructions.
    Misaligned,
    /// An opcode that does not exist.
    IllegalOpcode(u8),
    /// An operand that the operation does not allow.
    Operand,
    /// A vector longer than the buffers: not a fault of the script but a limit of this executor.
    Room {
        /// Elements wanted.
        needed: u32,
        /// Elements there are.
        room: u32,
    },
    /// The kernels were told to stop: the instruction is half done, and the job must not be gone on with.
    Stopped,
}

impl From<mem::Fault> for Fault {
    fn from(fault: mem::Fault) -> Self {
        Self::Address(fault)
    }
}

impl Fault {
    /// The code that the core's error register would show; [`Fault::Room`] and [`Fault::Stopped`] have none of their own.
    #[must_use]
    pub const fn job_error(self) -> JobError {
        match self {
            Self::Address(_) => JobError::Address,
            Self::Misaligned => JobError::Misaligned,
            Self::IllegalOpcode(_) => JobError::IllegalOpcode,
            Self::Operand | Self::Room { .. } | Self::Stopped => JobError::Operand,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(fault) => fault.fmt(f),
            Self::Room { needed, room } => {
                write!(f, "a vector of {needed} elements; without the core at most {room} can be computed")
            }
            Self::Stopped => f.write_str("stopped"),
            other => f.write_str(other.job_error().text()),
        }
    }
}

impl core::error::Error for Fault {}

/// What one instruction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something ordinary.
    Done(Opcode),
    /// SYNC: the program may look at memory.
    Sync,
    /// HALT: the job is over.
    Halt,
}

/// Elements in a block of a quantised format.
pub const BLOCK: u32 = 32;

/// Room to work in. Vectors as long as `x` can be computed, attention over as many rows as `scores` has places.
#[derive(Debug)]
pub struct Work<'a> {
    /// A vector.
    pub x: &'a mut [f32],
    /// Its quantised elements: as many.
    pub q: &'a mut [i8],
    /// Scale of each block of 32.
    pub scale: &'a mut [f32],
    /// Attention scores.
    pub scores: &'a mut [f32],
}

/// The core's registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// R0-R15.
    pub r: [u32; 16],
    /// A0-A15.
    pub a: [u32; 16],
    /// N0-N2.
    pub n: [u32; 3],
    /// Address of the next instruction.
    pub pc: u32,
}

impl Default for Executor {
    fn default() -> Self {
        Self::new(PAYLOAD)
    }
}

impl Executor {
    /// Cleared registers, about to execute the instruction at `pc`.
    #[must_use]
    pub const fn new(pc: u32) -> Self {
        Self { r: [0; 16], a: [0; 16], n: [0; 3], pc }
    }

    fn register(number: u8) -> Result<usize, Fault> {
        if number < 16 { Ok(usize::from(number)) } else { Err(Fault::Operand) }
    }

    /// R[number]; R15 reads as zero.
    fn get(&self, number: u8) -> Result<u32, Fault> {
        let i = Self::register(number)?;
        Ok(if i == 15 { 0 } else { self.r[i] })
    }

    fn address(&self, operand: u32) -> u32 {
        match Address::decode(operand) {
            Address::Absolute(address) => address,
            Address::Indirect { register, offset } => self.a[usize::from(register & 15)].wrapping_add(offset),
        }
    }

    /// Executes one instruction.
    ///
    /// # Errors
    /// The [`Fault`]; registers and memory are then as before the instruction.
    pub fn step<M: Memory>(&mut self, memory: &mut M, work: &mut Work<'_>) -> Result<Step, Fault> {
        self.step_with(memory, work, &mut Portable)
    }

    /// The same with a machine's own kernels.
    ///
    /// # Errors
    /// As [`Executor::step`].
    pub fn step_with<M: Memory, K: Kernels<M>>(
        &mut self,
        memory: &mut M,
        work: &mut Work<'_>,
        kernels: &mut K,
    ) -> Result<Step, Fault> {
        if self.pc % INSTRUCTION_LEN != 0 {
            return Err(Fault::Misaligned);
        }
        let mut bytes = [0; INSTRUCTION_LEN as usize];
        memory.read(self.pc, &mut bytes)?;
        let Some(i) = Instruction::decode(&bytes) else { return Err(Fault::IllegalOpcode(bytes[0])) };
        let mut next = self.pc.wrapping_add(INSTRUCTION_LEN);
        match i.op {
            Opcode::Nop => {}
            Opcode::Halt => return Ok(Step::Halt),
            Opcode::Sync => {
                self.pc = next;
                return Ok(Step::Sync);
            }
            Opcode::Setn => self.n = [i.x, i.y, i.z],
            Opcode::Li => self.r[Self::register(i.a)?] = i.z,
            Opcode::Ldr => {
                let a = Self::register(i.a)?;
                self.r[a] = memory.read_u32(self.address(i.x))?;
            }
            Opcode::Str => {
                let value = self.get(i.a)?;
                memory.write_u32(self.address(i.x), value)?;
            }
            Opcode::Addi => {
                let a = Self::register(i.a)?;
                self.r[a] = self.get(i.b)?.wrapping_add(i.z);
            }
            Opcode::Lea => {
                let a = Self::register(i.a)?;
                let step = self.get(i.b)?.wrapping_mul(i.z);
                self.a[a] = self.address(i.x).wrapping_add(step) & ADDRESS_MASK;
            }
            Opcode::Beq | Opcode::Bne | Opcode::Blt => {
                let (a, b) = (self.get(i.a)?, self.get(i.b)?);
                let taken = match i.op {
                    Opcode::Beq => a == b,
                    Opcode::Bne => a != b,
                    _ => a < b,
                };
                if taken {
                    next = self.address(i.x);
                }
            }
            Opcode::Copy => self.copy(&i, memory)?,
            Opcode::Gemv => self.gemv(&i, memory, work, kernels)?,
            Opcode::Deqrow => self.deqrow(&i, memory, work)?,
            Opcode::Argmax => self.argmax(&i, memory, kernels)?,
            Opcode::Attn => self.attn(&i, memory, work, kernels)?,
            Opcode::Vadd | Opcode::Vmul | Opcode::Silumul => self.pairwise(&i, memory, work, kernels)?,
            Opcode::Rmsnorm => self.rmsnorm(&i, memory, work, kernels)?,
            Opcode::Layernorm => self.layernorm(&i, memory, work)?,
            Opcode::Rope => self.rope(&i, memory, work, kernels)?,
            Opcode::Gelu | Opcode::Cvt16 => self.map(&i, memory, work)?,
            Opcode::Meanrows => self.meanrows(&i, memory, work)?,
        }
        self.pc = next;
        Ok(Step::Done(i.op))
    }

    /// COPY: as memmove.
    fn copy<M: Memory>(&mut self, i: &Instruction, memory: &mut M) -> Result<(), Fault> {
        const CHUNK: u32 = 64;
        let (from, to, length) = (self.address(i.x), self.address(i.y), i.z & 0xFFFF);
        memory.check(from, length)?;
        memory.check(to, length)?;
        let mut chunk = [0; CHUNK as usize];
        let mut done = 0;
        while done < length {
            let n = (length - done).min(CHUNK);
            let at = if from < to { length - done - n } else { done };
            let part = &mut chunk[..n as usize];
            memory.read(from + at, part)?;
            memory.write(to + at, part)?;
            done += n;
        }
        Ok(())
    }
}

/// `n` elements of `size` bytes; a length beyond all memory stays one.
fn bytes(n: u32, size: u32) -> u32 {
    n.saturating_mul(size)
}

/// The first `n` places of a buffer.
fn room<T>(buffer: &mut [T], n: u32) -> Result<&mut [T], Fault> {
    let room = buffer.len() as u32;
    match usize::try_from(n) {
        Ok(n) if n <= buffer.len() => Ok(&mut buffer[..n]),
        _ => Err(Fault::Room { needed: n, room }),
    }
}
