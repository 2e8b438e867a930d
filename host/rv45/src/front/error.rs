//! Why a program cannot be read.

/// Why a program cannot be translated; `place` names function and address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontError {
    /// A word is no RV32IM, Zba or Zbb instruction.
    #[error(
        "{place}: instruction word ${word:08X} is not RV32IM, Zba or Zbb (build for riscv32im with +zba,+zbb only)"
    )]
    Instruction {
        /// Where.
        place: String,
        /// The word.
        word: u32,
    },
    /// A relocation is of a kind that is not handled.
    #[error("{place}: relocation type {kind} against `{symbol}` is not handled")]
    Relocation {
        /// Where.
        place: String,
        /// R_RISCV_* number.
        kind: u32,
        /// Its symbol.
        symbol: String,
    },
    /// Control flow that the translator cannot follow.
    #[error("{place}: {problem}")]
    Control {
        /// Where.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// No function of that name to start at.
    #[error("the program has no function `{0}` to start at")]
    NoEntry(String),
    /// The ELF has no relocations.
    #[error("the ELF holds no relocations: link it with --emit-relocs")]
    NoRelocations,
}
