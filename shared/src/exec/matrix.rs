//! GEMV and DEQROW over the five formats that the core executes.

use super::kernels::{Kernels, Operand, Q4_BYTES, Q8_BYTES, Rows, float};
use super::num::f16_to_f32;
use super::{BLOCK, Executor, Fault, Work, bytes, room};
use crate::isa::{GEMV_ACCUMULATE, GEMV_F16, Instruction, format};
use crate::mem::Memory;

/// Bytes in a row of `columns` elements.
fn row_bytes(number: u8, columns: u32) -> Result<u32, Fault> {
    let blocks = || if columns % BLOCK == 0 { Ok(columns / BLOCK) } else { Err(Fault::Operand) };
    Ok(match number {
        format::F32 => bytes(columns, 4),
        format::F16 | format::BF16 => bytes(columns, 2),
        format::Q8_0 => bytes(blocks()?, Q8_BYTES as u32),
        format::Q4_0 => bytes(blocks()?, Q4_BYTES as u32),
        _ => return Err(Fault::Operand),
    })
}

/// Rows computed before their results go out.
const BATCH: usize = 192;

impl Executor {
    /// GEMV: Z = W(X) times Y, optionally added to the old Z, optionally as F16.
    pub(super) fn gemv<M: Memory, K: Kernels<M>>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
        kernels: &mut K,
    ) -> Result<(), Fault> {
        let [columns, rows, _] = self.n;
        let (weights, from, to) = (self.address(i.x), self.address(i.y), self.address(i.z));
        memory.check(from, bytes(columns, 4))?;
        let stride = row_bytes(i.a, columns)?;
        let matrix = bytes(stride, rows);
        memory.check(weights, matrix)?;
        let (accumulate, halves) = (i.b & GEMV_ACCUMULATE != 0, i.b & GEMV_F16 != 0);
        let out_len = bytes(rows, if halves { 2 } else { 4 });
        if accumulate {
            memory.check(to, bytes(rows, 4))?;
        }
        memory.check(to, out_len)?;
        // Results go out by batches of rows. They wait in the scores' buffer where they would land on what is still to be read:
        // weights, or wider old values.
        let overlaps = to < weights.saturating_add(matrix) && weights < to.saturating_add(out_len);
        let wait = (overlaps && out_len > 0 && matrix > 0) || (accumulate && halves);
        if wait {
            room(work.scores, rows)?;
        }
        let x = room(work.x, columns)?;
        memory.read_floats(from, x)?;
        let x = &*x;
        let mut operand = Operand { x, q: &[], scale: &[] };
        if matches!(i.a, format::Q8_0 | format::Q4_0) {
            let (q, scale) = (room(work.q, columns)?, room(work.scale, columns / BLOCK)?);
            kernels.quantise(x, q, scale);
            (operand.q, operand.scale) = (q, scale);
        }
        let mut batch = [0.0; BATCH];
        let mut row = 0;
        while row < rows {
            let n = (rows - row).min(BATCH as u32);
            let ys = &mut batch[..n as usize];
            let at = weights.wrapping_add(row * stride);
            kernels.rows(memory, Rows { format: i.a, at, stride }, operand, ys)?;
            if accumulate {
                let mut old = to.wrapping_add(4 * row);
                for y in ys.iter_mut() {
                    *y += f32::from_bits(memory.read_u32(old)?);
                    old = old.wrapping_add(4);
                }
            }
            if wait {
                work.scores[row as usize..][..n as usize].copy_from_slice(ys);
            } else if halves {
                super::vector::write_halves(memory, to.wrapping_add(2 * row), ys)?;
            } else {
                memory.write_floats(to.wrapping_add(4 * row), ys)?;
            }
            row += n;
        }
        if wait {
            let results = &work.scores[..rows as usize];
            if halves { super::vector::write_halves(memory, to, results)? } else { memory.write_floats(to, results)? }
        }
        Ok(())
    }

    /// DEQROW: N0 elements as F32.
    pub(super) fn deqrow<M: Memory>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
    ) -> Result<(), Fault> {
        let columns = self.n[0];
        let (from, to) = (self.address(i.x), self.address(i.z));
        let length = row_bytes(i.a, columns)?;
        memory.check(from, length)?;
        memory.check(to, bytes(columns, 4))?;
        let x = room(work.x, columns)?;
        if matches!(i.a, format::Q8_0 | format::Q4_0) {
            let mut at = from;
            for part in x.chunks_exact_mut(BLOCK as usize) {
                at = block_as_floats(memory, i.a, at, part)?;
            }
        } else {
            let mut column = 0;
            for v in x.iter_mut() {
                *v = float(memory, i.a, from, column)?;
                column += 1;
            }
        }
        Ok(memory.write_floats(to, x)?)
    }
}

/// Decodes a block of 32 and returns the address of the next one.
fn block_as_floats<M: Memory>(memory: &M, number: u8, at: u32, out: &mut [f32]) -> Result<u32, Fault> {
    let mut block = [0; Q8_BYTES];
    let block = if number == format::Q8_0 { &mut block[..] } else { &mut block[..Q4_BYTES] };
    memory.read(at, block)?;
    let d = f16_to_f32(u16::from_le_bytes([block[0], block[1]]));
    for (j, v) in out.iter_mut().enumerate() {
        let element = if number == format::Q8_0 {
            i32::from(block[2 + j] as i8)
        } else {
            let nibble = block[2 + j % 16] >> (4 * (j / 16));
            i32::from(nibble & 15) - 8
        };
        *v = d * element as f32;
    }
    Ok(at.wrapping_add(block.len() as u32))
}
