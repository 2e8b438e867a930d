//! Assembling a script: instructions, labels, registers.

use ssnail_shared::isa::{INSTRUCTION_LEN, Instruction, Opcode, indirect};
use ssnail_shared::map::PAYLOAD;

use super::layout::Weights;

/// Registers as the scripts use them (spec section 8).
pub(super) mod reg {
    pub(in crate::image) const POS: u8 = 0;
    pub(in crate::image) const TOKEN: u8 = 1;
    pub(in crate::image) const NEXT: u8 = 2;
    pub(in crate::image) const PROMPT_LEN: u8 = 3;
    pub(in crate::image) const N_GENERATE: u8 = 4;
    pub(in crate::image) const EOS: u8 = 5;
    /// Position + 1; the last position in encoders.
    pub(in crate::image) const POS1: u8 = 6;
    pub(in crate::image) const REASON: u8 = 7;
    pub(in crate::image) const GENERATED: u8 = 8;
    /// Context; context + 1 in encoders.
    pub(in crate::image) const CTX: u8 = 9;
    pub(in crate::image) const TMP: u8 = 10;
    /// Position and count of encoders.
    pub(in crate::image) const T: u8 = 11;
    pub(in crate::image) const N: u8 = 12;
    pub(in crate::image) const ZERO: u8 = 15;
}

/// Address registers.
pub(super) mod areg {
    pub(in crate::image) const SLOT: u8 = 0;
    pub(in crate::image) const ROW: u8 = 1;
    pub(in crate::image) const ROPE: u8 = 2;
    pub(in crate::image) const K: u8 = 3;
    pub(in crate::image) const V: u8 = 4;
    pub(in crate::image) const X: u8 = 6;
    pub(in crate::image) const Q: u8 = 7;
}

/// `A[register]` as an operand.
pub(super) const fn at(register: u8) -> u32 {
    indirect(register)
}

/// A place to jump to, perhaps not reached yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// Instructions in order, with jumps to labels.
pub(super) struct Script {
    code: Vec<Instruction>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Script {
    pub(super) fn new() -> Self {
        Script { code: Vec::new(), labels: Vec::new(), jumps: Vec::new() }
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The next instruction stands at `label`.
    pub(super) fn here(&mut self, label: Label) {
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(self.code.len());
        }
    }

    /// The bytes, with every jump resolved.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (at, label) in &self.jumps {
            let target = self.labels.get(label.0).copied().flatten();
            debug_assert!(target.is_some(), "a label is placed before the script ends");
            if let (Some(i), Some(target)) = (self.code.get_mut(*at), target) {
                i.x = PAYLOAD + INSTRUCTION_LEN * target as u32;
            }
        }
        self.code.iter().flat_map(|i| i.encode()).collect()
    }

    fn put(&mut self, op: Opcode, a: u8, b: u8, [x, y, z]: [u32; 3]) {
        self.code.push(Instruction { op, a, b, x, y, z });
    }

    pub(super) fn halt(&mut self) {
        self.put(Opcode::Halt, 0, 0, [0; 3]);
    }
    pub(super) fn sync(&mut self) {
        self.put(Opcode::Sync, 0, 0, [0; 3]);
    }
    pub(super) fn copy(&mut self, from: u32, to: u32, bytes: u32) {
        self.put(Opcode::Copy, 0, 0, [from, to, bytes]);
    }
    pub(super) fn setn(&mut self, n0: u32, n1: u32) {
        self.put(Opcode::Setn, 0, 0, [n0, n1, 0]);
    }
    pub(super) fn setn_eps(&mut self, n0: u32, n1: u32, eps: f32) {
        self.put(Opcode::Setn, 0, 0, [n0, n1, eps.to_bits()]);
    }
    pub(super) fn li(&mut self, r: u8, value: u32) {
        self.put(Opcode::Li, r, 0, [0, 0, value]);
    }
    pub(super) fn ldr(&mut self, r: u8, from: u32) {
        self.put(Opcode::Ldr, r, 0, [from, 0, 0]);
    }
    pub(super) fn str(&mut self, r: u8, to: u32) {
        self.put(Opcode::Str, r, 0, [to, 0, 0]);
    }
    pub(super) fn addi(&mut self, r: u8, from: u8, value: i32) {
        self.put(Opcode::Addi, r, from, [0, 0, value as u32]);
    }
    /// A[a] = base + R[r] · step.
    pub(super) fn lea(&mut self, a: u8, base: u32, r: u8, step: u32) {
        self.put(Opcode::Lea, a, r, [base, 0, step]);
    }
    pub(super) fn beq(&mut self, a: u8, b: u8, to: Label) {
        self.branch(Opcode::Beq, a, b, to);
    }
    pub(super) fn bne(&mut self, a: u8, b: u8, to: Label) {
        self.branch(Opcode::Bne, a, b, to);
    }
    pub(super) fn blt(&mut self, a: u8, b: u8, to: Label) {
        self.branch(Opcode::Blt, a, b, to);
    }
    pub(super) fn jump(&mut self, to: Label) {
        self.branch(Opcode::Beq, reg::ZERO, reg::ZERO, to);
    }
    fn branch(&mut self, op: Opcode, a: u8, b: u8, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.put(op, a, b, [0; 3]);
    }
    /// y = W·x.
    pub(super) fn gemv(&mut self, w: Weights, flags: u8, x: u32, y: u32) {
        self.put(Opcode::Gemv, w.format, flags, [w.address, x, y]);
    }
    /// The row that address register `row` points at, as singles.
    pub(super) fn deqrow(&mut self, w: Weights, row: u32, to: u32) {
        self.put(Opcode::Deqrow, w.format, 0, [row, 0, to]);
    }
    pub(super) fn argmax(&mut self, r: u8, x: u32) {
        self.put(Opcode::Argmax, r, 0, [x, 0, 0]);
    }
    /// x += y.
    pub(super) fn add_to(&mut self, x: u32, y: u32) {
        self.put(Opcode::Vadd, 0, 0, [x, y, x]);
    }
    pub(super) fn rmsnorm(&mut self, x: u32, gain: u32, to: u32) {
        self.put(Opcode::Rmsnorm, 0, 0, [x, gain, to]);
    }
    pub(super) fn silumul(&mut self, x: u32, y: u32, to: u32) {
        self.put(Opcode::Silumul, 0, 0, [x, y, to]);
    }
    pub(super) fn rope(&mut self, x: u32, table: u32) {
        self.put(Opcode::Rope, 0, 0, [x, table, 0]);
    }
    /// Attention of q over the rows up to R[r] of a block.
    pub(super) fn attn(&mut self, r: u8, block: u32, q: u32, to: u32) {
        self.put(Opcode::Attn, r, 0, [block, q, to]);
    }
    pub(super) fn layernorm(&mut self, x: u32, gain_and_bias: u32, to: u32) {
        self.put(Opcode::Layernorm, 0, 0, [x, gain_and_bias, to]);
    }
    pub(super) fn gelu(&mut self, x: u32) {
        self.put(Opcode::Gelu, 0, 0, [x, 0, x]);
    }
    pub(super) fn meanrows(&mut self, r: u8, x: u32, to: u32) {
        self.put(Opcode::Meanrows, r, 0, [x, 0, to]);
    }
    pub(super) fn cvt16(&mut self, x: u32, to: u32) {
        self.put(Opcode::Cvt16, 0, 0, [x, 0, to]);
    }
}
