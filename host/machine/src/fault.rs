//! Faults: what stops a job before its HALT.

use ssnail_shared::isa::{ATTN_MOST, Opcode};
use ssnail_shared::registers::JobError;
use thiserror::Error;

/// A job that ended in a fault. Registers and memory stay as they were before the faulting instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// An access outside the memory.
    #[error("address fault: ${address:07X} (+{length}) at PC ${pc:07X}{}", named(*opcode))]
    Address {
        /// First byte of the access.
        address: u32,
        /// Its length in bytes.
        length: u64,
        /// Address of the instruction.
        pc: u32,
        /// The instruction; `None` where fetching it was the fault.
        opcode: Option<Opcode>,
    },
    /// The program counter is not a multiple of 16.
    #[error("alignment fault: PC ${pc:07X}")]
    Misaligned {
        /// The program counter.
        pc: u32,
    },
    /// An opcode that does not exist.
    #[error("illegal opcode ${number:02X} at PC ${pc:07X}")]
    IllegalOpcode {
        /// The opcode byte.
        number: u8,
        /// Address of the instruction.
        pc: u32,
    },
    /// An operand that the operation does not allow.
    #[error("bad operand: {reason} at PC ${pc:07X} ({})", opcode.info().name)]
    Operand {
        /// What is wrong with it.
        reason: BadOperand,
        /// Address of the instruction.
        pc: u32,
        /// The instruction.
        opcode: Opcode,
    },
    /// The run took as many instructions as it was allowed.
    #[error("instruction limit reached: {limit} instructions, at PC ${pc:07X}; raise it or ask for fewer tokens")]
    Limit {
        /// Instructions allowed.
        limit: u64,
        /// Address of the next instruction.
        pc: u32,
    },
}

fn named(opcode: Option<Opcode>) -> String {
    opcode.map_or_else(String::new, |op| format!(" ({})", op.info().name))
}

/// Why an operand was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadOperand {
    /// A register field above 15.
    #[error("register {number} in field {field} does not exist")]
    Register {
        /// `a` or `b`.
        field: char,
        /// The number found.
        number: u8,
    },
    /// A weight format without a decoder.
    #[error("weight format {0} is unknown")]
    Format(u8),
    /// The columns of a matrix are not a whole number of blocks.
    #[error("{columns} elements are not a whole number of blocks of {block}")]
    Columns {
        /// Elements in a row.
        columns: u32,
        /// Elements in a block of the format.
        block: u32,
    },
    /// ROPE over a length that is not a whole number of heads, or heads that are not pairs.
    #[error("ROPE over {length} elements in heads of {head}")]
    Rope {
        /// N0.
        length: u32,
        /// N1.
        head: u32,
    },
    /// An operation over nothing that has no result then.
    #[error("nothing to work on")]
    Empty,
    /// An attention block whose heads do not divide among the key/value heads.
    #[error("attention of {heads} heads over {kv_heads} key/value heads")]
    Heads {
        /// Query heads.
        heads: u32,
        /// Key/value heads.
        kv_heads: u32,
    },
    /// More work than one instruction may take.
    #[error("attention of {width} numbers over {rows} rows; at most {ATTN_MOST} products are computed at once")]
    Attention {
        /// Numbers in the query.
        width: u64,
        /// Rows of the caches.
        rows: u64,
    },
    /// An attention block with an unknown cache format.
    #[error("cache format {0} is unknown; 0 is F32, 1 is F16")]
    Cache(u32),
}

impl Fault {
    /// The code that the error register shows; `None` for the instruction limit, which the core does not have.
    #[must_use]
    pub const fn job_error(&self) -> Option<JobError> {
        match self {
            Self::Address { .. } => Some(JobError::Address),
            Self::Misaligned { .. } => Some(JobError::Misaligned),
            Self::IllegalOpcode { .. } => Some(JobError::IllegalOpcode),
            Self::Operand { .. } => Some(JobError::Operand),
            Self::Limit { .. } => None,
        }
    }

    /// Address of the instruction at fault.
    #[must_use]
    pub const fn pc(&self) -> u32 {
        match *self {
            Self::Address { pc, .. }
            | Self::Misaligned { pc }
            | Self::IllegalOpcode { pc, .. }
            | Self::Operand { pc, .. }
            | Self::Limit { pc, .. } => pc,
        }
    }
}
