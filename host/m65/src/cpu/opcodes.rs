//! The opcode matrix: mnemonic, addressing mode and measured cycles of all 256 opcodes.
//!
//! Cycles are those at 40.5 MHz with code and data in chip RAM. A taken branch adds
//! [`TAKEN_SHORT`] or [`TAKEN_LONG`].

use Mode::*;

/// Extra cycles of a taken 8-bit conditional branch.
pub const TAKEN_SHORT: u8 = 2;
/// Extra cycles of a taken 16-bit conditional branch or bit branch.
pub const TAKEN_LONG: u8 = 1;

/// How an instruction finds its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No operand.
    Implied,
    /// The accumulator (Q after the Q prefix).
    Accumulator,
    /// `#nn`
    Immediate,
    /// `#nnnn` (PHW only)
    ImmediateWord,
    /// `nn` in the base page
    BasePage,
    /// `nn,X` in the base page
    BasePageX,
    /// `nn,Y` in the base page
    BasePageY,
    /// `nnnn`
    Absolute,
    /// `nnnn,X`
    AbsoluteX,
    /// `nnnn,Y`
    AbsoluteY,
    /// `(nn,X)`
    IndirectX,
    /// `(nn),Y`
    IndirectY,
    /// `(nn),Z`, or `[nn],Z` after the EOM prefix
    IndirectZ,
    /// `(nn,SP),Y`
    StackIndirectY,
    /// 8-bit branch
    Relative,
    /// 16-bit branch
    RelativeWord,
    /// `nn,rel8` of BBR and BBS
    BitBranch,
    /// `(nnnn)`
    AbsoluteIndirect,
    /// `(nnnn,X)`
    AbsoluteIndirectX,
}

impl Mode {
    /// Length of an instruction of this mode in bytes, prefixes not counted.
    pub const fn length(self) -> u8 {
        match self {
            Implied | Accumulator => 1,
            Immediate | BasePage | BasePageX | BasePageY | IndirectX | IndirectY | IndirectZ | StackIndirectY
            | Relative => 2,
            ImmediateWord | Absolute | AbsoluteX | AbsoluteY | RelativeWord | BitBranch | AbsoluteIndirect
            | AbsoluteIndirectX => 3,
        }
    }
}

/// One entry of the opcode matrix.
#[derive(Clone, Copy, Debug)]
pub struct Opcode {
    /// Mnemonic of the instruction without prefix.
    pub mnemonic: &'static str,
    /// Addressing mode.
    pub mode: Mode,
    /// Cycles, for conditional branches when not taken.
    pub cycles: u8,
}

const fn op(mnemonic: &'static str, mode: Mode, cycles: u8) -> Opcode {
    Opcode { mnemonic, mode, cycles }
}

/// Cycles by opcode, for the inner loop.
pub(crate) const CYCLES: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = OPCODES[i].cycles;
        i += 1;
    }
    table
};

/// All opcodes.
#[rustfmt::skip]
pub const OPCODES: [Opcode; 256] = [
    /* 00 */ op("BRK", Implied, 9), op("ORA", IndirectX, 7), op("CLE", Implied, 3), op("SEE", Implied, 1),
    /* 04 */ op("TSB", BasePage, 6), op("ORA", BasePage, 4), op("ASL", BasePage, 6), op("RMB0", BasePage, 6),
    /* 08 */ op("PHP", Implied, 3), op("ORA", Immediate, 2), op("ASL", Accumulator, 1), op("TSY", Implied, 1),
    /* 0C */ op("TSB", Absolute, 7), op("ORA", Absolute, 5), op("ASL", Absolute, 7), op("BBR0", BitBranch, 5),
    /* 10 */ op("BPL", Relative, 2), op("ORA", IndirectY, 7), op("ORA", IndirectZ, 7), op("BPL", RelativeWord, 4),
    /* 14 */ op("TRB", BasePage, 6), op("ORA", BasePageX, 4), op("ASL", BasePageX, 6), op("RMB1", BasePage, 6),
    /* 18 */ op("CLC", Implied, 1), op("ORA", AbsoluteY, 5), op("INC", Accumulator, 1), op("INZ", Implied, 1),
    /* 1C */ op("TRB", Absolute, 7), op("ORA", AbsoluteX, 5), op("ASL", AbsoluteX, 7), op("BBR1", BitBranch, 5),
    /* 20 */ op("JSR", Absolute, 5), op("AND", IndirectX, 7), op("JSR", AbsoluteIndirect, 8), op("JSR", AbsoluteIndirectX, 8),
    /* 24 */ op("BIT", BasePage, 4), op("AND", BasePage, 4), op("ROL", BasePage, 6), op("RMB2", BasePage, 6),
    /* 28 */ op("PLP", Implied, 4), op("AND", Immediate, 2), op("ROL", Accumulator, 1), op("TYS", Implied, 1),
    /* 2C */ op("BIT", Absolute, 5), op("AND", Absolute, 5), op("ROL", Absolute, 7), op("BBR2", BitBranch, 5),
    /* 30 */ op("BMI", Relative, 2), op("AND", IndirectY, 7), op("AND", IndirectZ, 7), op("BMI", RelativeWord, 4),
    /* 34 */ op("BIT", BasePageX, 4), op("AND", BasePageX, 4), op("ROL", BasePageX, 6), op("RMB3", BasePage, 6),
    /* 38 */ op("SEC", Implied, 1), op("AND", AbsoluteY, 5), op("DEC", Accumulator, 1), op("DEZ", Implied, 1),
    /* 3C */ op("BIT", AbsoluteX, 5), op("AND", AbsoluteX, 5), op("ROL", AbsoluteX, 7), op("BBR3", BitBranch, 5),
    /* 40 */ op("RTI", Implied, 6), op("EOR", IndirectX, 7), op("NEG", Accumulator, 1), op("ASR", Accumulator, 1),
    /* 44 */ op("ASR", BasePage, 6), op("EOR", BasePage, 4), op("LSR", BasePage, 6), op("RMB4", BasePage, 6),
    /* 48 */ op("PHA", Implied, 3), op("EOR", Immediate, 2), op("LSR", Accumulator, 1), op("TAZ", Implied, 1),
    /* 4C */ op("JMP", Absolute, 5), op("EOR", Absolute, 5), op("LSR", Absolute, 7), op("BBR4", BitBranch, 5),
    /* 50 */ op("BVC", Relative, 2), op("EOR", IndirectY, 7), op("EOR", IndirectZ, 7), op("BVC", RelativeWord, 4),
    /* 54 */ op("ASR", BasePageX, 6), op("EOR", BasePageX, 4), op("LSR", BasePageX, 6), op("RMB5", BasePage, 6),
    /* 58 */ op("CLI", Implied, 3), op("EOR", AbsoluteY, 5), op("PHY", Implied, 3), op("TAB", Implied, 1),
    /* 5C */ op("MAP", Implied, 3), op("EOR", AbsoluteX, 5), op("LSR", AbsoluteX, 7), op("BBR5", BitBranch, 5),
    /* 60 */ op("RTS", Implied, 5), op("ADC", IndirectX, 7), op("RTS", Immediate, 5), op("BSR", RelativeWord, 5),
    /* 64 */ op("STZ", BasePage, 3), op("ADC", BasePage, 4), op("ROR", BasePage, 6), op("RMB6", BasePage, 6),
    /* 68 */ op("PLA", Implied, 4), op("ADC", Immediate, 2), op("ROR", Accumulator, 1), op("TZA", Implied, 1),
    /* 6C */ op("JMP", AbsoluteIndirect, 7), op("ADC", Absolute, 5), op("ROR", Absolute, 7), op("BBR6", BitBranch, 5),
    /* 70 */ op("BVS", Relative, 2), op("ADC", IndirectY, 7), op("ADC", IndirectZ, 7), op("BVS", RelativeWord, 4),
    /* 74 */ op("STZ", BasePageX, 3), op("ADC", BasePageX, 4), op("ROR", BasePageX, 6), op("RMB7", BasePage, 6),
    /* 78 */ op("SEI", Implied, 1), op("ADC", AbsoluteY, 5), op("PLY", Implied, 4), op("TBA", Implied, 1),
    /* 7C */ op("JMP", AbsoluteIndirectX, 7), op("ADC", AbsoluteX, 5), op("ROR", AbsoluteX, 7), op("BBR7", BitBranch, 5),
    /* 80 */ op("BRA", Relative, 4), op("STA", IndirectX, 6), op("STA", StackIndirectY, 44), op("BRA", RelativeWord, 5),
    /* 84 */ op("STY", BasePage, 3), op("STA", BasePage, 3), op("STX", BasePage, 3), op("SMB0", BasePage, 6),
    /* 88 */ op("DEY", Implied, 1), op("BIT", Immediate, 2), op("TXA", Implied, 1), op("STY", AbsoluteX, 4),
    /* 8C */ op("STY", Absolute, 4), op("STA", Absolute, 4), op("STX", Absolute, 4), op("BBS0", BitBranch, 5),
    /* 90 */ op("BCC", Relative, 2), op("STA", IndirectY, 6), op("STA", IndirectZ, 6), op("BCC", RelativeWord, 4),
    /* 94 */ op("STY", BasePageX, 3), op("STA", BasePageX, 3), op("STX", BasePageY, 3), op("SMB1", BasePage, 6),
    /* 98 */ op("TYA", Implied, 1), op("STA", AbsoluteY, 4), op("TXS", Implied, 1), op("STX", AbsoluteY, 4),
    /* 9C */ op("STZ", Absolute, 4), op("STA", AbsoluteX, 4), op("STZ", AbsoluteX, 4), op("BBS1", BitBranch, 5),
    /* A0 */ op("LDY", Immediate, 2), op("LDA", IndirectX, 7), op("LDX", Immediate, 2), op("LDZ", Immediate, 2),
    /* A4 */ op("LDY", BasePage, 4), op("LDA", BasePage, 4), op("LDX", BasePage, 4), op("SMB2", BasePage, 6),
    /* A8 */ op("TAY", Implied, 1), op("LDA", Immediate, 2), op("TAX", Implied, 1), op("LDZ", Absolute, 5),
    /* AC */ op("LDY", Absolute, 5), op("LDA", Absolute, 5), op("LDX", Absolute, 5), op("BBS2", BitBranch, 5),
    /* B0 */ op("BCS", Relative, 2), op("LDA", IndirectY, 7), op("LDA", IndirectZ, 7), op("BCS", RelativeWord, 4),
    /* B4 */ op("LDY", BasePageX, 4), op("LDA", BasePageX, 4), op("LDX", BasePageY, 4), op("SMB3", BasePage, 6),
    /* B8 */ op("CLV", Implied, 1), op("LDA", AbsoluteY, 5), op("TSX", Implied, 1), op("LDZ", AbsoluteX, 5),
    /* BC */ op("LDY", AbsoluteX, 5), op("LDA", AbsoluteX, 5), op("LDX", AbsoluteY, 5), op("BBS3", BitBranch, 5),
    /* C0 */ op("CPY", Immediate, 2), op("CMP", IndirectX, 7), op("CPZ", Immediate, 2), op("DEW", BasePage, 8),
    /* C4 */ op("CPY", BasePage, 4), op("CMP", BasePage, 4), op("DEC", BasePage, 6), op("SMB4", BasePage, 6),
    /* C8 */ op("INY", Implied, 1), op("CMP", Immediate, 2), op("DEX", Implied, 1), op("ASW", Absolute, 9),
    /* CC */ op("CPY", Absolute, 5), op("CMP", Absolute, 5), op("DEC", Absolute, 7), op("BBS4", BitBranch, 5),
    /* D0 */ op("BNE", Relative, 2), op("CMP", IndirectY, 7), op("CMP", IndirectZ, 7), op("BNE", RelativeWord, 4),
    /* D4 */ op("CPZ", BasePage, 4), op("CMP", BasePageX, 4), op("DEC", BasePageX, 6), op("SMB5", BasePage, 6),
    /* D8 */ op("CLD", Implied, 1), op("CMP", AbsoluteY, 5), op("PHX", Implied, 3), op("PHZ", Implied, 3),
    /* DC */ op("CPZ", Absolute, 5), op("CMP", AbsoluteX, 5), op("DEC", AbsoluteX, 7), op("BBS5", BitBranch, 5),
    /* E0 */ op("CPX", Immediate, 2), op("SBC", IndirectX, 7), op("LDA", StackIndirectY, 58), op("INW", BasePage, 8),
    /* E4 */ op("CPX", BasePage, 4), op("SBC", BasePage, 4), op("INC", BasePage, 6), op("SMB6", BasePage, 6),
    /* E8 */ op("INX", Implied, 1), op("SBC", Immediate, 2), op("EOM", Implied, 1), op("ROW", Absolute, 9),
    /* EC */ op("CPX", Absolute, 5), op("SBC", Absolute, 5), op("INC", Absolute, 7), op("BBS6", BitBranch, 5),
    /* F0 */ op("BEQ", Relative, 2), op("SBC", IndirectY, 7), op("SBC", IndirectZ, 7), op("BEQ", RelativeWord, 4),
    /* F4 */ op("PHW", ImmediateWord, 6), op("SBC", BasePageX, 4), op("INC", BasePageX, 6), op("SMB7", BasePage, 6),
    /* F8 */ op("SED", Implied, 1), op("SBC", AbsoluteY, 5), op("PLX", Implied, 4), op("PLZ", Implied, 4),
    /* FC */ op("PHW", Absolute, 9), op("SBC", AbsoluteX, 5), op("INC", AbsoluteX, 7), op("BBS7", BitBranch, 5),
];
