//! Instruction words to [`Inst`].

use super::inst::{AluOp, BranchOp, Inst, Reg, UnaryOp, Width};

fn rd(w: u32) -> Reg {
    Reg((w >> 7 & 31) as u8)
}
fn rs1(w: u32) -> Reg {
    Reg((w >> 15 & 31) as u8)
}
fn rs2(w: u32) -> Reg {
    Reg((w >> 20 & 31) as u8)
}
fn imm_i(w: u32) -> i32 {
    w as i32 >> 20
}
fn imm_s(w: u32) -> i32 {
    (w as i32 >> 25 << 5) | (w >> 7 & 31) as i32
}
fn imm_b(w: u32) -> i32 {
    (w as i32 >> 31 << 12) | ((w << 4 & 0x800) | (w >> 20 & 0x7E0) | (w >> 7 & 0x1E)) as i32
}
fn imm_j(w: u32) -> i32 {
    (w as i32 >> 31 << 20) | ((w & 0xF_F000) | (w >> 9 & 0x800) | (w >> 20 & 0x7FE)) as i32
}

/// The instruction in word `w`; `None` for anything outside RV32IM, Zba and Zbb.
pub fn decode(w: u32) -> Option<Inst> {
    let f3 = w >> 12 & 7;
    Some(match w & 0x7F {
        0x37 => Inst::Lui { rd: rd(w), imm: w & 0xFFFF_F000 },
        0x17 => Inst::Auipc { rd: rd(w), imm: w & 0xFFFF_F000 },
        0x6F => Inst::Jal { rd: rd(w), offset: imm_j(w) },
        0x67 if f3 == 0 => Inst::Jalr { rd: rd(w), rs1: rs1(w), offset: imm_i(w) },
        0x63 => {
            let op = match f3 {
                0 => BranchOp::Eq,
                1 => BranchOp::Ne,
                4 => BranchOp::Lt,
                5 => BranchOp::Ge,
                6 => BranchOp::Ltu,
                7 => BranchOp::Geu,
                _ => return None,
            };
            Inst::Branch { op, rs1: rs1(w), rs2: rs2(w), offset: imm_b(w) }
        }
        0x03 => {
            let width = match f3 {
                0 => Width::Byte,
                1 => Width::Half,
                2 => Width::Word,
                4 => Width::ByteUnsigned,
                5 => Width::HalfUnsigned,
                _ => return None,
            };
            Inst::Load { width, rd: rd(w), rs1: rs1(w), offset: imm_i(w) }
        }
        0x23 => {
            let width = match f3 {
                0 => Width::ByteUnsigned,
                1 => Width::HalfUnsigned,
                2 => Width::Word,
                _ => return None,
            };
            Inst::Store { width, rs1: rs1(w), rs2: rs2(w), offset: imm_s(w) }
        }
        0x13 => op_imm(w)?,
        0x33 => op(w)?,
        0x0F => Inst::Fence,
        0x73 => match w {
            0x0000_0073 => Inst::Ecall,
            0x0010_0073 => Inst::Ebreak,
            0xC000_1073 => Inst::Unimp,
            _ => return None,
        },
        0 if w == 0 => Inst::Unimp,
        _ => return None,
    })
}

fn op_imm(w: u32) -> Option<Inst> {
    let (rd, rs1, imm, shamt, f7) = (rd(w), rs1(w), imm_i(w), (w >> 20 & 31) as i32, w >> 25);
    let op_imm = |op, imm| Some(Inst::OpImm { op, rd, rs1, imm });
    let unary = |op| Some(Inst::Unary { op, rd, rs1 });
    match (w >> 12 & 7, f7) {
        (0, _) => op_imm(AluOp::Add, imm),
        (2, _) => op_imm(AluOp::Slt, imm),
        (3, _) => op_imm(AluOp::Sltu, imm),
        (4, _) => op_imm(AluOp::Xor, imm),
        (6, _) => op_imm(AluOp::Or, imm),
        (7, _) => op_imm(AluOp::And, imm),
        (1, 0x00) => op_imm(AluOp::Sll, shamt),
        (5, 0x00) => op_imm(AluOp::Srl, shamt),
        (5, 0x20) => op_imm(AluOp::Sra, shamt),
        (5, 0x30) => op_imm(AluOp::Ror, shamt),
        (1, 0x30) => match shamt {
            0 => unary(UnaryOp::Clz),
            1 => unary(UnaryOp::Ctz),
            2 => unary(UnaryOp::Cpop),
            4 => unary(UnaryOp::SextB),
            5 => unary(UnaryOp::SextH),
            _ => None,
        },
        (5, 0x34) if shamt == 0x18 => unary(UnaryOp::Rev8),
        (5, 0x14) if shamt == 0x07 => unary(UnaryOp::OrcB),
        _ => None,
    }
}

fn op(w: u32) -> Option<Inst> {
    use AluOp::*;
    let (rd, rs1, rs2) = (rd(w), rs1(w), rs2(w));
    let op = match (w >> 25, w >> 12 & 7) {
        (0x00, 0) => Add,
        (0x20, 0) => Sub,
        (0x00, 1) => Sll,
        (0x00, 2) => Slt,
        (0x00, 3) => Sltu,
        (0x00, 4) => Xor,
        (0x00, 5) => Srl,
        (0x20, 5) => Sra,
        (0x00, 6) => Or,
        (0x00, 7) => And,
        (0x01, 0) => Mul,
        (0x01, 1) => Mulh,
        (0x01, 2) => Mulhsu,
        (0x01, 3) => Mulhu,
        (0x01, 4) => Div,
        (0x01, 5) => Divu,
        (0x01, 6) => Rem,
        (0x01, 7) => Remu,
        (0x10, 2) => Sh1add,
        (0x10, 4) => Sh2add,
        (0x10, 6) => Sh3add,
        (0x20, 4) => Xnor,
        (0x20, 6) => Orn,
        (0x20, 7) => Andn,
        (0x05, 4) => Min,
        (0x05, 5) => Minu,
        (0x05, 6) => Max,
        (0x05, 7) => Maxu,
        (0x30, 1) => Rol,
        (0x30, 5) => Ror,
        (0x04, 4) if rs2 == Reg::ZERO => return Some(Inst::Unary { op: UnaryOp::ZextH, rd, rs1 }),
        _ => return None,
    };
    Some(Inst::Op { op, rd, rs1, rs2 })
}
