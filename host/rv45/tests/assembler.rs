//! The assembler's text form, encodings and branch relaxation.
#![allow(clippy::unwrap_used, clippy::panic)]

use rv45::asm::opcode::{FLAT_OPCODES, OPCODES, Q_OPCODES, decode, encoding};
use rv45::asm::{AssembleError, Encoding, LayoutError, Mode, Prefix, assemble, disasm};

fn bytes(source: &str) -> Vec<u8> {
    assemble(source, 0x2000).unwrap().bytes
}

#[test]
fn every_opcode_is_found_by_its_mnemonic_and_mode() {
    for (i, &(mnemonic, mode, ..)) in OPCODES.iter().enumerate() {
        let found = encoding(mnemonic, mode).unwrap();
        assert_eq!((found.prefix, usize::from(found.opcode)), (Prefix::None, i), "{mnemonic:?} {mode:?}");
    }
    for &(opcode, mnemonic, mode, cycles) in Q_OPCODES {
        let found = encoding(mnemonic, mode).unwrap();
        assert_eq!(found.opcode, opcode);
        assert_eq!(decode(found).unwrap(), (mnemonic, mode, cycles, cycles));
    }
    for &(opcode, mnemonic, cycles) in &FLAT_OPCODES {
        let found = Encoding { prefix: Prefix::Flat, opcode };
        assert_eq!(encoding(mnemonic, Mode::FlatZ), Some(found));
        assert_eq!(decode(found).unwrap().2, cycles);
    }
}

#[test]
fn modes_are_chosen_from_the_text() {
    assert_eq!(bytes("LDA #$12"), [0xA9, 0x12]);
    assert_eq!(bytes("LDA $12"), [0xA5, 0x12]);
    assert_eq!(bytes("LDA abs:$12"), [0xAD, 0x12, 0x00]);
    assert_eq!(bytes("LDA $1234,x"), [0xBD, 0x34, 0x12]);
    assert_eq!(bytes("LDA [$80],Z"), [0xEA, 0xB2, 0x80]);
    assert_eq!(bytes("LDA ($80),Z"), [0xB2, 0x80]);
    assert_eq!(bytes("LDA ($80),Y"), [0xB1, 0x80]);
    assert_eq!(bytes("LDA ($80,X)"), [0xA1, 0x80]);
    assert_eq!(bytes("LDA ($03,SP),Y"), [0xE2, 0x03]);
    assert_eq!(bytes("LDQ [$80],Z"), [0x42, 0x42, 0xEA, 0xB2, 0x80]);
    assert_eq!(bytes("STQ [$80]"), [0x42, 0x42, 0xEA, 0x92, 0x80]);
    assert_eq!(bytes("ADCQ ($80)"), [0x42, 0x42, 0x72, 0x80]);
    assert_eq!(bytes("STQ $D770"), [0x42, 0x42, 0x8D, 0x70, 0xD7]);
    assert_eq!(bytes("ASLQ Q"), [0x42, 0x42, 0x0A]);
    assert_eq!(bytes("INQ $20"), [0x42, 0x42, 0xE6, 0x20]);
    assert_eq!(bytes("PHW #$1234"), [0xF4, 0x34, 0x12]);
    assert_eq!(bytes("JMP ($1F04)"), [0x6C, 0x04, 0x1F]);
    assert_eq!(bytes("JSR ($1F04,X)"), [0x23, 0x04, 0x1F]);
    assert_eq!(bytes("l: BBS7 $10,l"), [0xFF, 0x10, 0xFD]);
    assert_eq!(bytes("CLV\n INC A\n NOP"), [0xB8, 0x1A, 0xEA]);
}

#[test]
fn data_constants_and_labels() {
    let source = "PTR = $80\nSIZE = PTR+2*2\nstart: LDA PTR\n .byte 1,-1,'a',\"x,y\"\n.word start+1\n.dword $12345678\n.fill 2,7\n LDA #<SIZE\n LDX #>start";
    assert_eq!(
        bytes(source),
        [0xA5, 0x80, 1, 0xFF, b'a', b'x', b',', b'y', 0x01, 0x20, 0x78, 0x56, 0x34, 0x12, 7, 7, 0xA9, 0x04, 0xA2, 0x20]
    );
}

#[test]
fn local_labels_belong_to_the_label_before() {
    let program = assemble("a:\n.l: BRA .l\nb:\n.l: BRA .l", 0x2000).unwrap();
    assert_eq!(program.bytes, [0x80, 0xFE, 0x80, 0xFE]);
    assert_eq!(program.symbols["b.l"], 0x2002);
}

#[test]
fn a_branch_is_long_exactly_when_it_must_be() {
    // 8 bits reach 127 bytes past the branch; the long form counts from opcode + 2.
    assert_eq!(bytes(" BNE far\n .fill 127\nfar:")[..2], [0xD0, 0x7F]);
    assert_eq!(bytes(" BNE far\n .fill 128\nfar:")[..3], [0xD3, 0x81, 0x00]);
    let back = bytes("far: .fill 126\n BRA far");
    assert_eq!(back[126..], [0x80, 0x80]);
    let back = bytes("far: .fill 127\n BRA far");
    assert_eq!(back[127..], [0x83, 0x7F, 0xFF]);
    // One growing branch pushes another out of reach.
    let chain = bytes(" BEQ a\n .fill 125\n BNE b\na: .fill 127\nb: .fill 1");
    assert_eq!(chain[0], 0xF0);
    let chain = bytes(" BEQ a\n .fill 125\n BNE b\na: .fill 128\nb: .fill 1");
    assert_eq!((chain[0], chain[128]), (0xF3, 0xD3));
}

#[test]
fn mistakes_are_named_with_their_line() {
    let line = |source: &str| match assemble(source, 0x2000) {
        Err(AssembleError::Text(e)) => (e.line, e.problem),
        other => panic!("{other:?}"),
    };
    assert_eq!(line("\n LDQ #5").0, 2);
    assert_eq!(line(" LAX $12"), (1, "unknown mnemonic LAX".into()));
    assert_eq!(line(" LDA #256"), (1, "256 does not fit into a byte".into()));
    assert_eq!(line(" LDQ $1234,X"), (1, "LDQ has no such addressing mode".into()));
    assert_eq!(assemble(" JMP nowhere", 0x2000), Err(LayoutError::Undefined("nowhere".into()).into()));
    assert_eq!(assemble("a:\na:", 0x2000), Err(LayoutError::Twice("a".into()).into()));
    assert!(matches!(
        assemble("a: .fill 200\n BBR0 $10,a", 0x2000),
        Err(AssembleError::Layout(LayoutError::BitBranch { .. }))
    ));
}

#[test]
fn a_listing_assembles_to_the_same_bytes() {
    // Every encodable form with some operand, printed and parsed again.
    let mut symbols = rv45::asm::Symbols::default();
    let here = symbols.named("here");
    let forms = OPCODES
        .iter()
        .map(|&(mnemonic, mode, ..)| (mnemonic, mode))
        .chain(Q_OPCODES.iter().map(|&(_, mnemonic, mode, _)| (mnemonic, mode)))
        .chain(FLAT_OPCODES.iter().map(|&(_, mnemonic, _)| (mnemonic, Mode::FlatZ)));
    for (mnemonic, mode) in forms {
        use rv45::asm::{Inst, Operand};
        let operand = match mode {
            Mode::Relative8 | Mode::Relative16 => Operand::Rel(here),
            Mode::BitRelative => Operand::BitRel(0x42, here),
            mode if mode.operand_len() == 2 => Operand::Word(0x1234),
            mode if mode.operand_len() == 1 => Operand::Byte(0x42),
            _ => Operand::None,
        };
        let inst = Inst::new(mnemonic, mode, operand).unwrap();
        let text = disasm::inst_text(&inst, &|_| "here".into());
        let program = bytes(&format!("here: {text}"));
        let prefix = inst.encoding.prefix.bytes();
        if mode == Mode::Relative16 && mnemonic != rv45::asm::Mnemonic::BSR {
            continue; // the long form is layout's choice
        }
        assert_eq!(&program[..prefix.len()], prefix, "{text}");
        assert_eq!(program[prefix.len()], inst.encoding.opcode, "{text}");
    }
}
