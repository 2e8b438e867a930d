//! The 28-bit view, apart from the fast path to chip RAM.

use super::{
    Board, CHAR_RAM, CHIP_RAM, COLOUR_RAM, COLOUR_WINDOW, DISK_BUFFERS, I2C, IO, IO_END, Personality, ROM_END,
    ROM_START,
};
use crate::cpu::Bus;
use crate::diagnostics::Report;
use crate::expansion::Access;
use ssnail_shared::map::{MEMORY_BASE, REGION_BOUNDARY};
use ssnail_shared::registers as reg;
use std::ops::Range;

/// What the decoder answers where nothing is.
pub(super) const FILLER: u8 = 0xa0;

const CHAR_RAM_END: u32 = CHAR_RAM + super::CHAR_RAM_LEN;
const COLOUR_RAM_END: u32 = COLOUR_RAM + super::COLOUR_RAM_LEN;
const DISK_BUFFERS_END: u32 = DISK_BUFFERS + 0x1000;
const I2C_END: u32 = I2C + 0x1000;
const EXPANSION: u32 = 0x0400_0000;
const EXPANSION_END: u32 = 0x0ff0_0000;
/// Where a board may have memory behind the slow bus: absent memory swallows writes and answers with the filler, and
/// nothing else tells a program what is there.
const MEMORY: Range<u32> = MEMORY_BASE..MEMORY_CONTROL.start;
/// Registers of the HyperRAM's controller (caches, waiting times, the chip's configuration), which writes reach whichever
/// memory is read.
const MEMORY_CONTROL: Range<u32> = REGION_BOUNDARY - 16..REGION_BOUNDARY;

/// Extra cycles of reads that are not from chip RAM.
const WAIT_IO: u32 = 1;
const WAIT_VIDEO_RAM: u32 = 2;

impl Board {
    #[inline(never)]
    pub(super) fn read_flat_slow(&mut self, address: u32) -> u8 {
        match address {
            0..=1 => self.under_port[address as usize],
            2..CHIP_RAM => self.ram[address as usize],
            CHAR_RAM..CHAR_RAM_END => {
                self.advance(WAIT_VIDEO_RAM);
                self.char_ram[(address - CHAR_RAM) as usize]
            }
            COLOUR_RAM..COLOUR_RAM_END => {
                self.advance(WAIT_VIDEO_RAM);
                self.colour_ram[(address - COLOUR_RAM) as usize]
            }
            IO..IO_END => self.read_io(Personality::of_address(address), address as u16 & 0xfff),
            DISK_BUFFERS..DISK_BUFFERS_END => {
                self.advance(WAIT_IO);
                self.storage.read_buffer(address as u16 & 0xfff, self.cycles)
            }
            I2C..I2C_END => self.read_i2c(address),
            EXPANSION..EXPANSION_END => match self.expansion.read(address, self.cycles) {
                Access::Done { value, wait } => {
                    self.advance(wait);
                    value
                }
                Access::Unmapped { filler } => {
                    self.report_absent(Report::UnmappedRead, address);
                    filler
                }
            },
            _ => {
                self.report(Report::UnmappedRead, address);
                FILLER
            }
        }
    }

    fn read_i2c(&mut self, address: u32) -> u8 {
        self.advance(WAIT_IO);
        if let Some(value) = self.expansion.read_register(address, self.cycles) {
            return value;
        }
        if let Some(value) = self.i2c.read(address - I2C, self.cycles, self.model) {
            return value;
        }
        // Whoever reads the identification asks whether there is a core.
        if address != reg::BASE + reg::ID {
            self.report(Report::UnmappedRead, address);
        }
        FILLER
    }

    #[inline(never)]
    pub(super) fn write_flat_slow(&mut self, address: u32, value: u8) {
        match address {
            0..=1 => self.under_port[address as usize] = value,
            2..COLOUR_WINDOW => self.ram[address as usize] = value,
            COLOUR_WINDOW..ROM_START => {
                self.ram[address as usize] = value;
                self.colour_ram[(address - COLOUR_WINDOW) as usize] = value;
            }
            ROM_START..ROM_END => {
                if self.rom_write_protected {
                    self.report(Report::RomWrite, address);
                } else {
                    self.ram[address as usize] = value;
                }
            }
            ROM_END..CHIP_RAM => self.ram[address as usize] = value,
            CHAR_RAM..CHAR_RAM_END => self.char_ram[(address - CHAR_RAM) as usize] = value,
            COLOUR_RAM..COLOUR_RAM_END => self.write_colour((address - COLOUR_RAM) as usize, value),
            IO..IO_END => {
                self.write_io(Personality::of_address(address), address as u16 & 0xfff, value);
            }
            DISK_BUFFERS..DISK_BUFFERS_END => {
                self.storage.write_buffer(address as u16 & 0xfff, value, self.cycles);
            }
            I2C..I2C_END => {
                let known = self.write_accelerator(address, value) || self.i2c.write(address - I2C, value, self.cycles);
                if !known {
                    self.report(Report::UnmappedWrite, address);
                }
            }
            EXPANSION..EXPANSION_END => {
                if MEMORY_CONTROL.contains(&address) && self.model.hyperram() > 0 {
                    self.report(Report::MemoryControl, address);
                }
                match self.expansion.write(address, value, self.cycles) {
                    Access::Done { wait, .. } => self.advance(wait),
                    Access::Unmapped { .. } => self.report_absent(Report::UnmappedWrite, address),
                }
            }
            _ => self.report(Report::UnmappedWrite, address),
        }
    }

    fn report_absent(&mut self, report: Report, address: u32) {
        if MEMORY.contains(&address) {
            self.diagnostics.add_absent(report, address, self.pc, self.cycles);
        } else {
            self.report(report, address);
        }
    }

    fn write_accelerator(&mut self, address: u32, value: u8) -> bool {
        let known = self.expansion.write_register(address, value, self.cycles);
        if known && self.expansion.accelerator.take_lost() > 0 {
            self.report(Report::LoadPortOverflow, address);
        }
        known
    }

    /// The first 2 KB of colour RAM are also in chip RAM.
    pub(super) fn write_colour(&mut self, offset: usize, value: u8) {
        self.colour_ram[offset] = value;
        if offset < 0x800 {
            self.ram[COLOUR_WINDOW as usize + offset] = value;
        }
    }

    pub(super) fn io_wait(&mut self) {
        self.advance(WAIT_IO);
    }

    pub(super) fn video_wait(&mut self) {
        self.advance(WAIT_VIDEO_RAM);
    }
}
