//! Instructions as text, for traces.

use super::opcodes::{Mode, OPCODES};

/// The instruction at `pc` whose bytes `byte(n)` gives, and its length, prefixes included.
pub fn disassemble(pc: u16, byte: impl Fn(u16) -> u8) -> (String, u16) {
    let quad = byte(0) == 0x42 && byte(1) == 0x42;
    let start = if quad { 2 } else { 0 };
    let flat = byte(start) == 0xea && byte(start + 1) & 0x1f == 0x12;
    let at = start + u16::from(flat);
    let opcode = OPCODES[usize::from(byte(at))];
    let (low, high) = (byte(at + 1), byte(at + 2));
    let word = u16::from_le_bytes([low, high]);
    let end = at + u16::from(opcode.mode.length());
    let next = pc.wrapping_add(end);
    let relative = |offset: u8| next.wrapping_add(offset as i8 as u16);
    let operand = match opcode.mode {
        Mode::Implied => String::new(),
        Mode::Accumulator => if quad { " Q" } else { " A" }.into(),
        Mode::Immediate => format!(" #${low:02X}"),
        Mode::ImmediateWord => format!(" #${word:04X}"),
        Mode::BasePage => format!(" ${low:02X}"),
        Mode::BasePageX => format!(" ${low:02X},X"),
        Mode::BasePageY => format!(" ${low:02X},Y"),
        Mode::Absolute => format!(" ${word:04X}"),
        Mode::AbsoluteX => format!(" ${word:04X},X"),
        Mode::AbsoluteY => format!(" ${word:04X},Y"),
        Mode::IndirectX => format!(" (${low:02X},X)"),
        Mode::IndirectY => format!(" (${low:02X}),Y"),
        Mode::IndirectZ if flat => format!(" [${low:02X}],Z"),
        Mode::IndirectZ => format!(" (${low:02X}),Z"),
        Mode::StackIndirectY => format!(" (${low:02X},SP),Y"),
        Mode::Relative => format!(" ${:04X}", relative(low)),
        Mode::RelativeWord => format!(" ${:04X}", next.wrapping_sub(1).wrapping_add(word)),
        Mode::BitBranch => format!(" ${low:02X},${:04X}", relative(high)),
        Mode::AbsoluteIndirect => format!(" (${word:04X})"),
        Mode::AbsoluteIndirectX => format!(" (${word:04X},X)"),
    };
    (format!("{}{operand}", mnemonic(opcode.mnemonic, quad)), end)
}

fn mnemonic(name: &str, quad: bool) -> String {
    match name {
        _ if !quad => name.to_owned(),
        "ORA" => "ORQ".to_owned(),
        "BIT" | "NEG" => format!("{name}Q"),
        "LDA" | "STA" => name.replace('A', "Q"),
        "INC" | "DEC" => name.replace('C', "Q"),
        "AND" | "EOR" | "ADC" | "SBC" | "CMP" | "ASL" | "LSR" | "ROL" | "ROR" | "ASR" => format!("{name}Q"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_branches_and_modes() {
        let text = |bytes: &[u8]| {
            let (text, length) = disassemble(0x2000, |n| bytes.get(usize::from(n)).copied().unwrap_or(0));
            assert_eq!(usize::from(length), bytes.len());
            text
        };
        assert_eq!(text(&[0x42, 0x42, 0xea, 0xb2, 0x10]), "LDQ [$10],Z");
        assert_eq!(text(&[0xea, 0x92, 0x10]), "STA [$10],Z");
        assert_eq!(text(&[0x42, 0x42, 0xee, 0x34, 0x12]), "INQ $1234");
        assert_eq!(text(&[0x42, 0x42, 0x0a]), "ASLQ Q");
        assert_eq!(text(&[0xd0, 0xfe]), "BNE $2000");
        assert_eq!(text(&[0x63, 0x10, 0x01]), "BSR $2112");
        assert_eq!(text(&[0x8f, 0x80, 0x05]), "BBS0 $80,$2008");
        assert_eq!(text(&[0x42]), "NEG A");
        assert_eq!(text(&[0xea]), "EOM");
    }
}
