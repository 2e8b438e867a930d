//! Where a script keeps keys and values. A cache over the script itself would have the core execute numbers.

use crate::header::Header;
use crate::isa::{INSTRUCTION_LEN, Opcode};
use crate::mem::ReadMemory;
use crate::tokenizer::Error;

/// Looks at the attention block of every ATTN in the script of a loaded image: both caches lie behind script and tables.
/// What cannot be read is the core's to refuse.
///
/// # Errors
/// The word of the block that is wrong: K cache, V cache.
pub fn check<M: ReadMemory + ?Sized>(memory: &M, header: &Header) -> Result<(), Error> {
    let word = |address| memory.word(address).unwrap_or(0);
    let mut at = header.code;
    while at < header.vocab {
        let block = word(at + 4);
        if word(at) as u8 == Opcode::Attn as u8 && block >= header.code && block < header.payload_end() {
            for (address, field) in [(block, "K cache"), (block + 4, "V cache")] {
                let cache = word(address);
                if cache < header.tokenizer {
                    return Err(Error::Damaged { field, address, found: cache });
                }
            }
        }
        at += INSTRUCTION_LEN;
    }
    Ok(())
}
