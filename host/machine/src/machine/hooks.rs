//! What a run tells its caller.

use ssnail_shared::isa::Instruction;

use super::Registers;
use crate::memory::Memory;

/// What a run tells its caller. Every method has a default that does nothing.
pub trait Hooks {
    /// At every SYNC. Memory may be changed, to request a stop for instance.
    fn sync(&mut self, _memory: &mut Memory) {}

    /// At every ARGMAX, before its register is written: the registers, the values, and the index of the largest. The
    /// result replaces the index.
    fn argmax(&mut self, _registers: &Registers, _values: &[f32], largest: u32) -> u32 {
        largest
    }

    /// Whether [`Hooks::argmax`] wants every position: prompt positions are otherwise free to skip it.
    fn every_argmax(&self) -> bool {
        false
    }

    /// After every instruction but HALT.
    fn instruction(&mut self, _executed: &Executed<'_>) {}

    /// Whether [`Hooks::instruction`] wants to be called.
    fn every_instruction(&self) -> bool {
        false
    }
}

/// No hooks.
impl Hooks for () {}

/// One executed instruction, for a trace.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// Where it stood.
    pub pc: u32,
    /// What it was.
    pub instruction: Instruction,
    /// What it wrote to memory: address and bytes.
    pub written: Option<(u32, &'a [u8])>,
}
