//! Addressing modes: each advances the program counter and returns the effective address.

use super::{Bus, Cpu, FLAT_MASK, Hazard};

impl Cpu {
    /// Address of the base page byte in the instruction word.
    #[inline(always)]
    pub(super) fn base(&self, w: u32) -> u16 {
        u16::from(self.b) << 8 | (w >> 8) as u8 as u16
    }

    #[inline(always)]
    pub(super) fn base_page<B: Bus>(&mut self, _bus: &mut B, w: u32) -> u16 {
        self.pc = self.pc.wrapping_add(2);
        self.base(w)
    }

    #[inline(always)]
    fn base_page_indexed(&mut self, w: u32, index: u8) -> u16 {
        self.pc = self.pc.wrapping_add(2);
        u16::from(self.b) << 8 | u16::from(((w >> 8) as u8).wrapping_add(index))
    }

    #[inline(always)]
    pub(super) fn base_page_x<B: Bus>(&mut self, _bus: &mut B, w: u32) -> u16 {
        self.base_page_indexed(w, self.x)
    }

    #[inline(always)]
    pub(super) fn base_page_y<B: Bus>(&mut self, _bus: &mut B, w: u32) -> u16 {
        self.base_page_indexed(w, self.y)
    }

    #[inline(always)]
    pub(super) fn absolute<B: Bus>(&mut self, _bus: &mut B, w: u32) -> u16 {
        self.pc = self.pc.wrapping_add(3);
        (w >> 8) as u16
    }

    #[inline(always)]
    pub(super) fn absolute_x<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        self.absolute(bus, w).wrapping_add(u16::from(self.x))
    }

    #[inline(always)]
    pub(super) fn absolute_y<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        self.absolute(bus, w).wrapping_add(u16::from(self.y))
    }

    /// The 16-bit pointer at a base page address. Its second byte may lie in the next page.
    #[inline(always)]
    fn pointer<B: Bus>(&mut self, bus: &mut B, address: u16) -> u16 {
        if address & 0xff == 0xff {
            bus.hazard(Hazard::PointerAtPageEnd, self.pc);
        }
        bus.read_word(address)
    }

    #[inline(always)]
    pub(super) fn indirect_x<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        let address = self.base_page_x(bus, w);
        self.pointer(bus, address)
    }

    /// `(nn)` without index, as most Q forms use it.
    #[inline(always)]
    pub(super) fn indirect<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        let address = self.base_page(bus, w);
        self.pointer(bus, address)
    }

    #[inline(always)]
    pub(super) fn indirect_y<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        self.indirect(bus, w).wrapping_add(u16::from(self.y))
    }

    #[inline(always)]
    pub(super) fn indirect_z<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        self.indirect(bus, w).wrapping_add(u16::from(self.z))
    }

    /// `(nn,SP),Y`: the pointer lies `nn` above the stack pointer, without wrap in the page.
    #[inline(always)]
    pub(super) fn stack_indirect_y<B: Bus>(&mut self, bus: &mut B, w: u32) -> u16 {
        self.pc = self.pc.wrapping_add(2);
        let address = self.sp.wrapping_add((w >> 8) as u8 as u16);
        bus.read_word(address).wrapping_add(u16::from(self.y))
    }

    /// `[nn]`: the 32-bit pointer at a base page address plus `index`; low 28 bits.
    #[inline(always)]
    pub(super) fn flat_pointer<B: Bus>(&mut self, bus: &mut B, w: u32, index: u8) -> u32 {
        let address = self.base_page(bus, w);
        bus.read_quad(address).wrapping_add(u32::from(index)) & FLAT_MASK
    }
}
