//! RV32IM with Zba and Zbb: instructions, decoder, interpreter.

pub mod decode;
pub mod inst;
pub mod interp;

pub use decode::decode;
pub use inst::{AluOp, BranchOp, Inst, Reg, UnaryOp, Width};
