//! Decoded instructions.

use std::fmt;

/// A register number, 0..=31.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Reg(pub u8);

#[allow(missing_docs)]
impl Reg {
    pub const ZERO: Reg = Reg(0);
    pub const RA: Reg = Reg(1);
    pub const SP: Reg = Reg(2);
    pub const T0: Reg = Reg(5);
    pub const A0: Reg = Reg(10);
    pub const A1: Reg = Reg(11);
}

const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",
    "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[usize::from(self.0 & 31)])
    }
}

/// Two-operand operations; the second operand is a register or an immediate.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AluOp {
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Sh1add,
    Sh2add,
    Sh3add,
    Andn,
    Orn,
    Xnor,
    Min,
    Minu,
    Max,
    Maxu,
    Rol,
    Ror,
}

impl AluOp {
    /// Every operation.
    pub const ALL: [AluOp; 30] = {
        use AluOp::*;
        [
            Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And, Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu, Sh1add,
            Sh2add, Sh3add, Andn, Orn, Xnor, Min, Minu, Max, Maxu, Rol, Ror,
        ]
    };

    /// True where the operands may be exchanged.
    pub fn commutes(self) -> bool {
        use AluOp::*;
        matches!(self, Add | Xor | Or | And | Mul | Mulh | Mulhu | Xnor | Min | Minu | Max | Maxu)
    }

    /// The result on 32-bit values, with division as RISC-V defines it.
    pub fn eval(self, a: u32, b: u32) -> u32 {
        let (sa, sb) = (a as i32, b as i32);
        match self {
            AluOp::Add => a.wrapping_add(b),
            AluOp::Sub => a.wrapping_sub(b),
            AluOp::Sll => a.wrapping_shl(b),
            AluOp::Slt => u32::from(sa < sb),
            AluOp::Sltu => u32::from(a < b),
            AluOp::Xor => a ^ b,
            AluOp::Srl => a.wrapping_shr(b),
            AluOp::Sra => sa.wrapping_shr(b) as u32,
            AluOp::Or => a | b,
            AluOp::And => a & b,
            AluOp::Mul => a.wrapping_mul(b),
            AluOp::Mulh => ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
            AluOp::Mulhsu => (i64::from(sa).wrapping_mul(i64::from(b)) >> 32) as u32,
            AluOp::Mulhu => ((u64::from(a) * u64::from(b)) >> 32) as u32,
            AluOp::Div if b == 0 => u32::MAX,
            AluOp::Div => sa.wrapping_div(sb) as u32,
            AluOp::Divu => a.checked_div(b).unwrap_or(u32::MAX),
            AluOp::Rem if b == 0 => a,
            AluOp::Rem => sa.wrapping_rem(sb) as u32,
            AluOp::Remu => a.checked_rem(b).unwrap_or(a),
            AluOp::Sh1add => (a << 1).wrapping_add(b),
            AluOp::Sh2add => (a << 2).wrapping_add(b),
            AluOp::Sh3add => (a << 3).wrapping_add(b),
            AluOp::Andn => a & !b,
            AluOp::Orn => a | !b,
            AluOp::Xnor => !(a ^ b),
            AluOp::Min => sa.min(sb) as u32,
            AluOp::Minu => a.min(b),
            AluOp::Max => sa.max(sb) as u32,
            AluOp::Maxu => a.max(b),
            AluOp::Rol => a.rotate_left(b & 31),
            AluOp::Ror => a.rotate_right(b & 31),
        }
    }
}

/// One-operand operations.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Clz,
    Ctz,
    Cpop,
    SextB,
    SextH,
    ZextH,
    Rev8,
    OrcB,
}

impl UnaryOp {
    /// Every operation.
    pub const ALL: [UnaryOp; 8] = {
        use UnaryOp::*;
        [Clz, Ctz, Cpop, SextB, SextH, ZextH, Rev8, OrcB]
    };

    /// The result.
    pub fn eval(self, a: u32) -> u32 {
        match self {
            UnaryOp::Clz => a.leading_zeros(),
            UnaryOp::Ctz => a.trailing_zeros(),
            UnaryOp::Cpop => a.count_ones(),
            UnaryOp::SextB => a as u8 as i8 as u32,
            UnaryOp::SextH => a as u16 as i16 as u32,
            UnaryOp::ZextH => a & 0xFFFF,
            UnaryOp::Rev8 => a.swap_bytes(),
            UnaryOp::OrcB => u32::from_le_bytes(a.to_le_bytes().map(|b| if b == 0 { 0 } else { 0xFF })),
        }
    }
}

/// Conditions of branches.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BranchOp {
    Eq,
    Ne,
    Lt,
    Ge,
    Ltu,
    Geu,
}

impl BranchOp {
    /// Every condition.
    pub const ALL: [BranchOp; 6] =
        [BranchOp::Eq, BranchOp::Ne, BranchOp::Lt, BranchOp::Ge, BranchOp::Ltu, BranchOp::Geu];

    /// True when the branch is taken.
    pub fn eval(self, a: u32, b: u32) -> bool {
        match self {
            BranchOp::Eq => a == b,
            BranchOp::Ne => a != b,
            BranchOp::Lt => (a as i32) < b as i32,
            BranchOp::Ge => a as i32 >= b as i32,
            BranchOp::Ltu => a < b,
            BranchOp::Geu => a >= b,
        }
    }
}

/// Width and extension of a memory access; stores use the unsigned ones.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    Byte,
    ByteUnsigned,
    Half,
    HalfUnsigned,
    Word,
}

impl Width {
    /// Bytes accessed.
    pub fn bytes(self) -> u32 {
        match self {
            Width::Byte | Width::ByteUnsigned => 1,
            Width::Half | Width::HalfUnsigned => 2,
            Width::Word => 4,
        }
    }
}

/// An instruction; offsets of branches are relative to the instruction itself.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inst {
    Lui {
        rd: Reg,
        imm: u32,
    },
    Auipc {
        rd: Reg,
        imm: u32,
    },
    Jal {
        rd: Reg,
        offset: i32,
    },
    Jalr {
        rd: Reg,
        rs1: Reg,
        offset: i32,
    },
    Branch {
        op: BranchOp,
        rs1: Reg,
        rs2: Reg,
        offset: i32,
    },
    Load {
        width: Width,
        rd: Reg,
        rs1: Reg,
        offset: i32,
    },
    Store {
        width: Width,
        rs1: Reg,
        rs2: Reg,
        offset: i32,
    },
    OpImm {
        op: AluOp,
        rd: Reg,
        rs1: Reg,
        imm: i32,
    },
    Op {
        op: AluOp,
        rd: Reg,
        rs1: Reg,
        rs2: Reg,
    },
    Unary {
        op: UnaryOp,
        rd: Reg,
        rs1: Reg,
    },
    Fence,
    Ecall,
    Ebreak,
    /// `unimp` (csrrw x0, cycle, x0) and the all-zero word.
    Unimp,
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lower = |d: &dyn fmt::Debug| format!("{d:?}").to_ascii_lowercase();
        match *self {
            Inst::Lui { rd, imm } => write!(f, "lui {rd},${:X}", imm >> 12),
            Inst::Auipc { rd, imm } => write!(f, "auipc {rd},${:X}", imm >> 12),
            Inst::Jal { rd, offset } => write!(f, "jal {rd},{offset:+}"),
            Inst::Jalr { rd, rs1, offset } => write!(f, "jalr {rd},{offset}({rs1})"),
            Inst::Branch { op, rs1, rs2, offset } => write!(f, "b{} {rs1},{rs2},{offset:+}", lower(&op)),
            Inst::Load { width, rd, rs1, offset } => write!(f, "l{} {rd},{offset}({rs1})", suffix(width)),
            Inst::Store { width, rs1, rs2, offset } => write!(f, "s{} {rs2},{offset}({rs1})", store_suffix(width)),
            Inst::OpImm { op, rd, rs1, imm } => write!(f, "{}i {rd},{rs1},{imm}", lower(&op)),
            Inst::Op { op, rd, rs1, rs2 } => write!(f, "{} {rd},{rs1},{rs2}", lower(&op)),
            Inst::Unary { op, rd, rs1 } => write!(f, "{} {rd},{rs1}", lower(&op)),
            Inst::Fence => f.write_str("fence"),
            Inst::Ecall => f.write_str("ecall"),
            Inst::Ebreak => f.write_str("ebreak"),
            Inst::Unimp => f.write_str("unimp"),
        }
    }
}

fn suffix(width: Width) -> &'static str {
    match width {
        Width::Byte => "b",
        Width::ByteUnsigned => "bu",
        Width::Half => "h",
        Width::HalfUnsigned => "hu",
        Width::Word => "w",
    }
}

fn store_suffix(width: Width) -> &'static str {
    match width.bytes() {
        1 => "b",
        2 => "h",
        _ => "w",
    }
}
