//! ATTN: scores, softmax and weighted sum over the rows of a KV cache.

use std::sync::Arc;

use ssnail_shared::isa::{ATTN_MOST, Instruction};

use super::{Machine, Registers, Scratch};
use crate::fault::{BadOperand, Fault};
use crate::kernel::attention::Heads;
use crate::kernel::engine::Attention;

/// Bytes of the attention block: eight words.
const BLOCK_LEN: u64 = 32;

impl Machine {
    /// ATTN: Z = attention of the query at Y over rows 0..=R[a] of the caches in block X.
    pub(super) fn attn(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let Asked { work, width, length } = self.attention_asked(i)?;
        let mut input = self.input.take().unwrap_or_default();
        let query = self.registers.address(i.y);
        let result = self.read(i, query, width.saturating_mul(4)).map(|bytes| Arc::make_mut(&mut input).load(bytes));
        if let Ok(true) = result {
            self.held.forget();
        }
        let to = self.registers.address(i.z);
        let result = result
            .and_then(|_| self.read(i, work.k, length).map(drop))
            .and_then(|()| self.read(i, work.v, length).map(drop))
            .and_then(|()| self.check_write(i, to, 4 * width));
        s.y.clear();
        // Heads of no length have rows of no length: no range says how many there may be.
        if result.is_ok() && width > 0 {
            s.y.resize(input.x.len(), 0.0);
            self.engine.attend(&work, &self.memory, &input, &mut s.y);
        }
        self.input = Some(input);
        result?;
        self.write_floats(i, to, &s.y)
    }

    /// Reads the block of an ATTN.
    fn attention_asked(&mut self, i: &Instruction) -> Result<Asked, Fault> {
        let rows = u64::from(self.registers.read(self.register(i, 'a')?)) + 1;
        let block = self.read(i, self.registers.address(i.x), BLOCK_LEN)?;
        let mut words = [0u32; 8];
        for (word, b) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u32::from_le_bytes(*b);
        }
        let [k, v, heads, kv_heads, head_dim, format, ..] = words;
        if kv_heads == 0 || heads % kv_heads != 0 {
            return Err(self.operand(i, BadOperand::Heads { heads, kv_heads }));
        }
        let halves = match format {
            0 => false,
            1 => true,
            other => return Err(self.operand(i, BadOperand::Cache(other))),
        };
        // Products of 32-bit words: too long for memory long before they leave 64 bits.
        let width = u64::from(heads).saturating_mul(u64::from(head_dim));
        let length = u128::from(rows) * u128::from(kv_heads) * u128::from(head_dim) * if halves { 2 } else { 4 };
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        if width.saturating_mul(rows) > u64::from(ATTN_MOST) {
            return Err(self.operand(i, BadOperand::Attention { width, rows }));
        }
        let heads = Heads { heads: heads as usize, kv_heads: kv_heads as usize, head_dim: head_dim as usize };
        let work = Attention { numerics: self.numerics, heads, k, v, halves, rows: rows as usize, queries: 1 };
        Ok(Asked { work, width, length })
    }

    /// ATTN for several positions, each the next of the one before: one piece of work.
    pub(super) fn attn_batch(
        &mut self,
        i: &Instruction,
        states: &mut [Registers],
        s: &mut Scratch,
    ) -> Result<(), Fault> {
        let mut input = self.input.take().unwrap_or_default();
        let queries = Arc::make_mut(&mut input);
        queries.x.clear();
        queries.ready = None;
        self.held.forget();
        let mut first: Option<Asked> = None;
        let asked = states.iter_mut().enumerate().try_for_each(|(p, state)| {
            self.memory.use_overlay(p);
            std::mem::swap(&mut self.registers, state);
            let asked = self.attention_asked(i);
            let query = self.registers.address(i.y);
            std::mem::swap(&mut self.registers, state);
            let asked = asked?;
            let bytes = self.read(i, query, 4 * asked.width)?;
            queries.x.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)));
            self.read(i, asked.work.k, asked.length)?;
            self.read(i, asked.work.v, asked.length)?;
            first.get_or_insert(asked).work.queries = p + 1;
            Ok(())
        });
        s.y.resize(queries.x.len(), 0.0);
        if let Some(Asked { work, .. }) = first.filter(|_| asked.is_ok()) {
            self.engine.attend(&work, &self.memory, &input, &mut s.y);
        }
        self.input = Some(input);
        asked?;
        let width = s.y.len() / states.len().max(1);
        states.iter().zip(s.y.chunks_exact(width.max(1))).enumerate().try_for_each(|(p, (state, y))| {
            self.memory.use_overlay(p);
            self.write_floats(i, state.address(i.z), y)
        })
    }
}

/// What an ATTN asks for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    work: Attention,
    /// Elements of the query.
    width: u64,
    /// Bytes of each cache.
    length: u64,
}
