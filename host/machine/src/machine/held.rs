//! Products computed before their turn.
//!
//! Several matrices are often multiplied with one vector, one instruction after the other: queries, keys and values, or
//! both halves of a gated layer. Threads then share them as one piece of work, and what the later instructions would
//! compute is held until they come. Nothing shows it: an instruction reads, checks, counts and writes in its own turn, and
//! what is held is used only if its input is the same and its weights have not been written to.

use ssnail_shared::isa::{Address, INSTRUCTION_LEN, Instruction, Opcode};

use super::Machine;
use crate::kernel::engine::{Product, TOGETHER};

/// Instructions that are looked at for the next matrices.
const FAR: u32 = 24;

/// Results that have not been asked for yet, and what is likely to be multiplied.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Results of all products.
    pub(super) out: Vec<f32>,
    /// Products with where their results begin.
    waiting: Vec<(Product, usize)>,
    /// The product in work, and those that follow with the same input.
    pub(super) together: Vec<Product>,
    /// The products after those.
    pub(super) next: Vec<Product>,
}

impl Held {
    /// Forgets all results.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
    }

    /// The results of a product with the input that all of them were computed with.
    pub(super) fn find(&self, product: &Product) -> Option<&[f32]> {
        let (_, start) = self.waiting.iter().find(|(held, _)| held == product)?;
        self.out.get(*start..)?.get(..product.rows)
    }

    /// Notes where the results of the products in work begin.
    pub(super) fn keep(&mut self, starts: [usize; TOGETHER]) {
        self.waiting.clear();
        if self.together.len() > 1 {
            self.waiting.extend(self.together.iter().copied().zip(starts));
        }
    }

    /// Memory was written to: forgets all results if that were weights of any.
    pub(super) fn written(&mut self, address: u32, length: u64) {
        let meets = |p: &Product| {
            let (start, end) = (u64::from(p.weights), u64::from(p.weights) + p.bytes());
            u64::from(address) < end && start < u64::from(address) + length
        };
        if self.waiting.iter().any(|(product, _)| meets(product)) {
            self.waiting.clear();
        }
    }
}

impl Machine {
    /// Looks in the script for what follows `product`, that of instruction `i`: what has the same input goes to
    /// [`Held::together`] if there are threads to share it, the first matrices behind to [`Held::next`].
    pub(super) fn look_for_products(&mut self, i: &Instruction, product: Product) {
        let mut together = std::mem::take(&mut self.held.together);
        let mut next = std::mem::take(&mut self.held.next);
        together.clear();
        next.clear();
        together.push(product);
        let mut n = self.registers.n;
        let columns = n[0];
        // Other work comes between: what is found from here on is for later.
        let mut later = false;
        let mut input = i.y;
        for pc in (1..=FAR).map(|k| self.registers.pc.wrapping_add(k * INSTRUCTION_LEN)) {
            let Some(i) = self.script.known(&self.memory, pc) else { break };
            match i.op {
                Opcode::Setn => n = [i.x, i.y, i.z],
                Opcode::Lea => {}
                Opcode::Gemv => {
                    let Some(found) = self.product_at(&i, n) else { break };
                    if !later && i.y == input && n[0] == columns && together.len() < TOGETHER {
                        together.push(found);
                    } else if next.is_empty() || (i.y == input && next.len() < TOGETHER) {
                        (later, input) = (true, i.y);
                        next.push(found);
                    } else {
                        break;
                    }
                }
                Opcode::Halt | Opcode::Sync | Opcode::Beq | Opcode::Bne | Opcode::Blt | Opcode::Argmax => break,
                _ if !next.is_empty() => break,
                _ => later = true,
            }
        }
        if !self.engine.shared(together.iter().map(Product::bytes).sum()) {
            together.truncate(1);
        }
        (self.held.together, self.held.next) = (together, next);
    }

    /// The product of a GEMV, if its operands are plain addresses and its weights lie inside the memory.
    fn product_at(&self, i: &Instruction, [columns, rows, _]: [u32; 3]) -> Option<Product> {
        let (Address::Absolute(weights), Address::Absolute(_)) = (Address::decode(i.x), Address::decode(i.y)) else {
            return None;
        };
        let (format, row_bytes) = self.format(i, columns).ok().filter(|(_, bytes)| *bytes > 0 && rows > 0)?;
        self.memory.slice(weights, row_bytes.checked_mul(u64::from(rows))?)?;
        let (numerics, row_bytes, rows) = (self.numerics, row_bytes as usize, rows as usize);
        Some(Product { format, numerics, weights, row_bytes, rows })
    }
}
