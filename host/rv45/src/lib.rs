//! RV32IM to 45GS02: translator, assembler, linker, PRG writer.

pub mod asm;
pub mod chain;
pub mod command;
pub mod digits;
pub mod elf;
pub mod flow;
pub mod front;
pub mod ir;
pub mod link;
pub mod lower;
pub mod outline;
pub mod pack;
pub mod runtime;
pub mod rv;
