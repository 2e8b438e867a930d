//! What lies elsewhere at run time than in the file: data in banks 4 and 5, code in high memory,
//! overlays. It is loaded behind the main code and moved by DMA at start.

use super::regions::{HIGH, HIGH_SIZE, overlay_home};
use super::{LinkError, Options};
use crate::asm::{Item, Layout, Symbols};
use crate::front::{CodePointer, Data};

/// High code goes through here, as its place may overlap where it was loaded.
const STAGING: u32 = 0x5_C000;
/// Bytes of one job in the list.
const JOB: usize = 18;

/// Data sections that lie where they may.
///
/// # Errors
/// [`LinkError::Data`] for one that does not.
pub fn check(data: Vec<Data>, options: &Options) -> Result<Vec<Data>, LinkError> {
    for d in &data {
        let end = u64::from(d.addr) + u64::from(d.size);
        let lowest = if options.part { overlay_home(1) } else { 0x4_0000 };
        if d.addr < lowest || end > u64::from(options.stack_top) {
            return Err(LinkError::Data { name: d.name.clone(), addr: d.addr, size: d.size });
        }
    }
    Ok(data)
}

/// The lowest page of the stack's bank that data leaves to the stack.
pub fn stack_page(data: &[Data], options: &Options) -> u8 {
    let bank = options.stack_top & !0xFFFF;
    let end = data.iter().map(|d| d.addr + d.size).max().unwrap_or(0);
    (end.saturating_sub(bank).div_ceil(256) + 1).min(255) as u8
}

/// Where a job copies from.
#[derive(Clone, Copy)]
enum From {
    /// Nothing: the target is filled with zeros.
    Zero,
    /// The data part of the payload.
    Data(u32),
    /// The code of an overlay.
    Overlay(u8),
    /// The high code.
    High,
    /// A fixed address.
    At(u32),
}

struct Job {
    from: From,
    to: u32,
    count: u32,
}

/// The DMA list that start-up runs.
pub struct Table {
    jobs: Vec<Job>,
    label: crate::asm::Label,
}

/// The contents that go behind the code.
#[derive(Default)]
pub struct Payload {
    /// Initialised data.
    pub data: Vec<u8>,
    /// High code.
    pub high: Vec<u8>,
    /// Overlays that are in the file.
    pub overlays: Vec<(u8, Vec<u8>)>,
}

impl Payload {
    /// Bytes of everything.
    pub fn len(&self) -> usize {
        self.data.len() + self.high.len() + self.overlays.iter().map(|o| o.1.len()).sum::<usize>()
    }
}

impl Table {
    /// A job for each piece of data, for each overlay and its vectors, and for high code.
    pub fn new(data: &[Data], overlays: &[u8], symbols: &mut Symbols) -> Table {
        let mut jobs = Vec::new();
        let mut offset = 0;
        for d in data {
            let copied = d.bytes.len() as u32;
            for (start, end, fill) in [(0, copied, false), (copied, d.size.max(copied), true)] {
                let mut at = start;
                while at < end {
                    let count = (end - at).min(0x8000);
                    let from = if fill { From::Zero } else { From::Data(offset + at) };
                    jobs.push(Job { from, to: d.addr + at, count });
                    at += count;
                }
            }
            offset += copied;
        }
        for &n in overlays {
            jobs.push(Job { from: From::Overlay(n), to: overlay_home(n), count: 0 });
            // Interrupt vectors for the time that the overlay is mapped over them.
            jobs.push(Job { from: From::At(0xFFFA), to: overlay_home(n) + HIGH_SIZE, count: 6 });
        }
        jobs.push(Job { from: From::High, to: STAGING, count: 0 });
        jobs.push(Job { from: From::At(STAGING), to: HIGH.into(), count: 0 });
        Table { jobs, label: symbols.named("rv_table") }
    }

    /// The list's room, filled later.
    pub fn items(&self) -> Vec<Item> {
        vec![Item::Label(self.label), Item::Bytes(vec![0; self.jobs.len() * JOB])]
    }

    /// Fills the list, which is the end of `image`; returns the payload, which is to lie at `start`.
    /// High code is staged where it may overlap its target.
    pub fn fill(&self, payload: &Payload, start: u32, image: &mut [u8], staged: bool) -> Vec<u8> {
        let mut out = payload.data.clone();
        let mut overlays = Vec::new();
        for (n, bytes) in &payload.overlays {
            overlays.push((*n, start + out.len() as u32, bytes.len() as u32));
            out.extend_from_slice(bytes);
        }
        let high = (start + out.len() as u32, payload.high.len() as u32);
        out.extend_from_slice(&payload.high);
        let mut jobs: Vec<(u32, u32, u32, bool)> = Vec::new();
        // Zeros last: they may lie where the payload is.
        let fills = |job: &&Job| matches!(job.from, From::Zero);
        let order = self.jobs.iter().filter(|j| !fills(j)).chain(self.jobs.iter().filter(fills));
        for job in order {
            let (source, count, fill) = match job.from {
                From::Zero => (0, job.count, true),
                From::Data(offset) => (start + offset, job.count, false),
                From::Overlay(n) => overlays.iter().find(|o| o.0 == n).map_or((0, 0, false), |o| (o.1, o.2, false)),
                From::High if staged => (high.0, high.1, false),
                From::High => continue,
                From::At(at) if job.count > 0 => (at, job.count, false),
                From::At(at) => (if staged { at } else { high.0 }, high.1, false),
            };
            if count > 0 {
                jobs.push((source, job.to, count, fill));
            }
        }
        if jobs.is_empty() {
            // Start-up runs the list in any case.
            jobs.push((0, STAGING, 1, true));
        }
        let last = jobs.len() - 1;
        let mut list = Vec::new();
        for (i, &(source, target, count, fill)) in jobs.iter().enumerate() {
            list.extend([0x0B, 0x80, 0, 0x81, 0, 0]);
            list.push(if fill { 3 } else { 0 } | if i < last { 4 } else { 0 });
            list.extend((count as u16).to_le_bytes());
            list.extend(&source.to_le_bytes()[..3]);
            list.extend(&target.to_le_bytes()[..3]);
            list.extend([0, 0, 0]);
        }
        let base = image.len() - self.jobs.len() * JOB;
        if let Some(room) = image.get_mut(base..base + list.len()) {
            room.copy_from_slice(&list);
        }
        out
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
