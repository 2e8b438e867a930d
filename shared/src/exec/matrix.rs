//! GEMV and DEQROW over the five formats that the core executes.

use super::exact::Accumulator;
use super::num::{bf16_to_f32, f16_to_f32, f32_to_f16, round_i8};
use super::vector::Sum;
use super::{Executor, Fault, Work, bytes, read_floats, room, write_floats};
use crate::isa::{GEMV_ACCUMULATE, GEMV_F16, Instruction, format};
use crate::mem::Memory;

/// Elements in a block of a quantised format.
pub const BLOCK: u32 = 32;
const Q8_BYTES: usize = 34;
const Q4_BYTES: usize = 18;

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

/// One element of a float format.
fn float<M: Memory>(memory: &M, number: u8, row: u32, column: u32) -> Result<f32, Fault> {
    Ok(match number {
        format::F32 => f32::from_bits(memory.read_u32(row.wrapping_add(4 * column))?),
        format::F16 => f16_to_f32(memory.read_u16(row.wrapping_add(2 * column))?),
        _ => bf16_to_f32(memory.read_u16(row.wrapping_add(2 * column))?),
    })
}

/// Quantises a vector by blocks of 32: the elements, and the scale as the F32 value of its F16.
pub fn quantise(x: &[f32], q: &mut [i8], scale: &mut [f32]) {
    for ((x, q), scale) in x.chunks_exact(BLOCK as usize).zip(q.chunks_exact_mut(BLOCK as usize)).zip(scale) {
        let (mut largest, mut nan) = (0u32, false);
        for v in x {
            let magnitude = v.to_bits() & 0x7FFF_FFFF;
            nan |= magnitude > 0x7F80_0000;
            largest = largest.max(magnitude);
        }
        let d = if nan { f32::NAN } else { f32::from_bits(largest) / 127.0 };
        let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
        for (q, v) in q.iter_mut().zip(x) {
            *q = round_i8(*v * inverse);
        }
        *scale = f16_to_f32(f32_to_f16(d));
    }
}

fn dot_q8(block: &[u8], q: &[i8]) -> i32 {
    block.iter().zip(q).map(|(&w, &x)| i32::from(w as i8) * i32::from(x)).sum()
}

fn dot_q4(nibbles: &[u8], q: &[i8]) -> i32 {
    let (low, high) = q.split_at(BLOCK as usize / 2);
    nibbles
        .iter()
        .zip(low)
        .zip(high)
        .map(|((&n, &a), &b)| (i32::from(n & 15) - 8) * i32::from(a) + (i32::from(n >> 4) - 8) * i32::from(b))
        .sum()
}

impl Executor {
    /// GEMV: Z = W(X) times Y, optionally added to the old Z, optionally as F16.
    pub(super) fn gemv<M: Memory>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
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
        // Results go out row by row. They wait in the scores' buffer where they would land on what is still to be read:
        // weights, or wider old values.
        let overlaps = to < weights.saturating_add(matrix) && weights < to.saturating_add(out_len);
        let wait = (overlaps && out_len > 0 && matrix > 0) || (accumulate && halves);
        if wait {
            room(work.scores, rows)?;
        }
        let x = room(work.x, columns)?;
        read_floats(memory, from, x)?;
        let quantised = matches!(i.a, format::Q8_0 | format::Q4_0);
        let (q, scale) = if quantised {
            let (q, scale) = (room(work.q, columns)?, room(work.scale, columns / BLOCK)?);
            quantise(x, q, scale);
            (&*q, &*scale)
        } else {
            (&[][..], &[][..])
        };
        let mut wide = Accumulator::new();
        let mut row = 0;
        while row < rows {
            let start = weights.wrapping_add(row * stride);
            let mut y = if quantised {
                quantised_row(memory, i.a, start, q, scale)?
            } else {
                float_row(memory, i.a, start, x, &mut wide)?
            };
            if accumulate {
                y += f32::from_bits(memory.read_u32(to.wrapping_add(4 * row))?);
            }
            if wait {
                work.scores[row as usize] = y;
            } else if halves {
                memory.write(to.wrapping_add(2 * row), &f32_to_f16(y).to_le_bytes())?;
            } else {
                memory.write_u32(to.wrapping_add(4 * row), y.to_bits())?;
            }
            row += 1;
        }
        if wait {
            let results = &work.scores[..rows as usize];
            if halves { super::vector::write_halves(memory, to, results)? } else { write_floats(memory, to, results)? }
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
        write_floats(memory, to, x)
    }
}

fn quantised_row<M: Memory>(memory: &M, number: u8, start: u32, q: &[i8], scale: &[f32]) -> Result<f32, Fault> {
    let mut sum = Sum::new();
    let mut at = start;
    for (q, scale) in q.chunks_exact(BLOCK as usize).zip(scale) {
        let mut block = [0; Q8_BYTES];
        let block = if number == format::Q8_0 { &mut block[..] } else { &mut block[..Q4_BYTES] };
        memory.read(at, block)?;
        at = at.wrapping_add(block.len() as u32);
        let d = f16_to_f32(u16::from_le_bytes([block[0], block[1]]));
        let dot = if number == format::Q8_0 { dot_q8(&block[2..], q) } else { dot_q4(&block[2..], q) };
        sum.add(dot as f32 * (d * scale));
    }
    Ok(sum.value())
}

fn float_row<M: Memory>(memory: &M, number: u8, start: u32, x: &[f32], wide: &mut Accumulator) -> Result<f32, Fault> {
    wide.clear();
    let mut column = 0;
    for v in x {
        wide.add_product(float(memory, number, start, column)?, *v);
        column += 1;
    }
    Ok(wide.round())
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
