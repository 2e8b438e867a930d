//! Prefixed instructions: 32-bit Q forms (NEG NEG) and flat 28-bit access (EOM).

use super::{Bus, Cpu, Exit, FLAT_MASK, Hazard};

/// Base page address form: cycles of a Q instruction, both prefix bytes included.
const LOAD: u32 = 11;
const MODIFY: u32 = 17;
const REGISTER: u32 = 4;

/// True for opcodes that the Q prefix would turn into something undocumented.
const fn undocumented(opcode: u8) -> bool {
    match opcode {
        0x42 | 0x82 | 0xe2 | 0x34 | 0x3c => true,
        _ => matches!(opcode & 0x1f, 0x01 | 0x09 | 0x11 | 0x15 | 0x19 | 0x1d),
    }
}

impl Cpu {
    /// Executes what follows at NEG NEG. `w` is the instruction word, one cycle has been counted.
    #[inline(always)]
    pub(super) fn quad<B: Bus>(&mut self, bus: &mut B, w: u32) -> Result<(), Exit> {
        let start = self.pc;
        self.pc = start.wrapping_add(2);
        let opcode = (w >> 16) as u8;
        // The two NEGs leave A as it was, but they set N and Z.
        self.nz(self.a);
        let c = self;
        macro_rules! load {
            ($cycles:expr, $mode:ident, $operation:ident) => {{
                let w = operand(bus, c.pc, w);
                let address = c.$mode(bus, w);
                let m = bus.read_quad(address);
                c.$operation(m);
                bus.advance($cycles - 1);
            }};
        }
        macro_rules! store {
            ($cycles:expr, $mode:ident) => {{
                let w = operand(bus, c.pc, w);
                let address = c.$mode(bus, w);
                bus.write_quad(address, c.q());
                bus.advance($cycles - 1);
            }};
        }
        macro_rules! modify {
            ($cycles:expr, $mode:ident, $operation:ident) => {{
                let w = operand(bus, c.pc, w);
                let address = c.$mode(bus, w);
                let m = bus.read_quad(address);
                let result = c.$operation(m);
                bus.write_quad(address, result);
                bus.advance($cycles - 1);
            }};
        }
        macro_rules! register {
            ($operation:ident) => {{
                c.pc = c.pc.wrapping_add(1);
                let result = c.$operation(c.q());
                c.set_q(result);
                bus.advance(REGISTER - 1);
            }};
        }
        match opcode {
            0xa5 => load!(LOAD - 1, base_page, ldq),
            0xad => load!(LOAD, absolute, ldq),
            0xb2 => load!(LOAD + 2, indirect_z, ldq),
            0x85 => store!(LOAD - 2, base_page),
            0x8d => store!(LOAD - 1, absolute),
            0x92 => store!(LOAD + 1, indirect),
            0x05 => load!(LOAD, base_page, orq),
            0x0d => load!(LOAD + 1, absolute, orq),
            0x12 => load!(LOAD + 3, indirect, orq),
            0x25 => load!(LOAD, base_page, andq),
            0x2d => load!(LOAD + 1, absolute, andq),
            0x32 => load!(LOAD + 3, indirect, andq),
            0x45 => load!(LOAD, base_page, eorq),
            0x4d => load!(LOAD + 1, absolute, eorq),
            0x52 => load!(LOAD + 3, indirect, eorq),
            0x65 => load!(LOAD, base_page, adcq),
            0x6d => load!(LOAD + 1, absolute, adcq),
            0x72 => load!(LOAD + 3, indirect, adcq),
            0xe5 => load!(LOAD, base_page, sbcq),
            0xed => load!(LOAD + 1, absolute, sbcq),
            0xf2 => load!(LOAD + 3, indirect, sbcq),
            0xc5 => load!(LOAD, base_page, cmpq),
            0xcd => load!(LOAD + 1, absolute, cmpq),
            0xd2 => load!(LOAD + 3, indirect, cmpq),
            0x24 => load!(LOAD, base_page, bitq),
            0x2c => load!(LOAD + 1, absolute, bitq),
            0x06 => modify!(MODIFY, base_page, aslq),
            0x16 => modify!(MODIFY, base_page_x, aslq),
            0x0e => modify!(MODIFY + 1, absolute, aslq),
            0x1e => modify!(MODIFY + 1, absolute_x, aslq),
            0x46 => modify!(MODIFY, base_page, lsrq),
            0x56 => modify!(MODIFY, base_page_x, lsrq),
            0x4e => modify!(MODIFY + 1, absolute, lsrq),
            0x5e => modify!(MODIFY + 1, absolute_x, lsrq),
            0x44 => modify!(MODIFY, base_page, asrq),
            0x54 => modify!(MODIFY, base_page_x, asrq),
            0x26 => modify!(MODIFY, base_page, rolq),
            0x36 => modify!(MODIFY, base_page_x, rolq),
            0x2e => modify!(MODIFY + 1, absolute, rolq),
            0x3e => modify!(MODIFY + 1, absolute_x, rolq),
            0x66 => modify!(MODIFY, base_page, rorq),
            0x76 => modify!(MODIFY, base_page_x, rorq),
            0x6e => modify!(MODIFY + 1, absolute, rorq),
            0x7e => modify!(MODIFY + 1, absolute_x, rorq),
            0xe6 => modify!(MODIFY, base_page, inq),
            0xf6 => modify!(MODIFY, base_page_x, inq),
            0xee => modify!(MODIFY + 1, absolute, inq),
            0xfe => modify!(MODIFY + 1, absolute_x, inq),
            0xc6 => modify!(MODIFY, base_page, deq),
            0xd6 => modify!(MODIFY, base_page_x, deq),
            0xce => modify!(MODIFY + 1, absolute, deq),
            0xde => modify!(MODIFY + 1, absolute_x, deq),
            0x0a => register!(aslq),
            0x4a => register!(lsrq),
            0x43 => register!(asrq),
            0x2a => register!(rolq),
            0x6a => register!(rorq),
            0x1a => register!(inq),
            0x3a => register!(deq),
            0xea if w >> 24 & 0x1f == 0x12 => c.flat_quad(bus, (w >> 24) as u8),
            _ if undocumented(opcode) => {
                c.pc = start;
                return Err(Exit::UndocumentedQ { pc: start, opcode });
            }
            // Anything else is executed as if the two NEGs stood alone.
            _ => bus.advance(1),
        }
        Ok(())
    }

    /// NEG NEG EOM and one of the eight `(bp),Z` opcodes; `pc` is at the EOM.
    #[inline(always)]
    fn flat_quad<B: Bus>(&mut self, bus: &mut B, opcode: u8) {
        if self.interrupts_blocked {
            self.interrupts_blocked = false;
            bus.request_attention();
        }
        self.pc = self.pc.wrapping_add(1);
        let w = bus.fetch(self.pc);
        let index = if opcode == 0xb2 { self.z } else { 0 };
        let address = self.flat_pointer(bus, w, index);
        let crosses = address & 0xffff > 0xfffc;
        if crosses {
            bus.hazard(Hazard::FlatQCrossesBank, self.pc);
        }
        if opcode == 0x92 {
            if crosses {
                for (n, byte) in (0..).zip(self.q().to_le_bytes()) {
                    bus.write_flat(in_bank(address, n), byte);
                }
            } else {
                bus.write_flat_quad(address, self.q());
            }
            bus.advance(LOAD + 3);
            return;
        }
        let m = if crosses {
            u32::from_le_bytes([0, 1, 2, 3].map(|n| bus.read_flat(in_bank(address, n))))
        } else {
            bus.read_flat_quad(address)
        };
        match opcode {
            0x12 => self.orq(m),
            0x32 => self.andq(m),
            0x52 => self.eorq(m),
            0x72 => self.adcq(m),
            0xb2 => self.ldq(m),
            0xd2 => self.cmpq(m),
            _ => self.sbcq(m),
        }
        bus.advance(if opcode == 0xb2 { LOAD + 4 } else { LOAD + 5 });
        if bus.fetch(self.pc) & 0x1f == 0x12 {
            bus.hazard(Hazard::FlatQThenIndirectZ, self.pc);
        }
    }

    /// EOM and one of the eight `(bp),Z` opcodes; one cycle has been counted.
    #[inline(always)]
    pub(super) fn flat<B: Bus>(&mut self, bus: &mut B, w: u32) {
        self.pc = self.pc.wrapping_add(1);
        let opcode = (w >> 8) as u8;
        let address = self.flat_pointer(bus, w >> 8, self.z);
        if opcode == 0x92 {
            bus.write_flat(address, self.a);
            bus.advance(8);
            return;
        }
        let m = bus.read_flat(address);
        match opcode {
            0x12 => self.ora(m),
            0x32 => self.and(m),
            0x52 => self.eor(m),
            0x72 => self.adc(m),
            0xb2 => self.lda(m),
            0xd2 => self.cmp(m),
            _ => self.sbc(m),
        }
        // Measured, not explained: ADC and LDA take longer than the rest.
        bus.advance(match opcode {
            0x72 => 13,
            0xb2 => 12,
            _ => 9,
        });
    }

    #[inline(always)]
    fn ldq(&mut self, m: u32) {
        self.set_q(m);
        self.nz32(m);
    }

    #[inline(always)]
    fn orq(&mut self, m: u32) {
        self.ldq(self.q() | m);
    }

    #[inline(always)]
    fn andq(&mut self, m: u32) {
        self.ldq(self.q() & m);
    }

    #[inline(always)]
    fn eorq(&mut self, m: u32) {
        self.ldq(self.q() ^ m);
    }

    /// Binary whatever D says.
    #[inline(always)]
    fn adcq(&mut self, m: u32) {
        let q = self.q();
        let sum = u64::from(q) + u64::from(m) + u64::from(self.carry);
        let result = sum as u32;
        self.overflow = (!(q ^ m) & (q ^ result)) >> 31 != 0;
        self.carry = sum >> 32 != 0;
        self.ldq(result);
    }

    #[inline(always)]
    fn sbcq(&mut self, m: u32) {
        self.adcq(!m);
    }

    #[inline(always)]
    fn cmpq(&mut self, m: u32) {
        let q = self.q();
        self.carry = q >= m;
        self.nz32(q.wrapping_sub(m));
    }

    #[inline(always)]
    fn bitq(&mut self, m: u32) {
        self.negative = (m >> 24) as u8;
        self.overflow = m >> 30 & 1 != 0;
        self.nonzero = u8::from(self.q() & m != 0);
    }

    #[inline(always)]
    fn aslq(&mut self, m: u32) -> u32 {
        self.carry = m >> 31 != 0;
        self.with_nz(m << 1)
    }

    #[inline(always)]
    fn lsrq(&mut self, m: u32) -> u32 {
        self.carry = m & 1 != 0;
        self.with_nz(m >> 1)
    }

    #[inline(always)]
    fn asrq(&mut self, m: u32) -> u32 {
        self.carry = m & 1 != 0;
        self.with_nz((m as i32 >> 1) as u32)
    }

    #[inline(always)]
    fn rolq(&mut self, m: u32) -> u32 {
        let result = m << 1 | u32::from(self.carry);
        self.carry = m >> 31 != 0;
        self.with_nz(result)
    }

    #[inline(always)]
    fn rorq(&mut self, m: u32) -> u32 {
        let result = m >> 1 | u32::from(self.carry) << 31;
        self.carry = m & 1 != 0;
        self.with_nz(result)
    }

    #[inline(always)]
    fn inq(&mut self, m: u32) -> u32 {
        self.with_nz(m.wrapping_add(1))
    }

    #[inline(always)]
    fn deq(&mut self, m: u32) -> u32 {
        self.with_nz(m.wrapping_sub(1))
    }

    #[inline(always)]
    fn with_nz(&mut self, value: u32) -> u32 {
        self.nz32(value);
        value
    }
}

/// Byte `n` of a quad whose address wraps inside its 64 KB bank.
#[inline(always)]
fn in_bank(address: u32, n: u32) -> u32 {
    (address & 0xfff_0000 | address.wrapping_add(n) & 0xffff) & FLAT_MASK
}

/// The instruction word from the opcode on, in the form that the addressing modes expect.
#[inline(always)]
fn operand<B: Bus>(bus: &mut B, pc: u16, w: u32) -> u32 {
    // The first word holds the opcode and one operand byte; absolute forms need one more.
    if matches!((w >> 16) as u8 & 0x0f, 0x0c..) { bus.fetch(pc) } else { w >> 16 }
}
