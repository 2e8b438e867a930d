//! RV32IM to 45GS02: translator, assembler, linker, PRG writer.

pub mod asm;
