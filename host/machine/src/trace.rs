//! Trace lines: PC, opcode, then `address+length:CRC32` of what was written.

use std::fmt::Write as _;

use crate::machine::Executed;

/// The line of one instruction, without its line end. There is a space behind the opcode even where nothing was written.
#[must_use]
pub fn line(executed: &Executed<'_>) -> String {
    let mut out = format!("{:X} {:02X} ", executed.pc, executed.instruction.op.number());
    if let Some((address, bytes)) = executed.written {
        // Writing to a string cannot fail.
        let _ = write!(out, "{address:X}+{}:{:08X}", bytes.len(), crc32fast::hash(bytes));
    }
    out
}
