//! The runtime block: the words that program and script exchange (specification, sections 4 and 8).

use crate::map::MEMORY_BASE;

/// Next position to process.
pub const POS: u32 = MEMORY_BASE + 0x40;
/// Tokens of the prompt, counted from slot 0.
pub const PROMPT_LEN: u32 = MEMORY_BASE + 0x44;
/// Most tokens to generate in this job.
pub const N_GENERATE: u32 = MEMORY_BASE + 0x48;
/// Tokens generated so far in this job.
pub const GENERATED: u32 = MEMORY_BASE + 0x4C;
/// Not zero: stop after the current token. The script never clears it.
pub const STOP_REQUEST: u32 = MEMORY_BASE + 0x50;
/// Why the job ended: see [`StopReason`].
pub const STOP_REASON: u32 = MEMORY_BASE + 0x54;

/// Why a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// As many tokens as were asked for.
    Count = 1,
    /// The end-of-sequence token.
    Eos = 2,
    /// The context is full.
    Context = 3,
    /// A stop was requested.
    Requested = 4,
}

impl StopReason {
    /// Reads the word at [`STOP_REASON`].
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            1 => Some(Self::Count),
            2 => Some(Self::Eos),
            3 => Some(Self::Context),
            4 => Some(Self::Requested),
            _ => None,
        }
    }

    /// The word that `--json` and messages use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Eos => "eos",
            Self::Context => "context",
            Self::Requested => "requested",
        }
    }
}
