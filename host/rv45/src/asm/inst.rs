//! One 45GS02 instruction with symbolic operands, and the items of a routine.

use super::opcode::{Encoding, Mnemonic, Mode, Prefix, decode, encoding};

/// A place in the program, numbered by [`super::Symbols`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Label(pub u32);

/// An operand as it is known before addresses are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// No operand bytes.
    None,
    /// A byte: immediate or base-page offset.
    Byte(u8),
    /// A 16-bit address or immediate.
    Word(u16),
    /// Low byte of label plus offset.
    Lo(Label, i32),
    /// High byte of label plus offset.
    Hi(Label, i32),
    /// 16-bit address of label plus offset.
    Addr(Label, i32),
    /// Branch target; the instruction is lengthened when 8 bits do not reach.
    Rel(Label),
    /// Base-page byte and target of BBRn/BBSn, which reach 8 bits only.
    BitRel(u8, Label),
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// Prefix and opcode byte (of the rel8 form for branches).
    pub encoding: Encoding,
    /// Its operand.
    pub operand: Operand,
}

impl Inst {
    /// An instruction, if the documented instruction set has this mode.
    pub fn new(mnemonic: Mnemonic, mode: Mode, operand: Operand) -> Option<Inst> {
        Some(Inst { encoding: encoding(mnemonic, mode)?, operand })
    }

    /// Mnemonic, mode, cycles, cycles when taken.
    pub fn describe(&self) -> (Mnemonic, Mode, u8, u8) {
        decode(self.encoding).unwrap_or((Mnemonic::BRK, Mode::Implied, 9, 9))
    }

    /// Length in bytes; `long` is the rel16 form of a branch.
    pub fn len(&self, long: bool) -> u16 {
        let (mnemonic, mode, ..) = self.describe();
        let operand = match self.operand {
            Operand::Rel(_) if long || mnemonic == Mnemonic::BSR => 2,
            Operand::Rel(_) => 1,
            _ => mode.operand_len(),
        };
        self.encoding.prefix.bytes().len() as u16 + 1 + operand
    }

    /// True for a conditional or unconditional branch with both rel8 and rel16 forms.
    pub fn relaxable(&self) -> bool {
        matches!(self.operand, Operand::Rel(_)) && self.encoding.opcode != 0x63
    }

    /// True where control never reaches the next instruction.
    pub fn ends_flow(&self) -> bool {
        self.encoding.prefix == Prefix::None
            && matches!(self.encoding.opcode, 0x00 | 0x40 | 0x4C | 0x60 | 0x62 | 0x6C | 0x7C | 0x80 | 0x83)
    }
}

/// A piece of a routine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// An instruction.
    Inst(Inst),
    /// A label at this place.
    Label(Label),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// A 16-bit little-endian address.
    Word(Label, i32),
    /// A line for the listing (the source instruction that the following items stand for).
    Note(String),
}
