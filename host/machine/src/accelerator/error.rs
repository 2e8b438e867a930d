//! Why a prompt or a run was refused.

use ssnail_shared::mem;
use thiserror::Error;

use crate::fault::Fault;

/// Why a prompt was refused. Nothing has been written then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// More tokens than the image holds.
    #[error("the prompt has {length} tokens, the context holds {context}: shorten it, or convert with a larger --ctx")]
    TooLong {
        /// Tokens in the prompt.
        length: usize,
        /// Positions of the image.
        context: u32,
    },
    /// A token without a row in the embedding.
    #[error("token {token} (number {index} of the prompt) does not exist: the vocabulary ends at {last}")]
    NoSuchToken {
        /// The token.
        token: u32,
        /// Its place in the prompt, from 0.
        index: usize,
        /// The largest token.
        last: u32,
    },
    /// An encoder image was asked to generate, or a decoder image to embed.
    #[error("{0}")]
    WrongKind(&'static str),
}

/// Why a run ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The prompt was refused.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The script faulted.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// An access to the runtime block or the token buffer failed.
    #[error("{0}")]
    Memory(mem::Fault),
    /// The script ended without a known stop reason.
    #[error("the runtime word at ${address:07X} holds {found}: the image's script is damaged, convert it again")]
    Runtime {
        /// Address of the word.
        address: u32,
        /// What it holds.
        found: u32,
    },
}

impl From<mem::Fault> for RunError {
    fn from(fault: mem::Fault) -> Self {
        Self::Memory(fault)
    }
}
