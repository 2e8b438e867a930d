//! Damage to something large: an input is a list of places and bytes, not the whole disk or card.

use std::ops::Range;

/// A place and what is written there.
pub struct Patch {
    pub at: usize,
    pub bytes: Vec<u8>,
}

/// Bytes of a record in front of its bytes.
const HEAD: usize = 4;

/// Reads records from `data`: three bytes of place, one of which selects a region, and a length. Places are spread over
/// `regions`.
pub fn patches(data: &[u8], regions: &[Range<usize>]) -> Vec<Patch> {
    let mut out = Vec::new();
    let mut rest = data;
    while let Some((head, tail)) = rest.split_first_chunk::<HEAD>() {
        let [region, low, high, length] = *head;
        let length = (1 + usize::from(length) % 16).min(tail.len());
        let (bytes, next) = tail.split_at(length);
        rest = next;
        let Some(range) = regions.get(usize::from(region) % regions.len().max(1)) else { break };
        let at = range.start + usize::from(u16::from_le_bytes([low, high])) % range.len().max(1);
        out.push(Patch { at, bytes: bytes.to_vec() });
    }
    out
}
