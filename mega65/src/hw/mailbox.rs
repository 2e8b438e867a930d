//! What `SSNAIL.PRG` and `SSNAIL.CPU` tell each other: words in the memory that models may not use, and where that
//! memory is kept free (ARCHITECTURE.md, memory plan).

/// Bytes at the end of attic RAM that models cannot have: the file of the part, copies of what it displaces, the
/// mailbox.
pub const RESERVE: u32 = 0x3_0000;
/// In the reserve: the part's file.
pub const FILE: u32 = 0;
/// Bytes that the file may have.
pub const FILE_MAX: u32 = 0x1_0000;
/// In the reserve: where a script is counted; the page before it is written as well.
pub const SCRIPT: u32 = 0x2_E100;
/// Bytes that it may have.
pub const SCRIPT_MAX: u32 = 0x1E00;
/// In the reserve: copy of bank 0 where the part's code goes, and of the base page.
pub const BANK_0: u32 = 0x1_0000;
/// In the reserve: copy of bank 1 where the part's data go.
pub const BANK_1: u32 = 0x2_0000;
/// In the reserve: the mailbox.
pub const MAILBOX: u32 = 0x2_0000;
/// Room for measuring, behind it.
pub const TRIAL: u32 = 0x2_0400;
/// Page of the way from one program to the other; it belongs to the DOS else.
pub const HOP: u32 = 0x1600;
/// Address of the mailbox, a word in that page.
pub const WHERE: u32 = HOP + 0xF0;

/// Offset of what is to be done: [`RUN`], [`MEASURE`], [`COUNT`], [`NOTHING`].
pub const COMMAND: u32 = 0x00;
/// Goes on with a job.
pub const RUN: u32 = 1;
/// Measures how long the parts of a job take.
pub const MEASURE: u32 = 2;
/// Counts the script at [`SCRIPT`] and estimates the time of a token.
pub const COUNT: u32 = 3;
/// Does nothing but what every call begins with.
pub const NOTHING: u32 = 4;
/// Offset of how it ended.
pub const STATUS: u32 = 0x04;
/// Status: not at all (the part panicked).
pub const BROKEN: u32 = 0;
/// Status: at a SYNC.
pub const SYNC: u32 = 1;
/// Status: the job is over.
pub const HALT: u32 = 2;
/// Status: a key is waiting.
pub const KEY: u32 = 3;
/// Status: [`DETAIL`] is the error code.
pub const FAULT: u32 = 4;
/// Offset of an error code.
pub const DETAIL: u32 = 0x08;
/// Offset of the first address behind the model's memory.
pub const END: u32 = 0x0C;
/// Offset of the program counter.
pub const PC: u32 = 0x10;
/// Offset of the registers: R0-R15, A0-A15, N0-N2.
pub const REGISTERS: u32 = 0x14;
/// Offset of the layers counted so far.
pub const LIFE: u32 = 0xA0;
/// Offset of what was measured, in microseconds: seven words.
pub const TIMES: u32 = 0xB0;
/// Offset of the microseconds of a call that does nothing.
pub const CALL: u32 = 0xCC;
/// Offset of the milliseconds of a token; 0: not known.
pub const MILLISECONDS: u32 = 0xD0;
/// Offset of the length of the longest vector.
pub const WIDEST: u32 = 0xD4;
/// Error code of a vector longer than the part's buffers.
pub const TOO_WIDE: u32 = 0x40;
