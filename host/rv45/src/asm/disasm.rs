//! Instructions as text, for listings.

use super::{Inst, Item, Label, Mnemonic, Mode, Operand};

/// `inst` as assembler text; `name` gives the names of labels.
pub fn inst_text(inst: &Inst, name: &dyn Fn(Label) -> String) -> String {
    let (mnemonic, mode, ..) = inst.describe();
    let operand = operand_text(&inst.operand, name);
    let q = mnemonic >= Mnemonic::LDQ;
    let text = match mode {
        Mode::Implied => String::new(),
        Mode::Accumulator => if q { "Q" } else { "A" }.to_string(),
        Mode::Immediate | Mode::Immediate16 => format!("#{operand}"),
        Mode::BasePage | Mode::Absolute | Mode::Relative8 | Mode::Relative16 | Mode::BitRelative => operand,
        Mode::BasePageX | Mode::AbsoluteX => format!("{operand},X"),
        Mode::BasePageY | Mode::AbsoluteY => format!("{operand},Y"),
        Mode::IndirectX | Mode::AbsIndirectX => format!("({operand},X)"),
        Mode::IndirectY => format!("({operand}),Y"),
        Mode::IndirectZ => format!("({operand}),Z"),
        Mode::IndirectSpY => format!("({operand},SP),Y"),
        Mode::AbsIndirect | Mode::IndirectQ => format!("({operand})"),
        Mode::FlatZ => format!("[{operand}],Z"),
        Mode::FlatQ => format!("[{operand}]"),
    };
    format!("{} {text}", mnemonic.name()).trim_end().to_string()
}

fn operand_text(operand: &Operand, name: &dyn Fn(Label) -> String) -> String {
    let with = |label: Label, offset: i32| match offset {
        0 => name(label),
        o if o > 0 => format!("{}+{o}", name(label)),
        o => format!("{}-{}", name(label), o.unsigned_abs()),
    };
    match *operand {
        Operand::None => String::new(),
        Operand::Byte(b) => format!("${b:02X}"),
        Operand::Word(w) => format!("${w:04X}"),
        Operand::Lo(l, o) => format!("<{}", with(l, o)),
        Operand::Hi(l, o) => format!(">{}", with(l, o)),
        Operand::Addr(l, o) => with(l, o),
        Operand::Rel(l) => name(l),
        Operand::BitRel(bp, l) => format!("${bp:02X},{}", name(l)),
    }
}

/// `item` as a line of a listing, without its address.
pub fn item_text(item: &Item, name: &dyn Fn(Label) -> String) -> String {
    match item {
        Item::Inst(inst) => format!("        {}", inst_text(inst, name)),
        Item::Label(label) => format!("{}:", name(*label)),
        Item::Bytes(bytes) => {
            let list: Vec<String> = bytes.iter().map(|b| format!("${b:02X}")).collect();
            format!("        .byte {}", list.join(","))
        }
        Item::Word(label, offset) => format!("        .word {}", operand_text(&Operand::Addr(*label, *offset), name)),
        Item::Note(text) => format!("; {text}"),
    }
}
