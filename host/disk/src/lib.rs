//! D81 and FAT32 card images for the MEGA65: made, read, extended and checked on the PC.
//!
//! Runs on the host. [`fat`] also reads the card of the emulated MEGA65, over any [`block::BlockDevice`].
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod block;
pub mod d81;
pub mod fat;
pub mod fill;
pub mod install;
pub mod source;
pub mod spec;

/// How bad a finding of a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Warning,
    /// Damage: data is lost, or would be by writing.
    Error,
}
