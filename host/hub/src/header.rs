//! The header of a GGUF file that is far away: only its first megabytes are fetched.

use crate::{Client, HubError, Result, Url};
use ssnail_gguf::Gguf;

/// First request; enough for small vocabularies.
const FIRST: u64 = 1 << 20;
/// No header is longer: the largest vocabularies take about 10 MB.
const LONGEST: u64 = 48 << 20;

/// The first part of a remote file, long enough to hold the whole header.
#[derive(Debug)]
pub struct Prefix {
    bytes: Vec<u8>,
    total: u64,
}

impl Prefix {
    /// Fetches as much as the header needs. `size` is the file's size if it is known.
    ///
    /// # Errors
    /// The network's; [`HubError::NotGguf`] if the file is refused, with the reason.
    pub fn fetch(client: &Client, url: &Url, size: Option<u64>) -> Result<Self> {
        let mut length = FIRST;
        loop {
            let (bytes, stated) = client.prefix(url, length)?;
            let have = bytes.len() as u64;
            let total = stated.or(size).unwrap_or(if have < length { have } else { u64::MAX });
            let needed = match Gguf::parse_prefix(&bytes, total) {
                Ok(_) => return Ok(Self { bytes, total }),
                Err(error) => error.bytes_needed().ok_or_else(|| refused(url, &error))?,
            };
            if have < length || needed > LONGEST || length >= LONGEST {
                let why = format!("its header does not end within {have} bytes");
                return Err(HubError::NotGguf { name: url.to_string(), why });
            }
            length = needed.max(length.saturating_mul(4)).min(LONGEST);
        }
    }

    /// The header.
    ///
    /// # Errors
    /// None in practice: it was read once already.
    pub fn gguf(&self) -> std::result::Result<Gguf<'_>, ssnail_gguf::Error> {
        Gguf::parse_prefix(&self.bytes, self.total)
    }
}

fn refused(url: &Url, error: &ssnail_gguf::Error) -> HubError {
    HubError::NotGguf { name: url.to_string(), why: error.to_string() }
}
