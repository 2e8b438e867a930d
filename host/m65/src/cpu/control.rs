//! Jumps, the stack, words in memory, MAP and status changes.

use super::{Bus, Cpu, FLAG_B, FLAG_E, Hazard, IRQ_VECTOR};

impl Cpu {
    #[inline(always)]
    fn push_word<B: Bus>(&mut self, bus: &mut B, value: u16) {
        self.push(bus, (value >> 8) as u8);
        self.push(bus, value as u8);
    }

    #[inline(always)]
    fn pull_word<B: Bus>(&mut self, bus: &mut B) -> u16 {
        let low = self.pull(bus);
        let high = self.pull(bus);
        u16::from_le_bytes([low, high])
    }

    #[inline(always)]
    pub(super) fn jsr<B: Bus>(&mut self, bus: &mut B, w: u32) {
        self.push_word(bus, self.pc.wrapping_add(2));
        self.pc = (w >> 8) as u16;
    }

    #[inline(always)]
    pub(super) fn jsr_indirect<B: Bus>(&mut self, bus: &mut B, w: u32, index: u16) {
        self.push_word(bus, self.pc.wrapping_add(2));
        self.pc = bus.read_word(((w >> 8) as u16).wrapping_add(index));
    }

    #[inline(always)]
    pub(super) fn bsr<B: Bus>(&mut self, bus: &mut B, w: u32) {
        let last = self.pc.wrapping_add(2);
        self.push_word(bus, last);
        self.pc = last.wrapping_add((w >> 8) as u16);
    }

    #[inline(always)]
    pub(super) fn rts<B: Bus>(&mut self, bus: &mut B) {
        self.pc = self.pull_word(bus).wrapping_add(1);
    }

    #[inline(always)]
    pub(super) fn rts_drop<B: Bus>(&mut self, bus: &mut B, w: u32) {
        self.rts(bus);
        let mask = self.stack_mask;
        self.sp = self.sp & !mask | self.sp.wrapping_add((w >> 8) as u8 as u16) & mask;
    }

    #[inline(always)]
    pub(super) fn rti<B: Bus>(&mut self, bus: &mut B) {
        let p = self.pull(bus);
        self.set_p(p);
        self.pc = self.pull_word(bus);
        bus.request_attention();
    }

    #[inline(always)]
    pub(super) fn brk<B: Bus>(&mut self, bus: &mut B) {
        bus.hazard(Hazard::Break, self.pc);
        self.pc = self.pc.wrapping_add(2);
        self.interrupt(bus, IRQ_VECTOR, FLAG_B);
    }

    #[inline(always)]
    pub(super) fn bra(&mut self, w: u32) {
        self.pc = self.pc.wrapping_add(2).wrapping_add((w >> 8) as i8 as u16);
    }

    #[inline(always)]
    fn implied(&mut self) {
        self.pc = self.pc.wrapping_add(1);
    }

    #[inline(always)]
    pub(super) fn change_e(&mut self, set: bool) {
        self.implied();
        self.set_e(set);
    }

    #[inline(always)]
    pub(super) fn php<B: Bus>(&mut self, bus: &mut B) {
        self.implied();
        self.push(bus, self.p() | FLAG_B | FLAG_E);
    }

    #[inline(always)]
    pub(super) fn plp<B: Bus>(&mut self, bus: &mut B) {
        self.implied();
        let p = self.pull(bus);
        self.set_p(p);
        bus.request_attention();
    }

    #[inline(always)]
    pub(super) fn cli<B: Bus>(&mut self, bus: &mut B) {
        self.implied();
        self.irq_disabled = false;
        bus.request_attention();
    }

    #[inline(always)]
    pub(super) fn tsy(&mut self) {
        self.implied();
        self.ldy((self.sp >> 8) as u8);
    }

    #[inline(always)]
    pub(super) fn tys(&mut self) {
        self.implied();
        self.sp = self.sp & 0xff | u16::from(self.y) << 8;
    }

    #[inline(always)]
    pub(super) fn tsx(&mut self) {
        self.implied();
        self.ldx(self.sp as u8);
    }

    #[inline(always)]
    pub(super) fn txs(&mut self) {
        self.implied();
        self.sp = self.sp & 0xff00 | u16::from(self.x);
    }

    #[inline(always)]
    pub(super) fn tab(&mut self) {
        self.implied();
        self.b = self.a;
    }

    #[inline(always)]
    pub(super) fn map<B: Bus>(&mut self, bus: &mut B) {
        self.implied();
        let mut mapping = self.mapping;
        mapping.apply(self.a, self.x, self.y, self.z);
        bus.set_mapping(&mapping);
        self.mapping = mapping;
        self.interrupts_blocked = true;
    }

    /// INW and DEW.
    #[inline(always)]
    pub(super) fn change_word<B: Bus>(&mut self, bus: &mut B, w: u32, f: fn(u16, u16) -> u16) {
        let address = self.base_page(bus, w);
        let value = f(bus.read_word(address), 1);
        self.nz16(value);
        write_word(bus, address, value);
    }

    #[inline(always)]
    pub(super) fn asw<B: Bus>(&mut self, bus: &mut B, w: u32) {
        let address = self.absolute(bus, w);
        let old = bus.read_word(address);
        self.carry = old & 0x8000 != 0;
        self.nz16(old << 1);
        write_word(bus, address, old << 1);
    }

    #[inline(always)]
    pub(super) fn row<B: Bus>(&mut self, bus: &mut B, w: u32) {
        let address = self.absolute(bus, w);
        let old = bus.read_word(address);
        let value = old << 1 | u16::from(self.carry);
        self.carry = old & 0x8000 != 0;
        self.nz16(value);
        write_word(bus, address, value);
    }

    /// PHW pushes the low byte first, unlike JSR.
    #[inline(always)]
    fn push_operand<B: Bus>(&mut self, bus: &mut B, value: u16) {
        self.push(bus, value as u8);
        self.push(bus, (value >> 8) as u8);
    }

    #[inline(always)]
    pub(super) fn phw_immediate<B: Bus>(&mut self, bus: &mut B, w: u32) {
        self.pc = self.pc.wrapping_add(3);
        self.push_operand(bus, (w >> 8) as u16);
    }

    #[inline(always)]
    pub(super) fn phw<B: Bus>(&mut self, bus: &mut B, w: u32) {
        let address = self.absolute(bus, w);
        let value = bus.read_word(address);
        self.push_operand(bus, value);
    }
}

#[inline(always)]
fn write_word<B: Bus>(bus: &mut B, address: u16, value: u16) {
    bus.write(address, value as u8);
    bus.write(address.wrapping_add(1), (value >> 8) as u8);
}
