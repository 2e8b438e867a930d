//! GEMV and DEQROW.

use std::sync::Arc;

use ssnail_shared::isa::{GEMV_ACCUMULATE, GEMV_F16, Instruction};

use super::{Machine, Scratch};
use crate::decode;
use crate::fault::{BadOperand, Fault};
use crate::kernel::engine::Product;
use crate::kernel::{self, Format};
use crate::num::quantise::Activations;

/// From this many bytes on it pays to look for what will be multiplied next.
const WORTH_LOOKING: u64 = 16 << 10;

impl Machine {
    /// The format in field a and the bytes of a row of `columns` elements.
    pub(super) fn format(&self, i: &Instruction, columns: u32) -> Result<(Format, u64), Fault> {
        let format = Format::from_number(i.a).ok_or_else(|| self.operand(i, BadOperand::Format(i.a)))?;
        let block = format.ggml().block_len();
        let bytes = format.ggml().row_bytes(u64::from(columns));
        Ok((format, bytes.ok_or_else(|| self.operand(i, BadOperand::Columns { columns, block }))?))
    }

    /// GEMV: Z = W(X) times Y, optionally added to the old Z, optionally as F16.
    pub(super) fn gemv(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let [columns, rows, _] = self.registers.n;
        let (weights, x, to) = (self.registers.address(i.x), self.registers.address(i.y), self.registers.address(i.z));
        let mut input = self.input.take().unwrap_or_default();
        let result = self.read(i, x, 4 * u64::from(columns)).map(|bytes| Arc::make_mut(&mut input).load(bytes));
        let result = result.and_then(|other| {
            if other {
                self.held.forget();
            }
            self.gemv_from(i, s, &mut input, [weights, to], [columns, rows])
        });
        self.input = Some(input);
        result
    }

    fn gemv_from(
        &mut self,
        i: &Instruction,
        s: &mut Scratch,
        input: &mut Arc<Activations>,
        [weights, to]: [u32; 2],
        [columns, rows]: [u32; 2],
    ) -> Result<(), Fault> {
        let (format, row_bytes) = self.format(i, columns)?;
        self.read(i, weights, row_bytes * u64::from(rows))?;
        let halves = i.b & GEMV_F16 != 0;
        if i.b & GEMV_ACCUMULATE != 0 {
            self.read_floats(i, to, u64::from(rows), &mut s.b)?;
        }
        self.check_write(i, to, u64::from(rows) * if halves { 2 } else { 4 })?;
        kernel::prepare(self.engine.level(), format, self.numerics, Arc::make_mut(input));
        if row_bytes == 0 || rows == 0 {
            s.y.clear();
            s.y.resize(rows as usize, 0.0);
        } else {
            let (numerics, row_bytes, rows) = (self.numerics, row_bytes as usize, rows as usize);
            self.multiply(i, Product { format, numerics, weights, row_bytes, rows }, input, &mut s.y);
        }
        if i.b & GEMV_ACCUMULATE != 0 {
            for (y, old) in s.y.iter_mut().zip(&s.b) {
                *y += old;
            }
        }
        if halves { self.write_halves(i, to, &s.y) } else { self.write_floats(i, to, &s.y) }
    }

    /// Puts the product of instruction `i` into `y`, perhaps together with what follows.
    fn multiply(&mut self, i: &Instruction, product: Product, input: &Arc<Activations>, y: &mut Vec<f32>) {
        if let Some(found) = self.held.find(&product) {
            y.clear();
            return y.extend_from_slice(found);
        }
        if product.bytes() < WORTH_LOOKING {
            y.resize(product.rows, 0.0);
            return self.engine.multiply(&product, &self.memory, input, y);
        }
        self.look_for_products(i, product);
        let held = &mut self.held;
        let alone = held.together.len() == 1;
        let out = if alone { &mut *y } else { &mut held.out };
        let starts = self.engine.multiply_several(&held.together, &held.next, &self.memory, input, out);
        held.keep(starts);
        if alone {
            y.truncate(product.rows);
        } else {
            y.clear();
            y.extend(held.out.iter().take(product.rows));
        }
    }

    /// DEQROW: N0 elements as F32.
    pub(super) fn deqrow(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let columns = self.registers.n[0];
        let (format, row_bytes) = self.format(i, columns)?;
        let from = self.registers.address(i.x);
        self.read(i, from, row_bytes)?;
        let to = self.registers.address(i.z);
        self.check_write(i, to, 4 * u64::from(columns))?;
        s.y.clear();
        s.y.resize(columns as usize, 0.0);
        if let Some(bytes) = self.memory.slice(from, row_bytes) {
            decode::row(format, bytes, &mut s.y);
        }
        self.write_floats(i, to, &s.y)
    }
}
