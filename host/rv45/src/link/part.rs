//! A part of another program.

#[path = "../../rt/src/part.rs"]
mod format;

use crate::front::Data;
pub use format::{LOAD, MAGIC, START, WORDS};

/// The file of a part; `bytes` is what the data sections hold, one behind the other.
pub fn file(code: &[u8], data: &[Data], bytes: &[u8]) -> Vec<u8> {
    let start = data.iter().map(|d| d.addr).min().unwrap_or(0);
    let end = data.iter().map(|d| d.addr + d.size).max().unwrap_or(start);
    let mut placed = Vec::new();
    let mut from = 0;
    for d in data {
        let part = bytes.get(from..from + d.bytes.len()).unwrap_or(&[]);
        from += d.bytes.len();
        if !part.is_empty() {
            let at = (d.addr - start) as usize;
            placed.resize(placed.len().max(at + part.len()), 0);
            placed[at..at + part.len()].copy_from_slice(part);
        }
    }
    let words = [MAGIC, code.len() as u32, start, placed.len() as u32, end - start - placed.len() as u32];
    words.iter().flat_map(|w| w.to_le_bytes()).chain(code.iter().copied()).chain(placed).collect()
}
