//! SSNAIL.CPU, the part of the program that computes where no core does: brought from the card, called, measured.

#![allow(unsafe_code)]

use super::far::{self, copy, peek32, poke32};
use super::hdos;
use super::mailbox as m;
use rv45_rt::part::{LOAD, MAGIC, WORDS};
use ssnail_shared::header::Header;
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_shared::mem::Memory;
use ssnail_shared::session::CoreState;

/// Name on the card.
pub const NAME: &[u8; 11] = b"SSNAIL  CPU";
const NAME_ON_DISK: &[u8] = b"SSNAIL.CPU";
/// What the part's data may displace in bank 1.
const DATA: u32 = 0x1_2000;
const DATA_END: u32 = 0x1_E000;
const CODE_END: u32 = 0xD000;
/// Error code of a part that panicked.
pub const PANICKED: u8 = 0x41;
/// Error code of a vector that is too long.
pub const TOO_WIDE: u8 = m::TOO_WIDE as u8;

extern "C" {
    /// There and back (`part.s`).
    fn ssnail_part(megabyte: u32, code: u32, data: u32, zeros: u32);
}

/// Why there is no part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PartError {
    /// Neither card nor disk has a file that can be read.
    Absent,
    /// It is not one, or of another version.
    Wrong,
}

/// The part, ready to be called.
#[derive(Clone, Copy)]
pub struct Part {
    /// Start of the reserve: $D0000 in a megabyte.
    reserve: u32,
    code: u32,
    data: u32,
    zeros: u32,
}

/// Bytes that the file may have: a script's first sector begins behind it.
const ROOM: u32 = m::FILE_MAX - HEADER_LEN;

/// Reads the card's file that is open; a longer one is cut.
fn read(to: u32) -> Result<u32, hdos::Error> {
    let mut length = 0;
    loop {
        let sound = hdos::goes_on();
        let count = u32::from(hdos::read()?);
        if count == 0 || length + count > ROOM {
            return Ok(length);
        }
        sound?;
        copy(to + length, hdos::BUFFER, count);
        length += count;
    }
}

impl Part {
    /// Brings the file into the reserve, from the card or else from the disk, and copies what the part will displace.
    #[inline(never)]
    pub fn fetch(reserve: u32) -> Result<Self, PartError> {
        let file = reserve + m::FILE;
        let opened = crate::card::open_part();
        let on_card = opened.and_then(|()| read(file));
        hdos::close();
        let length = match on_card {
            Ok(length) => length,
            Err(_) => {
                let none = if opened.is_ok() { PartError::Wrong } else { PartError::Absent };
                super::disk::read(NAME_ON_DISK, file, ROOM).ok_or(none)?
            }
        };
        let word = |n: u32| peek32(file + 4 * n);
        let (code, data, zeros) = (word(1), word(3), word(4));
        let fits = word(0) == MAGIC
            && word(2) == DATA
            && code <= CODE_END - u32::from(LOAD)
            && data <= DATA_END - DATA
            && zeros <= DATA_END - DATA - data
            && 4 * WORDS + code + data == length;
        if !fits || data == 0 || zeros == 0 {
            return Err(PartError::Wrong);
        }
        let load = u32::from(LOAD);
        copy(reserve + m::BANK_0 + load, load, code);
        copy(reserve + m::BANK_1 + (DATA & 0xFFFF), DATA, DATA_END - DATA);
        poke32(reserve + m::MAILBOX + m::LIFE, 0);
        Ok(Self { reserve, code, data, zeros })
    }

    fn mailbox(&self, offset: u32) -> u32 {
        self.reserve + m::MAILBOX + offset
    }

    #[inline(never)]
    fn call(&self, command: u32) -> u32 {
        poke32(m::WHERE, self.mailbox(0));
        poke32(self.mailbox(m::COMMAND), command);
        poke32(self.mailbox(m::STATUS), m::BROKEN);
        // SAFETY: the lists put back everything that they displace, and the part knows its place.
        unsafe { ssnail_part(self.reserve >> 20, self.code, self.data, self.zeros) }
        peek32(self.mailbox(m::STATUS))
    }

    /// Measures this machine, for estimates.
    pub fn measure(&self) {
        self.call(m::MEASURE);
        let start = super::clock::ticks();
        self.call(m::NOTHING);
        poke32(self.mailbox(m::CALL), super::clock::ticks().wrapping_sub(start));
    }

    /// Reads the script of the model that is open, whose first sector is in the buffer, and gives the milliseconds of a
    /// token (0 where they are not known) and the length of the longest vector.
    #[inline(never)]
    pub fn estimate(&self, header: &Header) -> (u32, u32) {
        let script = self.reserve + m::SCRIPT;
        // The first sector holds the header as well.
        let mut at = script - HEADER_LEN;
        let mut sectors = m::SCRIPT_MAX / u32::from(hdos::SECTOR);
        let mut count = hdos::SECTOR;
        far::fill(script, 0xFF, m::SCRIPT_MAX);
        while count == hdos::SECTOR && sectors > 0 {
            copy(at, hdos::BUFFER, u32::from(count));
            at += u32::from(count);
            sectors -= 1;
            count = hdos::read().unwrap_or(0);
        }
        poke32(self.mailbox(m::PC), script + (header.code - PAYLOAD));
        self.call(m::COUNT);
        (peek32(self.mailbox(m::MILLISECONDS)), peek32(self.mailbox(m::WIDEST)))
    }

    /// Starts a job.
    pub fn go(&self, job: u32, end: u32) {
        far::fill(self.mailbox(m::REGISTERS), 0, 4 * 35);
        poke32(self.mailbox(m::PC), job);
        poke32(self.mailbox(m::END), end);
    }

    /// Goes on with it, up to the next token or key.
    pub fn resume(&self) -> CoreState {
        match self.call(m::RUN) {
            m::SYNC | m::KEY => CoreState::Busy,
            m::HALT => CoreState::Idle,
            m::FAULT => CoreState::Failed(peek32(self.mailbox(m::DETAIL)) as u8),
            _ => CoreState::Failed(PANICKED),
        }
    }
}

/// The memory that the processor reaches without the core's help, in bytes from $8000000; the reserve is its end.
/// Words at the ends are written, read back and put back: nothing else tells what is there.
#[inline(never)]
pub fn memory() -> (bool, u32) {
    use ssnail_shared::map::{MEGABYTE, MEMORY_BASE};
    for (sdram, length) in [(true, 64 * MEGABYTE), (false, 8 * MEGABYTE)] {
        super::board::select_sdram(sdram);
        // The last 16 bytes below $C000000 are registers of the HyperRAM's controller, to which writes go as well.
        let (low, high) = (MEMORY_BASE + m::HOP, MEMORY_BASE + length - 32);
        // Eight megabytes further lies the same cell again where there are only eight.
        let middle = low + 8 * MEGABYTE;
        let found = [peek32(low), peek32(high), peek32(middle)];
        let mut far = far::Far;
        let mut good = true;
        for pattern in [0x5A17_C3E1u32, 0xA5E8_3C1E] {
            let _ = far.write_u32(low, pattern);
            let _ = far.write_u32(high, pattern.rotate_left(8));
            if sdram {
                let _ = far.write_u32(middle, pattern.rotate_left(16));
            }
            good &= peek32(low) == pattern && peek32(high) == pattern.rotate_left(8);
            good &= !sdram || peek32(middle) == pattern.rotate_left(16);
        }
        poke32(low, found[0]);
        poke32(high, found[1]);
        if sdram {
            poke32(middle, found[2]);
        }
        if good {
            return (sdram, length);
        }
    }
    super::board::restore_ram_select();
    (false, 0)
}
