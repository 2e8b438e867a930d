//! The CPU's view of the board: fast paths for chip RAM, everything else out of line.

use super::{Board, Ended, RAM_MASK, RETURN_ADDRESS};
use crate::cpu::{Bus, Hazard, Mapping};
use crate::diagnostics::Report;

impl Board {
    #[inline(always)]
    fn chip(&self, page: i32, address: u16) -> usize {
        (page as usize).wrapping_add(usize::from(address & 0xff)) & RAM_MASK
    }

    #[inline(always)]
    fn four(&self, offset: usize) -> u32 {
        let at = |n: usize| self.ram[offset + n];
        u32::from_le_bytes([at(0), at(1), at(2), at(3)])
    }

    #[cold]
    #[inline(never)]
    fn fetch_slow(&mut self, pc: u16) -> u32 {
        if self.kernal_missing && self.mapping.translate(pc & 0xff00) == Some(0x3_ff00) {
            if pc == RETURN_ADDRESS {
                self.ended.get_or_insert(Ended::Returned);
            } else if pc != 0xff10 {
                self.report(Report::KernalCall, u32::from(pc));
            }
            self.attention();
        }
        u32::from_le_bytes([0, 1, 2, 3].map(|n| self.peek_view(pc.wrapping_add(n))))
    }

    /// A byte of the 16-bit view without side effects.
    pub fn peek_view(&self, address: u16) -> u8 {
        let page = self.read_page[usize::from(address >> 8)];
        if page >= 0 {
            return self.ram[self.chip(page, address)];
        }
        match self.mapping.translate(address) {
            Some(target) => self.peek(target),
            None => super::flat::FILLER,
        }
    }

    #[inline(never)]
    fn read_slow(&mut self, address: u16) -> u8 {
        match self.mapping.translate(address) {
            Some(target) => self.read_flat(target),
            None => self.read_io(self.personality, address & 0xfff),
        }
    }

    #[inline(never)]
    fn write_slow(&mut self, address: u16, value: u8) {
        match self.mapping.translate(address) {
            Some(target) => self.write_flat(target, value),
            None if address < 2 => self.write_port(address, value),
            None => self.write_io(self.personality, address & 0xfff, value),
        }
    }
}

impl Bus for Board {
    #[inline(always)]
    fn fetch(&mut self, pc: u16) -> u32 {
        self.pc = pc;
        let page = self.read_page[usize::from(pc >> 8)];
        if page >= 0 && pc & 0xff <= 0xfc { self.four(self.chip(page, pc)) } else { self.fetch_slow(pc) }
    }

    #[inline(always)]
    fn read(&mut self, address: u16) -> u8 {
        let page = self.read_page[usize::from(address >> 8)];
        if page >= 0 { self.ram[self.chip(page, address)] } else { self.read_slow(address) }
    }

    #[inline(always)]
    fn write(&mut self, address: u16, value: u8) {
        let page = self.write_page[usize::from(address >> 8)];
        // Both conditions in one test: a plain page, and not the CPU port.
        if (page | (i32::from(address) - 2)) >= 0 {
            let at = self.chip(page, address);
            self.ram[at] = value;
        } else {
            self.write_slow(address, value);
        }
    }

    #[inline(always)]
    fn read_quad(&mut self, address: u16) -> u32 {
        let page = self.read_page[usize::from(address >> 8)];
        if page >= 0 && address & 0xff <= 0xfc {
            self.four(self.chip(page, address))
        } else {
            u32::from_le_bytes([0, 1, 2, 3].map(|n| self.read(address.wrapping_add(n))))
        }
    }

    #[inline(always)]
    fn write_quad(&mut self, address: u16, value: u32) {
        let page = self.write_page[usize::from(address >> 8)];
        if (page | (i32::from(address) - 2)) >= 0 && address & 0xff <= 0xfc {
            let at = self.chip(page, address);
            for (cell, byte) in self.ram[at..at + 4].iter_mut().zip(value.to_le_bytes()) {
                *cell = byte;
            }
        } else {
            for (n, byte) in (0..).zip(value.to_le_bytes()) {
                self.write(address.wrapping_add(n), byte);
            }
        }
    }

    #[inline(always)]
    fn read_flat(&mut self, address: u32) -> u8 {
        if address.wrapping_sub(2) < super::CHIP_RAM - 2 {
            self.ram[address as usize & RAM_MASK]
        } else {
            self.read_flat_slow(address)
        }
    }

    #[inline(always)]
    fn write_flat(&mut self, address: u32, value: u8) {
        // The ROM area and the colour RAM window lie between the plain parts.
        if address.wrapping_sub(2) < super::COLOUR_WINDOW - 2
            || address.wrapping_sub(super::ROM_END) < super::CHIP_RAM - super::ROM_END
        {
            self.ram[address as usize & RAM_MASK] = value;
        } else {
            self.write_flat_slow(address, value);
        }
    }

    #[inline(always)]
    fn read_flat_quad(&mut self, address: u32) -> u32 {
        if address.wrapping_sub(2) < super::CHIP_RAM - 5 {
            self.four(address as usize & RAM_MASK)
        } else {
            u32::from_le_bytes([0, 1, 2, 3].map(|n| self.read_flat(address.wrapping_add(n))))
        }
    }

    fn set_mapping(&mut self, mapping: &Mapping) {
        self.mapping = *mapping;
        self.rebuild_view();
    }

    #[inline(always)]
    fn advance(&mut self, cycles: u32) {
        self.cycles += u64::from(cycles);
    }

    #[inline(always)]
    fn due(&self) -> bool {
        self.cycles >= self.deadline
    }

    #[inline(always)]
    fn request_attention(&mut self) {
        self.deadline = 0;
    }

    #[cold]
    fn hazard(&mut self, hazard: Hazard, pc: u16) {
        self.report(Report::Hazard(hazard), u32::from(pc));
    }
}
