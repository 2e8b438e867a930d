//! The inner loop: fetch, decode, execute.
//!
//! The registers live in a local copy during a run and every helper is inlined, so that the
//! compiler may keep them in machine registers. Each arm advances the program counter by a
//! constant: the next fetch does not wait for a table look-up.

use super::opcodes::{CYCLES, TAKEN_LONG, TAKEN_SHORT};
use super::{Bus, Cpu, Exit};

/// Stands for a prefixed instruction when the length of the last instruction is asked for.
const PREFIXED: u8 = 0x00;

/// Read-modify-write instructions write the old value first at this address only.
const DOUBLE_WRITE: u16 = 0xd019;

impl Cpu {
    /// Executes instructions until the bus is due, at least one.
    ///
    /// Interrupts are not looked at: the caller asserts them with [`Cpu::irq`] and [`Cpu::nmi`]
    /// between runs. Instructions that change what interrupts may do make the bus due.
    pub fn run<B: Bus>(&mut self, bus: &mut B) -> Exit {
        let mut c = *self;
        let exit = loop {
            let w = bus.fetch(c.pc);
            let mut opcode = w as u8;
            bus.advance(u32::from(CYCLES[usize::from(opcode)]));
            macro_rules! load {
                ($mode:ident, $operation:ident) => {{
                    let address = c.$mode(bus, w);
                    let m = bus.read(address);
                    c.$operation(m);
                }};
            }
            macro_rules! load_immediate {
                ($operation:ident) => {{
                    c.pc = c.pc.wrapping_add(2);
                    c.$operation((w >> 8) as u8);
                }};
            }
            macro_rules! store {
                ($mode:ident, $register:ident) => {{
                    let address = c.$mode(bus, w);
                    bus.write(address, c.$register);
                }};
            }
            macro_rules! modify {
                ($mode:ident, $operation:ident) => {{
                    let address = c.$mode(bus, w);
                    let m = bus.read(address);
                    if address == DOUBLE_WRITE {
                        bus.write(address, m);
                    }
                    let result = c.$operation(m);
                    bus.write(address, result);
                }};
            }
            macro_rules! accumulator {
                ($operation:ident) => {{
                    c.pc = c.pc.wrapping_add(1);
                    c.a = c.$operation(c.a);
                }};
            }
            macro_rules! step {
                ($register:ident, $operation:ident) => {{
                    c.pc = c.pc.wrapping_add(1);
                    c.$register = c.$operation(c.$register);
                }};
            }
            macro_rules! transfer {
                ($to:ident, $from:ident) => {{
                    c.pc = c.pc.wrapping_add(1);
                    c.$to = c.$from;
                    c.nz(c.$from);
                }};
            }
            macro_rules! flag {
                ($flag:ident, $value:literal) => {{
                    c.pc = c.pc.wrapping_add(1);
                    c.$flag = $value;
                }};
            }
            macro_rules! branch {
                ($condition:expr) => {{
                    c.pc = c.pc.wrapping_add(2);
                    if $condition {
                        c.pc = c.pc.wrapping_add((w >> 8) as i8 as u16);
                        bus.advance(u32::from(TAKEN_SHORT));
                    }
                }};
            }
            macro_rules! long_branch {
                ($condition:expr) => {{
                    if $condition {
                        c.pc = long_target(c.pc, w);
                        bus.advance(u32::from(TAKEN_LONG));
                    } else {
                        c.pc = c.pc.wrapping_add(3);
                    }
                }};
            }
            macro_rules! bit_branch {
                ($condition:expr) => {{
                    let address = c.base(w);
                    let condition: fn(u8) -> bool = $condition;
                    let taken = condition(bus.read(address));
                    c.pc = c.pc.wrapping_add(3);
                    if taken {
                        c.pc = c.pc.wrapping_add((w >> 16) as i8 as u16);
                        bus.advance(u32::from(TAKEN_LONG));
                    }
                }};
            }
            macro_rules! bit_change {
                ($change:expr) => {{
                    let address = c.base_page(bus, w);
                    let change: fn(u8) -> u8 = $change;
                    let m = bus.read(address);
                    bus.write(address, change(m));
                }};
            }
            macro_rules! push {
                ($register:ident) => {{
                    c.pc = c.pc.wrapping_add(1);
                    c.push(bus, c.$register);
                }};
            }
            macro_rules! pull {
                ($register:ident) => {{
                    c.pc = c.pc.wrapping_add(1);
                    c.$register = c.pull(bus);
                    c.nz(c.$register);
                }};
            }
            match opcode {
                0x00 => c.brk(bus),
                0x01 => load!(indirect_x, ora),
                0x02 => c.change_e(false),
                0x03 => c.change_e(true),
                0x04 => modify!(base_page, tsb),
                0x05 => load!(base_page, ora),
                0x06 => modify!(base_page, asl),
                0x07 => bit_change!(|m| m & !0x01),
                0x08 => c.php(bus),
                0x09 => load_immediate!(ora),
                0x0a => accumulator!(asl),
                0x0b => c.tsy(),
                0x0c => modify!(absolute, tsb),
                0x0d => load!(absolute, ora),
                0x0e => modify!(absolute, asl),
                0x0f => bit_branch!(|m| m & 0x01 == 0),
                0x10 => branch!(c.negative & 0x80 == 0),
                0x11 => load!(indirect_y, ora),
                0x12 => load!(indirect_z, ora),
                0x13 => long_branch!(c.negative & 0x80 == 0),
                0x14 => modify!(base_page, trb),
                0x15 => load!(base_page_x, ora),
                0x16 => modify!(base_page_x, asl),
                0x17 => bit_change!(|m| m & !0x02),
                0x18 => flag!(carry, false),
                0x19 => load!(absolute_y, ora),
                0x1a => accumulator!(inc),
                0x1b => step!(z, inc),
                0x1c => modify!(absolute, trb),
                0x1d => load!(absolute_x, ora),
                0x1e => modify!(absolute_x, asl),
                0x1f => bit_branch!(|m| m & 0x02 == 0),
                0x20 => c.jsr(bus, w),
                0x21 => load!(indirect_x, and),
                0x22 => c.jsr_indirect(bus, w, 0),
                0x23 => c.jsr_indirect(bus, w, u16::from(c.x)),
                0x24 => load!(base_page, bit),
                0x25 => load!(base_page, and),
                0x26 => modify!(base_page, rol),
                0x27 => bit_change!(|m| m & !0x04),
                0x28 => c.plp(bus),
                0x29 => load_immediate!(and),
                0x2a => accumulator!(rol),
                0x2b => c.tys(),
                0x2c => load!(absolute, bit),
                0x2d => load!(absolute, and),
                0x2e => modify!(absolute, rol),
                0x2f => bit_branch!(|m| m & 0x04 == 0),
                0x30 => branch!(c.negative & 0x80 != 0),
                0x31 => load!(indirect_y, and),
                0x32 => load!(indirect_z, and),
                0x33 => long_branch!(c.negative & 0x80 != 0),
                0x34 => load!(base_page_x, bit),
                0x35 => load!(base_page_x, and),
                0x36 => modify!(base_page_x, rol),
                0x37 => bit_change!(|m| m & !0x08),
                0x38 => flag!(carry, true),
                0x39 => load!(absolute_y, and),
                0x3a => accumulator!(dec),
                0x3b => step!(z, dec),
                0x3c => load!(absolute_x, bit),
                0x3d => load!(absolute_x, and),
                0x3e => modify!(absolute_x, rol),
                0x3f => bit_branch!(|m| m & 0x08 == 0),
                0x40 => c.rti(bus),
                0x41 => load!(indirect_x, eor),
                0x42 => {
                    if w >> 8 & 0xff == 0x42 {
                        match c.quad(bus, w) {
                            Ok(()) => opcode = PREFIXED,
                            Err(exit) => break exit,
                        }
                    } else {
                        c.pc = c.pc.wrapping_add(1);
                        c.neg();
                    }
                }
                0x43 => accumulator!(asr),
                0x44 => modify!(base_page, asr),
                0x45 => load!(base_page, eor),
                0x46 => modify!(base_page, lsr),
                0x47 => bit_change!(|m| m & !0x10),
                0x48 => push!(a),
                0x49 => load_immediate!(eor),
                0x4a => accumulator!(lsr),
                0x4b => transfer!(z, a),
                0x4c => c.pc = (w >> 8) as u16,
                0x4d => load!(absolute, eor),
                0x4e => modify!(absolute, lsr),
                0x4f => bit_branch!(|m| m & 0x10 == 0),
                0x50 => branch!(!c.overflow),
                0x51 => load!(indirect_y, eor),
                0x52 => load!(indirect_z, eor),
                0x53 => long_branch!(!c.overflow),
                0x54 => modify!(base_page_x, asr),
                0x55 => load!(base_page_x, eor),
                0x56 => modify!(base_page_x, lsr),
                0x57 => bit_change!(|m| m & !0x20),
                0x58 => c.cli(bus),
                0x59 => load!(absolute_y, eor),
                0x5a => push!(y),
                0x5b => c.tab(),
                0x5c => c.map(bus),
                0x5d => load!(absolute_x, eor),
                0x5e => modify!(absolute_x, lsr),
                0x5f => bit_branch!(|m| m & 0x20 == 0),
                0x60 => c.rts(bus),
                0x61 => load!(indirect_x, adc),
                0x62 => c.rts_drop(bus, w),
                0x63 => c.bsr(bus, w),
                0x64 => store!(base_page, z),
                0x65 => load!(base_page, adc),
                0x66 => modify!(base_page, ror),
                0x67 => bit_change!(|m| m & !0x40),
                0x68 => pull!(a),
                0x69 => load_immediate!(adc),
                0x6a => accumulator!(ror),
                0x6b => transfer!(a, z),
                0x6c => c.pc = bus.read_word((w >> 8) as u16),
                0x6d => load!(absolute, adc),
                0x6e => modify!(absolute, ror),
                0x6f => bit_branch!(|m| m & 0x40 == 0),
                0x70 => branch!(c.overflow),
                0x71 => load!(indirect_y, adc),
                0x72 => load!(indirect_z, adc),
                0x73 => long_branch!(c.overflow),
                0x74 => store!(base_page_x, z),
                0x75 => load!(base_page_x, adc),
                0x76 => modify!(base_page_x, ror),
                0x77 => bit_change!(|m| m & !0x80),
                0x78 => flag!(irq_disabled, true),
                0x79 => load!(absolute_y, adc),
                0x7a => pull!(y),
                0x7b => transfer!(a, b),
                0x7c => c.pc = bus.read_word(((w >> 8) as u16).wrapping_add(u16::from(c.x))),
                0x7d => load!(absolute_x, adc),
                0x7e => modify!(absolute_x, ror),
                0x7f => bit_branch!(|m| m & 0x80 == 0),
                0x80 => c.bra(w),
                0x81 => store!(indirect_x, a),
                0x82 => store!(stack_indirect_y, a),
                0x83 => c.pc = long_target(c.pc, w),
                0x84 => store!(base_page, y),
                0x85 => store!(base_page, a),
                0x86 => store!(base_page, x),
                0x87 => bit_change!(|m| m | 0x01),
                0x88 => step!(y, dec),
                0x89 => load_immediate!(bit),
                0x8a => transfer!(a, x),
                0x8b => store!(absolute_x, y),
                0x8c => store!(absolute, y),
                0x8d => store!(absolute, a),
                0x8e => store!(absolute, x),
                0x8f => bit_branch!(|m| m & 0x01 != 0),
                0x90 => branch!(!c.carry),
                0x91 => store!(indirect_y, a),
                0x92 => store!(indirect_z, a),
                0x93 => long_branch!(!c.carry),
                0x94 => store!(base_page_x, y),
                0x95 => store!(base_page_x, a),
                0x96 => store!(base_page_y, x),
                0x97 => bit_change!(|m| m | 0x02),
                0x98 => transfer!(a, y),
                0x99 => store!(absolute_y, a),
                0x9a => c.txs(),
                0x9b => store!(absolute_y, x),
                0x9c => store!(absolute, z),
                0x9d => store!(absolute_x, a),
                0x9e => store!(absolute_x, z),
                0x9f => bit_branch!(|m| m & 0x02 != 0),
                0xa0 => load_immediate!(ldy),
                0xa1 => load!(indirect_x, lda),
                0xa2 => load_immediate!(ldx),
                0xa3 => load_immediate!(ldz),
                0xa4 => load!(base_page, ldy),
                0xa5 => load!(base_page, lda),
                0xa6 => load!(base_page, ldx),
                0xa7 => bit_change!(|m| m | 0x04),
                0xa8 => transfer!(y, a),
                0xa9 => load_immediate!(lda),
                0xaa => transfer!(x, a),
                0xab => load!(absolute, ldz),
                0xac => load!(absolute, ldy),
                0xad => load!(absolute, lda),
                0xae => load!(absolute, ldx),
                0xaf => bit_branch!(|m| m & 0x04 != 0),
                0xb0 => branch!(c.carry),
                0xb1 => load!(indirect_y, lda),
                0xb2 => load!(indirect_z, lda),
                0xb3 => long_branch!(c.carry),
                0xb4 => load!(base_page_x, ldy),
                0xb5 => load!(base_page_x, lda),
                0xb6 => load!(base_page_y, ldx),
                0xb7 => bit_change!(|m| m | 0x08),
                0xb8 => flag!(overflow, false),
                0xb9 => load!(absolute_y, lda),
                0xba => c.tsx(),
                0xbb => load!(absolute_x, ldz),
                0xbc => load!(absolute_x, ldy),
                0xbd => load!(absolute_x, lda),
                0xbe => load!(absolute_y, ldx),
                0xbf => bit_branch!(|m| m & 0x08 != 0),
                0xc0 => load_immediate!(cpy),
                0xc1 => load!(indirect_x, cmp),
                0xc2 => load_immediate!(cpz),
                0xc3 => c.change_word(bus, w, u16::wrapping_sub),
                0xc4 => load!(base_page, cpy),
                0xc5 => load!(base_page, cmp),
                0xc6 => modify!(base_page, dec),
                0xc7 => bit_change!(|m| m | 0x10),
                0xc8 => step!(y, inc),
                0xc9 => load_immediate!(cmp),
                0xca => step!(x, dec),
                0xcb => c.asw(bus, w),
                0xcc => load!(absolute, cpy),
                0xcd => load!(absolute, cmp),
                0xce => modify!(absolute, dec),
                0xcf => bit_branch!(|m| m & 0x10 != 0),
                0xd0 => branch!(c.nonzero != 0),
                0xd1 => load!(indirect_y, cmp),
                0xd2 => load!(indirect_z, cmp),
                0xd3 => long_branch!(c.nonzero != 0),
                0xd4 => load!(base_page, cpz),
                0xd5 => load!(base_page_x, cmp),
                0xd6 => modify!(base_page_x, dec),
                0xd7 => bit_change!(|m| m | 0x20),
                0xd8 => flag!(decimal, false),
                0xd9 => load!(absolute_y, cmp),
                0xda => push!(x),
                0xdb => push!(z),
                0xdc => load!(absolute, cpz),
                0xdd => load!(absolute_x, cmp),
                0xde => modify!(absolute_x, dec),
                0xdf => bit_branch!(|m| m & 0x20 != 0),
                0xe0 => load_immediate!(cpx),
                0xe1 => load!(indirect_x, sbc),
                0xe2 => load!(stack_indirect_y, lda),
                0xe3 => c.change_word(bus, w, u16::wrapping_add),
                0xe4 => load!(base_page, cpx),
                0xe5 => load!(base_page, sbc),
                0xe6 => modify!(base_page, inc),
                0xe7 => bit_change!(|m| m | 0x40),
                0xe8 => step!(x, inc),
                0xe9 => load_immediate!(sbc),
                0xea => {
                    if c.interrupts_blocked {
                        c.interrupts_blocked = false;
                        bus.request_attention();
                    }
                    if w >> 8 & 0x1f == 0x12 {
                        c.flat(bus, w);
                        opcode = PREFIXED;
                    } else {
                        c.pc = c.pc.wrapping_add(1);
                    }
                }
                0xeb => c.row(bus, w),
                0xec => load!(absolute, cpx),
                0xed => load!(absolute, sbc),
                0xee => modify!(absolute, inc),
                0xef => bit_branch!(|m| m & 0x40 != 0),
                0xf0 => branch!(c.nonzero == 0),
                0xf1 => load!(indirect_y, sbc),
                0xf2 => load!(indirect_z, sbc),
                0xf3 => long_branch!(c.nonzero == 0),
                0xf4 => c.phw_immediate(bus, w),
                0xf5 => load!(base_page_x, sbc),
                0xf6 => modify!(base_page_x, inc),
                0xf7 => bit_change!(|m| m | 0x80),
                0xf8 => flag!(decimal, true),
                0xf9 => load!(absolute_y, sbc),
                0xfa => pull!(x),
                0xfb => pull!(z),
                0xfc => c.phw(bus, w),
                0xfd => load!(absolute_x, sbc),
                0xfe => modify!(absolute_x, inc),
                0xff => bit_branch!(|m| m & 0x80 != 0),
            }
            if bus.due() {
                c.after_single_cycle = CYCLES[usize::from(opcode)] == 1;
                break Exit::Due;
            }
        };
        *self = c;
        exit
    }
}

/// Target of a 16-bit branch at `pc`: two behind the opcode plus the offset.
#[inline(always)]
fn long_target(pc: u16, w: u32) -> u16 {
    pc.wrapping_add(2).wrapping_add((w >> 8) as u16)
}
