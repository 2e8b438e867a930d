//! Random instructions run here and on an independent 6502/65C02 core, compared after each one.
//!
//! Left out, because the 45GS02 differs: decimal flags (compared by value only), WAI, STP,
//! pointers at the end of the base page, JMP ($xxFF).

#![allow(clippy::unwrap_used, clippy::panic)]

use mos6502::Variant;
use mos6502::cpu::CPU;
use mos6502::instruction::{Nmos6502, W65C02S};
use mos6502::memory::{Bus as _, Memory};
use mos6502::registers::{StackPointer, Status};
use ssnail_m65::cpu::{Cpu, FlatBus};

/// Documented NMOS opcodes by row; each row lists the low digits.
#[rustfmt::skip]
const NMOS: [&str; 16] = [
    "015689ade", "015689de", "0145689acde", "015689de", "015689acde", "015689de", "015689acde", "015689de",
    "14568acde", "0145689ad", "01245689acde", "0145689acde", "0145689acde", "015689de", "0145689acde", "015689de",
];

/// What the 65C02 with the Rockwell extensions adds.
#[rustfmt::skip]
const CMOS: [&str; 16] = [
    "4c7f", "24ac7f", "7f", "24ac7f", "7f", "2a7f", "47f", "24ac7f",
    "07f", "2ce7f", "7f", "27f", "7f", "2a7f", "7f", "2a7f",
];

fn opcodes(rows: &[&str; 16]) -> Vec<u8> {
    let digits = |row: &str| -> Vec<u8> { row.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect() };
    (0u8..16).zip(rows).flat_map(|(high, row)| digits(row).into_iter().map(move |d| high << 4 | d)).collect()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}

fn run<V: Variant>(variant: V, opcodes: &[u8], seed: u64, steps: u32, skip: impl Fn(u8, u8, u8, u8) -> bool) {
    let mut random = Random(seed);
    let mut other = CPU::new(Memory::new(), variant);
    let mut bus = FlatBus::new(0);
    bus.deadline = 0;
    for address in 0..=0xffff {
        let value = random.byte();
        bus.ram[usize::from(address)] = value;
        other.memory.set_byte(address, value);
    }
    let mut cpu = Cpu::new();
    cpu.pc = 0x3000;
    cpu.z = 0;
    other.registers.stack_pointer = StackPointer(0xff);
    for step in 0..steps {
        if step % 64 == 0 {
            cpu.pc = random.next() as u16;
            (cpu.a, cpu.x, cpu.y) = (random.byte(), random.byte(), random.byte());
        }
        // The decimal flags of the two families differ; they have their own test.
        cpu.set_p(cpu.p() & !0x08);
        other.registers.program_counter = cpu.pc;
        other.registers.accumulator = cpu.a;
        other.registers.index_x = cpu.x;
        other.registers.index_y = cpu.y;
        other.registers.status = Status::from_bits_truncate(cpu.p() | 0x20);
        let (opcode, low, high) = loop {
            let opcode = opcodes[random.next() as usize % opcodes.len()];
            let (low, high) = (random.byte(), random.byte());
            if !skip(opcode, low, high, cpu.x) {
                break (opcode, low, high);
            }
        };
        let pc = cpu.pc;
        for (n, byte) in [(0, opcode), (1, low), (2, high)] {
            bus.ram[usize::from(pc.wrapping_add(n))] = byte;
            other.memory.set_byte(pc.wrapping_add(n), byte);
        }
        cpu.run(&mut bus);
        assert!(other.single_step(), "{opcode:02x}");
        let context = format!("step {step}: {opcode:02x} {low:02x} {high:02x} at {pc:04x}");
        let theirs = &other.registers;
        assert_eq!(
            [cpu.a, cpu.x, cpu.y, cpu.sp as u8],
            [theirs.accumulator, theirs.index_x, theirs.index_y, theirs.stack_pointer.0],
            "{context}"
        );
        assert_eq!(cpu.pc, theirs.program_counter, "{context}");
        assert_eq!(cpu.p() & 0xcf, theirs.status.bits() & 0xcf, "{context}");
        assert_eq!((cpu.z, cpu.b, cpu.sp >> 8), (0, 0, 1), "{context}");
        if step % 512 == 0 {
            for address in 0..=0xffffu16 {
                assert_eq!(bus.ram[usize::from(address)], other.memory.get_byte(address), "{address:04x} {context}");
            }
        }
    }
}

/// Pointers at $FF, and instructions without their meaning here.
fn differs(opcode: u8, low: u8, x: u8) -> bool {
    match opcode & 0x1f {
        0x01 => low.wrapping_add(x) == 0xff,
        0x11 | 0x12 => low == 0xff,
        // A prefix, if such an opcode follows.
        0x0a => opcode == 0xea && low & 0x1f == 0x12,
        _ => false,
    }
}

#[test]
fn nmos_instructions_agree() {
    let opcodes = opcodes(&NMOS);
    assert_eq!(opcodes.len(), 151);
    run(Nmos6502, &opcodes, 0x1234_5678_9abc_def1, 120_000, |opcode, low, _, x| {
        differs(opcode, low, x) || opcode == 0x6c && low == 0xff
    });
}

#[test]
fn cmos_instructions_agree() {
    let mut all = opcodes(&NMOS);
    all.extend(opcodes(&CMOS));
    // BRK clears D there.
    all.retain(|&o| o != 0x00);
    assert_eq!(all.len(), 151 - 1 + 58);
    run(W65C02S, &all, 0x0fed_cba9_8765_4321, 120_000, |opcode, low, _, x| differs(opcode, low, x));
}

/// All valid decimal operands: value and carry against the other core and against arithmetic.
#[test]
fn decimal_results_agree() {
    let mut bus = FlatBus::new(0);
    bus.deadline = 0;
    let mut other = CPU::new(Memory::new(), Nmos6502);
    let bcd = |n: u8| ((n / 10) << 4) | (n % 10);
    for (opcode, a, m, carry) in (0..2u8)
        .flat_map(|o| (0..100u8).flat_map(move |a| (0..100u8).flat_map(move |m| [false, true].map(|c| (o, a, m, c)))))
    {
        let add = opcode == 0;
        bus.ram[0x2000] = if add { 0x69 } else { 0xe9 };
        bus.ram[0x2001] = bcd(m);
        let mut cpu = Cpu::new();
        cpu.pc = 0x2000;
        cpu.a = bcd(a);
        cpu.set_p(0x08 | u8::from(carry));
        cpu.run(&mut bus);
        other.memory.set_byte(0x2000, bus.ram[0x2000]);
        other.memory.set_byte(0x2001, bcd(m));
        other.registers.program_counter = 0x2000;
        other.registers.accumulator = bcd(a);
        other.registers.status = Status::from_bits_truncate(0x08 | u8::from(carry));
        other.single_step();
        let (a, m, c) = (i32::from(a), i32::from(m), i32::from(carry));
        let value = if add { a + m + c } else { a - m - (1 - c) };
        let expected = (bcd(value.rem_euclid(100) as u8), if add { value > 99 } else { value >= 0 });
        assert_eq!((cpu.a, cpu.p() & 1 != 0), expected, "{a} {m} {c} {add}");
        assert_eq!(
            (cpu.a, cpu.p() & 1 != 0),
            (other.registers.accumulator, other.registers.status.contains(Status::PS_CARRY))
        );
        let binary = if add {
            bcd(a as u8).wrapping_add(bcd(m as u8)).wrapping_add(c as u8)
        } else {
            bcd(a as u8).wrapping_sub(bcd(m as u8)).wrapping_sub(1 - c as u8)
        };
        assert_eq!(cpu.p() & 2 != 0, binary == 0, "Z is that of the binary result");
    }
}
