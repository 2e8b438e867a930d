//! The accelerator's address map (specification, section 4).
//!
//! ```text
//! $8000000  header, 256 bytes (runtime block at +$40, description at +$80)
//! $8000100  output vector of encoders, at most 960 floats
//! $8001000  token buffer, 4096 words
//! $8005000  payload: script, tables, weights
//!           scratch: activations, logits, KV caches (not in the file)
//! $C000000  boundary between the two memories of R4-R6 boards
//! $C800000  end of the largest board memory (72 MB)
//! $10000000 end of the 28-bit address space
//! ```

/// First address of the accelerator's memory; the header lies here.
pub const MEMORY_BASE: u32 = 0x0800_0000;
/// Length of the image header in bytes.
pub const HEADER_LEN: u32 = 0x100;
/// Output vector of encoder images.
pub const OUTPUT: u32 = 0x0800_0100;
/// Bytes in the output window: at most 960 floats.
pub const OUTPUT_LEN: u32 = 0xF00;
/// Token buffer: one little-endian word per token.
pub const TOKENS: u32 = 0x0800_1000;
/// Words in the token buffer.
pub const TOKEN_SLOTS: u32 = 4096;
/// Largest context: the token after the last position needs a slot too.
pub const MAX_CONTEXT: u32 = TOKEN_SLOTS - 1;
/// Where every payload loads.
pub const PAYLOAD: u32 = 0x0800_5000;
/// Where the second memory begins; nothing in an image straddles it.
pub const REGION_BOUNDARY: u32 = 0x0C00_0000;
/// End of the memory that the largest boards have (72 MB).
pub const BOARD_TOP: u32 = 0x0C80_0000;
/// End of the 28-bit address space.
pub const ADDRESS_END: u32 = 0x1000_0000;
/// Bits of an address.
pub const ADDRESS_MASK: u32 = ADDRESS_END - 1;
/// One binary megabyte.
pub const MEGABYTE: u32 = 1 << 20;

/// Rounds `n` up to a multiple of `to` (a power of two); `None` where that leaves 32 bits.
#[must_use]
pub const fn align_up(n: u32, to: u32) -> Option<u32> {
    match n.checked_add(to - 1) {
        Some(v) => Some(v & !(to - 1)),
        None => None,
    }
}
