//! The executor: registers, fetch and decode, and the instructions that move no data. The others are in the modules below.

mod attention;
mod batch;
mod control;
mod held;
mod hooks;
mod matrix;
mod registers;
mod script;
mod vector;

pub use vector::largest;

use std::sync::Arc;

use ssnail_shared::isa::{INSTRUCTION_LEN, Instruction, Opcode};

use crate::fault::{BadOperand, Fault};
use crate::kernel::Numerics;
use crate::kernel::engine::Engine;
use crate::memory::Memory;
use crate::num::quantise::Activations;
use crate::stats::Stats;
use batch::Lookout;
use held::Held;
pub use hooks::{Executed, Hooks};
pub use registers::Registers;
use script::Script;

/// What one instruction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something ordinary.
    Done,
    /// SYNC: the host may look at memory.
    Sync,
    /// HALT: the job is over; the program counter stays on the HALT.
    Halt,
}

/// Buffers that live as long as the machine, so that no instruction allocates.
#[derive(Debug, Default)]
struct Scratch {
    a: Vec<f32>,
    b: Vec<f32>,
    y: Vec<f32>,
    bytes: Vec<u8>,
}

/// The accelerator: memory, registers and an executor.
#[derive(Debug)]
pub struct Machine {
    memory: Arc<Memory>,
    /// Registers; [`Machine::start`] clears them.
    pub registers: Registers,
    /// What has been moved so far.
    pub stats: Stats,
    numerics: Numerics,
    script: Script,
    engine: Engine,
    /// Taken out while an instruction works with it.
    input: Option<Arc<Activations>>,
    scratch: Scratch,
    written: Option<(u32, u64)>,
    lookout: Lookout,
    held: Held,
    plain: bool,
}

impl Machine {
    /// A machine with `memory` bytes, all zero, that computes with `threads` threads (at least one).
    #[must_use]
    pub fn new(memory: u32, numerics: Numerics, threads: usize) -> Self {
        Self {
            memory: Arc::new(Memory::new(memory)),
            registers: Registers::default(),
            stats: Stats::default(),
            numerics,
            script: Script::default(),
            engine: Engine::new(threads),
            input: None,
            scratch: Scratch::default(),
            written: None,
            lookout: Lookout::default(),
            held: Held::default(),
            plain: false,
        }
    }

    /// The memory.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The memory, to be changed between instructions.
    pub fn memory_mut(&mut self) -> &mut Memory {
        self.held.forget();
        // No other owner exists between instructions, so nothing is ever copied.
        Arc::make_mut(&mut self.memory)
    }

    /// The rules of the arithmetic.
    #[must_use]
    pub fn numerics(&self) -> Numerics {
        self.numerics
    }

    /// Changes the rules from the next instruction on.
    pub fn set_numerics(&mut self, numerics: Numerics) {
        self.numerics = numerics;
    }

    /// Runs one position after the other, as the core does, if `plain`; otherwise several positions of a prompt at once
    /// where nothing shows it.
    pub fn set_plain(&mut self, plain: bool) {
        self.plain = plain;
    }

    /// Shares work among the threads from so many bytes on, instead of from where it pays: for tests, whose models are
    /// small.
    pub fn set_least_shared(&mut self, bytes: u64) {
        self.engine.set_least_shared(bytes);
    }

    /// Clears the registers and puts the program counter at `pc`.
    pub fn start(&mut self, pc: u32) {
        self.registers = Registers { pc, ..Registers::default() };
        self.lookout.start(&self.memory, pc);
    }

    /// Runs to HALT, at most `limit` instructions.
    ///
    /// # Errors
    /// The [`Fault`] that ended the run; [`Registers::pc`] is at its instruction.
    pub fn run(&mut self, limit: u64, hooks: &mut impl Hooks) -> Result<(), Fault> {
        let mut left = limit;
        loop {
            match self.advance(&mut left, hooks) {
                Ok(Step::Halt) => return Ok(()),
                Ok(_) => hooks.sync(self.memory_mut()),
                // The limit is the run's, not what was left of it.
                Err(Fault::Limit { pc, .. }) => return Err(Fault::Limit { limit, pc }),
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Runs to the next SYNC or HALT; `left` is how many instructions may be executed, and is counted down.
    /// [`Hooks::sync`] is not called.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub fn advance(&mut self, left: &mut u64, hooks: &mut impl Hooks) -> Result<Step, Fault> {
        let batching = !self.plain && !hooks.every_argmax() && !hooks.every_instruction();
        let limit = *left;
        loop {
            if batching && self.lookout.waits_at(self.registers.pc) {
                let done = self.run_batch(*left)?;
                *left -= done;
                if done > 0 {
                    continue;
                }
            }
            if *left == 0 {
                return Err(Fault::Limit { limit, pc: self.registers.pc });
            }
            *left -= 1;
            let step = self.step(hooks)?;
            if step != Step::Done {
                self.lookout.forget();
                return Ok(step);
            }
        }
    }

    /// Executes one instruction. A SYNC is reported, [`Hooks::sync`] is not called.
    ///
    /// # Errors
    /// The [`Fault`]; registers and memory are then as before the instruction.
    pub fn step(&mut self, hooks: &mut impl Hooks) -> Result<Step, Fault> {
        let pc = self.registers.pc;
        let instruction = self.fetch(pc)?;
        self.written = None;
        // The buffers leave the machine for the time of the instruction, so that both can be borrowed.
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = self.execute(&instruction, &mut scratch, hooks);
        self.scratch = scratch;
        let step = result?;
        if step != Step::Halt && hooks.every_instruction() {
            let written = self.written.and_then(|(at, n)| Some((at, self.memory.slice(at, n)?)));
            hooks.instruction(&Executed { pc, instruction, written });
        }
        Ok(step)
    }

    fn fetch(&mut self, pc: u32) -> Result<Instruction, Fault> {
        if pc % INSTRUCTION_LEN != 0 {
            return Err(Fault::Misaligned { pc });
        }
        let fetched = self.script.fetch(&mut self.memory, pc)?;
        self.stats.instructions += 1;
        self.stats.bytes_read += u64::from(INSTRUCTION_LEN);
        fetched.map_err(|number| Fault::IllegalOpcode { number, pc })
    }

    fn execute(&mut self, i: &Instruction, s: &mut Scratch, hooks: &mut impl Hooks) -> Result<Step, Fault> {
        let mut next = self.registers.pc.wrapping_add(INSTRUCTION_LEN);
        match i.op {
            Opcode::Nop => {}
            Opcode::Halt => return Ok(Step::Halt),
            Opcode::Sync => {
                self.registers.pc = next;
                return Ok(Step::Sync);
            }
            Opcode::Setn => self.registers.n = [i.x, i.y, i.z],
            Opcode::Li | Opcode::Addi | Opcode::Lea | Opcode::Ldr | Opcode::Str | Opcode::Copy => {
                self.move_data(i, s)?
            }
            Opcode::Beq | Opcode::Bne | Opcode::Blt => next = self.branch(i)?.unwrap_or(next),
            Opcode::Gemv => self.gemv(i, s)?,
            Opcode::Deqrow => self.deqrow(i, s)?,
            Opcode::Argmax => self.argmax(i, s, hooks)?,
            Opcode::Attn => self.attn(i, s)?,
            Opcode::Rope => self.rope(i, s)?,
            Opcode::Rmsnorm | Opcode::Layernorm => self.norm(i, s)?,
            Opcode::Vadd | Opcode::Vmul | Opcode::Silumul => self.pairwise(i, s)?,
            Opcode::Gelu | Opcode::Cvt16 => self.map(i, s)?,
            Opcode::Meanrows => self.meanrows(i, s)?,
        }
        self.registers.pc = next;
        Ok(Step::Done)
    }

    fn operand(&self, i: &Instruction, reason: BadOperand) -> Fault {
        Fault::Operand { reason, pc: self.registers.pc, opcode: i.op }
    }

    fn out_of_memory(&self, i: &Instruction, address: u32, length: u64) -> Fault {
        Fault::Address { address, length, pc: self.registers.pc, opcode: Some(i.op) }
    }

    /// Counts a read and gives its bytes.
    fn read(&mut self, i: &Instruction, address: u32, length: u64) -> Result<&[u8], Fault> {
        let (pc, opcode) = (self.registers.pc, Some(i.op));
        let bytes = self.memory.slice(address, length).ok_or(Fault::Address { address, length, pc, opcode })?;
        self.stats.bytes_read += length;
        Ok(bytes)
    }

    /// Reads `n` floats into `out`.
    fn read_floats(&mut self, i: &Instruction, address: u32, n: u64, out: &mut Vec<f32>) -> Result<(), Fault> {
        let bytes = self.read(i, address, n.saturating_mul(4))?;
        out.clear();
        out.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)));
        Ok(())
    }

    /// Whether `length` bytes can be written: asked before work is done whose size a script controls.
    fn check_write(&self, i: &Instruction, address: u32, length: u64) -> Result<(), Fault> {
        match self.memory.slice(address, length) {
            Some(_) => Ok(()),
            None => Err(self.out_of_memory(i, address, length)),
        }
    }

    /// Counts a write and gives the place for its bytes.
    fn write(&mut self, i: &Instruction, address: u32, length: u64) -> Result<&mut [u8], Fault> {
        let fault = self.out_of_memory(i, address, length);
        let target = Arc::make_mut(&mut self.memory).slice_mut(address, length).ok_or(fault)?;
        self.held.written(address, length);
        self.stats.bytes_written += length;
        self.written = Some((address, length));
        Ok(target)
    }

    /// Writes floats.
    fn write_floats(&mut self, i: &Instruction, address: u32, values: &[f32]) -> Result<(), Fault> {
        let target = self.write(i, address, 4 * values.len() as u64)?;
        for (b, v) in target.as_chunks_mut().0.iter_mut().zip(values) {
            *b = v.to_le_bytes();
        }
        Ok(())
    }
}
