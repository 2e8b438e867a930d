//! Element-wise instructions, norms, ROPE, MEANROWS, ARGMAX.

use ssnail_shared::isa::{Instruction, Opcode};
use ssnail_shared::tables::{GELU, SILU};

use super::{Hooks, Machine, Scratch};
use crate::fault::{BadOperand, Fault};
use crate::kernel::{self, Numerics};
use crate::num::{float, hw};

impl Machine {
    fn n0(&self) -> u64 {
        u64::from(self.registers.n[0])
    }

    /// VADD, VMUL, SILUMUL.
    pub(super) fn pairwise(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let n = self.n0();
        self.read_floats(i, self.registers.address(i.x), n, &mut s.a)?;
        self.read_floats(i, self.registers.address(i.y), n, &mut s.b)?;
        let Scratch { a, b, .. } = s;
        match (i.op, self.numerics) {
            (Opcode::Vadd, _) => a.iter_mut().zip(&*b).for_each(|(a, b)| *a += b),
            (Opcode::Vmul, _) => a.iter_mut().zip(&*b).for_each(|(a, b)| *a *= b),
            (_, Numerics::Hardware) => {
                kernel::table(self.engine.level(), &SILU, a);
                a.iter_mut().zip(&*b).for_each(|(a, b)| *a *= b);
            }
            (_, Numerics::Float) => {
                s.y.resize(a.len(), 0.0);
                float::silumul(a, b, &mut s.y);
                return self.write_floats(i, self.registers.address(i.z), &s.y);
            }
        }
        self.write_floats(i, self.registers.address(i.z), a)
    }

    /// GELU and CVT16.
    pub(super) fn map(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        self.read_floats(i, self.registers.address(i.x), self.n0(), &mut s.a)?;
        let to = self.registers.address(i.z);
        if i.op == Opcode::Cvt16 {
            return self.write_halves(i, to, &s.a);
        }
        match self.numerics {
            Numerics::Hardware => kernel::table(self.engine.level(), &GELU, &mut s.a),
            Numerics::Float => float::gelu(&mut s.a),
        }
        self.write_floats(i, to, &s.a)
    }

    /// Writes values as F16.
    pub(super) fn write_halves(&mut self, i: &Instruction, to: u32, values: &[f32]) -> Result<(), Fault> {
        let level = self.engine.level();
        kernel::halves(level, values, self.write(i, to, 2 * values.len() as u64)?);
        Ok(())
    }

    /// RMSNORM and LAYERNORM.
    pub(super) fn norm(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let n = self.n0();
        let layer = i.op == Opcode::Layernorm;
        self.read_floats(i, self.registers.address(i.x), n, &mut s.a)?;
        self.read_floats(i, self.registers.address(i.y), if layer { 2 * n } else { n }, &mut s.b)?;
        if n == 0 {
            return Err(self.operand(i, BadOperand::Empty));
        }
        let eps = f32::from_bits(self.registers.n[2]);
        s.y.clear();
        s.y.resize(s.a.len(), 0.0);
        let (gain, bias) = s.b.split_at(s.a.len());
        match (self.numerics, layer) {
            (Numerics::Hardware, false) => hw::rmsnorm(&s.a, gain, eps, &mut s.y),
            (Numerics::Float, false) => float::rmsnorm(&s.a, gain, eps, &mut s.y),
            (Numerics::Hardware, true) => hw::layernorm(&s.a, gain, bias, eps, &mut s.y),
            (Numerics::Float, true) => float::layernorm(&s.a, gain, bias, eps, &mut s.y),
        }
        self.write_floats(i, self.registers.address(i.z), &s.y)
    }

    /// ROPE: pairs of X turned by the angles at Y, the same for every head of N1 elements.
    pub(super) fn rope(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let [length, head, _] = self.registers.n;
        let at = self.registers.address(i.x);
        self.read_floats(i, at, self.n0(), &mut s.a)?;
        self.read_floats(i, self.registers.address(i.y), u64::from(head), &mut s.b)?;
        if head == 0 || head % 2 != 0 || length % head != 0 {
            return Err(self.operand(i, BadOperand::Rope { length, head }));
        }
        for values in s.a.chunks_exact_mut(s.b.len()) {
            for ([p, q], [cos, sin]) in values.as_chunks_mut().0.iter_mut().zip(s.b.as_chunks().0) {
                (*p, *q) = (*p * cos - *q * sin, *p * sin + *q * cos);
            }
        }
        self.write_floats(i, at, &s.a)
    }

    /// MEANROWS: the mean of each column over R[a] rows.
    pub(super) fn meanrows(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let rows = self.registers.read(self.register(i, 'a')?);
        let n = self.n0();
        self.read_floats(i, self.registers.address(i.x), n * u64::from(rows), &mut s.a)?;
        if rows == 0 {
            return Err(self.operand(i, BadOperand::Empty));
        }
        s.y.clear();
        if let Some(first) = s.a.get(..n as usize) {
            s.y.extend_from_slice(first);
            for row in s.a[first.len()..].chunks_exact(first.len().max(1)) {
                for (y, v) in s.y.iter_mut().zip(row) {
                    *y += v;
                }
            }
        }
        let factor = hw::recip(rows as f32);
        match self.numerics {
            Numerics::Hardware => s.y.iter_mut().for_each(|y| *y *= factor),
            Numerics::Float => s.y.iter_mut().for_each(|y| *y /= rows as f32),
        }
        self.write_floats(i, self.registers.address(i.z), &s.y)
    }

    /// ARGMAX: the lowest index of the largest value; the first NaN if there is one.
    pub(super) fn argmax(&mut self, i: &Instruction, s: &mut Scratch, hooks: &mut impl Hooks) -> Result<(), Fault> {
        let a = self.register(i, 'a')?;
        self.read_floats(i, self.registers.address(i.x), self.n0(), &mut s.a)?;
        let Some(largest) = largest(&s.a) else { return Err(self.operand(i, BadOperand::Empty)) };
        let chosen = hooks.argmax(&self.registers, &s.a, largest);
        self.registers.r[usize::from(a)] = chosen;
        Ok(())
    }
}

/// Index of the largest value, the lowest among equals; the first NaN wins over everything; `None` for nothing.
#[must_use]
pub fn largest(values: &[f32]) -> Option<u32> {
    // Lanes side by side, in which each comparison need not wait for the one before.
    let (chunks, rest) = values.as_chunks::<16>();
    let (mut best, mut nan) = ([f32::NEG_INFINITY; 16], [0u32; 16]);
    for chunk in chunks {
        for ((best, nan), v) in best.iter_mut().zip(&mut nan).zip(chunk) {
            *best = if *v > *best { *v } else { *best };
            *nan |= u32::from(v.is_nan());
        }
    }
    let at = if nan.contains(&1) || rest.iter().any(|v| v.is_nan()) {
        values.iter().position(|v| v.is_nan())
    } else {
        let best = best.iter().chain(rest).fold(f32::NEG_INFINITY, |best, v| if *v > best { *v } else { best });
        values.iter().position(|v| *v == best)
    };
    at.map(|at| at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the core goes through them: one after the other.
    fn one_by_one(values: &[f32]) -> Option<u32> {
        let mut best = *values.first()?;
        let mut at = 0;
        for (i, &v) in values.iter().enumerate() {
            if !best.is_nan() && (v > best || v.is_nan()) {
                (best, at) = (v, i);
            }
        }
        Some(at as u32)
    }

    proptest::proptest! {
        #[test]
        fn side_by_side_is_one_by_one(few in proptest::collection::vec(0usize..7, 0..70), any: Vec<f32>) {
            let values = [0.0, -0.0, 1.0, -1.0, f32::NEG_INFINITY, f32::NAN, f32::INFINITY];
            // With NaNs, without, and without any that is large.
            for most in [7, 5, 2, 1] {
                let few: Vec<f32> = few.iter().map(|i| values[(i + 4) % most.max(1)]).collect();
                proptest::prop_assert_eq!(largest(&few), one_by_one(&few), "{:?}", few);
            }
            proptest::prop_assert_eq!(largest(&any), one_by_one(&any));
            let low = vec![f32::NEG_INFINITY; few.len()];
            proptest::prop_assert_eq!(largest(&low), one_by_one(&low));
        }
    }
}
