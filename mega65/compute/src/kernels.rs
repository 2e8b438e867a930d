//! The kernels in the machine's own code (`hw/kernels`): two blocks that are mapped while one of theirs runs.
//!
//! A kernel gives up where numbers are not what models are made of (infinite, subnormal, far apart); the portable body
//! then does what is left.

#![allow(unsafe_code)]

use crate::far::peek;
use crate::KEY;
use ssnail_shared::exec::kernels::{self, Cache, Kernels, Operand, Portable, Rows};
use ssnail_shared::exec::num::{f16_to_f32, f32_to_f16, recip};
use ssnail_shared::exec::{Fault, BLOCK};
use ssnail_shared::isa::format;
use ssnail_shared::mem::Memory;
use ssnail_shared::tables::{Table, EXP, SILU};

#[repr(align(256))]
struct Block<const N: usize>([u8; N]);

// Code, tables and buffers of the blocks: they write into themselves.
static mut MATRIX: Block<0x1A00> = Block(*include_bytes!(concat!(env!("SSNAIL_BLOCKS"), "/matrix.bin")));
static mut VECTOR: Block<0x1800> = Block(*include_bytes!(concat!(env!("SSNAIL_BLOCKS"), "/vector.bin")));

extern "C" {
    fn ssnail_matrix(kernel: u32, parameters: u32) -> u64;
    fn ssnail_vector(kernel: u32, parameters: u32) -> u64;
}

/// Whether a kernel did its work, and what it returns besides.
type Done = (bool, u32);

const fn done(result: u64) -> Done {
    (result as u32 == 0, (result >> 32) as u32)
}

#[inline(never)]
fn matrix(kernel: u32, parameters: &[u32; 10]) -> Done {
    // SAFETY: the routine maps the block, reads the parameters and writes where they say.
    done(unsafe { ssnail_matrix((&raw const MATRIX) as u32 + kernel, parameters.as_ptr() as u32) })
}

#[inline(never)]
fn vector(kernel: u32, parameters: &[u32; 10]) -> Done {
    // SAFETY: as `matrix`.
    done(unsafe { ssnail_vector((&raw const VECTOR) as u32 + kernel, parameters.as_ptr() as u32) })
}

/// Kernels by their numbers (matrix-kernels.s, vectors-kernels.s).
mod number {
    pub const TABLES: u32 = 0;
    pub const QUANTISED: u32 = 1;
    pub const HALVES: u32 = 2;
    pub const LARGEST: u32 = 3;
    pub const ROUND: u32 = 4;
    pub const SCORES: u32 = 1;
    pub const MIX: u32 = 2;
    pub const EXP: u32 = 3;
    pub const SCALE: u32 = 5;
    pub const SILU: u32 = 6;
    pub const PLUS: u32 = 7;
    pub const ROTATE: u32 = 8;
    pub const SQUARES: u32 = 9;
    pub const PEAK: u32 = 11;
}

/// 1 as F32.
const ONE: u32 = 0x3F80_0000;

/// Key codes of RUN/STOP and ESC.
const STOPS: [u8; 3] = [3, 0xA3, 0x1B];

/// The machine's own kernels.
pub struct Fast {
    stops: bool,
}

impl Fast {
    /// Fills their tables. `stops`: a key that ends the answer ends a long instruction as well.
    #[inline(never)]
    pub fn new(stops: bool) -> Self {
        matrix(number::TABLES, &[0; 10]);
        vector(number::TABLES, &[0; 10]);
        Self { stops }
    }

    #[inline(never)]
    fn go_on(&self) -> Result<(), Fault> {
        if self.stops && STOPS.contains(&peek(KEY)) {
            return Err(Fault::Stopped);
        }
        Ok(())
    }
}

/// An element-wise kernel over `x`, with another vector, a table, a factor; `one` does what the kernel leaves.
#[inline(never)]
fn each(kernel: u32, x: &mut [f32], other: u32, table: &Table, factor: u32, one: &mut dyn FnMut(&mut f32, u32)) {
    let mut from = 0;
    while let Some(rest) = x.get_mut(from..).filter(|rest| !rest.is_empty()) {
        let (c0, c1) = (table.c0.as_ptr() as u32, table.c1.as_ptr() as u32);
        let at = other.wrapping_add(4 * from as u32);
        let length = rest.len();
        let p = [rest.as_mut_ptr() as u32, at, c0, c1, length as u32, factor, 0, 0, 0, 0];
        let (good, left) = vector(kernel, &p);
        if good {
            return;
        }
        let went = length.saturating_sub(left as usize);
        if let Some(v) = rest.get_mut(went) {
            one(v, at.wrapping_add(4 * went as u32));
        }
        from += went + 1;
    }
}

fn float<M: Memory>(memory: &M, at: u32) -> f32 {
    f32::from_bits(memory.word(at).unwrap_or(0))
}

impl<M: Memory> Kernels<M> for Fast {
    fn quantise(&mut self, x: &[f32], q: &mut [i8], scale: &mut [f32]) {
        let size = BLOCK as usize;
        for ((x, q), scale) in x.chunks_exact(size).zip(q.chunks_exact_mut(size)).zip(scale.chunks_mut(1)) {
            let mut p = [x.as_ptr() as u32, q.as_mut_ptr() as u32, 0, 0, BLOCK, 0, 0, 0, 0, 0];
            let largest = matrix(number::LARGEST, &p).1;
            let d = f32::from_bits(largest) / 127.0;
            p[5] = (1.0 / d).to_bits();
            if largest < 0x7F80_0000 && matrix(number::ROUND, &p).0 {
                scale.fill(f16_to_f32(f32_to_f16(d)));
            } else {
                kernels::quantise(x, q, scale);
            }
        }
    }

    fn rows(&mut self, memory: &M, rows: Rows, operand: Operand<'_>, out: &mut [f32]) -> Result<(), Fault> {
        self.go_on()?;
        let Operand { x, q, scale } = operand;
        let count = out.len() as u32;
        let mut p = [
            rows.at,
            rows.stride,
            q.as_ptr() as u32,
            scale.as_ptr() as u32,
            out.as_mut_ptr() as u32,
            count,
            0,
            0,
            0,
            0,
        ];
        let good = count < 0x1_0000
            && count > 0
            && match rows.format {
                format::Q8_0 | format::Q4_0 => {
                    p[6] = scale.len() as u32;
                    p[7] = u32::from(rows.format == format::Q4_0);
                    matrix(number::QUANTISED, &p).0
                }
                format::F16 => {
                    p[2] = x.as_ptr() as u32;
                    p[6] = x.len() as u32;
                    matrix(number::HALVES, &p).0
                }
                _ => false,
            };
        if good {
            return Ok(());
        }
        let mut row = rows;
        for y in out.chunks_mut(1) {
            self.go_on()?;
            Portable.rows(memory, row, operand, y)?;
            row.at = row.at.wrapping_add(row.stride);
        }
        Ok(())
    }

    fn scores(&mut self, memory: &M, keys: Cache, query: &[f32], factor: f32, scores: &mut [f32]) -> Result<(), Fault> {
        self.go_on()?;
        let (from, to) = (query.as_ptr() as u32, scores.as_mut_ptr() as u32);
        let p = [keys.at, keys.stride, from, query.len() as u32, 0, factor.to_bits(), to, scores.len() as u32, 0, 0];
        if keys.halves && vector(number::SCORES, &p).0 {
            return Ok(());
        }
        Portable.scores(memory, keys, query, factor, scores)
    }

    fn softmax(&mut self, scores: &mut [f32]) -> f32 {
        let mut p = [
            scores.as_mut_ptr() as u32,
            0,
            EXP.c0.as_ptr() as u32,
            EXP.c1.as_ptr() as u32,
            scores.len() as u32,
            0,
            0,
            0,
            0,
            0,
        ];
        let (good, largest) = vector(number::PEAK, &p);
        if !good {
            return kernels::softmax(scores);
        }
        p[5] = largest;
        let largest = f32::from_bits(largest);
        let (good, result) = vector(number::EXP, &p);
        let sum = if good {
            f32::from_bits(result)
        } else {
            let went = scores.len().saturating_sub(result as usize);
            for v in scores.get_mut(went..).unwrap_or(&mut []) {
                *v = EXP.eval(*v - largest);
            }
            kernels::sum(scores)
        };
        recip(sum)
    }

    fn mix(&mut self, memory: &M, values: Cache, exps: &[f32], factor: f32, out: &mut [f32]) -> Result<(), Fault> {
        self.go_on()?;
        let (from, to) = (exps.as_ptr() as u32, out.as_mut_ptr() as u32);
        let p = [values.at, values.stride, from, out.len() as u32, 0, factor.to_bits(), to, exps.len() as u32, 0, 0];
        if values.halves && vector(number::MIX, &p).0 {
            return Ok(());
        }
        Portable.mix(memory, values, exps, factor, out)
    }

    fn squares(&mut self, x: &[f32]) -> f32 {
        let (good, sum) = vector(number::SQUARES, &[x.as_ptr() as u32, 0, 0, 0, x.len() as u32, 0, 0, 0, 0, 0]);
        if good && !x.is_empty() {
            f32::from_bits(sum)
        } else {
            kernels::squares(x)
        }
    }

    fn scale(&mut self, memory: &M, x: &mut [f32], factor: f32, gain: u32) -> Result<(), Fault> {
        each(number::SCALE, x, gain, &SILU, factor.to_bits(), &mut |v, at| *v = (*v * factor) * float(memory, at));
        Ok(())
    }

    fn silu_times(&mut self, memory: &M, x: &mut [f32], other: u32) -> Result<(), Fault> {
        each(number::SILU, x, other, &SILU, ONE, &mut |v, at| *v = SILU.eval(*v) * float(memory, at));
        Ok(())
    }

    fn add(&mut self, memory: &M, x: &mut [f32], other: u32) -> Result<(), Fault> {
        each(number::PLUS, x, other, &SILU, ONE, &mut |v, at| *v += float(memory, at));
        Ok(())
    }

    fn greatest(&mut self, memory: &M, at: u32, count: u32) -> Result<u32, Fault> {
        let p = [at, 0, 0, 0, count, 0, 0, 0, 0, 0];
        // A zero of either sign may be the greatest: that, too, is left to the portable body.
        let (good, bits) = if count < 0x1_0000 { vector(number::PEAK, &p) } else { (false, 0) };
        if good && bits << 1 != 0 {
            let mut index = 0;
            while index < count {
                if memory.word(at.wrapping_add(4 * index)) == Some(bits) {
                    return Ok(index);
                }
                index += 1;
            }
        }
        Portable.greatest(memory, at, count)
    }

    fn rotate(&mut self, memory: &M, x: &mut [f32], head: u32, angles: u32) -> Result<(), Fault> {
        for values in x.chunks_exact_mut(head as usize) {
            let pairs = head / 2;
            let (good, left) =
                vector(number::ROTATE, &[values.as_mut_ptr() as u32, angles, 0, 0, pairs, 0, 0, 0, 0, 0]);
            if !good {
                let went = pairs.saturating_sub(left);
                let rest = values.get_mut(2 * went as usize..).unwrap_or(&mut []);
                Portable.rotate(memory, rest, 2 * left, angles.wrapping_add(8 * went))?;
            }
        }
        Ok(())
    }
}
