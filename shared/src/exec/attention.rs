//! ATTN: scores, softmax and weighted sum over the rows of a KV cache.

use super::kernels::{Cache, Kernels};
use super::num::rsqrt;
use super::{Executor, Fault, Work, bytes, room};
use crate::isa::{ATTN_MOST, Instruction};
use crate::mem::Memory;

/// Bytes of the attention block: eight words.
const BLOCK_LEN: u32 = 32;

impl Executor {
    /// ATTN: Z = attention of the query at Y over rows 0..=R[a] of the caches in block X.
    pub(super) fn attn<M: Memory, K: Kernels<M>>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
        kernels: &mut K,
    ) -> Result<(), Fault> {
        let last = self.get(i.a)?;
        let block = self.address(i.x);
        memory.check(block, BLOCK_LEN)?;
        let word = |n: u32| memory.read_u32(block.wrapping_add(4 * n));
        let (k, v, heads, kv_heads, head_dim) = (word(0)?, word(1)?, word(2)?, word(3)?, word(4)?);
        if kv_heads == 0 || heads % kv_heads != 0 {
            return Err(Fault::Operand);
        }
        let halves = match word(5)? {
            0 => false,
            1 => true,
            _ => return Err(Fault::Operand),
        };
        let (query, to) = (self.address(i.y), self.address(i.z));
        let width = heads.saturating_mul(head_dim);
        if width.saturating_mul(last.saturating_add(1)) > ATTN_MOST {
            return Err(Fault::Operand);
        }
        memory.check(query, bytes(width, 4))?;
        let size = if halves { 2 } else { 4 };
        let stride = bytes(kv_heads.saturating_mul(head_dim), size);
        let length = last.saturating_add(1).saturating_mul(stride);
        memory.check(k, length)?;
        memory.check(v, length)?;
        memory.check(to, bytes(width, 4))?;
        let x = room(work.x, width)?;
        if width == 0 {
            return Ok(());
        }
        let scores = room(work.scores, last.saturating_add(1))?;
        memory.read_floats(query, x)?;
        let group = heads / kv_heads;
        let scale = rsqrt(head_dim as f32);
        let mut head = 0;
        for x in x.chunks_exact_mut(head_dim as usize) {
            let first = head / group * head_dim * size;
            let cache = |at: u32| Cache { at: at.wrapping_add(first), stride, halves };
            kernels.scores(memory, cache(k), x, scale, scores)?;
            let factor = kernels.softmax(scores);
            kernels.mix(memory, cache(v), scores, factor, x)?;
            head += 1;
        }
        Ok(memory.write_floats(to, x)?)
    }
}
