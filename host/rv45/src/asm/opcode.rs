//! The instruction set: every documented opcode with its mode, length and cycles at 40.5 MHz.
//!
//! Cycle counts are those measured on a MEGA65 with code and data in chip RAM; accesses to attic
//! RAM and I/O cost more. The prefixed (Q and flat) forms list only what is documented, so nothing
//! that an emulator or a later core rejects can be encoded.

use Mnemonic::*;
use Mode::*;

macro_rules! mnemonics {
    ($($name:ident),* $(,)?) => {
        /// A mnemonic; the Q operations have names of their own.
        #[allow(missing_docs, clippy::upper_case_acronyms)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Mnemonic { $($name),* }

        impl Mnemonic {
            /// Every mnemonic.
            pub const ALL: &'static [Mnemonic] = &[$(Mnemonic::$name),*];

            /// The name as it is written in a listing.
            pub fn name(self) -> &'static str {
                match self { $(Mnemonic::$name => stringify!($name)),* }
            }
        }
    };
}

mnemonics! {
        ADC, AND, ASL, ASR, ASW, BBR0, BBR1, BBR2, BBR3, BBR4, BBR5, BBR6, BBR7, BBS0, BBS1,
        BBS2, BBS3, BBS4, BBS5, BBS6, BBS7, BCC, BCS, BEQ, BIT, BMI, BNE, BPL, BRA, BRK, BSR,
        BVC, BVS, CLC, CLD, CLE, CLI, CLV, CMP, CPX, CPY, CPZ, DEC, DEW, DEX, DEY, DEZ, EOM, EOR,
        INC, INW, INX, INY, INZ, JMP, JSR, LDA, LDX, LDY, LDZ, LSR, MAP, NEG, ORA, PHA, PHP, PHW,
        PHX, PHY, PHZ, PLA, PLP, PLX, PLY, PLZ, RMB0, RMB1, RMB2, RMB3, RMB4, RMB5, RMB6, RMB7,
        ROL, ROR, ROW, RTI, RTS, SBC, SEC, SED, SEE, SEI, SMB0, SMB1, SMB2, SMB3, SMB4, SMB5,
        SMB6, SMB7, STA, STX, STY, STZ, TAB, TAX, TAY, TAZ, TBA, TRB, TSB, TSX, TSY, TXA, TXS,
        TYA, TYS, TZA, LDQ, STQ, ORQ, ANDQ, EORQ, ADCQ, SBCQ, CMPQ, BITQ, ASLQ, LSRQ, ASRQ, ROLQ,
        RORQ, INQ, DEQ,
}

/// An addressing mode. `IndirectQ` and `FlatQ` are the Q forms that do not add Z.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    Implied,
    Accumulator,
    Immediate,
    Immediate16,
    BasePage,
    BasePageX,
    BasePageY,
    Absolute,
    AbsoluteX,
    AbsoluteY,
    IndirectX,
    IndirectY,
    IndirectZ,
    IndirectSpY,
    AbsIndirect,
    AbsIndirectX,
    Relative8,
    Relative16,
    BitRelative,
    FlatZ,
    IndirectQ,
    FlatQ,
}

impl Mode {
    /// Operand bytes that follow the opcode.
    pub const fn operand_len(self) -> u16 {
        match self {
            Implied | Accumulator => 0,
            Immediate | BasePage | BasePageX | BasePageY | IndirectX | IndirectY | IndirectZ | IndirectSpY
            | Relative8 | FlatZ | IndirectQ | FlatQ => 1,
            Immediate16 | Absolute | AbsoluteX | AbsoluteY | AbsIndirect | AbsIndirectX | Relative16 | BitRelative => 2,
        }
    }
}

/// What stands before the opcode byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Prefix {
    /// Nothing.
    None,
    /// `NEG NEG`: the 32-bit form on A, X, Y, Z.
    Q,
    /// `EOM`: the 28-bit pointer form.
    Flat,
    /// `NEG NEG EOM`: both.
    QFlat,
}

impl Prefix {
    /// The prefix bytes.
    pub const fn bytes(self) -> &'static [u8] {
        match self {
            Prefix::None => &[],
            Prefix::Q => &[0x42, 0x42],
            Prefix::Flat => &[0xEA],
            Prefix::QFlat => &[0x42, 0x42, 0xEA],
        }
    }
}

/// The encoding of one mnemonic in one mode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Encoding {
    /// Bytes before the opcode.
    pub prefix: Prefix,
    /// The opcode byte.
    pub opcode: u8,
}

/// The unprefixed opcodes by number: mnemonic, mode, cycles, cycles of a taken branch.
#[rustfmt::skip]
pub const OPCODES: [(Mnemonic, Mode, u8, u8); 256] = [
    (BRK, Implied, 9, 9),
    (ORA, IndirectX, 7, 7),
    (CLE, Implied, 3, 3),
    (SEE, Implied, 1, 1),
    (TSB, BasePage, 6, 6),
    (ORA, BasePage, 4, 4),
    (ASL, BasePage, 6, 6),
    (RMB0, BasePage, 6, 6),
    (PHP, Implied, 3, 3),
    (ORA, Immediate, 2, 2),
    (ASL, Accumulator, 1, 1),
    (TSY, Implied, 1, 1),
    (TSB, Absolute, 7, 7),
    (ORA, Absolute, 5, 5),
    (ASL, Absolute, 7, 7),
    (BBR0, BitRelative, 5, 6),
    (BPL, Relative8, 2, 4),
    (ORA, IndirectY, 7, 7),
    (ORA, IndirectZ, 7, 7),
    (BPL, Relative16, 4, 5),
    (TRB, BasePage, 6, 6),
    (ORA, BasePageX, 4, 4),
    (ASL, BasePageX, 6, 6),
    (RMB1, BasePage, 6, 6),
    (CLC, Implied, 1, 1),
    (ORA, AbsoluteY, 5, 5),
    (INC, Accumulator, 1, 1),
    (INZ, Implied, 1, 1),
    (TRB, Absolute, 7, 7),
    (ORA, AbsoluteX, 5, 5),
    (ASL, AbsoluteX, 7, 7),
    (BBR1, BitRelative, 5, 6),
    (JSR, Absolute, 5, 5),
    (AND, IndirectX, 7, 7),
    (JSR, AbsIndirect, 8, 8),
    (JSR, AbsIndirectX, 8, 8),
    (BIT, BasePage, 4, 4),
    (AND, BasePage, 4, 4),
    (ROL, BasePage, 6, 6),
    (RMB2, BasePage, 6, 6),
    (PLP, Implied, 4, 4),
    (AND, Immediate, 2, 2),
    (ROL, Accumulator, 1, 1),
    (TYS, Implied, 1, 1),
    (BIT, Absolute, 5, 5),
    (AND, Absolute, 5, 5),
    (ROL, Absolute, 7, 7),
    (BBR2, BitRelative, 5, 6),
    (BMI, Relative8, 2, 4),
    (AND, IndirectY, 7, 7),
    (AND, IndirectZ, 7, 7),
    (BMI, Relative16, 4, 5),
    (BIT, BasePageX, 4, 4),
    (AND, BasePageX, 4, 4),
    (ROL, BasePageX, 6, 6),
    (RMB3, BasePage, 6, 6),
    (SEC, Implied, 1, 1),
    (AND, AbsoluteY, 5, 5),
    (DEC, Accumulator, 1, 1),
    (DEZ, Implied, 1, 1),
    (BIT, AbsoluteX, 5, 5),
    (AND, AbsoluteX, 5, 5),
    (ROL, AbsoluteX, 7, 7),
    (BBR3, BitRelative, 5, 6),
    (RTI, Implied, 6, 6),
    (EOR, IndirectX, 7, 7),
    (NEG, Accumulator, 1, 1),
    (ASR, Accumulator, 1, 1),
    (ASR, BasePage, 6, 6),
    (EOR, BasePage, 4, 4),
    (LSR, BasePage, 6, 6),
    (RMB4, BasePage, 6, 6),
    (PHA, Implied, 3, 3),
    (EOR, Immediate, 2, 2),
    (LSR, Accumulator, 1, 1),
    (TAZ, Implied, 1, 1),
    (JMP, Absolute, 5, 5),
    (EOR, Absolute, 5, 5),
    (LSR, Absolute, 7, 7),
    (BBR4, BitRelative, 5, 6),
    (BVC, Relative8, 2, 4),
    (EOR, IndirectY, 7, 7),
    (EOR, IndirectZ, 7, 7),
    (BVC, Relative16, 4, 5),
    (ASR, BasePageX, 6, 6),
    (EOR, BasePageX, 4, 4),
    (LSR, BasePageX, 6, 6),
    (RMB5, BasePage, 6, 6),
    (CLI, Implied, 3, 3),
    (EOR, AbsoluteY, 5, 5),
    (PHY, Implied, 3, 3),
    (TAB, Implied, 1, 1),
    (MAP, Implied, 3, 3),
    (EOR, AbsoluteX, 5, 5),
    (LSR, AbsoluteX, 7, 7),
    (BBR5, BitRelative, 5, 6),
    (RTS, Implied, 5, 5),
    (ADC, IndirectX, 7, 7),
    (RTS, Immediate, 5, 5),
    (BSR, Relative16, 5, 5),
    (STZ, BasePage, 3, 3),
    (ADC, BasePage, 4, 4),
    (ROR, BasePage, 6, 6),
    (RMB6, BasePage, 6, 6),
    (PLA, Implied, 4, 4),
    (ADC, Immediate, 2, 2),
    (ROR, Accumulator, 1, 1),
    (TZA, Implied, 1, 1),
    (JMP, AbsIndirect, 7, 7),
    (ADC, Absolute, 5, 5),
    (ROR, Absolute, 7, 7),
    (BBR6, BitRelative, 5, 6),
    (BVS, Relative8, 2, 4),
    (ADC, IndirectY, 7, 7),
    (ADC, IndirectZ, 7, 7),
    (BVS, Relative16, 4, 5),
    (STZ, BasePageX, 3, 3),
    (ADC, BasePageX, 4, 4),
    (ROR, BasePageX, 6, 6),
    (RMB7, BasePage, 6, 6),
    (SEI, Implied, 1, 1),
    (ADC, AbsoluteY, 5, 5),
    (PLY, Implied, 4, 4),
    (TBA, Implied, 1, 1),
    (JMP, AbsIndirectX, 7, 7),
    (ADC, AbsoluteX, 5, 5),
    (ROR, AbsoluteX, 7, 7),
    (BBR7, BitRelative, 5, 6),
    (BRA, Relative8, 4, 4),
    (STA, IndirectX, 6, 6),
    (STA, IndirectSpY, 44, 44),
    (BRA, Relative16, 5, 5),
    (STY, BasePage, 3, 3),
    (STA, BasePage, 3, 3),
    (STX, BasePage, 3, 3),
    (SMB0, BasePage, 6, 6),
    (DEY, Implied, 1, 1),
    (BIT, Immediate, 2, 2),
    (TXA, Implied, 1, 1),
    (STY, AbsoluteX, 4, 4),
    (STY, Absolute, 4, 4),
    (STA, Absolute, 4, 4),
    (STX, Absolute, 4, 4),
    (BBS0, BitRelative, 5, 6),
    (BCC, Relative8, 2, 4),
    (STA, IndirectY, 6, 6),
    (STA, IndirectZ, 6, 6),
    (BCC, Relative16, 4, 5),
    (STY, BasePageX, 3, 3),
    (STA, BasePageX, 3, 3),
    (STX, BasePageY, 3, 3),
    (SMB1, BasePage, 6, 6),
    (TYA, Implied, 1, 1),
    (STA, AbsoluteY, 4, 4),
    (TXS, Implied, 1, 1),
    (STX, AbsoluteY, 4, 4),
    (STZ, Absolute, 4, 4),
    (STA, AbsoluteX, 4, 4),
    (STZ, AbsoluteX, 4, 4),
    (BBS1, BitRelative, 5, 6),
    (LDY, Immediate, 2, 2),
    (LDA, IndirectX, 7, 7),
    (LDX, Immediate, 2, 2),
    (LDZ, Immediate, 2, 2),
    (LDY, BasePage, 4, 4),
    (LDA, BasePage, 4, 4),
    (LDX, BasePage, 4, 4),
    (SMB2, BasePage, 6, 6),
    (TAY, Implied, 1, 1),
    (LDA, Immediate, 2, 2),
    (TAX, Implied, 1, 1),
    (LDZ, Absolute, 5, 5),
    (LDY, Absolute, 5, 5),
    (LDA, Absolute, 5, 5),
    (LDX, Absolute, 5, 5),
    (BBS2, BitRelative, 5, 6),
    (BCS, Relative8, 2, 4),
    (LDA, IndirectY, 7, 7),
    (LDA, IndirectZ, 7, 7),
    (BCS, Relative16, 4, 5),
    (LDY, BasePageX, 4, 4),
    (LDA, BasePageX, 4, 4),
    (LDX, BasePageY, 4, 4),
    (SMB3, BasePage, 6, 6),
    (CLV, Implied, 1, 1),
    (LDA, AbsoluteY, 5, 5),
    (TSX, Implied, 1, 1),
    (LDZ, AbsoluteX, 5, 5),
    (LDY, AbsoluteX, 5, 5),
    (LDA, AbsoluteX, 5, 5),
    (LDX, AbsoluteY, 5, 5),
    (BBS3, BitRelative, 5, 6),
    (CPY, Immediate, 2, 2),
    (CMP, IndirectX, 7, 7),
    (CPZ, Immediate, 2, 2),
    (DEW, BasePage, 8, 8),
    (CPY, BasePage, 4, 4),
    (CMP, BasePage, 4, 4),
    (DEC, BasePage, 6, 6),
    (SMB4, BasePage, 6, 6),
    (INY, Implied, 1, 1),
    (CMP, Immediate, 2, 2),
    (DEX, Implied, 1, 1),
    (ASW, Absolute, 9, 9),
    (CPY, Absolute, 5, 5),
    (CMP, Absolute, 5, 5),
    (DEC, Absolute, 7, 7),
    (BBS4, BitRelative, 5, 6),
    (BNE, Relative8, 2, 4),
    (CMP, IndirectY, 7, 7),
    (CMP, IndirectZ, 7, 7),
    (BNE, Relative16, 4, 5),
    (CPZ, BasePage, 4, 4),
    (CMP, BasePageX, 4, 4),
    (DEC, BasePageX, 6, 6),
    (SMB5, BasePage, 6, 6),
    (CLD, Implied, 1, 1),
    (CMP, AbsoluteY, 5, 5),
    (PHX, Implied, 3, 3),
    (PHZ, Implied, 3, 3),
    (CPZ, Absolute, 5, 5),
    (CMP, AbsoluteX, 5, 5),
    (DEC, AbsoluteX, 7, 7),
    (BBS5, BitRelative, 5, 6),
    (CPX, Immediate, 2, 2),
    (SBC, IndirectX, 7, 7),
    (LDA, IndirectSpY, 58, 58),
    (INW, BasePage, 8, 8),
    (CPX, BasePage, 4, 4),
    (SBC, BasePage, 4, 4),
    (INC, BasePage, 6, 6),
    (SMB6, BasePage, 6, 6),
    (INX, Implied, 1, 1),
    (SBC, Immediate, 2, 2),
    (EOM, Implied, 1, 1),
    (ROW, Absolute, 9, 9),
    (CPX, Absolute, 5, 5),
    (SBC, Absolute, 5, 5),
    (INC, Absolute, 7, 7),
    (BBS6, BitRelative, 5, 6),
    (BEQ, Relative8, 2, 4),
    (SBC, IndirectY, 7, 7),
    (SBC, IndirectZ, 7, 7),
    (BEQ, Relative16, 4, 5),
    (PHW, Immediate16, 6, 6),
    (SBC, BasePageX, 4, 4),
    (INC, BasePageX, 6, 6),
    (SMB7, BasePage, 6, 6),
    (SED, Implied, 1, 1),
    (SBC, AbsoluteY, 5, 5),
    (PLX, Implied, 4, 4),
    (PLZ, Implied, 4, 4),
    (PHW, Absolute, 9, 9),
    (SBC, AbsoluteX, 5, 5),
    (INC, AbsoluteX, 7, 7),
    (BBS7, BitRelative, 5, 6),
];

/// The 32-bit forms: opcode after the prefix, mnemonic, mode, cycles with the prefix.
#[rustfmt::skip]
pub const Q_OPCODES: &[(u8, Mnemonic, Mode, u8)] = &[
    (0xA5, LDQ, BasePage, 10),
    (0xAD, LDQ, Absolute, 11),
    (0xB2, LDQ, IndirectZ, 13),
    (0xB2, LDQ, FlatZ, 16),
    (0x85, STQ, BasePage, 9),
    (0x8D, STQ, Absolute, 10),
    (0x92, STQ, IndirectQ, 12),
    (0x92, STQ, FlatQ, 15),
    (0x05, ORQ, BasePage, 11),
    (0x0D, ORQ, Absolute, 12),
    (0x12, ORQ, IndirectQ, 14),
    (0x12, ORQ, FlatQ, 17),
    (0x25, ANDQ, BasePage, 11),
    (0x2D, ANDQ, Absolute, 12),
    (0x32, ANDQ, IndirectQ, 14),
    (0x32, ANDQ, FlatQ, 17),
    (0x45, EORQ, BasePage, 11),
    (0x4D, EORQ, Absolute, 12),
    (0x52, EORQ, IndirectQ, 14),
    (0x52, EORQ, FlatQ, 17),
    (0x65, ADCQ, BasePage, 11),
    (0x6D, ADCQ, Absolute, 12),
    (0x72, ADCQ, IndirectQ, 14),
    (0x72, ADCQ, FlatQ, 17),
    (0xE5, SBCQ, BasePage, 11),
    (0xED, SBCQ, Absolute, 12),
    (0xF2, SBCQ, IndirectQ, 14),
    (0xF2, SBCQ, FlatQ, 17),
    (0xC5, CMPQ, BasePage, 11),
    (0xCD, CMPQ, Absolute, 12),
    (0xD2, CMPQ, IndirectQ, 14),
    (0xD2, CMPQ, FlatQ, 17),
    (0x24, BITQ, BasePage, 11),
    (0x2C, BITQ, Absolute, 12),
    (0x06, ASLQ, BasePage, 17),
    (0x16, ASLQ, BasePageX, 17),
    (0x0E, ASLQ, Absolute, 18),
    (0x1E, ASLQ, AbsoluteX, 18),
    (0x0A, ASLQ, Accumulator, 4),
    (0x46, LSRQ, BasePage, 17),
    (0x56, LSRQ, BasePageX, 17),
    (0x4E, LSRQ, Absolute, 18),
    (0x5E, LSRQ, AbsoluteX, 18),
    (0x4A, LSRQ, Accumulator, 4),
    (0x26, ROLQ, BasePage, 17),
    (0x36, ROLQ, BasePageX, 17),
    (0x2E, ROLQ, Absolute, 18),
    (0x3E, ROLQ, AbsoluteX, 18),
    (0x2A, ROLQ, Accumulator, 4),
    (0x66, RORQ, BasePage, 17),
    (0x76, RORQ, BasePageX, 17),
    (0x6E, RORQ, Absolute, 18),
    (0x7E, RORQ, AbsoluteX, 18),
    (0x6A, RORQ, Accumulator, 4),
    (0xE6, INQ, BasePage, 17),
    (0xF6, INQ, BasePageX, 17),
    (0xEE, INQ, Absolute, 18),
    (0xFE, INQ, AbsoluteX, 18),
    (0x1A, INQ, Accumulator, 4),
    (0xC6, DEQ, BasePage, 17),
    (0xD6, DEQ, BasePageX, 17),
    (0xCE, DEQ, Absolute, 18),
    (0xDE, DEQ, AbsoluteX, 18),
    (0x3A, DEQ, Accumulator, 4),
    (0x44, ASRQ, BasePage, 17),
    (0x54, ASRQ, BasePageX, 17),
    (0x43, ASRQ, Accumulator, 4),
];

/// The 8-bit accesses through a 28-bit pointer: opcode after the prefix, mnemonic, cycles.
pub const FLAT_OPCODES: [(u8, Mnemonic, u8); 8] = [
    (0x12, ORA, 10),
    (0x32, AND, 10),
    (0x52, EOR, 10),
    (0x72, ADC, 14),
    (0x92, STA, 9),
    (0xB2, LDA, 13),
    (0xD2, CMP, 10),
    (0xF2, SBC, 10),
];

/// The encoding of `mnemonic` in `mode`, where the instruction set documents one.
pub fn encoding(mnemonic: Mnemonic, mode: Mode) -> Option<Encoding> {
    if mnemonic >= LDQ {
        let row = Q_OPCODES.iter().find(|row| row.1 == mnemonic && row.2 == mode)?;
        let prefix = if matches!(mode, FlatZ | FlatQ) { Prefix::QFlat } else { Prefix::Q };
        return Some(Encoding { prefix, opcode: row.0 });
    }
    if mode == FlatZ {
        let row = FLAT_OPCODES.iter().find(|row| row.1 == mnemonic)?;
        return Some(Encoding { prefix: Prefix::Flat, opcode: row.0 });
    }
    let opcode = OPCODES.iter().position(|row| row.0 == mnemonic && row.1 == mode)?;
    Some(Encoding { prefix: Prefix::None, opcode: opcode as u8 })
}

/// The inverse of [`encoding`]: mnemonic, mode, cycles, cycles when a branch is taken.
pub fn decode(encoding: Encoding) -> Option<(Mnemonic, Mode, u8, u8)> {
    let Encoding { prefix, opcode } = encoding;
    match prefix {
        Prefix::None => OPCODES.get(usize::from(opcode)).copied(),
        Prefix::Flat => FLAT_OPCODES.iter().find(|r| r.0 == opcode).map(|r| (r.1, FlatZ, r.2, r.2)),
        Prefix::Q | Prefix::QFlat => Q_OPCODES
            .iter()
            .find(|r| r.0 == opcode && matches!(r.2, FlatZ | FlatQ) == (prefix == Prefix::QFlat))
            .map(|r| (r.1, r.2, r.3, r.3)),
    }
}
