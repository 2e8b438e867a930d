//! The 16-bit view: which page lies where.

use super::{Board, CHIP_RAM, COLOUR_WINDOW, COLOUR_WINDOW_END, ROM_END, ROM_START};

/// What a 4 KB block of the 16-bit view shows when MAP does not map it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Ram,
    /// ROM at this address for reads, RAM for writes.
    Rom(u32),
    Io,
}

impl Board {
    /// Rebuilds both page tables.
    pub(crate) fn rebuild_view(&mut self) {
        for page in 0..=0xffu16 {
            let (read, write) = self.page(page);
            self.read_page[usize::from(page)] = read;
            self.write_page[usize::from(page)] = write;
        }
    }

    fn page(&self, page: u16) -> (i32, i32) {
        let address = page << 8;
        if let Some(target) = self.mapping.translate(address) {
            return (self.readable(target), self.writable(target));
        }
        let target = u32::from(address);
        match self.block(page >> 4) {
            Block::Ram => (target as i32, target as i32),
            Block::Rom(rom) => (self.readable(rom + u32::from(address & 0xfff)), target as i32),
            Block::Io => (-1, -1),
        }
    }

    fn readable(&self, target: u32) -> i32 {
        // Page 0 through MAP shows the cells under the CPU port.
        if target == 0 || target >= CHIP_RAM || target == 0x3_ff00 && self.kernal_missing { -1 } else { target as i32 }
    }

    fn writable(&self, target: u32) -> i32 {
        let protected = self.rom_write_protected && (ROM_START..ROM_END).contains(&target);
        let window = (COLOUR_WINDOW..COLOUR_WINDOW_END).contains(&target);
        if target == 0 || target >= CHIP_RAM || protected || window { -1 } else { target as i32 }
    }

    /// `$D030` bits 3, 4, 5, 7 and the CPU port decide what is seen.
    fn block(&self, block: u16) -> Block {
        let port = self.port_lines();
        let rom_bits = self.memory_control;
        let (loram, hiram, charen) = (port & 1 != 0, port & 2 != 0, port & 4 != 0);
        match block {
            0x8 | 0x9 if rom_bits & 0x08 != 0 => Block::Rom(0x2_8000 + u32::from(block & 1) * 0x1000),
            0xa | 0xb if rom_bits & 0x10 != 0 || loram && hiram => Block::Rom(0x2_a000 + u32::from(block & 1) * 0x1000),
            0xc if rom_bits & 0x20 != 0 => Block::Rom(0x2_c000),
            0xd if loram || hiram => {
                if charen {
                    Block::Io
                } else {
                    Block::Rom(0x2_d000)
                }
            }
            0xe | 0xf if rom_bits & 0x80 != 0 || hiram => Block::Rom(0x2_e000 + u32::from(block & 1) * 0x1000),
            _ => Block::Ram,
        }
    }

    /// Whether `$D000` shows I/O, as the hypervisor needs it.
    pub(crate) fn io_visible(&self) -> bool {
        self.mapping.translate(0xd000).is_none() && self.block(0xd) == Block::Io
    }

    /// Ends CRAM2K, which covers `$DE00`, as the hypervisor does when it maps the sector buffer.
    pub(crate) fn uncover_sector_buffer(&mut self) {
        self.memory_control &= !1;
    }

    /// The port's pins: outputs as latched, inputs pulled up as on the C64.
    fn port_lines(&self) -> u8 {
        let [direction, data] = self.port;
        data & direction | 0x17 & !direction
    }

    /// Keeps what addresses 0 and 1 read as in the first two cells of RAM.
    pub(crate) fn update_port(&mut self) {
        self.ram[0] = self.port[0];
        self.ram[1] = self.port_lines();
    }

    pub(crate) fn write_port(&mut self, address: u16, value: u8) {
        match (address, value) {
            // $40 and $41 set the speed and leave the direction alone.
            (0, 0x40 | 0x41) => self.vic.force_fast = value & 1 != 0,
            _ => {
                self.port[usize::from(address & 1)] = value;
                self.update_port();
                self.rebuild_view();
            }
        }
    }
}
