//! Memory by 28-bit addresses.

#![allow(unsafe_code)]

use rv45_rt::machine::{rv45_dma, rv45_dma_copy, rv45_dma_fill};
use ssnail_shared::mem::{Fault, Memory, ReadMemory};
use ssnail_shared::sampler::{Candidate, Changed, Digit, Run, Weights};

/// Reads a byte.
pub fn peek(address: u32) -> u8 {
    // SAFETY: every 28-bit address can be read; registers whose reading has effects are read on purpose.
    unsafe { (address as *const u8).read_volatile() }
}

/// Writes a byte.
pub fn poke(address: u32, value: u8) {
    // SAFETY: callers write registers and memory that the program owns (ARCHITECTURE.md, memory plan).
    unsafe { (address as *mut u8).write_volatile(value) }
}

/// Reads a word; not for registers.
pub fn peek32(address: u32) -> u32 {
    // SAFETY: as `peek`; alignment does not matter on this machine.
    unsafe { (address as *const u32).read_unaligned() }
}

/// Writes a word; not for registers.
pub fn poke32(address: u32, value: u32) {
    // SAFETY: as `poke`.
    unsafe { (address as *mut u32).write_unaligned(value) }
}

/// Copies by DMA.
pub fn copy(to: u32, from: u32, length: u32) {
    // SAFETY: as `poke`, over `length` bytes.
    unsafe { rv45_dma_copy(to, from, length) }
}

/// Fills by DMA.
pub fn fill(to: u32, value: u8, length: u32) {
    // SAFETY: as `poke`, over `length` bytes.
    unsafe { rv45_dma_fill(to, u32::from(value), length) }
}

/// The last job of [`stream`]: loading repeats the same one for every sector.
struct Streamed {
    list: [u8; 18],
    from: u32,
    length: u16,
}

static mut STREAMED: Streamed = Streamed { list: [0; 18], from: 0, length: 0 };

/// Copies by DMA to one register, again and again.
#[inline(always)]
pub fn stream(from: u32, register: u32, length: u16) {
    // SAFETY: one thread, no interrupts, and no other user of the list.
    let job = unsafe { &mut *(&raw mut STREAMED) };
    if job.from != from || job.length != length {
        job.set(from, register, length);
    }
    // SAFETY: the list is the job's; it writes the register only.
    unsafe { rv45_dma(job.list.as_ptr() as u32) }
}

impl Streamed {
    #[inline(never)]
    fn set(&mut self, from: u32, register: u32, length: u16) {
        self.from = from;
        self.length = length;
        let [f0, f1, f2, f3] = from.to_le_bytes();
        let [t0, t1, t2, t3] = register.to_le_bytes();
        let [n0, n1] = length.to_le_bytes();
        let (from_megabyte, to_megabyte) = (f3 << 4 | f2 >> 4, t3 << 4 | t2 >> 4);
        // The sub-command 8: the destination is held.
        let list = [
            [0x0B, 0x80, from_megabyte, 0x81, to_megabyte, 0],
            [0, n0, n1, f0, f1, f2 & 15],
            [t0, t1, t2 & 15, 8, 0, 0],
        ];
        for (to, value) in self.list.iter_mut().zip(list.iter().flatten()) {
            *to = *value;
        }
    }
}

/// The page below $7F00 that neither the runtime nor its stack uses (its README, memory). HDOS takes names from it at
/// once; the sampler counts in it.
pub const SCRATCH: u32 = 0x1600;

extern "C" {
    fn ssnail_digit(
        address: u32,
        count: u32,
        bits: *const u32,
        new: *const u32,
        len: u32,
        prefix: u32,
        level: u32,
        need: u32,
    ) -> u32;
    fn ssnail_collect(address: u32, count: u32, least: u32, first: u32, room: *mut Candidate, places: u32) -> u64;
    fn ssnail_weigh(largest: u32, exponent: u32, factor: u32, places: u32, room: *mut Candidate, count: u32) -> u64;
}

/// What the counts of `ssnail_digit` bear.
const NEED_MAX: u32 = 100;

/// [`ReadMemory::digit`] in the machine's own code (`sampler.s`).
#[inline(never)]
pub fn digit(run: Run, changed: &Changed<'_>, prefix: u32, level: u32, need: u32) -> Digit {
    if run.count == 0 || need > NEED_MAX {
        // No setting comes here; it would keep every token.
        return Digit { key: 0, bits: 0, inside: 0, need: 0 };
    }
    let (bits, new) = (changed.bits, changed.new);
    let len = bits.len().min(new.len()).min(64) as u32;
    // SAFETY: the routine reads the run and `len` words of each list, and writes to the scratch page.
    let found =
        unsafe { ssnail_digit(run.address, run.count, bits.as_ptr(), new.as_ptr(), len, prefix, level & 3, need) };
    let [key, bits, inside, need] = found.to_le_bytes();
    Digit { key, bits, inside: u32::from(inside), need: u32::from(need) }
}

/// [`ReadMemory::collect`] in the machine's own code (`sampler.s`).
#[inline(never)]
pub fn collect(run: Run, first: u32, least: u32, room: &mut [Candidate]) -> (u32, usize) {
    let places = room.len().min(0xFFFF);
    if run.count == 0 || places == 0 {
        return (0, 0);
    }
    // SAFETY: the routine reads the run and writes to as many places of `room` as it is told.
    let done = unsafe { ssnail_collect(run.address, run.count, least, first, room.as_mut_ptr(), places as u32) };
    (done as u32, places - (done >> 32) as usize)
}

/// Logits that are worth a copy: chip RAM is read several times faster than attic RAM.
const STAGED: usize = 512;

/// On the border of a block that the sampler reads at once.
#[repr(align(1024))]
struct Stage([u32; STAGED]);

static mut STAGE: Stage = Stage([0; STAGED]);

/// [`ReadMemory::stage`]: few logits go to chip RAM.
#[inline(never)]
pub fn stage(run: Run) -> Option<Run> {
    if run.count == 0 || run.count > STAGED as u32 {
        return None;
    }
    let address = (&raw const STAGE) as u32;
    copy(address, run.address, 4 * run.count);
    Some(Run { address, count: run.count })
}

/// [`ReadMemory::weigh`] in the machine's own code (`sampler.s`).
#[inline(never)]
pub fn weigh(weights: &Weights, room: &mut [Candidate]) -> u64 {
    let count = room.len().min(0xFFFF) as u32;
    if count == 0 {
        return 0;
    }
    let w = weights;
    // SAFETY: the routine writes to `count` places of `room`.
    unsafe { ssnail_weigh(w.largest, w.exponent, w.factor, w.places, room.as_mut_ptr(), count) }
}

/// Memory that the processor reads and writes itself: chip RAM, and attic RAM as it is selected.
#[derive(Clone, Copy)]
pub struct Far;

/// Below this a loop is as fast as setting up a DMA job.
const DMA_FROM: usize = 16;

impl ReadMemory for Far {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        if out.len() >= DMA_FROM {
            copy(out.as_mut_ptr() as u32, address, out.len() as u32);
        } else {
            let mut at = address;
            for b in out {
                *b = peek(at);
                at += 1;
            }
        }
        Ok(())
    }

    fn check(&self, _: u32, _: u32) -> Result<(), Fault> {
        Ok(())
    }

    fn read_u8(&self, address: u32) -> Result<u8, Fault> {
        Ok(peek(address))
    }

    fn read_u16(&self, address: u32) -> Result<u16, Fault> {
        Ok(u16::from_le_bytes([peek(address), peek(address + 1)]))
    }

    fn read_u32(&self, address: u32) -> Result<u32, Fault> {
        Ok(peek32(address))
    }
}

impl Memory for Far {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        if data.len() >= DMA_FROM {
            copy(address, data.as_ptr() as u32, data.len() as u32);
        } else {
            let mut at = address;
            for b in data {
                poke(at, *b);
                at += 1;
            }
        }
        Ok(())
    }

    fn write_u32(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        poke32(address, value);
        Ok(())
    }
}
