//! Every opcode against results worked out by hand from the fact sheet's semantics.
//!
//! A case gives registers, the operand in memory and flags before, and what is different after
//! (flags are given completely). It is run in every addressing mode that the opcode matrix lists
//! for its mnemonic; everything not named must stay as it was, memory included.

#![allow(clippy::unwrap_used, clippy::panic)]

mod table;

use ssnail_m65::cpu::opcodes::{Mode, OPCODES};
use ssnail_m65::cpu::{Bus, Cpu, Exit, FlatBus};
use table::{CASES, Case, Q_CASES, Q_FORMS};

const CODE: u16 = 0x2000;
const BASE: u8 = 0x04;
const FLAT: u32 = 0x4_8123;

/// A machine with distinct registers.
fn machine(case: &Case) -> (Cpu, FlatBus) {
    let mut cpu = Cpu::new();
    (cpu.a, cpu.x, cpu.y, cpu.z) = (0xa1, 0x23, 0x45, 0x67);
    for (name, value) in &case.before {
        match name.as_str() {
            "a" => cpu.a = *value as u8,
            "x" => cpu.x = *value as u8,
            "y" => cpu.y = *value as u8,
            "z" => cpu.z = *value as u8,
            "q" => cpu.set_q(*value),
            "m" => {}
            other => panic!("{other} in {}", case.text),
        }
    }
    cpu.b = BASE;
    cpu.sp = 0x01f0;
    cpu.pc = CODE;
    cpu.set_p(case.flags_before);
    let mut bus = FlatBus::new(0x6_0000);
    for (n, cell) in (0u32..).zip(bus.ram.iter_mut()) {
        *cell = (n.wrapping_mul(0x9e37_79b1) >> 24) as u8;
    }
    bus.deadline = 0;
    (cpu, bus)
}

fn poke(bus: &mut FlatBus, address: u32, bytes: &[u8]) {
    let at = address as usize;
    bus.ram[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Places operand bytes and pointers; returns the operand bytes and the effective address.
fn place(mode: Mode, cpu: &Cpu, bus: &mut FlatBus) -> (Vec<u8>, u32) {
    let page = u32::from(BASE) << 8;
    let (x, y, z) = (u32::from(cpu.x), u32::from(cpu.y), u32::from(cpu.z));
    match mode {
        Mode::BasePage => (vec![0x80], page + 0x80),
        Mode::BasePageX => (vec![0xf0], page + ((0xf0 + x) & 0xff)),
        Mode::BasePageY => (vec![0xf0], page + ((0xf0 + y) & 0xff)),
        Mode::Absolute => (vec![0x34, 0x72], 0x7234),
        Mode::AbsoluteX => (vec![0xf8, 0xff], (0xfff8 + x) & 0xffff),
        Mode::AbsoluteY => (vec![0xf8, 0x72], 0x72f8 + y),
        Mode::IndirectX => {
            poke(bus, page + ((0xe0 + x) & 0xff), &[0x34, 0x72]);
            (vec![0xe0], 0x7234)
        }
        Mode::IndirectY => {
            poke(bus, page + 0x80, &[0xf8, 0x72]);
            (vec![0x80], 0x72f8 + y)
        }
        Mode::IndirectZ => {
            poke(bus, page + 0x80, &[0xf8, 0xff]);
            (vec![0x80], (0xfff8 + z) & 0xffff)
        }
        Mode::StackIndirectY => {
            poke(bus, 0x01f0 + 3, &[0xf8, 0x72]);
            (vec![3], 0x72f8 + y)
        }
        other => panic!("no operand in {other:?}"),
    }
}

fn check(case: &Case, code: &[u8], mut cpu: Cpu, mut bus: FlatBus, at: Option<(u32, usize)>, cycles: u32) {
    poke(&mut bus, u32::from(CODE), code);
    let mut expected = cpu;
    let mut memory = bus.ram.clone();
    expected.pc = CODE + code.len() as u16;
    for (name, value) in &case.after {
        match name.as_str() {
            "a" => expected.a = *value as u8,
            "x" => expected.x = *value as u8,
            "y" => expected.y = *value as u8,
            "z" => expected.z = *value as u8,
            "q" => expected.set_q(*value),
            "m" => {
                let (address, size) = at.expect("memory result");
                let bytes = value.to_le_bytes();
                memory[address as usize..][..size].copy_from_slice(&bytes[..size]);
            }
            other => panic!("{other} in {}", case.text),
        }
    }
    assert_eq!(cpu.run(&mut bus), Exit::Due);
    let context = format!("{} as {code:02x?}", case.text);
    assert_eq!(
        (cpu.a, cpu.x, cpu.y, cpu.z, cpu.b, cpu.sp, cpu.pc),
        (expected.a, expected.x, expected.y, expected.z, expected.b, expected.sp, expected.pc),
        "registers: {context}"
    );
    assert_eq!(cpu.p(), case.flags_after | 0x20, "flags: {context}");
    assert_eq!(bus.cycles, u64::from(cycles), "cycles: {context}");
    let changed: Vec<usize> = (0..memory.len()).filter(|&n| memory[n] != bus.ram[n]).collect();
    assert!(changed.is_empty(), "memory at {changed:x?}: {context}");
}

#[test]
fn every_operation_in_every_mode() {
    let cases = table::parse(CASES);
    let mut covered = 0;
    for (opcode, entry) in (0u8..=255).zip(OPCODES) {
        for case in cases.iter().filter(|c| c.mnemonic == entry.mnemonic) {
            covered += 1;
            let (cpu, mut bus) = machine(case);
            let cycles = u32::from(entry.cycles);
            let operand = case.operand();
            match entry.mode {
                Mode::Implied | Mode::Accumulator => {
                    // The case's m is the accumulator of shift and count instructions.
                    let mut cpu = cpu;
                    let mut case = case.clone();
                    if entry.mode == Mode::Accumulator
                        && let Some(m) = operand
                    {
                        cpu.a = m as u8;
                        case.after.iter_mut().filter(|(n, _)| n == "m").for_each(|(n, _)| *n = "a".into());
                    }
                    check(&case, &[opcode], cpu, bus, None, cycles);
                }
                Mode::Immediate => check(case, &[opcode, operand.unwrap() as u8], cpu, bus, None, cycles),
                mode => {
                    let (mut code, address) = place(mode, &cpu, &mut bus);
                    code.insert(0, opcode);
                    let size = case.size();
                    if let Some(m) = operand {
                        poke(&mut bus, address, &m.to_le_bytes()[..size]);
                    }
                    check(case, &code, cpu, bus, Some((address, size)), cycles);
                }
            }
        }
    }
    assert!(covered > 400, "{covered}");
}

/// The flat forms of the eight `(bp),Z` opcodes: operand at a 28-bit address, Z added.
#[test]
fn flat_forms_use_all_28_bits() {
    let cases = table::parse(CASES);
    for (opcode, entry) in (0u8..=255).zip(OPCODES).filter(|(_, e)| e.mode == Mode::IndirectZ) {
        for case in cases.iter().filter(|c| c.mnemonic == entry.mnemonic) {
            let (cpu, mut bus) = machine(case);
            // Bits 28-31 do not count and the index carries into the bank.
            let pointer = (FLAT - u32::from(cpu.z)) | 0xf000_0000;
            poke(&mut bus, 0x0480, &pointer.to_le_bytes());
            if let Some(m) = case.operand() {
                poke(&mut bus, FLAT, &[m as u8]);
            }
            let cycles = match entry.mnemonic {
                "ADC" => 14,
                "LDA" => 13,
                "STA" => 9,
                _ => 10,
            };
            check(case, &[0xea, opcode, 0x80], cpu, bus, Some((FLAT, 1)), cycles);
        }
    }
}

#[test]
fn every_q_form() {
    let cases = table::parse(Q_CASES);
    let mut covered = 0;
    for line in Q_FORMS.lines().filter(|l| !l.trim().is_empty()) {
        let mut fields = line.split_whitespace();
        let mnemonic = fields.next().unwrap();
        let mode = fields.next().unwrap();
        let opcode = u8::from_str_radix(fields.next().unwrap(), 16).unwrap();
        let cycles: u32 = fields.next().unwrap().parse().unwrap();
        for case in cases.iter().filter(|c| c.mnemonic == mnemonic) {
            covered += 1;
            let (mut cpu, mut bus) = machine(case);
            let mut case = case.clone();
            let mut code = vec![0x42, 0x42];
            // Only LDQ adds Z.
            let index = if mnemonic == "LDQ" { u32::from(cpu.z) } else { 0 };
            let mut at = None;
            match mode {
                "q" => {
                    if let Some(m) = case.operand() {
                        cpu.set_q(m);
                    }
                    case.after.iter_mut().filter(|(n, _)| n == "m").for_each(|(n, _)| *n = "q".into());
                    code.push(opcode);
                }
                "flat" => {
                    poke(&mut bus, 0x0480, &(FLAT - index).to_le_bytes());
                    code.extend([0xea, opcode, 0x80]);
                    at = Some(FLAT);
                }
                "(bp)" => {
                    poke(&mut bus, 0x0480, &(0x7234 - index).to_le_bytes()[..2]);
                    code.extend([opcode, 0x80]);
                    at = Some(0x7234);
                }
                other => {
                    let mode = match other {
                        "bp" => Mode::BasePage,
                        "bp,X" => Mode::BasePageX,
                        "abs" => Mode::Absolute,
                        "abs,X" => Mode::AbsoluteX,
                        _ => panic!("{other}"),
                    };
                    let (operand, address) = place(mode, &cpu, &mut bus);
                    code.push(opcode);
                    code.extend(operand);
                    at = Some(address);
                }
            }
            if let (Some(address), Some(m)) = (at, case.operand()) {
                poke(&mut bus, address, &m.to_le_bytes());
            }
            check(&case, &code, cpu, bus, at.map(|a| (a, 4)), cycles);
        }
    }
    assert!(covered > 120, "{covered}");
}

#[test]
fn undocumented_q_forms_stop() {
    for opcode in [0x42, 0x01, 0x11, 0xa9, 0xb5, 0xb9, 0xbd, 0x82, 0xe2, 0x34, 0x3c, 0xb1, 0xa1] {
        let (mut cpu, mut bus) = machine(&Case::default());
        poke(&mut bus, u32::from(CODE), &[0x42, 0x42, opcode, 0, 0]);
        assert_eq!(cpu.run(&mut bus), Exit::UndocumentedQ { pc: CODE, opcode });
        assert_eq!(cpu.pc, CODE);
    }
}

#[test]
fn two_negs_before_another_instruction_are_two_negs() {
    let (mut cpu, mut bus) = machine(&Case::default());
    poke(&mut bus, u32::from(CODE), &[0x42, 0x42, 0xe8]);
    cpu.run(&mut bus);
    cpu.run(&mut bus);
    assert_eq!((cpu.a, cpu.x, cpu.pc, bus.cycles), (0xa1, 0x24, CODE + 3, 3));
}

/// Condition flag, opcode when it is set.
#[test]
fn branches_short_and_long() {
    let table = [(0x80, 0x30), (0x40, 0x70), (0x01, 0xb0), (0x02, 0xf0)];
    for (flag, when_set) in table {
        for set in [false, true] {
            for (opcode, taken) in [(when_set, set), (when_set ^ 0x20, !set)] {
                for (long, offset) in [(false, 0x60u8), (false, 0x90), (true, 0x12)] {
                    let (mut cpu, mut bus) = machine(&Case::default());
                    cpu.set_p(if set { flag } else { !flag & 0xc3 });
                    let before = cpu.p();
                    let code = if long { vec![opcode | 3, offset, 0xf0] } else { vec![opcode, offset] };
                    poke(&mut bus, u32::from(CODE), &code);
                    cpu.run(&mut bus);
                    let (target, cycles) = match (long, taken) {
                        (false, false) => (CODE + 2, 2),
                        (false, true) if offset == 0x60 => (CODE + 2 + 0x60, 4),
                        (false, true) => (CODE + 2 - 0x70, 4),
                        (true, false) => (CODE + 3, 4),
                        (true, true) => (CODE + 2 - (0x1000 - 0x12), 5),
                    };
                    assert_eq!((cpu.pc, bus.cycles), (target, cycles), "{code:x?} {set}");
                    assert_eq!(cpu.p(), before);
                }
            }
        }
    }
    for (code, target, cycles) in [(vec![0x80, 0xfe], CODE, 4), (vec![0x83, 0x10, 0x01], CODE + 2 + 0x110, 5)] {
        let (mut cpu, mut bus) = machine(&Case::default());
        poke(&mut bus, u32::from(CODE), &code);
        cpu.run(&mut bus);
        assert_eq!((cpu.pc, bus.cycles), (target, cycles));
    }
}

#[test]
fn bit_instructions() {
    for n in 0..8u8 {
        for value in [0x00, 0xff, 1 << n, !(1 << n)] {
            let bit_set = value >> n & 1 == 1;
            for (base, result) in [(0x07u8, value & !(1 << n)), (0x87, value | 1 << n)] {
                let (mut cpu, mut bus) = machine(&Case::default());
                poke(&mut bus, u32::from(CODE), &[base + 16 * n, 0x80]);
                poke(&mut bus, 0x0480, &[value]);
                let p = cpu.p();
                cpu.run(&mut bus);
                assert_eq!((bus.ram[0x0480], cpu.pc, bus.cycles, cpu.p()), (result, CODE + 2, 6, p));
            }
            for (base, taken) in [(0x0fu8, !bit_set), (0x8f, bit_set)] {
                let (mut cpu, mut bus) = machine(&Case::default());
                poke(&mut bus, u32::from(CODE), &[base + 16 * n, 0x80, 0x85]);
                poke(&mut bus, 0x0480, &[value]);
                cpu.run(&mut bus);
                let expected = if taken { (CODE + 3 - 0x7b, 6) } else { (CODE + 3, 5) };
                assert_eq!((cpu.pc, bus.cycles), expected);
            }
        }
    }
}

#[test]
fn stack_instructions() {
    // Opcode, value pushed with the default registers and flags N Z C set.
    for (opcode, value) in [(0x48u8, 0xa1), (0xda, 0x23), (0x5a, 0x45), (0xdb, 0x67), (0x08, 0xb3)] {
        for (sp, extended, after) in [(0x0100, false, 0x01ff), (0x0100, true, 0x00ff), (0x01f0, false, 0x01ef)] {
            let (mut cpu, mut bus) = machine(&Case::default());
            cpu.sp = sp;
            cpu.set_p(0x83);
            cpu.set_e(!extended);
            poke(&mut bus, u32::from(CODE), &[opcode]);
            cpu.run(&mut bus);
            assert_eq!((bus.ram[usize::from(sp)], cpu.sp, bus.cycles), (value, after, 3));
        }
    }
    for (opcode, register) in [(0x68u8, 0), (0xfa, 1), (0x7a, 2), (0xfb, 3)] {
        for (sp, extended, from) in [(0x01ff, false, 0x0100), (0x01ff, true, 0x0200)] {
            let (mut cpu, mut bus) = machine(&Case::default());
            cpu.sp = sp;
            cpu.set_e(!extended);
            poke(&mut bus, u32::from(CODE), &[opcode]);
            poke(&mut bus, from, &[0x90]);
            cpu.run(&mut bus);
            let registers = [cpu.a, cpu.x, cpu.y, cpu.z];
            assert_eq!((registers[register], u32::from(cpu.sp), bus.cycles), (0x90, from, 4));
            assert_eq!(cpu.p() & 0x82, 0x80);
        }
    }
    // PLP leaves E and B alone.
    for (pulled, extended, expected) in [(0xff, true, 0xcf), (0x00, false, 0x20)] {
        let (mut cpu, mut bus) = machine(&Case::default());
        cpu.set_e(!extended);
        poke(&mut bus, u32::from(CODE), &[0x28]);
        poke(&mut bus, 0x01f1, &[pulled]);
        cpu.run(&mut bus);
        assert_eq!((cpu.p(), cpu.sp, bus.cycles), (expected, 0x01f1, 4));
    }
    // PHW: low byte first, so the high byte lies at the lower address.
    for (code, cycles) in [(vec![0xf4, 0x34, 0x12], 6), (vec![0xfc, 0x34, 0x72], 9)] {
        let (mut cpu, mut bus) = machine(&Case::default());
        poke(&mut bus, u32::from(CODE), &code);
        poke(&mut bus, 0x7234, &[0x34, 0x12]);
        cpu.run(&mut bus);
        assert_eq!((cpu.sp, bus.cycles, cpu.pc), (0x01ee, cycles, CODE + 3));
        assert_eq!(bus.ram[0x01ef..=0x01f0], [0x12, 0x34]);
    }
}

#[test]
fn calls_and_returns() {
    let calls: [(&[u8], u16, u64); 4] = [
        (&[0x20, 0x00, 0x30], 0x3000, 5),
        (&[0x22, 0x34, 0x72], 0x4321, 8),
        (&[0x23, 0x11, 0x72], 0x4321, 8),
        (&[0x63, 0x10, 0xff], CODE + 2 - 0xf0, 5),
    ];
    for (code, target, cycles) in calls {
        let (mut cpu, mut bus) = machine(&Case::default());
        poke(&mut bus, u32::from(CODE), code);
        poke(&mut bus, 0x7234, &[0x21, 0x43]);
        cpu.run(&mut bus);
        assert_eq!((cpu.pc, cpu.sp, bus.cycles), (target, 0x01ee, cycles), "{code:x?}");
        assert_eq!(bus.ram[0x01ef..=0x01f0], [0x02, 0x20]);
    }
    let jumps: [(&[u8], u16, u64); 3] =
        [(&[0x4c, 0x00, 0x30], 0x3000, 5), (&[0x6c, 0x34, 0x72], 0x4321, 7), (&[0x7c, 0x11, 0x72], 0x4321, 7)];
    for (code, target, cycles) in jumps {
        let (mut cpu, mut bus) = machine(&Case::default());
        poke(&mut bus, u32::from(CODE), code);
        poke(&mut bus, 0x7234, &[0x21, 0x43]);
        cpu.run(&mut bus);
        assert_eq!((cpu.pc, cpu.sp, bus.cycles), (target, 0x01f0, cycles));
    }
    // RTS, RTS #n with both kinds of stack.
    for (code, extended, sp, after, from) in [
        (&[0x60][..], false, 0x01ee, 0x01f0, 0x01ef),
        (&[0x62, 0x10], false, 0x01ee, 0x0100, 0x01ef),
        (&[0x62, 0x10], true, 0x01ee, 0x0200, 0x01ef),
    ] {
        let (mut cpu, mut bus) = machine(&Case::default());
        cpu.sp = sp;
        cpu.set_e(!extended);
        poke(&mut bus, u32::from(CODE), code);
        poke(&mut bus, from, &[0xff, 0x30]);
        cpu.run(&mut bus);
        assert_eq!((cpu.pc, cpu.sp, bus.cycles), (0x3100, after, 5));
    }
}

#[test]
fn interrupts_push_and_return() {
    let (mut cpu, mut bus) = machine(&Case::default());
    poke(&mut bus, u32::from(CODE), &[0x00]);
    poke(&mut bus, 0xfffa, &[0x00, 0x50, 0, 0, 0x00, 0x60]);
    cpu.set_p(0xc9);
    cpu.run(&mut bus);
    assert_eq!((cpu.pc, cpu.sp, bus.cycles), (0x6000, 0x01ed, 9));
    assert_eq!(bus.ram[0x01ee..=0x01f0], [0xf9, 0x02, 0x20]);
    assert_eq!(cpu.p(), 0xed, "I set, D as it was");
    poke(&mut bus, 0x6000, &[0x40]);
    cpu.run(&mut bus);
    assert_eq!((cpu.pc, cpu.sp, cpu.p(), bus.cycles), (CODE + 2, 0x01f0, 0xe9, 15));
    // IRQ only with I clear; NMI always; B clear in the pushed byte.
    cpu.set_p(0x04);
    assert!(!cpu.irq(&mut bus));
    assert!(cpu.nmi(&mut bus));
    assert_eq!((cpu.pc, bus.ram[0x01ee]), (0x5000, 0x24));
    cpu.set_p(0x00);
    assert!(cpu.irq(&mut bus));
    assert_eq!((cpu.pc, bus.ram[0x01eb]), (0x6000, 0x20));
    // Not after a one-cycle instruction, and not between MAP and EOM.
    cpu.set_p(0);
    poke(&mut bus, 0x6000, &[0xe8, 0x5c, 0xea, 0xa9, 0x00]);
    cpu.run(&mut bus);
    assert!(!cpu.irq(&mut bus), "after INX");
    cpu.run(&mut bus);
    assert!(!cpu.nmi(&mut bus), "after MAP");
    cpu.run(&mut bus);
    assert!(!cpu.nmi(&mut bus), "after EOM, a one-cycle instruction");
    cpu.run(&mut bus);
    assert!(cpu.nmi(&mut bus));
}

#[test]
fn map_sets_offsets_and_megabytes() {
    let (mut cpu, mut bus) = machine(&Case::default());
    poke(&mut bus, u32::from(CODE), &[0x5c, 0x5c, 0x5c]);
    cpu.set_q(0x8300_d234);
    cpu.run(&mut bus);
    // X = $D2 enables blocks 0, 2 and 3.
    assert_eq!(cpu.mapping.translate(0x1234), Some(0x2_4634));
    assert_eq!(cpu.mapping.translate(0x2000), None);
    assert_eq!(cpu.mapping.translate(0x6000), Some(0x2_9400));
    cpu.set_q(0x8300_1234);
    cpu.run(&mut bus);
    assert_eq!(cpu.mapping.translate(0x1fff), Some(0x2_53ff));
    assert_eq!(cpu.mapping.translate(0x2000), None);
    assert_eq!(cpu.mapping.translate(0xe000), Some(0x3_e000));
    assert_eq!(cpu.mapping.translate(0xc000), None);
    // X = $0F sets the megabyte and keeps offset and enables.
    cpu.set_q(0x0f81_0f80);
    cpu.run(&mut bus);
    assert_eq!(cpu.mapping.translate(0x1fff), Some(0x802_53ff));
    assert_eq!(cpu.mapping.translate(0xffff), Some(0x813_ffff));
    assert!(cpu.interrupts_blocked);
}

#[test]
fn map_offset_wraps_in_its_megabyte() {
    let mut mapping = ssnail_m65::cpu::Mapping::default();
    mapping.apply(0xff, 0x8f, 0, 0);
    assert_eq!(mapping.translate(0x7000), Some(0x06f00));
}

#[test]
fn transfers_of_the_stack_pointer() {
    let (mut cpu, mut bus) = machine(&Case::default());
    poke(&mut bus, u32::from(CODE), &[0x2b, 0x9a, 0x0b, 0xba, 0x5b, 0x7b, 0x02, 0x03]);
    let p = cpu.p();
    cpu.run(&mut bus);
    cpu.run(&mut bus);
    assert_eq!((cpu.sp, cpu.p()), (0x4523, p), "TYS TXS set no flags");
    cpu.sp = 0x00f0;
    cpu.run(&mut bus);
    assert_eq!((cpu.y, cpu.p() & 0x82), (0x00, 0x02));
    cpu.run(&mut bus);
    assert_eq!((cpu.x, cpu.p() & 0x82), (0xf0, 0x80));
    cpu.a = 0x00;
    let p = cpu.p();
    cpu.run(&mut bus);
    assert_eq!((cpu.b, cpu.p()), (0x00, p));
    cpu.run(&mut bus);
    assert_eq!((cpu.a, cpu.p() & 0x82), (0x00, 0x02));
    let p = cpu.p();
    cpu.run(&mut bus);
    assert_eq!(cpu.p(), p & !0x20);
    let cycles = bus.cycles;
    cpu.run(&mut bus);
    assert_eq!((cpu.p(), bus.cycles), (p, cycles + 1));
}

#[test]
fn pointers_at_the_page_end_come_from_the_next_page() {
    let (mut cpu, mut bus) = machine(&Case::default());
    poke(&mut bus, u32::from(CODE), &[0xb2, 0xff, 0xe3, 0xff]);
    poke(&mut bus, 0x04ff, &[0xff, 0x70]);
    poke(&mut bus, 0x70ff + 0x67, &[0x5a]);
    cpu.run(&mut bus);
    assert_eq!(cpu.a, 0x5a);
    cpu.run(&mut bus);
    assert_eq!(bus.ram[0x04ff..=0x0500], [0x00, 0x71]);
}

#[test]
fn reads_of_the_default_bus_methods_agree() {
    let mut bus = FlatBus::new(0);
    poke(&mut bus, 0xfffe, &[1, 2]);
    poke(&mut bus, 0, &[3, 4]);
    assert_eq!(bus.read_word(0xffff), 0x0302);
    assert_eq!(bus.read_quad(0xfffe), 0x0403_0201);
    bus.write_quad(0xfffd, 0x0a0b_0c0d);
    assert_eq!(bus.read_quad(0xfffd), 0x0a0b_0c0d);
}
