//! Emission of 32-bit operations on Q.

use super::cells::cell;
use super::context::{Byte, Context, Mode};
use crate::asm::{Mnemonic as M, Mode as AddrMode, Operand};
use crate::flow::mask_of;
use crate::rv::Reg;

impl Context<'_> {
    /// True when Q holds register `r`.
    pub fn q_holds(&self, r: Reg) -> bool {
        let at = cell(r);
        [Byte::A, Byte::X, Byte::Y, Byte::Z].into_iter().enumerate().all(|(i, b)| self.holds(b, at + i as u8))
    }

    /// Q = register. Flags are undefined afterwards.
    pub fn ldq(&mut self, r: Reg) {
        if self.q_holds(r) {
            return;
        }
        if let Some(value) = self.known(r).filter(|_| self.peepholes.constants) {
            self.ldq_const(value);
            let at = cell(r);
            for i in 0..4 {
                self.held[i].cells |= 1 << (usize::from(at) + i);
            }
            return;
        }
        self.ldq_flags(r);
    }

    /// Q = register, with N and Z of the 32 bits.
    pub fn ldq_flags(&mut self, r: Reg) {
        let at = cell(r);
        self.out.bp(M::LDQ, at);
        for (i, b) in [Byte::A, Byte::X, Byte::Y, Byte::Z].into_iter().enumerate() {
            let value = self.known_cell(at + i as u8);
            self.set(b, value, 1 << (at + i as u8));
        }
    }

    /// Q = a constant.
    pub fn ldq_const(&mut self, value: u32) {
        let bytes = value.to_le_bytes();
        if self.peepholes.tracking && (0..4).all(|i| self.held[i].value == Some(bytes[i])) {
            return;
        }
        let same = bytes.iter().all(|&b| b == bytes[0]);
        if value != 0 && same {
            // LDA #; TAX; TAY; TAZ is shorter and faster than a load from the pool.
            self.load_imm(Byte::A, bytes[0]);
            self.transfer(M::TAX);
            self.transfer(M::TAY);
            self.transfer(M::TAZ);
            return;
        }
        self.q_op_const(M::LDQ, value);
        for (i, b) in [Byte::A, Byte::X, Byte::Y, Byte::Z].into_iter().enumerate() {
            self.set(b, Some(bytes[i]), 0);
        }
    }

    /// A Q operation with a register cell as operand; Q is unknown afterwards.
    pub fn q_op(&mut self, m: M, r: Reg) {
        match self.known(r).filter(|_| self.peepholes.constants && r != Reg::ZERO) {
            Some(value) => self.q_op_const(m, value),
            None => self.out.bp(m, cell(r)),
        }
        if m != M::CMPQ {
            self.forget_registers();
        }
    }

    /// A Q operation with a constant as operand; Q is unknown afterwards (but for CMPQ).
    pub fn q_op_const(&mut self, m: M, value: u32) {
        if value == 0 {
            self.out.bp(m, cell(Reg::ZERO));
        } else {
            let label = self.pool.label(value, self.symbols);
            self.out.inst(m, AddrMode::Absolute, Operand::Addr(label, 0));
        }
        if m != M::CMPQ {
            self.forget_registers();
        }
    }

    /// A shift or count of Q itself.
    pub fn q_acc(&mut self, m: M) {
        self.out.acc(m);
        self.forget_registers();
    }

    /// Stores Q into a register, as far as it is read later; leaves the store out where the next
    /// operation takes the value from Q and nothing else reads it.
    pub fn stq(&mut self, rd: Reg) {
        let wanted = self.wanted(rd);
        let liveness = self.peepholes.liveness;
        if rd == Reg::ZERO || (wanted == 0 && liveness) {
            return;
        }
        let at = cell(rd);
        if self.forwardable(rd) {
            for i in 0..4u8 {
                self.touch(at + i);
                self.held[usize::from(i)].cells |= 1 << (at + i);
            }
            self.unstored = Some(rd);
            return;
        }
        if liveness && matches!(wanted, 1 | 2 | 4 | 8 | 3) {
            for (i, b) in [Byte::A, Byte::X, Byte::Y, Byte::Z].into_iter().enumerate() {
                self.store(b, at + i as u8);
            }
            return;
        }
        if self.q_holds(rd) {
            return;
        }
        self.out.bp(M::STQ, at);
        for i in 0..4u8 {
            self.touch(at + i);
            self.held[usize::from(i)].cells |= 1 << (at + i);
        }
    }

    /// True when the next operation takes `rd` out of Q first and then nothing reads it any more.
    fn forwardable(&self, rd: Reg) -> bool {
        let Some(next) = self.next else { return false };
        self.peepholes.tracking
            && self.peepholes.liveness
            && self.style != Mode::Tiny
            && !self.result_known
            && (next.def() == Some(rd) || mask_of(self.next_live, rd) == 0)
            && super::leading::takes_first(&next, rd, self)
    }
}
