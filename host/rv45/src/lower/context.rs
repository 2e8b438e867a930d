//! Emission with knowledge of what A, X, Y, Z and the register cells hold.

use super::cells::{cell, register_at};
use super::{Peepholes, Pool};
use crate::asm::{Builder, Item, Label, Mnemonic, Mode as AddrMode, Operand, Symbols};
use crate::flow::known::{self, Values};
use crate::flow::{Bytes, mask_of};
use crate::ir::Ir;
use crate::rv::Reg;
use Mnemonic as M;

/// Whether size or speed matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Calls with operand bytes where they are shorter still.
    Tiny,
    /// Shorter sequences.
    Size,
    /// Faster sequences.
    Speed,
}

/// What one of A, X, Y, Z holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// A value known now.
    pub(super) value: Option<u8>,
    /// Cells of the base page (below $80) whose content it equals.
    pub(super) cells: u128,
}

/// The four byte registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Byte {
    /// Accumulator.
    A,
    /// X.
    X,
    /// Y.
    Y,
    /// Z.
    Z,
}

/// A state to come back to.
pub struct Mark {
    items: usize,
    values: Values,
    held: [Held; 4],
}

impl Mark {
    /// How many items had been emitted.
    pub fn items(&self) -> usize {
        self.items
    }
}

/// State while a function is emitted.
pub struct Context<'a> {
    /// What was emitted.
    pub out: Builder,
    /// Labels.
    pub symbols: &'a mut Symbols,
    pub(super) pool: &'a mut Pool,
    /// Size or speed.
    pub style: Mode,
    /// What may be left out.
    pub peepholes: Peepholes,
    /// Check the stacks after each prologue.
    pub checks: bool,
    /// Bytes read after the current operation.
    pub live: Bytes,
    /// The next operation of the block.
    pub next: Option<Ir>,
    /// Bytes read after the next operation.
    pub next_live: Bytes,
    /// True when some byte of the current operation's result is known beforehand.
    pub result_known: bool,
    /// Known contents of the register cells.
    pub values: Values,
    pub(super) held: [Held; 4],
    /// A register whose value is only in Q: its store was left out because the next operation is
    /// the only reader.
    pub unstored: Option<Reg>,
}

impl<'a> Context<'a> {
    /// A context that knows nothing yet.
    pub fn new(symbols: &'a mut Symbols, pool: &'a mut Pool, style: Mode, peepholes: Peepholes) -> Self {
        Context {
            out: Builder::default(),
            symbols,
            pool,
            style,
            peepholes,
            checks: false,
            live: Bytes::MAX,
            next: None,
            next_live: Bytes::MAX,
            result_known: false,
            values: known::nothing(),
            held: [Held::default(); 4],
            unstored: None,
        }
    }

    /// Forgets what A, X, Y, Z hold.
    pub fn forget_registers(&mut self) {
        self.held = [Held::default(); 4];
    }

    /// Forgets one of them.
    pub fn forget(&mut self, r: Byte) {
        self.held[r as usize] = Held::default();
    }

    /// Which bytes of `r` are read after the current operation.
    pub fn wanted(&self, r: Reg) -> u8 {
        if r == Reg::ZERO { 0 } else { mask_of(self.live, r) }
    }

    /// The register's whole value, where known.
    pub fn known(&self, r: Reg) -> Option<u32> {
        known::word(&self.values, r)
    }

    /// One byte of a register, where known.
    pub fn known_byte(&self, r: Reg, i: u8) -> Option<u8> {
        known::of(&self.values, r)[usize::from(i & 3)]
    }

    /// True when bytes `from..4` of `r` are known to be 0.
    pub fn zero_from(&self, r: Reg, from: u8) -> bool {
        (from..4).all(|i| self.known_byte(r, i) == Some(0))
    }

    /// Base-page cell of byte `i` of `r`.
    pub fn byte(r: Reg, i: u8) -> u8 {
        cell(r) + i
    }

    pub(super) fn known_cell(&self, offset: u8) -> Option<u8> {
        let (r, i) = register_at(offset)?;
        self.known_byte(r, i)
    }

    pub(super) fn set(&mut self, r: Byte, value: Option<u8>, cells: u128) {
        self.held[r as usize] = Held { value, cells };
    }

    pub(super) fn holds(&self, r: Byte, offset: u8) -> bool {
        self.peepholes.tracking && offset < 128 && self.held[r as usize].cells & 1 << offset != 0
    }

    /// Notes that a cell was changed to something that no register holds.
    pub fn touch(&mut self, offset: u8) {
        if offset < 128 {
            for held in &mut self.held {
                held.cells &= !(1 << offset);
            }
            if let Some((r, i)) = register_at(offset) {
                self.values[usize::from(r.0) * 4 + usize::from(i)] = None;
            }
        }
    }

    /// Notes that all four bytes of a register were changed.
    pub fn touch_register(&mut self, r: Reg) {
        (0..4).for_each(|i| self.touch(cell(r) + i));
    }

    const LOAD: [M; 4] = [M::LDA, M::LDX, M::LDY, M::LDZ];
    const STORE: [M; 4] = [M::STA, M::STX, M::STY, M::STZ];

    /// Loads a constant into a byte register. Flags are undefined afterwards.
    pub fn load_imm(&mut self, r: Byte, value: u8) {
        let held = self.held[r as usize];
        if self.peepholes.tracking && held.value == Some(value) {
            return;
        }
        if self.peepholes.tracking {
            // One byte instead of two where another register holds the value, or nearly.
            let one = |cx: &Self, m: M| cx.held[r as usize].value.map(|v| (m, v));
            let transfer = match r {
                Byte::A => [(Byte::X, M::TXA), (Byte::Y, M::TYA), (Byte::Z, M::TZA)]
                    .into_iter()
                    .find(|(s, _)| self.held[*s as usize].value == Some(value))
                    .map(|t| t.1),
                Byte::X => (self.held[0].value == Some(value)).then_some(M::TAX),
                Byte::Y => (self.held[0].value == Some(value)).then_some(M::TAY),
                Byte::Z => (self.held[0].value == Some(value)).then_some(M::TAZ),
            };
            let step = match r {
                Byte::X => [M::INX, M::DEX],
                Byte::Y => [M::INY, M::DEY],
                Byte::Z => [M::INZ, M::DEZ],
                Byte::A => [M::INC, M::DEC],
            };
            let near = one(self, step[0]).filter(|(_, v)| v.wrapping_add(1) == value);
            let near = near.or_else(|| one(self, step[1]).filter(|(_, v)| v.wrapping_sub(1) == value));
            if let Some(m) = transfer {
                self.out.imp(m);
                self.set(r, Some(value), 0);
                return;
            }
            if let Some((m, _)) = near {
                if r == Byte::A {
                    self.out.acc(m)
                } else {
                    self.out.imp(m)
                }
                self.set(r, Some(value), 0);
                return;
            }
        }
        self.out.imm(Self::LOAD[r as usize], value);
        self.set(r, Some(value), 0);
    }

    /// Loads a constant; none of the ways to do so changes the carry.
    pub fn load_imm_keeping_carry(&mut self, r: Byte, value: u8) {
        self.load_imm(r, value);
    }

    /// Loads a base-page byte into A, X or Y. Flags are undefined afterwards.
    pub fn load(&mut self, r: Byte, offset: u8) {
        if self.holds(r, offset) {
            return;
        }
        if let Some(value) = self.known_cell(offset).filter(|_| self.peepholes.constants) {
            self.load_imm(r, value);
            if offset < 128 {
                self.held[r as usize].cells |= 1 << offset;
            }
            return;
        }
        self.load_flags(r, offset);
    }

    /// The same, always emitted, so that N and Z are those of the byte.
    pub fn load_flags(&mut self, r: Byte, offset: u8) {
        if r == Byte::Z {
            // There is no LDZ from the base page by offset.
            let (mode, operand) = (AddrMode::Absolute, Operand::Word(super::cells::BASE + u16::from(offset)));
            self.out.inst(M::LDZ, mode, operand);
        } else {
            self.out.bp(Self::LOAD[r as usize], offset);
        }
        let value = self.known_cell(offset);
        self.set(r, value, if offset < 128 { 1 << offset } else { 0 });
    }

    /// Stores A, X, Y or Z into a base-page byte, unless it is a register byte that nothing reads
    /// or that holds the value already.
    pub fn store(&mut self, r: Byte, offset: u8) {
        if let Some((reg, i)) = register_at(offset) {
            let wanted = self.wanted(reg) & 1 << i != 0;
            if reg == Reg::ZERO || (!wanted && self.peepholes.liveness) || self.holds(r, offset) {
                return;
            }
            let value = self.held[r as usize].value;
            if self.peepholes.tracking && value.is_some() && value == self.known_cell(offset) {
                self.held[r as usize].cells |= 1 << offset;
                return;
            }
        }
        self.store_always(r, offset);
    }

    /// Stores without asking whether anything reads it.
    pub fn store_always(&mut self, r: Byte, offset: u8) {
        self.out.bp(Self::STORE[r as usize], offset);
        self.touch(offset);
        if offset < 128 {
            let value = self.held[r as usize].value;
            self.held[r as usize].cells |= 1 << offset;
            if let Some((reg, i)) = register_at(offset) {
                self.values[usize::from(reg.0) * 4 + usize::from(i)] = value.filter(|_| self.peepholes.constants);
            }
        }
    }

    /// Any instruction on A with an immediate; A's content is unknown afterwards.
    pub fn a_imm(&mut self, m: M, value: u8) {
        self.out.imm(m, value);
        if !matches!(m, M::CMP | M::BIT) {
            self.forget(Byte::A);
        }
    }

    /// Any instruction on A with a base-page byte.
    pub fn a_bp(&mut self, m: M, offset: u8) {
        match self.known_cell(offset) {
            Some(value) if self.peepholes.constants && m != M::BIT => self.out.imm(m, value),
            _ => self.out.bp(m, offset),
        }
        if !matches!(m, M::CMP | M::BIT) {
            self.forget(Byte::A);
        }
    }

    /// An implied instruction that changes none of A, X, Y, Z and no cell.
    pub fn imp(&mut self, m: M) {
        self.out.imp(m);
    }

    /// An instruction on the accumulator.
    pub fn a_acc(&mut self, m: M) {
        self.out.acc(m);
        self.forget(Byte::A);
    }

    /// Copies a byte register: TAX and its like.
    pub fn transfer(&mut self, m: M) {
        let (from, to) = match m {
            M::TAX => (Byte::A, Byte::X),
            M::TAY => (Byte::A, Byte::Y),
            M::TAZ => (Byte::A, Byte::Z),
            M::TXA => (Byte::X, Byte::A),
            M::TYA => (Byte::Y, Byte::A),
            _ => (Byte::Z, Byte::A),
        };
        self.out.imp(m);
        self.held[to as usize] = self.held[from as usize];
    }

    /// A conditional branch over the next few instructions; ends with [`Context::join`].
    pub fn skip(&mut self, m: M) -> Label {
        let label = self.symbols.fresh();
        self.out.branch(m, label);
        label
    }

    /// Where a skip ends. `changed` may differ between the two ways here.
    pub fn join(&mut self, label: Label, changed: &[Byte]) {
        self.out.label(label);
        for &r in changed {
            self.forget(r);
        }
    }

    /// A call of a helper; A, X, Y, Z are unknown afterwards.
    pub fn helper(&mut self, name: &str) {
        let label = self.symbols.named(name);
        self.out.jsr(label);
        self.forget_registers();
    }

    /// A call of a routine of one register that changes only A and the register's cell.
    pub fn small(&mut self, kind: &str, rd: Reg) {
        let label = self.symbols.named(&format!("rv_{kind}_{rd}"));
        self.out.jsr(label);
        self.forget(Byte::A);
        self.touch_register(rd);
    }

    /// What is known now, to come back to.
    pub fn mark(&self) -> Mark {
        Mark { items: self.out.items.len(), values: self.values, held: self.held }
    }

    /// Takes back what was emitted since `mark`.
    pub fn reset(&mut self, mark: Mark) {
        self.out.items.truncate(mark.items);
        self.values = mark.values;
        self.held = mark.held;
        self.unstored = None;
    }

    /// Adds a single item.
    pub fn push(&mut self, m: M, mode: AddrMode, operand: Operand) {
        self.out.inst(m, mode, operand);
    }

    /// True when the last thing emitted is one of `list` on the base-page cell `offset`, so that N
    /// and Z are those of the cell.
    pub fn flags_show(&self, list: &[M], offset: u8) -> bool {
        let last = self.out.items.iter().rev().find(|item| !matches!(item, Item::Note(_)));
        match last {
            Some(Item::Inst(inst)) if self.peepholes.tracking => {
                let (mnemonic, mode, ..) = inst.describe();
                mode == AddrMode::BasePage && list.contains(&mnemonic) && inst.operand == Operand::Byte(offset)
            }
            _ => false,
        }
    }
}
