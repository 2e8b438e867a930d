//! Element-wise instructions, norms, ROPE, MEANROWS, ARGMAX. Every operand is read before the result is written.

use super::kernels::Kernels;
use super::num::{f32_to_f16, recip, rsqrt};
use super::{Executor, Fault, Work, bytes, room};
use crate::isa::{Instruction, Opcode};
use crate::mem::Memory;
use crate::tables;

/// A running sum that starts from its first term: a lone -0 stays -0.
pub(super) struct Sum {
    value: f32,
    empty: bool,
}

impl Sum {
    pub(super) const fn new() -> Self {
        Self { value: 0.0, empty: true }
    }

    pub(super) fn add(&mut self, term: f32) {
        self.value = if self.empty { term } else { self.value + term };
        self.empty = false;
    }

    pub(super) const fn value(&self) -> f32 {
        self.value
    }
}

fn float<M: Memory>(memory: &M, base: u32, index: u32) -> Result<f32, Fault> {
    Ok(f32::from_bits(memory.read_u32(base.wrapping_add(4 * index))?))
}

impl Executor {
    /// Reads N0 values at `address` into the work vector, after every range has been checked.
    fn load<'w, M: Memory>(&self, memory: &M, work: &'w mut Work<'_>, address: u32) -> Result<&'w mut [f32], Fault> {
        let x = room(work.x, self.n[0])?;
        memory.read_floats(address, x)?;
        Ok(x)
    }

    pub(super) fn pairwise<M: Memory, K: Kernels<M>>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
        kernels: &mut K,
    ) -> Result<(), Fault> {
        let length = bytes(self.n[0], 4);
        let (from, other, to) = (self.address(i.x), self.address(i.y), self.address(i.z));
        memory.check(from, length)?;
        memory.check(other, length)?;
        memory.check(to, length)?;
        let x = self.load(memory, work, from)?;
        match i.op {
            Opcode::Vadd => kernels.add(memory, x, other)?,
            Opcode::Vmul => {
                let mut at = other;
                for v in x.iter_mut() {
                    *v *= f32::from_bits(memory.read_u32(at)?);
                    at = at.wrapping_add(4);
                }
            }
            _ => kernels.silu_times(memory, x, other)?,
        }
        Ok(memory.write_floats(to, x)?)
    }

    pub(super) fn map<M: Memory>(&mut self, i: &Instruction, memory: &mut M, work: &mut Work<'_>) -> Result<(), Fault> {
        let (from, to) = (self.address(i.x), self.address(i.z));
        memory.check(from, bytes(self.n[0], 4))?;
        let halves = i.op == Opcode::Cvt16;
        memory.check(to, bytes(self.n[0], if halves { 2 } else { 4 }))?;
        let x = self.load(memory, work, from)?;
        if halves {
            return write_halves(memory, to, x);
        }
        for v in x.iter_mut() {
            *v = tables::GELU.eval(*v);
        }
        Ok(memory.write_floats(to, x)?)
    }

    pub(super) fn rmsnorm<M: Memory, K: Kernels<M>>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
        kernels: &mut K,
    ) -> Result<(), Fault> {
        let length = bytes(self.n[0], 4);
        let (from, gain, to) = (self.address(i.x), self.address(i.y), self.address(i.z));
        memory.check(from, length)?;
        memory.check(gain, length)?;
        if self.n[0] == 0 {
            return Err(Fault::Operand);
        }
        memory.check(to, length)?;
        let x = self.load(memory, work, from)?;
        let mean = kernels.squares(x) * recip(self.n[0] as f32);
        let r = rsqrt(mean + f32::from_bits(self.n[2]));
        kernels.scale(memory, x, r, gain)?;
        Ok(memory.write_floats(to, x)?)
    }

    pub(super) fn layernorm<M: Memory>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
    ) -> Result<(), Fault> {
        let length = bytes(self.n[0], 4);
        let (from, gain, to) = (self.address(i.x), self.address(i.y), self.address(i.z));
        memory.check(from, length)?;
        memory.check(gain, length.saturating_mul(2))?;
        if self.n[0] == 0 {
            return Err(Fault::Operand);
        }
        memory.check(to, length)?;
        let x = self.load(memory, work, from)?;
        let inverse = recip(self.n[0] as f32);
        let mut sum = Sum::new();
        for v in x.iter() {
            sum.add(*v);
        }
        let mean = sum.value() * inverse;
        let mut squares = Sum::new();
        for v in x.iter_mut() {
            *v -= mean;
            squares.add(*v * *v);
        }
        let r = rsqrt(squares.value() * inverse + f32::from_bits(self.n[2]));
        let (mut g, mut b) = (gain, gain.wrapping_add(length));
        for v in x.iter_mut() {
            let scaled = (*v * r) * f32::from_bits(memory.read_u32(g)?);
            *v = scaled + f32::from_bits(memory.read_u32(b)?);
            g = g.wrapping_add(4);
            b = b.wrapping_add(4);
        }
        Ok(memory.write_floats(to, x)?)
    }

    pub(super) fn rope<M: Memory, K: Kernels<M>>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
        kernels: &mut K,
    ) -> Result<(), Fault> {
        let [length, head, _] = self.n;
        let (at, angles) = (self.address(i.x), self.address(i.y));
        memory.check(at, bytes(length, 4))?;
        memory.check(angles, bytes(head, 4))?;
        if head == 0 || head % 2 != 0 || length % head != 0 {
            return Err(Fault::Operand);
        }
        let x = self.load(memory, work, at)?;
        kernels.rotate(memory, x, head, angles)?;
        Ok(memory.write_floats(at, x)?)
    }

    pub(super) fn meanrows<M: Memory>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        work: &mut Work<'_>,
    ) -> Result<(), Fault> {
        let rows = self.get(i.a)?;
        let columns = self.n[0];
        let (from, to) = (self.address(i.x), self.address(i.z));
        memory.check(from, bytes(bytes(columns, 4), rows))?;
        if rows == 0 {
            return Err(Fault::Operand);
        }
        memory.check(to, bytes(columns, 4))?;
        let x = self.load(memory, work, from)?;
        let mut row = 1;
        // Rows of no length are never out of range, however many.
        while row < rows && columns > 0 {
            let start = from.wrapping_add(4 * columns * row);
            let mut column = 0;
            for v in x.iter_mut() {
                *v += float(memory, start, column)?;
                column += 1;
            }
            row += 1;
        }
        let factor = recip(rows as f32);
        for v in x.iter_mut() {
            *v *= factor;
        }
        Ok(memory.write_floats(to, x)?)
    }

    pub(super) fn argmax<M: Memory, K: Kernels<M>>(
        &mut self,
        i: &Instruction,
        memory: &mut M,
        kernels: &mut K,
    ) -> Result<(), Fault> {
        let a = Self::register(i.a)?;
        let from = self.address(i.x);
        memory.check(from, bytes(self.n[0], 4))?;
        if self.n[0] == 0 {
            return Err(Fault::Operand);
        }
        self.r[a] = kernels.greatest(memory, from, self.n[0])?;
        Ok(())
    }
}

/// Writes values as F16.
pub(super) fn write_halves<M: Memory>(memory: &mut M, address: u32, values: &[f32]) -> Result<(), Fault> {
    let mut at = address;
    for v in values {
        memory.write(at, &f32_to_f16(*v).to_le_bytes())?;
        at = at.wrapping_add(2);
    }
    Ok(())
}
