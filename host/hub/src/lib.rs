//! Finding GGUF models on Hugging Face (or a mirror of it) and fetching them safely. Runs on the PC.
//!
//! [`Client`] is the only part that talks to the network: HTTPS only (plain HTTP for loopback
//! addresses), time limits, redirects checked one by one, retries with back-off. [`api`] asks the
//! two questions (search, file list), [`find`] turns the answers into a table of models with the
//! memory they need, [`fetch`] brings one file home: resumed, checked, whole or absent.

pub mod api;
mod choose;
mod client;
mod error;
pub mod fetch;
pub mod find;
pub mod fit;
mod header;
mod json;
pub mod names;
mod partial;
mod reply;
mod retry;
mod source;
mod token;
mod url;

pub use client::{Client, Event, Settings};
pub use error::HubError;
pub use reply::{Reply, is_sha256};
pub use retry::Patience;
pub use source::Source;
pub use token::Token;
pub use url::Url;

/// What every operation here gives back.
pub type Result<T> = std::result::Result<T, HubError>;
