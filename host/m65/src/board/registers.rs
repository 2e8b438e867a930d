//! `$D000-$DFFF` in its four personalities.

use super::{Board, Ended, Personality};
use crate::io::vic::register;
use crate::io::{cia, math};

/// Bits of the last two values written to `$D02F` and what they select.
fn knock(first: u8, second: u8) -> Personality {
    match (first, second) {
        (0xa5, 0x96) => Personality::C65,
        (0x45, 0x54) => Personality::Ethernet,
        (0x47, 0x53) => Personality::Mega65,
        _ => Personality::C64,
    }
}

impl Board {
    /// Reads `$D000 + offset` in a personality.
    #[inline(never)]
    pub(super) fn read_io(&mut self, personality: Personality, offset: u16) -> u8 {
        self.io_wait();
        let low = offset as u8;
        let cycles = self.cycles;
        match offset >> 8 {
            0x0 if personality == Personality::C64 => self.read_vic(low & 0x3f),
            0x0 => match low {
                0x00..=0x7f => self.read_vic(low),
                0x80..=0x9f => self.storage.read_floppy(low & 0x1f, cycles),
                _ => 0xff,
            },
            0x1..=0x3 if personality == Personality::C64 => self.read_vic(low & 0x3f),
            page @ 0x1..=0x3 => {
                self.video_wait();
                self.vic.read_palette(usize::from(page) - 1, low)
            }
            0x6 if personality.is_mega65() => self.read_d600(low),
            0x7 if personality != Personality::C64 => self.read_d700(low),
            0x4..=0x7 => self.sid[usize::from(low)],
            0x8..=0xf if self.colour_window(offset) => {
                self.video_wait();
                self.colour_ram[usize::from(offset - 0x800)]
            }
            // Port B of the first CIA: the rows of the keyboard's columns that port A selects.
            0xc if low & 15 == 1 => self.cia[0].read(low, cycles) & self.keyboard.matrix().scan(self.cia[0].port_a()),
            0xc => self.cia[0].read(low, cycles),
            0xd => self.cia[1].read(low, cycles),
            0xe | 0xf if self.storage.mapped => self.storage.read_buffer(offset - 0xe00, cycles),
            _ => 0xff,
        }
    }

    /// Writes `$D000 + offset` in a personality.
    #[inline(never)]
    pub(super) fn write_io(&mut self, personality: Personality, offset: u16, value: u8) {
        let low = offset as u8;
        let cycles = self.cycles;
        match offset >> 8 {
            0x0 if personality == Personality::C64 => self.write_vic(low & 0x3f, value),
            0x0 => match low {
                0x00..=0x7f => self.write_vic(low, value),
                0x80..=0x9f => self.storage.write_floppy(low & 0x1f, value, cycles),
                _ => {}
            },
            0x1..=0x3 if personality == Personality::C64 => self.write_vic(low & 0x3f, value),
            page @ 0x1..=0x3 => self.vic.write_palette(usize::from(page) - 1, low, value),
            0x6 if personality.is_mega65() => self.write_d600(low, value),
            0x7 if personality != Personality::C64 => self.write_d700(low, value),
            0x4..=0x7 => self.sid[usize::from(low)] = value,
            0x8..=0xf if self.colour_window(offset) => self.write_colour(usize::from(offset - 0x800), value),
            0xc => {
                self.cia[0].write(low, value, cycles);
                self.attention();
            }
            0xd => {
                self.cia[1].write(low, value, cycles);
                if low & 15 == 0 {
                    self.vic.set_bank(!self.cia[1].port_a() & 3);
                }
                self.attention();
            }
            0xe | 0xf if self.storage.mapped => self.storage.write_buffer(offset - 0xe00, value, cycles),
            _ => {}
        }
    }

    /// 1 KB of colour RAM at $D800, 2 KB with CRAM2K.
    fn colour_window(&self, offset: u16) -> bool {
        let end = if self.memory_control & 1 != 0 { 0x1000 } else { 0xc00 };
        (0x800..end).contains(&offset)
    }

    fn read_vic(&mut self, low: u8) -> u8 {
        match low {
            register::KEY => 0xff,
            register::CONTROL_A => self.memory_control,
            _ => self.vic.read(low, self.cycles),
        }
    }

    fn write_vic(&mut self, low: u8, value: u8) {
        match low {
            register::KEY => {
                self.personality = knock(self.knock, value);
                self.knock = value;
                self.rebuild_view();
            }
            register::CONTROL_A => {
                self.memory_control = value;
                self.rebuild_view();
            }
            _ => {
                self.vic.write(low, value, self.cycles);
                self.attention();
            }
        }
    }

    fn read_d600(&mut self, low: u8) -> u8 {
        if let Some(value) = self.keyboard.read(low) {
            return value;
        }
        match low {
            0x29 => self.model.id(),
            0x80..=0x93 | 0xa1 | 0xda | 0xdb => self.storage.read(low, self.cycles),
            _ => 0xff,
        }
    }

    fn write_d600(&mut self, low: u8, value: u8) {
        if self.keyboard.write(low, value) {
            return;
        }
        match low {
            0x40..=0x7f => {
                self.trap = Some(low - 0x40);
                self.attention();
            }
            0x80..=0x93 => self.storage.write(low, value, self.cycles),
            0xcf => {
                if value == 0x42 {
                    self.ended = Some(Ended::Exit(self.exit_code));
                    self.attention();
                }
                self.exit_code = value;
            }
            _ => {}
        }
    }

    fn read_d700(&mut self, low: u8) -> u8 {
        match low {
            0x00..=0x05 => self.dma.read(low),
            0x0f => 0,
            math::FIRST..=math::LAST => self.math.read(low),
            0xef => self.random.byte(),
            0xf2..=0xf5 => {
                let phi = self.vic.frame_cycles() * cia::PHI_HZ / cia::CPU_HZ;
                (phi as u32).to_le_bytes()[usize::from(low - 0xf2)]
            }
            0xf6..=0xf9 => (self.vic.frame_cycles() as u32).to_le_bytes()[usize::from(low - 0xf6)],
            0xfa => self.vic.frame_counter(self.cycles),
            0xfe => self.expansion.control,
            _ => 0xff,
        }
    }

    fn write_d700(&mut self, low: u8, value: u8) {
        match low {
            0x00..=0x0e => self.write_dma(low, value),
            math::FIRST..=math::LAST => self.math.write(low, value),
            // Bit 7 is the random generator's, which is always ready.
            0xfe => self.expansion.control = value & 0x7f,
            _ => {}
        }
    }
}
