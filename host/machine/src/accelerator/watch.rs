//! What a caller may watch while an image runs.

use std::sync::atomic::{AtomicBool, Ordering};

use ssnail_shared::map::{TOKEN_SLOTS, TOKENS};
use ssnail_shared::mem::{Memory as _, ReadMemory};
use ssnail_shared::runtime;

use crate::machine::{Executed, Hooks, Registers};
use crate::memory::Memory;

/// What a caller may watch while a decoder runs. Every method has a default that does nothing.
pub trait Watch {
    /// A token was generated; `false` asks for a stop.
    fn token(&mut self, _token: u32) -> bool {
        true
    }

    /// The logits of a position, prompt positions included.
    fn logits(&mut self, _pos: u32, _logits: &[f32]) {}

    /// Whether [`Watch::logits`] is wanted: prompt positions are otherwise free to skip their classifier.
    fn wants_logits(&self) -> bool {
        false
    }

    /// Chooses the token that follows `pos`, where one is generated; `largest` is the greedy choice.
    fn choose(&mut self, _pos: u32, _logits: &[f32], largest: u32) -> u32 {
        largest
    }

    /// An instruction was executed (HALT is not reported).
    fn instruction(&mut self, _executed: &Executed<'_>) {}

    /// Whether [`Watch::instruction`] is wanted.
    fn wants_instructions(&self) -> bool {
        false
    }
}

/// Nothing to watch.
impl Watch for () {}

/// A [`Watch`] as the machine's [`Hooks`].
pub(super) struct RunHooks<'a, W> {
    pub(super) watch: &'a mut W,
    pub(super) stop: &'a AtomicBool,
    pub(super) prompt_len: u32,
    pub(super) told: u32,
}

impl<W: Watch> Hooks for RunHooks<'_, W> {
    fn sync(&mut self, memory: &mut Memory) {
        // Runtime block and token buffer lie in every memory; a word that cannot be read is a token not told.
        let generated = memory.read_u32(runtime::GENERATED).unwrap_or(0);
        while self.told < generated.min(TOKEN_SLOTS) {
            let slot = TOKENS + 4 * self.prompt_len.saturating_add(self.told).min(TOKEN_SLOTS - 1);
            self.told += 1;
            if let Ok(token) = memory.read_u32(slot)
                && !self.watch.token(token)
            {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            // The header is inside the memory: the write cannot fail.
            let _ = memory.write_u32(runtime::STOP_REQUEST, 1);
        }
    }

    fn argmax(&mut self, registers: &Registers, values: &[f32], largest: u32) -> u32 {
        let pos = registers.r[0];
        self.watch.logits(pos, values);
        if pos.saturating_add(1) < self.prompt_len { largest } else { self.watch.choose(pos, values, largest) }
    }

    fn every_argmax(&self) -> bool {
        self.watch.wants_logits()
    }

    fn instruction(&mut self, executed: &Executed<'_>) {
        self.watch.instruction(executed);
    }

    fn every_instruction(&self) -> bool {
        self.watch.wants_instructions()
    }
}
