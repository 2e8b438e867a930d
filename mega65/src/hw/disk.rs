//! The disk in drive 0, as the floppy controller reads it: one file of it by its name.

use super::clock::wait_until_clear;
use super::far::{copy, peek, poke};
use super::hdos::{BUFFER_IS_SD, BUFFER_SELECT};
use super::IO;

const CONTROL: u32 = IO + 0x080;
const COMMAND: u32 = IO + 0x081;
const STATUS: u32 = IO + 0x082;
const PRESENT: u32 = IO + 0x083;
const TRACK: u32 = IO + 0x084;
const SECTOR: u32 = IO + 0x085;
const SIDE: u32 = IO + 0x086;
const BUFFER: u32 = 0x0FFD_6C00;
/// Motor and light.
const SPIN: u8 = 0x60;
const READ: u8 = 0x40;
const BUSY: u8 = 0x80;
/// Sector not found, checksum.
const FAILED: u8 = 0x18;
const DISK_IN: u8 = 0x08;

const DIRECTORY: (u8, u8) = (40, 3);
const ENTRY: u32 = 32;
const BLOCK: u32 = 256;
/// Type PRG, closed.
const PRG: u8 = 0x82;
/// Blocks of a disk.
const BLOCKS: u16 = 3200;

/// Reads a block of 256 bytes (a CBM DOS track and sector); its address in the controller's buffer.
#[inline(never)]
fn block((track, sector): (u8, u8)) -> Option<u32> {
    let side = u8::from(sector >= 20);
    let on_side = if sector < 20 { sector } else { sector - 20 };
    poke(CONTROL, SPIN | side << 3);
    poke(TRACK, track.wrapping_sub(1));
    poke(SECTOR, on_side / 2 + 1);
    poke(SIDE, side);
    poke(COMMAND, READ);
    if !wait_until_clear(STATUS, BUSY) {
        return None;
    }
    poke(BUFFER_SELECT, peek(BUFFER_SELECT) & !BUFFER_IS_SD);
    (peek(STATUS) & FAILED == 0).then_some(BUFFER + u32::from(sector & 1) * BLOCK)
}

/// Copies a PRG file to memory, at most `room` bytes of it; its length, `None` where it cannot be had.
#[inline(never)]
pub fn read(name: &[u8], to: u32, room: u32) -> Option<u32> {
    if peek(PRESENT) & DISK_IN == 0 {
        return None;
    }
    let mut left = BLOCKS;
    let (mut place, mut found, mut length) = (DIRECTORY, false, 0);
    while place.0 != 0 && left > 0 {
        left -= 1;
        let at = block(place)?;
        let next = (peek(at), peek(at + 1));
        if found {
            let count = if next.0 == 0 { u32::from(next.1).saturating_sub(1) } else { BLOCK - 2 };
            if length + count > room {
                return None;
            }
            copy(to + length, at + 2, count);
            length += count;
        }
        place = next;
        let mut entry = at;
        while !found && entry < at + BLOCK {
            let mut letter = entry + 5;
            found = peek(entry + 2) == PRG
                && name.iter().all(|b| {
                    letter += 1;
                    peek(letter - 1) == *b
                })
                && peek(letter) == 0xA0;
            if found {
                place = (peek(entry + 3), peek(entry + 4));
            }
            entry += ENTRY;
        }
    }
    poke(CONTROL, 0);
    (found && place.0 == 0).then_some(length)
}
