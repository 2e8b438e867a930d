//! Memory and registers by 28-bit addresses: the only `unsafe` of this program.

#![allow(unsafe_code)]

use rv45_rt::machine::{rv45_carry, rv45_dma, rv45_dma_copy, rv45_dma_fill, rv45_hdos};

/// Registers in the MEGA65 personality, whatever $D02F says.
pub const IO: u32 = 0x0FFD_3000;

/// Reads a byte.
pub fn peek(address: u32) -> u8 {
    // SAFETY: every 28-bit address can be read; registers whose reading has effects are read on purpose.
    unsafe { (address as *const u8).read_volatile() }
}

/// Writes a byte.
pub fn poke(address: u32, value: u8) {
    // SAFETY: callers write registers and memory that this program owns.
    unsafe { (address as *mut u8).write_volatile(value) }
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

/// Sends `length` bytes to one register by DMA: the destination is held.
pub fn feed(register: u32, from: u32, length: u16) {
    let [f0, f1, f2, f3] = from.to_le_bytes();
    let [t0, t1, t2, t3] = register.to_le_bytes();
    let [n0, n1] = length.to_le_bytes();
    // Options (list format with sub-command, megabytes), copy, count, source, destination, hold.
    let list = [
        0x0B,
        0x80,
        f3 << 4 | f2 >> 4,
        0x81,
        t3 << 4 | t2 >> 4,
        0x00,
        0x00,
        n0,
        n1,
        f0,
        f1,
        f2 & 15,
        t0,
        t1,
        t2 & 15,
        0x08,
        0,
        0,
    ];
    // SAFETY: the list is complete and in chip RAM; the register takes bytes.
    unsafe { rv45_dma(list.as_ptr() as u32) }
}

/// Calls the hypervisor's DOS: the registers, or the error code.
pub fn hdos(function: u32, x: u32, y: u32) -> Result<u32, u8> {
    // SAFETY: HDOS writes into the pages it is given and the sector buffer only.
    let (registers, ok) = unsafe { (rv45_hdos(function, x, y, 0), rv45_carry()) };
    if ok != 0 {
        Ok(registers)
    } else {
        Err(registers as u8)
    }
}
