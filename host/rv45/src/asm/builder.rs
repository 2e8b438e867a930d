//! Emitting instructions from Rust.

use super::opcode::{Mnemonic, Mode};
use super::{Inst, Item, Label, Operand};

/// A list of items under construction. Forms that the instruction set lacks are remembered in
/// [`Builder::invalid`] instead of being emitted, and the linker refuses such a program.
#[derive(Default, Clone, Debug)]
pub struct Builder {
    /// What was emitted.
    pub items: Vec<Item>,
    /// Forms that were asked for and do not exist.
    pub invalid: Vec<(Mnemonic, Mode)>,
}

impl Builder {
    /// Any instruction.
    pub fn inst(&mut self, mnemonic: Mnemonic, mode: Mode, operand: Operand) {
        match Inst::new(mnemonic, mode, operand) {
            Some(inst) => self.items.push(Item::Inst(inst)),
            None => self.invalid.push((mnemonic, mode)),
        }
    }

    /// Implied operands.
    pub fn imp(&mut self, mnemonic: Mnemonic) {
        self.inst(mnemonic, Mode::Implied, Operand::None);
    }

    /// On the accumulator, or on Q for the Q shifts and counts.
    pub fn acc(&mut self, mnemonic: Mnemonic) {
        self.inst(mnemonic, Mode::Accumulator, Operand::None);
    }

    /// Immediate byte.
    pub fn imm(&mut self, mnemonic: Mnemonic, value: u8) {
        self.inst(mnemonic, Mode::Immediate, Operand::Byte(value));
    }

    /// Base-page byte (or the four from there, for Q forms).
    pub fn bp(&mut self, mnemonic: Mnemonic, offset: u8) {
        self.inst(mnemonic, Mode::BasePage, Operand::Byte(offset));
    }

    /// Absolute address.
    pub fn abs(&mut self, mnemonic: Mnemonic, address: u16) {
        self.inst(mnemonic, Mode::Absolute, Operand::Word(address));
    }

    /// Absolute address of a label.
    pub fn abs_label(&mut self, mnemonic: Mnemonic, label: Label) {
        self.inst(mnemonic, Mode::Absolute, Operand::Addr(label, 0));
    }

    /// Through the 28-bit pointer at `offset`, plus Z where the form adds it.
    pub fn flat(&mut self, mnemonic: Mnemonic, offset: u8) {
        let q_without_z = mnemonic > Mnemonic::LDQ;
        let mode = if q_without_z { Mode::FlatQ } else { Mode::FlatZ };
        self.inst(mnemonic, mode, Operand::Byte(offset));
    }

    /// A branch to `label`, lengthened at layout when needed.
    pub fn branch(&mut self, mnemonic: Mnemonic, label: Label) {
        self.inst(mnemonic, Mode::Relative8, Operand::Rel(label));
    }

    /// JSR to `label`.
    pub fn jsr(&mut self, label: Label) {
        self.abs_label(Mnemonic::JSR, label);
    }

    /// JMP to `label`.
    pub fn jmp(&mut self, label: Label) {
        self.abs_label(Mnemonic::JMP, label);
    }

    /// Defines `label` here.
    pub fn label(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    /// A line for the listing.
    pub fn note(&mut self, text: impl Into<String>) {
        self.items.push(Item::Note(text.into()));
    }
}
