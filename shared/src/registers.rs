//! The accelerator's registers at $FFD7500 (platform facts, section 16).

/// First register.
pub const BASE: u32 = 0x0FFD_7500;
/// Offset of the identification byte, which reads [`ID_VALUE`].
pub const ID: u32 = 0x00;
/// What [`ID`] reads where a core is present: `S`.
pub const ID_VALUE: u8 = 0x53;
/// Offset of the version byte.
pub const VERSION: u32 = 0x01;
/// The version this project was made for.
pub const VERSION_VALUE: u8 = 1;
/// Offset of the capabilities byte: [`CAP_SDRAM`].
pub const CAPABILITIES: u32 = 0x02;
/// Capability: the board has SDRAM.
pub const CAP_SDRAM: u8 = 0x01;
/// Offset of GO: writing [`GO_START`] starts the job at the job pointer; ignored while busy.
pub const GO: u32 = 0x03;
/// The value that starts a job.
pub const GO_START: u8 = 1;
/// Offset of the status byte: [`STATUS_BUSY`].
pub const STATUS: u32 = 0x04;
/// Status: a job is running.
pub const STATUS_BUSY: u8 = 0x01;
/// Offset of the error code after a job: [`JobError`].
pub const ERROR: u32 = 0x05;
/// Offset of the job pointer, four bytes.
pub const JOB: u32 = 0x08;
/// Offset of the HyperRAM size in MB (set right at power-on; leave alone).
pub const HYPERRAM_MB: u32 = 0x10;
/// Offset of the SDRAM base in MB.
pub const SDRAM_BASE_MB: u32 = 0x11;
/// Offset of the SDRAM size in MB.
pub const SDRAM_MB: u32 = 0x12;
/// Offset of the load pointer, bits 0-23, staged until [`LOAD_CONTROL`] is written.
pub const LOAD_POINTER: u32 = 0x14;
/// Offset of the load control: write pointer bits 24-27 and commit, [`LOAD_CLEAR_ERROR`]; read [`LOAD_READY`], [`LOAD_ERROR`].
pub const LOAD_CONTROL: u32 = 0x17;
/// Load control, written: clears ERROR. Read: ERROR, data fell outside the memory.
pub const LOAD_ERROR: u8 = 0x40;
/// The bit that a commit sets to clear ERROR (the same bit).
pub const LOAD_CLEAR_ERROR: u8 = 0x40;
/// Load control, read: room for 512 bytes, no commit pending, no job running.
pub const LOAD_READY: u8 = 0x80;
/// Offset of the load data register.
pub const LOAD_DATA: u32 = 0x18;
/// Bytes in the load port's ring.
pub const RING_LEN: u32 = 1024;
/// Bytes that READY promises room for: one sector.
pub const READY_ROOM: u32 = 512;
/// Bytes in the register block.
pub const LEN: u32 = 0x20;

/// Error codes after a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// An opcode that does not exist.
    IllegalOpcode = 1,
    /// An access outside the memory.
    Address = 2,
    /// A program counter that is not a multiple of 16.
    Misaligned = 3,
    /// An operand that the operation does not allow.
    Operand = 4,
}

impl JobError {
    /// Reads the register; `None` for 0 (no error) and unknown codes.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::IllegalOpcode),
            2 => Some(Self::Address),
            3 => Some(Self::Misaligned),
            4 => Some(Self::Operand),
            _ => None,
        }
    }

    /// What happened, in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::IllegalOpcode => "illegal opcode in the model's script",
            Self::Address => "the model's script left the memory",
            Self::Misaligned => "the model's script jumped between instructions",
            Self::Operand => "bad operand in the model's script",
        }
    }
}
