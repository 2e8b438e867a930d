//! The instruction set: one table for encoding, decoding, disassembly and documentation (specification, section 9).
//!
//! An instruction is 16 bytes: `op, a, b, 0`, then the words X, Y, Z, little-endian.

use core::fmt;

use crate::map::ADDRESS_MASK;

/// Bytes in an instruction; the program counter is always a multiple.
pub const INSTRUCTION_LEN: u32 = 16;
/// Registers R0-R15; R15 reads as zero.
pub const REGISTERS: u8 = 16;
/// GEMV flag in field b: add to the old y (F32).
pub const GEMV_ACCUMULATE: u8 = 1;
/// GEMV flag in field b: write y as F16.
pub const GEMV_F16: u8 = 2;
/// Most products of one ATTN, width of the query times rows: 16,384 numbers over the longest context. The ranges alone leave
/// room for the square of the memory's size, in one instruction that nothing can stop.
pub const ATTN_MOST: u32 = 1 << 26;
/// Operand bit that selects the form `A[n] + offset`.
pub const INDIRECT: u32 = 0x8000_0000;

/// What a byte field (a or b) holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Not used; zero.
    None,
    /// The register that is written.
    Write,
    /// A register that is read.
    Read,
    /// The address register that is written.
    Address,
    /// A ggml type number.
    Format,
    /// GEMV flags.
    Flags,
}

/// What a word operand (X, Y or Z) holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Not used; zero.
    None,
    /// Address of data that is read.
    Source,
    /// Address of data that is written (or changed in place).
    Dest,
    /// Address of an instruction.
    Target,
    /// A number.
    Value,
    /// F32 bits (the epsilon of the norms).
    Epsilon,
}

/// One row of the instruction table.
#[derive(Debug)]
pub struct Info {
    /// The operation.
    pub op: Opcode,
    /// Its mnemonic.
    pub name: &'static str,
    /// Fields a and b.
    pub fields: [Field; 2],
    /// Words X, Y, Z.
    pub words: [Operand; 3],
    /// What it does.
    pub meaning: &'static str,
}

macro_rules! instructions {
    ($($number:literal $variant:ident $name:literal [$a:ident $b:ident] [$x:ident $y:ident $z:ident] $meaning:literal;)*) => {
        /// An operation of the accelerator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = $meaning] $variant = $number,)*
        }

        /// Every instruction, in order of its opcode.
        pub static TABLE: &[Info] = &[
            $(Info {
                op: Opcode::$variant,
                name: $name,
                fields: [Field::$a, Field::$b],
                words: [Operand::$x, Operand::$y, Operand::$z],
                meaning: $meaning,
            },)*
        ];

        impl Opcode {
            /// The operation with this number; `None` for every other byte.
            #[must_use]
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

instructions! {
    0x00 Nop "NOP" [None None] [None None None] "nothing";
    0x01 Halt "HALT" [None None] [None None None] "the job is done";
    0x02 Sync "SYNC" [None None] [None None None] "the program may look at memory";
    0x03 Copy "COPY" [None None] [Source Dest Value] "Z & $FFFF bytes from X to Y";
    0x07 Setn "SETN" [None None] [Value Value Epsilon] "N0, N1, N2 = X, Y, Z";
    0x08 Li "LI" [Write None] [None None Value] "R[a] = Z";
    0x09 Ldr "LDR" [Write None] [Source None None] "R[a] = word at X";
    0x0A Str "STR" [Read None] [Dest None None] "word at X = R[a]";
    0x0B Addi "ADDI" [Write Read] [None None Value] "R[a] = R[b] + Z";
    0x0C Lea "LEA" [Address Read] [Source None Value] "A[a] = X + R[b] * Z";
    0x0D Beq "BEQ" [Read Read] [Target None None] "to X if R[a] = R[b]";
    0x0E Bne "BNE" [Read Read] [Target None None] "to X if R[a] differs from R[b]";
    0x0F Blt "BLT" [Read Read] [Target None None] "to X if R[a] < R[b], unsigned";
    0x10 Gemv "GEMV" [Format Flags] [Source Source Dest] "Z = W(X), N1 rows of N0 columns, times Y";
    0x11 Deqrow "DEQROW" [Format None] [Source None Dest] "Z = N0 elements of format a at X, as F32";
    0x12 Argmax "ARGMAX" [Write None] [Source None None] "R[a] = index of the largest of N0 values at X";
    0x20 Vadd "VADD" [None None] [Source Source Dest] "Z = X + Y";
    0x21 Vmul "VMUL" [None None] [Source Source Dest] "Z = X * Y";
    0x22 Rmsnorm "RMSNORM" [None None] [Source Source Dest] "Z = X * rsqrt(mean(X * X) + eps) * Y";
    0x23 Silumul "SILUMUL" [None None] [Source Source Dest] "Z = silu(X) * Y";
    0x24 Rope "ROPE" [None None] [Dest Source None] "rotate pairs of X by (cos, sin) at Y, heads of N1";
    0x25 Attn "ATTN" [Read None] [Source Source Dest] "Z = attention of Y over rows 0..=R[a] of block X";
    0x26 Layernorm "LAYERNORM" [None None] [Source Source Dest] "Z = (X - mean) * rsqrt(var + eps) * Y + bias behind Y";
    0x27 Gelu "GELU" [None None] [Source None Dest] "Z = gelu(X)";
    0x28 Meanrows "MEANROWS" [Read None] [Source None Dest] "Z = mean of R[a] rows of N0 values at X";
    0x29 Cvt16 "CVT16" [None None] [Source None Dest] "Z = N0 values at X, as F16";
}

impl Opcode {
    /// The opcode byte.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The row of the table.
    #[must_use]
    pub fn info(self) -> &'static Info {
        // The table has a row for each variant, in order.
        let mut i = 0;
        while i + 1 < TABLE.len() && TABLE[i].op as u8 != self as u8 {
            i += 1;
        }
        &TABLE[i]
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Operation.
    pub op: Opcode,
    /// Field a.
    pub a: u8,
    /// Field b.
    pub b: u8,
    /// Word X.
    pub x: u32,
    /// Word Y.
    pub y: u32,
    /// Word Z.
    pub z: u32,
}

/// A decoded address operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address.
    Absolute(u32),
    /// Address register plus offset; the sum is not masked.
    Indirect {
        /// Address register.
        register: u8,
        /// Bits 23-0 of the operand.
        offset: u32,
    },
}

impl Address {
    /// Reads an address operand.
    #[must_use]
    pub const fn decode(word: u32) -> Self {
        if word & INDIRECT == 0 {
            Self::Absolute(word & ADDRESS_MASK)
        } else {
            Self::Indirect { register: ((word >> 24) & 15) as u8, offset: word & 0x00FF_FFFF }
        }
    }

    /// Writes an address operand; bits that do not fit are cut.
    #[must_use]
    pub const fn encode(self) -> u32 {
        match self {
            Self::Absolute(address) => address & ADDRESS_MASK,
            Self::Indirect { register, offset } => INDIRECT | ((register as u32 & 15) << 24) | (offset & 0x00FF_FFFF),
        }
    }
}

/// The operand for `A[register]`.
#[must_use]
pub const fn indirect(register: u8) -> u32 {
    Address::Indirect { register, offset: 0 }.encode()
}

impl Instruction {
    /// An instruction whose fields are all zero.
    #[must_use]
    pub const fn new(op: Opcode) -> Self {
        Self { op, a: 0, b: 0, x: 0, y: 0, z: 0 }
    }

    /// The 16 bytes of memory.
    #[must_use]
    pub fn encode(&self) -> [u8; 16] {
        let mut out = [0; 16];
        out[0] = self.op.number();
        out[1] = self.a;
        out[2] = self.b;
        out[4..8].copy_from_slice(&self.x.to_le_bytes());
        out[8..12].copy_from_slice(&self.y.to_le_bytes());
        out[12..16].copy_from_slice(&self.z.to_le_bytes());
        out
    }

    /// Reads 16 bytes; `None` where the opcode does not exist. Byte 3 is ignored, as the core does.
    #[must_use]
    pub const fn decode(bytes: &[u8; 16]) -> Option<Self> {
        let Some(op) = Opcode::from_u8(bytes[0]) else { return None };
        Some(Self {
            op,
            a: bytes[1],
            b: bytes[2],
            x: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            y: u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
            z: u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]),
        })
    }
}

/// Name of a weight format, for the disassembly.
#[must_use]
pub const fn format_name(number: u8) -> Option<&'static str> {
    match number {
        format::F32 => Some("F32"),
        format::F16 => Some("F16"),
        format::BF16 => Some("BF16"),
        format::Q8_0 => Some("Q8_0"),
        format::Q4_0 => Some("Q4_0"),
        _ => None,
    }
}

/// ggml type numbers of the formats that the core executes.
pub mod format {
    /// IEEE single.
    pub const F32: u8 = 0;
    /// IEEE half.
    pub const F16: u8 = 1;
    /// Blocks of 32: F16 scale, 16 bytes of nibbles.
    pub const Q4_0: u8 = 2;
    /// Blocks of 32: F16 scale, 32 signed bytes.
    pub const Q8_0: u8 = 8;
    /// The upper half of an IEEE single.
    pub const BF16: u8 = 30;
}

fn write_address(f: &mut fmt::Formatter<'_>, word: u32) -> fmt::Result {
    match Address::decode(word) {
        Address::Absolute(address) => write!(f, "${address:07X}"),
        Address::Indirect { register, offset: 0 } => write!(f, "[A{register}]"),
        Address::Indirect { register, offset } => write!(f, "[A{register}+${offset:X}]"),
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.op.info();
        write!(f, "{}", info.name)?;
        let mut separator = " ";
        for (field, value) in info.fields.iter().zip([self.a, self.b]) {
            match field {
                Field::None => continue,
                Field::Write | Field::Read => write!(f, "{separator}R{value}")?,
                Field::Address => write!(f, "{separator}A{value}")?,
                Field::Format => match format_name(value) {
                    Some(name) => write!(f, "{separator}{name}")?,
                    None => write!(f, "{separator}type{value}")?,
                },
                Field::Flags if value == 0 => continue,
                Field::Flags => write!(f, "{separator}flags={value}")?,
            }
            separator = ", ";
        }
        for (kind, value) in info.words.iter().zip([self.x, self.y, self.z]) {
            match kind {
                Operand::None => continue,
                Operand::Source | Operand::Dest | Operand::Target => {
                    write!(f, "{separator}")?;
                    write_address(f, value)?;
                }
                Operand::Value if value > 0xFFFF_0000 => write!(f, "{separator}{}", value as i32)?,
                Operand::Value => write!(f, "{separator}{value}")?,
                Operand::Epsilon if value == 0 => write!(f, "{separator}0")?,
                Operand::Epsilon => write!(f, "{separator}{:e}", f32::from_bits(value))?,
            }
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_order_and_complete() {
        assert!(TABLE.windows(2).all(|w| w[0].op.number() < w[1].op.number()));
        let known = (0..=255).filter(|&n| Opcode::from_u8(n).is_some()).count();
        assert_eq!(known, TABLE.len());
        for row in TABLE {
            assert_eq!(row.op.info().name, row.name);
            assert_eq!(Opcode::from_u8(row.op.number()), Some(row.op));
        }
    }

    #[test]
    fn every_instruction_survives_encoding() {
        for row in TABLE {
            let i = Instruction { op: row.op, a: 3, b: 200, x: 0x8765_4321, y: 1, z: u32::MAX };
            assert_eq!(Instruction::decode(&i.encode()), Some(i));
        }
    }

    #[test]
    fn disassembly_reads_as_the_specification_writes_it() {
        let i = Instruction { op: Opcode::Gemv, a: format::Q8_0, b: 1, x: 0x800_6000, y: indirect(6), z: 0x8300_0010 };
        assert_eq!(i.to_string(), "GEMV Q8_0, flags=1, $8006000, [A6], [A3+$10]");
        let i = Instruction { op: Opcode::Addi, a: 6, b: 12, x: 0, y: 0, z: u32::MAX };
        assert_eq!(i.to_string(), "ADDI R6, R12, -1");
    }
}
