//! The BASIC stub and the start-up code.

use super::part::{LOAD, START};
use super::{Options, constants};
use crate::asm::{Builder, Item, Label, Mnemonic as M, Symbols};
use crate::lower::cells::{BASE_PAGE, W4, cell};
use crate::runtime::{LOG, STACK_PAGE, THREADED};
use crate::rv::Reg;

/// Where interrupts go: an RTI before the code, at the same address in a program and in its parts.
const IGNORE: u16 = START - 1;
const RTI: u8 = 0x40;

/// The BASIC lines `10 BANK 0` and `20 SYS 8224`, padded to where code starts.
pub fn stub() -> Vec<u8> {
    let mut out = Vec::new();
    let bank = [0xFE, 0x02, b' ', b'0'].to_vec();
    let sys = [vec![0x9E, b' '], START.to_string().into_bytes()].concat();
    for (number, tokens) in [(10u16, bank), (20, sys)] {
        let next = LOAD + (out.len() + tokens.len() + 5) as u16;
        out.extend(next.to_le_bytes());
        out.extend(number.to_le_bytes());
        out.extend(tokens);
        out.push(0);
    }
    out.extend([0, 0]);
    pad(out)
}

/// Up to [`START`], with the RTI for interrupts.
fn pad(mut out: Vec<u8>) -> Vec<u8> {
    out.resize(usize::from(IGNORE - LOAD), 0);
    out.push(RTI);
    out
}

/// Stub and start-up code: takes over the machine, fills the base page, moves data to its place,
/// calls `entry`.
pub fn code(entry: Label, halt: Label, stack_page: u8, options: &Options, symbols: &mut Symbols) -> Vec<Item> {
    let mut b = Builder::default();
    b.items.push(Item::Bytes(stub()));
    b.label(symbols.named("rv_start"));
    b.imp(M::SEI);
    b.imp(M::CLD);
    for (value, address) in [
        (0x47, 0xD02F), // the MEGA65's own registers
        (0x53, 0xD02F),
        (65, 0x0000), // 40 MHz
        (0x35, 0x0001),
        (0x44, 0xD030), // no ROM at $8000..$CFFF
        (0x7F, 0xDC0D), // no interrupts
        (0x7F, 0xDD0D),
        (0x00, 0xD01A),
    ] {
        b.imm(M::LDA, value);
        b.abs(M::STA, address);
    }
    // Megabyte 0 on both sides, then nothing mapped.
    for x in [0x0F, 0] {
        b.imm(M::LDA, 0);
        b.imm(M::LDX, x);
        b.imm(M::LDY, 0);
        b.imm(M::LDZ, x);
        b.imp(M::MAP);
    }
    b.imp(M::EOM);
    // What `rv45_basic` needs to go back.
    let kept = options.hardware_stack_end.wrapping_sub(8);
    b.imp(M::TSX);
    b.abs(M::STX, kept + 6);
    b.imp(M::TSY);
    b.abs(M::STY, kept + 7);
    let keep = symbols.fresh();
    b.imm(M::LDX, 5);
    b.label(keep);
    b.inst(M::LDA, crate::asm::Mode::AbsoluteX, crate::asm::Operand::Word(0xFFFA));
    b.inst(M::STA, crate::asm::Mode::AbsoluteX, crate::asm::Operand::Word(kept));
    b.imp(M::DEX);
    b.branch(M::BPL, keep);
    b.imp(M::CLE);
    let top = kept.wrapping_sub(1);
    b.imm(M::LDY, (top >> 8) as u8);
    b.imm(M::LDX, top as u8);
    b.imp(M::TYS);
    b.imp(M::TXS);
    for vector in [0xFFFA, 0xFFFE] {
        let [low, high] = IGNORE.to_le_bytes();
        for (at, value) in [(vector, low), (vector + 1, high)] {
            b.imm(M::LDA, value);
            b.abs(M::STA, at);
        }
    }
    base_page(&mut b, stack_page, options, symbols);
    let table = symbols.named("rv_table");
    b.imm(M::LDA, 0);
    b.abs(M::STA, 0xD702);
    b.abs(M::STA, 0xD704);
    b.inst(M::LDA, crate::asm::Mode::Immediate, crate::asm::Operand::Hi(table, 0));
    b.abs(M::STA, 0xD701);
    b.inst(M::LDA, crate::asm::Mode::Immediate, crate::asm::Operand::Lo(table, 0));
    b.abs(M::STA, 0xD705);
    b.jsr(entry);
    b.jmp(halt);
    b.items
}

/// The beginning of a part: fills the base page and calls `entry`; both stacks are those of the caller, who
/// has put everything in its place.
pub fn part(entry: Label, stack_page: u8, options: &Options, symbols: &mut Symbols) -> Vec<Item> {
    let mut b = Builder::default();
    b.items.push(Item::Bytes(pad(Vec::new())));
    b.label(symbols.named("rv_start"));
    b.imp(M::CLD);
    base_page(&mut b, stack_page, options, symbols);
    b.jsr(entry);
    b.imp(M::RTS);
    b.items
}

/// Selects the base page and gives it its first content.
fn base_page(b: &mut Builder, stack_page: u8, options: &Options, symbols: &mut Symbols) {
    b.imm(M::LDA, BASE_PAGE);
    b.imp(M::TAB);
    let clear = symbols.fresh();
    b.imm(M::LDA, 0);
    b.imp(M::TAX);
    b.label(clear);
    b.inst(M::STA, crate::asm::Mode::BasePageX, crate::asm::Operand::Byte(0));
    b.imp(M::INX);
    b.branch(M::BNE, clear);
    constants::copy_code(symbols, b);
    b.imm(M::LDA, BASE_PAGE);
    for pointer in [1, 3, 5] {
        b.bp(M::STA, THREADED + pointer);
    }
    let bank = (options.stack_top >> 16) as u8;
    let sp = cell(Reg::SP);
    b.imm(M::LDA, bank);
    b.bp(M::STA, sp + 2);
    b.bp(M::STA, W4 + 2);
    b.imm(M::LDA, (options.stack_top >> 8) as u8);
    b.bp(M::STA, sp + 1);
    b.imm(M::LDA, options.stack_top as u8);
    b.bp(M::STA, sp);
    b.imm(M::LDA, stack_page);
    b.bp(M::STA, STACK_PAGE);
    // The host log starts at $8600000.
    for (value, byte) in [(8, 3), (0x60, 2)] {
        b.imm(M::LDA, value);
        b.bp(M::STA, LOG + byte);
    }
}
