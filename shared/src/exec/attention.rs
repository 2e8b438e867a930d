//! ATTN: scores, softmax and weighted sum over the rows of a KV cache.

use super::num::{f16_to_f32, recip, rsqrt};
use super::vector::Sum;
use super::{Executor, Fault, Work, bytes, read_floats, room, write_floats};
use crate::isa::Instruction;
use crate::mem::Memory;
use crate::tables;

/// Bytes of the attention block: eight words.
const BLOCK_LEN: u32 = 32;

/// A cache: where it is, and whether its elements are F16.
#[derive(Clone, Copy)]
struct Cache {
    at: u32,
    halves: bool,
}

impl Cache {
    fn get<M: Memory>(self, memory: &M, index: u32) -> Result<f32, Fault> {
        Ok(if self.halves {
            f16_to_f32(memory.read_u16(self.at.wrapping_add(2 * index))?)
        } else {
            f32::from_bits(memory.read_u32(self.at.wrapping_add(4 * index))?)
        })
    }
}

impl Executor {
    /// ATTN: Z = attention of the query at Y over rows 0..=R[a] of the caches in block X.
    pub(super) fn attn<M: Memory>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
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
        memory.check(query, bytes(width, 4))?;
        let row = kv_heads.saturating_mul(head_dim);
        let length = last.saturating_add(1).saturating_mul(bytes(row, if halves { 2 } else { 4 }));
        memory.check(k, length)?;
        memory.check(v, length)?;
        memory.check(to, bytes(width, 4))?;
        let x = room(work.x, width)?;
        if width == 0 {
            return Ok(());
        }
        let scores = room(work.scores, last.saturating_add(1))?;
        read_floats(memory, query, x)?;
        let (k, v) = (Cache { at: k, halves }, Cache { at: v, halves });
        let group = heads / kv_heads;
        let scale = rsqrt(head_dim as f32);
        let mut head = 0;
        for x in x.chunks_exact_mut(head_dim as usize) {
            let first = head / group * head_dim;
            let mut at = first;
            for score in scores.iter_mut() {
                *score = dot(memory, k, at, x)? * scale;
                at = at.wrapping_add(row);
            }
            softmax(scores);
            x.fill(0.0);
            let mut at = first;
            for weight in scores.iter() {
                let mut index = at;
                for y in x.iter_mut() {
                    *y += *weight * v.get(memory, index)?;
                    index += 1;
                }
                at = at.wrapping_add(row);
            }
            head += 1;
        }
        write_floats(memory, to, x)
    }
}

fn dot<M: Memory>(memory: &M, k: Cache, first: u32, q: &[f32]) -> Result<f32, Fault> {
    let mut sum = Sum::new();
    let mut index = first;
    for q in q {
        sum.add(k.get(memory, index)? * *q);
        index += 1;
    }
    Ok(sum.value())
}

/// Scores to weights: exp table of the distance to the largest, times the reciprocal of the sum.
fn softmax(scores: &mut [f32]) {
    let mut largest = f32::NEG_INFINITY;
    for s in scores.iter() {
        if s.is_nan() {
            largest = *s;
            break;
        }
        if *s > largest {
            largest = *s;
        }
    }
    let mut sum = Sum::new();
    for s in scores.iter_mut() {
        *s = tables::EXP.eval(*s - largest);
        sum.add(*s);
    }
    let factor = recip(sum.value());
    for s in scores.iter_mut() {
        *s *= factor;
    }
}
