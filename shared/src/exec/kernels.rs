//! The loops that take the time, behind a trait: a machine may have faster ways to the same bits.
//!
//! Every method has a portable body, which is the definition: what replaces one must give the same results for all
//! inputs (NaNs may differ in their payload). Ranges of memory have been checked when a method is called; a fault still
//! ends the instruction.

use super::exact::Accumulator;
use super::num::{bf16_to_f32, f16_to_f32, f32_to_f16, recip, round_i8};
use super::vector::Sum;
use super::{BLOCK, Fault};
use crate::isa::format;
use crate::mem::Memory;
use crate::sampler::key_of;
use crate::tables;

pub(super) const Q8_BYTES: usize = 34;
pub(super) const Q4_BYTES: usize = 18;

/// The vector that a matrix is multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Its elements.
    pub x: &'a [f32],
    /// For the quantised formats, the same by blocks of 32; else empty.
    pub q: &'a [i8],
    /// Scale of each block, the value of an F16.
    pub scale: &'a [f32],
}

/// Rows of a matrix, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Number of the weight format.
    pub format: u8,
    /// Address of the first.
    pub at: u32,
    /// Bytes from one to the next.
    pub stride: u32,
}

/// Vectors in a KV cache, one per position.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// Address of the first.
    pub at: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// Elements are F16, else F32.
    pub halves: bool,
}

impl Cache {
    fn get<M: Memory>(self, memory: &M, row: u32, index: u32) -> Result<f32, Fault> {
        Ok(if self.halves {
            f16_to_f32(memory.read_u16(row.wrapping_add(2 * index))?)
        } else {
            f32::from_bits(memory.read_u32(row.wrapping_add(4 * index))?)
        })
    }
}

/// The portable kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl<M: Memory> Kernels<M> for Portable {}

/// The loops of GEMV, ATTN, RMSNORM, SILUMUL, ROPE and VADD.
pub trait Kernels<M: Memory> {
    /// Quantises a vector by blocks of 32: the elements, and the scale as the F32 value of its F16.
    fn quantise(&mut self, x: &[f32], q: &mut [i8], scale: &mut [f32]) {
        quantise(x, q, scale);
    }

    /// Multiplies as many rows as `out` has places with a vector.
    ///
    /// # Errors
    /// An address outside the memory.
    fn rows(&mut self, memory: &M, rows: Rows, operand: Operand<'_>, out: &mut [f32]) -> Result<(), Fault> {
        portable_rows(memory, rows, operand, out)
    }

    /// Scores of a query against the vectors of a cache: dot product times `factor`.
    ///
    /// # Errors
    /// An address outside the memory.
    fn scores(&mut self, memory: &M, keys: Cache, query: &[f32], factor: f32, scores: &mut [f32]) -> Result<(), Fault> {
        let mut row = keys.at;
        for score in scores {
            let mut sum = Sum::new();
            let mut index = 0;
            for q in query {
                sum.add(keys.get(memory, row, index)? * *q);
                index += 1;
            }
            *score = sum.value() * factor;
            row = row.wrapping_add(keys.stride);
        }
        Ok(())
    }

    /// Scores to exps: exp table of the distance to the largest. Returns the reciprocal of their sum, which makes them
    /// weights.
    fn softmax(&mut self, scores: &mut [f32]) -> f32 {
        softmax(scores)
    }

    /// Sum of the vectors of a cache with weights, exps times `factor`, from +0 on.
    ///
    /// # Errors
    /// An address outside the memory.
    fn mix(&mut self, memory: &M, values: Cache, exps: &[f32], factor: f32, out: &mut [f32]) -> Result<(), Fault> {
        out.fill(0.0);
        let mut row = values.at;
        for exp in exps {
            let weight = *exp * factor;
            let mut index = 0;
            for y in out.iter_mut() {
                *y += weight * values.get(memory, row, index)?;
                index += 1;
            }
            row = row.wrapping_add(values.stride);
        }
        Ok(())
    }

    /// Sum of the squares.
    fn squares(&mut self, x: &[f32]) -> f32 {
        squares(x)
    }

    /// Each element times `factor`, then times that of the vector at `gain`.
    ///
    /// # Errors
    /// An address outside the memory.
    fn scale(&mut self, memory: &M, x: &mut [f32], factor: f32, gain: u32) -> Result<(), Fault> {
        let mut at = gain;
        for v in x {
            *v = (*v * factor) * f32::from_bits(memory.read_u32(at)?);
            at = at.wrapping_add(4);
        }
        Ok(())
    }

    /// SiLU of each element, times that of the vector at `other`.
    ///
    /// # Errors
    /// An address outside the memory.
    fn silu_times(&mut self, memory: &M, x: &mut [f32], other: u32) -> Result<(), Fault> {
        let mut at = other;
        for v in x {
            *v = tables::SILU.eval(*v) * f32::from_bits(memory.read_u32(at)?);
            at = at.wrapping_add(4);
        }
        Ok(())
    }

    /// Adds the vector at `other`.
    ///
    /// # Errors
    /// An address outside the memory.
    fn add(&mut self, memory: &M, x: &mut [f32], other: u32) -> Result<(), Fault> {
        let mut at = other;
        for v in x {
            *v += f32::from_bits(memory.read_u32(at)?);
            at = at.wrapping_add(4);
        }
        Ok(())
    }

    /// Index of the greatest of `count` values, at least one; of equal ones and of NaNs, which are greater than all
    /// numbers, the first.
    ///
    /// # Errors
    /// An address outside the memory.
    fn greatest(&mut self, memory: &M, at: u32, count: u32) -> Result<u32, Fault> {
        // Keys order like the numbers, but that -0 would be below +0.
        let value = |index: u32| -> Result<u32, Fault> {
            let bits = memory.read_u32(at.wrapping_add(4 * index))?;
            Ok(if bits == 0x8000_0000 { 0 } else { bits })
        };
        let mut bits = value(0)?;
        let mut best = key_of(bits);
        let (mut found, mut index) = (0, 1);
        while index < count && !is_nan(bits) {
            bits = value(index)?;
            if key_of(bits) > best || is_nan(bits) {
                best = key_of(bits);
                found = index;
            }
            index += 1;
        }
        Ok(found)
    }

    /// Rotates pairs of each head by the cosines and sines at `angles`. `head` is even and divides the length.
    ///
    /// # Errors
    /// An address outside the memory.
    fn rotate(&mut self, memory: &M, x: &mut [f32], head: u32, angles: u32) -> Result<(), Fault> {
        for values in x.chunks_exact_mut(head as usize) {
            let mut angle = angles;
            for pair in values.chunks_exact_mut(2) {
                let cos = f32::from_bits(memory.read_u32(angle)?);
                let sin = f32::from_bits(memory.read_u32(angle.wrapping_add(4))?);
                angle = angle.wrapping_add(8);
                let (p, q) = (pair[0], pair[1]);
                pair[0] = p * cos - q * sin;
                pair[1] = p * sin + q * cos;
            }
        }
        Ok(())
    }
}

const fn is_nan(bits: u32) -> bool {
    bits & 0x7FFF_FFFF > 0x7F80_0000
}

/// [`Kernels::squares`], for those who bring their own for most vectors but not all.
#[must_use]
pub fn squares(x: &[f32]) -> f32 {
    let mut squares = Sum::new();
    for v in x {
        squares.add(v * v);
    }
    squares.value()
}

/// Sum in order, from the first element on.
#[must_use]
pub fn sum(x: &[f32]) -> f32 {
    let mut sum = Sum::new();
    for v in x {
        sum.add(*v);
    }
    sum.value()
}

/// [`Kernels::quantise`], for those who bring their own for most vectors but not all.
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

fn portable_rows<M: Memory>(memory: &M, rows: Rows, operand: Operand<'_>, out: &mut [f32]) -> Result<(), Fault> {
    let quantised = matches!(rows.format, format::Q8_0 | format::Q4_0);
    let mut wide = Accumulator::new();
    let mut at = rows.at;
    for y in out {
        *y = if quantised {
            quantised_row(memory, rows.format, at, operand)?
        } else {
            float_row(memory, rows.format, at, operand.x, &mut wide)?
        };
        at = at.wrapping_add(rows.stride);
    }
    Ok(())
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

fn quantised_row<M: Memory>(memory: &M, number: u8, start: u32, operand: Operand<'_>) -> Result<f32, Fault> {
    let mut sum = Sum::new();
    let mut at = start;
    for (q, scale) in operand.q.chunks_exact(BLOCK as usize).zip(operand.scale) {
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

/// One element of a float format.
pub(super) fn float<M: Memory>(memory: &M, number: u8, row: u32, column: u32) -> Result<f32, Fault> {
    Ok(match number {
        format::F32 => f32::from_bits(memory.read_u32(row.wrapping_add(4 * column))?),
        format::F16 => f16_to_f32(memory.read_u16(row.wrapping_add(2 * column))?),
        _ => bf16_to_f32(memory.read_u16(row.wrapping_add(2 * column))?),
    })
}

/// [`Kernels::softmax`], for those who bring their own for most vectors but not all.
#[must_use]
pub fn softmax(scores: &mut [f32]) -> f32 {
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
    recip(sum.value())
}
