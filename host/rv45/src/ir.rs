//! The program between RISC-V and 45GS02: RISC-V operations with symbolic code targets.

use crate::asm::Label;
use crate::rv::{AluOp, BranchOp, Reg, UnaryOp, Width};
use std::fmt;

/// Second operand of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Src {
    /// A register.
    Reg(Reg),
    /// A constant.
    Imm(u32),
}

/// One operation.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ir {
    /// Nothing (fences, saving of the return address, which lives on the hardware stack).
    Nop,
    Li {
        rd: Reg,
        value: u32,
    },
    /// The 16-bit address of code, as a function pointer holds it.
    CodeAddr {
        rd: Reg,
        target: Label,
    },
    Alu {
        op: AluOp,
        rd: Reg,
        a: Reg,
        b: Src,
    },
    Unary {
        op: UnaryOp,
        rd: Reg,
        a: Reg,
    },
    Load {
        width: Width,
        rd: Reg,
        base: Reg,
        offset: i32,
    },
    Store {
        width: Width,
        src: Reg,
        base: Reg,
        offset: i32,
    },
    /// The decimal digits of a number in a field of 10 or, for 64 bits, 20 bytes on the stack; `rd` is the
    /// place of the first digit.
    Digits {
        rd: Reg,
        low: Reg,
        /// Upper half of a 64-bit number.
        high: Option<Reg>,
        /// Of the field, from sp.
        offset: i32,
    },
    Branch {
        op: BranchOp,
        a: Reg,
        b: Reg,
        target: Label,
    },
    /// To a place in the same function.
    Jump {
        target: Label,
    },
    /// To another function that returns for this one.
    TailCall {
        target: Label,
    },
    Call {
        target: Label,
    },
    CallReg {
        reg: Reg,
    },
    /// Jump table or tail call through a pointer.
    JumpReg {
        reg: Reg,
    },
    Ret,
    /// Prologue: makes a frame and saves s0..s(n-1).
    Save {
        n: u8,
        /// Bytes by which sp moves.
        frame: u8,
    },
    /// Epilogue: undoes `Save` and returns.
    Restore {
        n: u8,
        /// Bytes by which sp moves.
        frame: u8,
    },
    /// Undoes `Save` before a call in tail position.
    Leave {
        n: u8,
        /// Bytes by which sp moves.
        frame: u8,
    },
    /// Request to whoever runs the program: a7 says which, a0 to a2 are its arguments.
    Ecall,
    /// Never executed in a correct program.
    Halt,
}

impl Ir {
    /// The register that the operation defines.
    pub fn def(&self) -> Option<Reg> {
        match *self {
            Ir::Li { rd, .. }
            | Ir::CodeAddr { rd, .. }
            | Ir::Alu { rd, .. }
            | Ir::Unary { rd, .. }
            | Ir::Digits { rd, .. }
            | Ir::Load { rd, .. } => Some(rd),
            _ => None,
        }
    }

    /// True where control does not fall through to the next operation.
    pub fn ends_block(&self) -> bool {
        matches!(
            self,
            Ir::Jump { .. } | Ir::TailCall { .. } | Ir::JumpReg { .. } | Ir::Ret | Ir::Restore { .. } | Ir::Halt
        )
    }

    /// Label of another place that the operation refers to.
    pub fn target(&self) -> Option<Label> {
        match *self {
            Ir::Branch { target, .. }
            | Ir::Jump { target }
            | Ir::TailCall { target }
            | Ir::Call { target }
            | Ir::CodeAddr { target, .. } => Some(target),
            _ => None,
        }
    }
}

/// An operation with its place in the ELF.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Address of the RISC-V instruction.
    pub addr: u32,
    /// What it does.
    pub op: Ir,
    /// Label of this place when something jumps here.
    pub label: Option<Label>,
    /// The RISC-V instruction as text, for the listing.
    pub text: String,
}

/// Where a function is to lie and how it is to be translated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Placement {
    /// Main memory, inline code, repeated sequences kept inline.
    Hot,
    /// Main memory, inline code with outlining.
    Normal,
    /// Main memory, smallest form.
    Cold,
    /// $E000 up.
    High,
    /// Overlay number.
    Overlay(u8),
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, demangled as far as that is simple.
    pub name: String,
    /// Its label.
    pub label: Label,
    /// Address in the ELF.
    pub addr: u32,
    /// Bytes in the ELF.
    pub size: u32,
    /// Where it goes.
    pub placement: Placement,
    /// Its operations.
    pub lines: Vec<Line>,
    /// Labels inside that data points to (jump tables).
    pub address_taken: Vec<Label>,
}

impl fmt::Display for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Src::Reg(r) => r.fmt(f),
            Src::Imm(v) => write!(f, "{}", *v as i32),
        }
    }
}
