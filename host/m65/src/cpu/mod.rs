//! The 45GS02 processor.
//!
//! [`Cpu::run`] executes until the [`Bus`] says that something is due. Where the hardware
//! description and Xemu differ, this core does what the hardware description says and reports
//! the case as a [`Hazard`].

mod address;
mod alu;
mod bus;
mod control;
mod disassemble;
mod execute;
pub mod opcodes;
mod quad;

pub use bus::{Bus, FlatBus, Hazard, Mapping};
pub use disassemble::disassemble;

/// Bits of a flat address that count.
pub const FLAT_MASK: u32 = 0x0fff_ffff;

/// Carry.
pub const FLAG_C: u8 = 0x01;
/// Zero.
pub const FLAG_Z: u8 = 0x02;
/// Interrupt disable.
pub const FLAG_I: u8 = 0x04;
/// Decimal.
pub const FLAG_D: u8 = 0x08;
/// Break: set in the P pushed by BRK and PHP.
pub const FLAG_B: u8 = 0x10;
/// Extended stack disable: 8-bit stack pointer when set.
pub const FLAG_E: u8 = 0x20;
/// Overflow.
pub const FLAG_V: u8 = 0x40;
/// Negative.
pub const FLAG_N: u8 = 0x80;

const NMI_VECTOR: u16 = 0xfffa;
const IRQ_VECTOR: u16 = 0xfffe;
const INTERRUPT_CYCLES: u32 = 7;

/// Why [`Cpu::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The bus asked for attention; calling `run` again continues.
    Due,
    /// A Q form without documented meaning; `pc` is the address of its first prefix byte.
    UndocumentedQ {
        /// Address of the first prefix byte.
        pc: u16,
        /// Opcode behind the prefix.
        opcode: u8,
    },
}

/// Registers and interrupt state.
///
/// The flags N and Z are kept as the bytes that decide them, so that an instruction sets both
/// with one store each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Accumulator.
    pub a: u8,
    /// Index register X.
    pub x: u8,
    /// Index register Y.
    pub y: u8,
    /// Index register Z.
    pub z: u8,
    /// Base page.
    pub b: u8,
    /// Stack pointer, page in the high byte.
    pub sp: u16,
    /// Address of the next instruction.
    pub pc: u16,
    negative: u8,
    nonzero: u8,
    carry: bool,
    overflow: bool,
    decimal: bool,
    irq_disabled: bool,
    /// Which bits of the stack pointer push and pull change: $FF with E set, else $FFFF.
    stack_mask: u16,
    /// MAP registers.
    pub mapping: Mapping,
    /// True between MAP and EOM: no interrupts at all.
    pub interrupts_blocked: bool,
    /// The last instruction took one cycle: no interrupt directly after it.
    after_single_cycle: bool,
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Cpu {
    /// A CPU as `SYS` leaves it for a program: registers 0, base page 0, stack at $01FF, E set,
    /// D and I clear, nothing mapped.
    pub const fn new() -> Self {
        Self {
            a: 0,
            x: 0,
            y: 0,
            z: 0,
            b: 0,
            sp: 0x01ff,
            pc: 0,
            negative: 0,
            nonzero: 1,
            carry: false,
            overflow: false,
            decimal: false,
            irq_disabled: false,
            stack_mask: 0xff,
            mapping: Mapping { low_offset: 0, high_offset: 0, enabled: 0, low_megabyte: 0, high_megabyte: 0 },
            interrupts_blocked: false,
            after_single_cycle: false,
        }
    }

    /// The status register with the true E bit and B clear.
    #[inline(always)]
    pub fn p(&self) -> u8 {
        let mut p = self.negative & FLAG_N;
        if self.overflow {
            p |= FLAG_V;
        }
        if self.stack_mask == 0xff {
            p |= FLAG_E;
        }
        if self.decimal {
            p |= FLAG_D;
        }
        if self.irq_disabled {
            p |= FLAG_I;
        }
        if self.nonzero == 0 {
            p |= FLAG_Z;
        }
        p | u8::from(self.carry)
    }

    /// Sets all flags but E and B, as PLP does.
    #[inline(always)]
    pub fn set_p(&mut self, p: u8) {
        self.negative = p;
        self.overflow = p & FLAG_V != 0;
        self.decimal = p & FLAG_D != 0;
        self.irq_disabled = p & FLAG_I != 0;
        self.nonzero = !p & FLAG_Z;
        self.carry = p & FLAG_C != 0;
    }

    /// Sets or clears E (set: the stack pointer stays in its page).
    pub fn set_e(&mut self, set: bool) {
        self.stack_mask = if set { 0xff } else { 0xffff };
    }

    /// The Q register: A lowest, then X, Y, Z.
    #[inline(always)]
    pub fn q(&self) -> u32 {
        u32::from_le_bytes([self.a, self.x, self.y, self.z])
    }

    /// Sets A, X, Y and Z from Q; flags are left alone.
    #[inline(always)]
    pub fn set_q(&mut self, q: u32) {
        [self.a, self.x, self.y, self.z] = q.to_le_bytes();
    }

    /// Takes an NMI if interrupts can be taken now.
    pub fn nmi<B: Bus>(&mut self, bus: &mut B) -> bool {
        let taken = !self.interrupts_blocked && !self.after_single_cycle;
        if taken {
            self.interrupt(bus, NMI_VECTOR, 0);
            bus.advance(INTERRUPT_CYCLES);
        }
        taken
    }

    /// Takes an IRQ if interrupts can be taken now.
    pub fn irq<B: Bus>(&mut self, bus: &mut B) -> bool {
        let taken = !self.irq_disabled && !self.interrupts_blocked && !self.after_single_cycle;
        if taken {
            self.interrupt(bus, IRQ_VECTOR, 0);
            bus.advance(INTERRUPT_CYCLES);
        }
        taken
    }

    /// True when an asserted IRQ line would be served, now or after the next longer instruction.
    pub fn irq_possible(&self) -> bool {
        !self.irq_disabled && !self.interrupts_blocked
    }

    #[inline(always)]
    fn interrupt<B: Bus>(&mut self, bus: &mut B, vector: u16, break_flag: u8) {
        self.push(bus, (self.pc >> 8) as u8);
        self.push(bus, self.pc as u8);
        let p = self.p() | break_flag;
        self.push(bus, p);
        self.irq_disabled = true;
        self.pc = bus.read_word(vector);
    }

    /// Pushes a byte.
    #[inline(always)]
    pub fn push<B: Bus>(&mut self, bus: &mut B, value: u8) {
        bus.write(self.sp, value);
        let mask = self.stack_mask;
        self.sp = self.sp & !mask | self.sp.wrapping_sub(1) & mask;
    }

    /// Pulls a byte.
    #[inline(always)]
    pub fn pull<B: Bus>(&mut self, bus: &mut B) -> u8 {
        let mask = self.stack_mask;
        self.sp = self.sp & !mask | self.sp.wrapping_add(1) & mask;
        bus.read(self.sp)
    }
}
