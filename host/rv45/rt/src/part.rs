//! The file of a part: code for the same addresses as another program's, which that program puts in its own place
//! for a while (`rv45 --part`). Five little-endian words, then the code from [`LOAD`] on, then the data.
//!
//! | word | content |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | bytes of code |
//! | 2 | address of the data |
//! | 3 | bytes of data in the file |
//! | 4 | bytes behind them that are zero at the start |
//!
//! Whoever runs a part saves the base page and what lies where its code and data will, copies them there, calls
//! [`START`], and puts everything back. Hardware stack and interrupt vectors stay the caller's; the soft stack is the
//! part's own.

/// First word of the file: `SNPT`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"SNPT");
/// Words before the code.
pub const WORDS: u32 = 5;
/// First byte of programs and parts.
pub const LOAD: u16 = 0x2001;
/// First instruction of programs and parts; before it an RTI, where interrupts go.
pub const START: u16 = 0x2020;
