//! Data: it lies in banks 4 and 5, is loaded behind the code, and is moved there by DMA at start.

use super::{LinkError, Options};
use crate::asm::{Item, Layout, Symbols};
use crate::front::{CodePointer, Data};

/// The DMA list that start-up runs, and the places in it that hold the source addresses.
pub struct Table {
    /// The list.
    pub items: Vec<Item>,
    /// Offset from the end of the list to each source address, with the payload offset it gets.
    sources: Vec<(usize, u32)>,
    len: usize,
}

/// Data sections that lie where they may.
///
/// # Errors
/// [`LinkError::Data`] for one that does not.
pub fn check(data: Vec<Data>, options: &Options) -> Result<Vec<Data>, LinkError> {
    for d in &data {
        let end = u64::from(d.addr) + u64::from(d.size);
        if d.addr < 0x4_0000 || end > u64::from(options.stack_top) {
            return Err(LinkError::Data { name: d.name.clone(), addr: d.addr, size: d.size });
        }
    }
    Ok(data)
}

/// Enhanced DMA jobs, at most 64 KB - 1 each: copies of initialised data, fills of the rest.
pub fn table(data: &[Data], symbols: &mut Symbols) -> Table {
    struct Job {
        fill: bool,
        count: u16,
        source: u32,
        target: u32,
    }
    let mut jobs = Vec::new();
    let mut offset = 0;
    for d in data {
        let copied = d.bytes.len() as u32;
        for (from, to, fill) in [(0, copied, false), (copied, d.size.max(copied), true)] {
            let mut at = from;
            while at < to {
                let count = (to - at).min(0x8000);
                let source = if fill { 0 } else { offset + at };
                jobs.push(Job { fill, count: count as u16, source, target: d.addr + at });
                at += count;
            }
        }
        offset += copied;
    }
    if jobs.is_empty() {
        jobs.push(Job { fill: true, count: 1, source: 0, target: 0x5_FFFF });
    }
    let mut bytes = Vec::new();
    let mut sources = Vec::new();
    let last = jobs.len() - 1;
    for (i, job) in jobs.iter().enumerate() {
        bytes.extend([0x0B, 0x80, 0, 0x81, 0, 0]);
        bytes.push(if job.fill { 3 } else { 0 } | if i < last { 4 } else { 0 });
        bytes.extend(job.count.to_le_bytes());
        if !job.fill {
            sources.push((bytes.len(), job.source));
        }
        bytes.extend([0, 0, 0]);
        bytes.extend([job.target as u8, (job.target >> 8) as u8, (job.target >> 16) as u8]);
        bytes.extend([0, 0, 0]);
    }
    let len = bytes.len();
    Table { items: vec![Item::Label(symbols.named("rv_table")), Item::Bytes(bytes)], sources, len }
}

/// Writes the source addresses into the list, which is the end of `image`; `start` is where the
/// payload will lie.
pub fn fill_table(image: &mut [u8], table: &Table, start: u32) {
    let base = image.len() - table.len;
    for &(at, offset) in &table.sources {
        let address = start + offset;
        image[base + at..base + at + 3].copy_from_slice(&address.to_le_bytes()[..3]);
    }
}

/// The contents of all initialised sections, with code addresses filled in.
pub fn bytes(data: &[Data], pointers: &[CodePointer], layout: &Layout) -> Vec<u8> {
    let mut out = Vec::new();
    for d in data {
        let start = out.len();
        out.extend_from_slice(&d.bytes);
        for pointer in pointers {
            let at = pointer.addr.wrapping_sub(d.addr) as usize;
            if let Some(slot) = out.get_mut(start..).and_then(|s| s.get_mut(at..at.checked_add(4)?)) {
                let address = layout.address(pointer.target).unwrap_or(0);
                slot.copy_from_slice(&u32::from(address).to_le_bytes());
            }
        }
    }
    out
}
