//! Every instruction that does not move the program counter or the stack, with random operands.

use super::table::Q_FORMS;
use super::{ENTRY, agree, assembled, no_files};
use ssnail_m65::cpu::opcodes::{Mode, OPCODES};

/// Random numbers (xorshift).
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u8
    }
}

/// Base page of the generated programs; pointers lie at $10, operands from $40 on.
const PAGE: u8 = 0x16;
const POINTER: u8 = 0x10;
/// 256 bytes and what an index adds to them.
const DATA: u16 = 0x1700;
/// Registers and flags after each instruction, five bytes each.
const AFTER: u16 = 0x9000;

/// Instructions that move neither the program counter nor the stack and whose effect is in
/// registers, flags and memory.
fn forms() -> Vec<(Vec<u8>, Mode)> {
    let excluded = [
        "BRK", "CLE", "SEE", "TSY", "TYS", "TXS", "TSX", "TAB", "TBA", "MAP", "EOM", "CLI", "SEI", "RTI", "RTS", "JSR",
        "JMP", "BSR", "PHW", "NEG",
    ];
    let mut forms = vec![];
    for (opcode, entry) in (0u8..=255).zip(OPCODES) {
        let name = entry.mnemonic;
        let moves = matches!(
            entry.mode,
            Mode::Relative | Mode::RelativeWord | Mode::BitBranch | Mode::StackIndirectY | Mode::ImmediateWord
        );
        if moves || excluded.contains(&name) || name.starts_with("PH") || name.starts_with("PL") {
            continue;
        }
        forms.push((vec![opcode], entry.mode));
        if entry.mode == Mode::IndirectZ {
            forms.push((vec![0xea, opcode], entry.mode));
        }
    }
    for line in Q_FORMS.lines().filter(|l| !l.trim().is_empty()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let opcode = u8::from_str_radix(fields[2], 16).unwrap();
        let (prefix, mode): (&[u8], Mode) = match fields[1] {
            "bp" => (&[], Mode::BasePage),
            "abs" => (&[], Mode::Absolute),
            "(bp)" => (&[], Mode::IndirectZ),
            "flat" => (&[0xea], Mode::IndirectZ),
            "bp,X" => (&[], Mode::BasePageX),
            "abs,X" => (&[], Mode::AbsoluteX),
            _ => (&[], Mode::Accumulator),
        };
        forms.push(([&[0x42, 0x42], prefix, &[opcode]].concat(), mode));
    }
    forms
}

/// Sets registers and flags at random, executes each form, stores what came of it.
fn instructions(seed: u64) -> (Vec<u8>, usize) {
    let mut random = Random(seed);
    let mut data = String::new();
    for n in 0..=0x240u16 {
        // The base page behind the pointers, then the data.
        let at = (u16::from(PAGE) << 8) + 0x40 + n;
        data += &format!("        LDA #${:02X}\n        STA ${at:04X}\n", random.byte());
    }
    let setup = format!(
        "        LDA #${PAGE:02X}
        TAB
        LDA #${:02X}
        STA ${POINTER:02X}
        LDA #${:02X}
        STA ${:02X}
        LDA #0
        STA ${:02X}
        STA ${:02X}
{data}",
        0x20,
        DATA >> 8,
        POINTER + 1,
        POINTER + 2,
        POINTER + 3
    );
    let frame = assembled(&format!("{setup}middle: .byte $02, $02, $02"));
    let cut = frame.windows(3).position(|w| w == [2, 2, 2]).unwrap();
    let mut code = frame[..cut].to_vec();
    let mut at = AFTER;
    for (opcode, mode) in forms() {
        let [flags, a, x, y, z] = [(); 5].map(|()| random.byte());
        let offset = random.byte() % 0x38;
        // Flags: all but I, E and B.
        code.extend([0xa9, flags & 0xcb | 0x04, 0x48, 0xa9, a, 0xa2, x, 0xa0, y, 0xa3, z, 0x28]);
        code.extend(opcode);
        let base = 0x40 + offset;
        let absolute = |index: u8| (DATA + u16::from(offset)).wrapping_sub(u16::from(index)).to_le_bytes();
        match mode {
            Mode::Immediate => code.push(random.byte()),
            Mode::BasePage => code.push(base),
            Mode::BasePageX => code.push(base.wrapping_sub(x)),
            Mode::BasePageY => code.push(base.wrapping_sub(y)),
            Mode::Absolute => code.extend(absolute(0)),
            Mode::AbsoluteX => code.extend(absolute(x)),
            Mode::AbsoluteY => code.extend(absolute(y)),
            Mode::IndirectX => code.push(POINTER.wrapping_sub(x)),
            Mode::IndirectY | Mode::IndirectZ => code.push(POINTER),
            _ => {}
        }
        let [low, high] = at.to_le_bytes();
        // PHP, CLD, the registers, the flags without B and E.
        code.extend([0x08, 0xd8, 0x8d, low, high]);
        for (n, store) in [(1, 0x8e), (2, 0x8c), (3, 0x9c)] {
            let [low, high] = (at + n).to_le_bytes();
            code.extend([store, low, high]);
        }
        let [low, high] = (at + 4).to_le_bytes();
        code.extend([0x68, 0x09, 0x30, 0x8d, low, high]);
        at += 5;
    }
    code.extend(&frame[cut + 3..]);
    (code, usize::from(at))
}

#[test]
fn random_operands_agree_with_xemu_in_every_form() {
    for seed in 1..=6u64 {
        let (code, end) = instructions(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert!(usize::from(ENTRY) + code.len() < usize::from(AFTER), "{}", code.len());
        let ranges = [usize::from(AFTER)..end, 0x1640..0x1900];
        if agree(&format!("seed {seed}"), &code, no_files(), &ranges).is_none() {
            return;
        }
    }
}
