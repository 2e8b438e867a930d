//! ATTN: scores, softmax and weighted sum over the rows of a KV cache.

use ssnail_shared::isa::Instruction;

use super::{Machine, Scratch};
use crate::fault::{BadOperand, Fault};
use crate::kernel::Numerics;
use crate::kernel::attention::{Cache, Heads, attend};

pub(super) use crate::kernel::attention::Buffers;

/// Bytes of the attention block: eight words.
const BLOCK_LEN: u64 = 32;

impl Machine {
    /// ATTN: Z = attention of the query at Y over rows 0..=R[a] of the caches in block X.
    pub(super) fn attn(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
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
        let query = self.registers.address(i.y);
        if width > u64::from(u32::MAX) {
            return Err(self.out_of_memory(i, query, width.saturating_mul(4)));
        }
        self.read_floats(i, query, width, &mut s.a)?;
        self.read(i, k, length)?;
        self.read(i, v, length)?;
        s.y.clear();
        s.y.resize(s.a.len(), 0.0);
        let to = self.registers.address(i.z);
        self.check_write(i, to, 4 * width)?;
        if let (Some(k), Some(v), true) = (self.memory.slice(k, length), self.memory.slice(v, length), width > 0) {
            let heads = Heads { heads: heads as usize, kv_heads: kv_heads as usize, head_dim: head_dim as usize };
            let cache = Cache { k, v, halves, rows: rows as usize };
            attend(self.numerics == Numerics::Hardware, &heads, &cache, &s.a, &mut s.attention, &mut s.y);
        }
        self.write_floats(i, to, &s.y)
    }
}
