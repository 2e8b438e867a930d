//! Decoded instructions, kept until a store changes them.

use std::sync::Arc;

use ssnail_shared::isa::{INSTRUCTION_LEN, Instruction};

use crate::fault::Fault;
use crate::memory::Memory;

/// Most instructions kept; a script beyond that is decoded each time.
const MOST: usize = 1 << 16;

/// The instructions from `base` on that have been decoded so far.
#[derive(Debug, Default)]
pub(super) struct Script {
    base: u32,
    slots: Vec<Option<Instruction>>,
}

impl Script {
    /// The instruction at `pc` if it has been decoded and no store has changed it.
    pub(super) fn known(&self, memory: &Memory, pc: u32) -> Option<Instruction> {
        let slot =
            pc.checked_sub(self.base).filter(|d| d % INSTRUCTION_LEN == 0 && !memory.code_hit())? / INSTRUCTION_LEN;
        self.slots.get(slot as usize).copied().flatten()
    }

    /// The instruction at `pc`, or its opcode byte where that is illegal.
    pub(super) fn fetch(&mut self, memory: &mut Arc<Memory>, pc: u32) -> Result<Result<Instruction, u8>, Fault> {
        if memory.code_hit() {
            Arc::make_mut(memory).clear_code_hit();
            self.slots.clear();
        }
        if self.slots.is_empty() {
            self.base = pc;
        }
        let slot = pc.checked_sub(self.base).map(|d| (d / INSTRUCTION_LEN) as usize);
        if let Some(known) = slot.and_then(|s| self.slots.get(s).copied().flatten()) {
            return Ok(Ok(known));
        }
        let length = INSTRUCTION_LEN;
        let fault = Fault::Address { address: pc, length: u64::from(length), pc, opcode: None };
        let bytes = memory.slice(pc, u64::from(length)).and_then(|b| b.first_chunk()).ok_or(fault)?;
        let Some(instruction) = Instruction::decode(bytes) else { return Ok(Err(bytes[0])) };
        if let Some(slot) = slot.filter(|&s| s < MOST) {
            if slot >= self.slots.len() {
                self.slots.resize(slot + 1, None);
                let end = self.base + (slot as u32 + 1) * length;
                Arc::make_mut(memory).watch_code(self.base, end);
            }
            self.slots[slot] = Some(instruction);
        }
        Ok(Ok(instruction))
    }
}
