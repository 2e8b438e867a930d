//! The hand-written routines: their sources, and those that are made on demand.

use crate::asm::{Builder, Item, Label, Mnemonic as M, Mode, Operand, Parser, Routine, Symbols, TextError};
use crate::flow::{ARGUMENTS, Bytes, regs};
use crate::lower::cells::{self, cell};
use crate::rv::Reg;
use std::collections::HashMap;

const SOURCES: [&str; 8] = [
    include_str!("runtime/arith.s"),
    include_str!("runtime/frame.s"),
    include_str!("runtime/machine.s"),
    include_str!("runtime/far.s"),
    include_str!("runtime/mem.s"),
    include_str!("runtime/float.s"),
    include_str!("runtime/decimal.s"),
    include_str!("runtime/threaded.s"),
];

/// Pointers of threaded code and the address where it goes on.
pub const THREADED: u8 = 0xF0;
/// Pointer to the end of the host log, kept in the base page.
pub const LOG: u8 = 0xF8;
/// The carry after the last trap.
pub const FLAG: u8 = 0xFC;

/// Number of the overlay that is mapped, 0 for none.
pub const OVERLAY: u8 = 0xFD;

/// Lowest page of the soft stack, where stacks are checked.
pub const STACK_PAGE: u8 = 0xFE;

/// The panic handler's function, in any mangling, ends with this.
pub const HANDLER: &str = "rust_begin_unwind";

/// Names that only the translator itself uses start with this.
const OWN: &str = "rv_";

/// The hand-written routines by name.
#[derive(Debug, Default, Clone)]
pub struct Runtime {
    routines: HashMap<String, Vec<Item>>,
}

impl Runtime {
    /// Assembles the sources; labels go into `symbols`.
    ///
    /// # Errors
    /// [`TextError`] for a line that is not understood.
    pub fn new(symbols: &mut Symbols) -> Result<Runtime, TextError> {
        let mut runtime = Runtime::default();
        for source in SOURCES {
            runtime.add(source, symbols)?;
        }
        Ok(runtime)
    }

    /// Adds routines; one of the same name replaces an earlier one.
    ///
    /// # Errors
    /// [`TextError`] for a line that is not understood.
    pub fn add(&mut self, source: &str, symbols: &mut Symbols) -> Result<(), TextError> {
        let mut parser = Parser::new(symbols);
        for (name, value) in constants() {
            parser.define(&name, value);
        }
        for Routine { name, items } in parser.parse(source)? {
            self.routines.insert(name, items);
        }
        Ok(())
    }

    /// The routine `name` only goes on elsewhere.
    pub fn forward(&mut self, name: &str, to: Label, symbols: &mut Symbols) {
        let mut b = Builder::default();
        b.label(symbols.named(name));
        b.jmp(to);
        self.routines.insert(name.into(), b.items);
    }

    /// The routine that takes the place of the program's function `name`.
    pub fn redirect(&self, name: &str, abort_on_panic: bool) -> Option<String> {
        if !name.starts_with(OWN) && self.routines.contains_key(name) {
            return Some(name.to_string());
        }
        (abort_on_panic && is_panic(name)).then(|| "rv_panic".to_string())
    }

    /// The routine called `name`, made on demand for the families that have many members.
    pub fn routine(&self, name: &str, symbols: &mut Symbols) -> Option<Vec<Item>> {
        self.routines.get(name).cloned().or_else(|| family(name, symbols))
    }
}

/// True for the routines that work on the stack below their return address.
pub fn digs(name: &str) -> bool {
    name.starts_with("rv_save") || name.starts_with("rv_leave")
}

/// True for the functions of core and alloc that only report a panic (any mangling).
pub fn is_panic(name: &str) -> bool {
    const PARTS: [&str; 8] = [
        "4core9panicking",
        "16slice_index_fail",
        "17len_mismatch_fail",
        "13unwrap_failed",
        "13expect_failed",
        "16slice_error_fail",
        "18handle_alloc_error",
        "17capacity_overflow",
    ];
    PARTS.iter().any(|part| name.contains(part)) && (name.starts_with("_R") || name.starts_with("_ZN"))
}

/// What a hand-written routine reads of the registers; `None` for one that is not known.
pub fn reads(name: &str) -> Option<Bytes> {
    const A: [Bytes; 6] = [0, regs([10]), regs([10, 11]), regs([10, 11, 12]), regs([10, 11, 12, 13]), ARGUMENTS];
    let arguments = match name {
        "rv_panic" | "rv_halt" | "rv45_carry" | "rv45_basic" => 0,
        "far_read8" | "far_read16" | "far_read32" | "rv45_dma" => 1,
        "far_write8" | "far_write16" | "far_write32" | "rv45_decimal" => 2,
        "memcpy" | "memmove" | "memset" | "memcmp" | "bcmp" | "rv45_dma_copy" | "rv45_dma_fill" => 3,
        "rv45_hdos" => 4,
        "__addsf3" | "__subsf3" | "__mulsf3" | "__divsf3" | "__ltsf2" | "__lesf2" | "__eqsf2" | "__nesf2"
        | "__cmpsf2" | "__gesf2" | "__gtsf2" | "__unordsf2" => 2,
        "__floatsisf" | "__floatunsisf" | "__fixsfsi" | "__fixunssfsi" => 1,
        _ => return None,
    };
    A.get(arguments).copied()
}

/// Names that the sources use.
fn constants() -> Vec<(String, i64)> {
    let mut list: Vec<(String, i64)> = [
        ("W0", cells::W0),
        ("W1", cells::W1),
        ("W2", cells::W2),
        ("W3", cells::W3),
        ("W4", cells::W4),
        ("W5", cells::W5),
        ("ZERO", cell(Reg::ZERO)),
        ("SP", cell(Reg::SP)),
        ("S", cell(Reg(27))),
        ("LOG", LOG),
        ("FLAG", FLAG),
        ("P0", THREADED),
        ("P1", THREADED + 2),
        ("P2", THREADED + 4),
        ("RET", THREADED + 6),
        ("OVERLAY", OVERLAY),
        ("STACK_PAGE", STACK_PAGE),
    ]
    .map(|(name, value)| (name.to_string(), i64::from(value)))
    .to_vec();
    list.push(("BASE".into(), i64::from(cells::BASE)));
    for r in (0..32).map(Reg) {
        list.push((r.to_string().to_ascii_uppercase(), i64::from(cell(r))));
    }
    list
}

fn family(name: &str, symbols: &mut Symbols) -> Option<Vec<Item>> {
    let mut b = Builder::default();
    b.label(symbols.named(name));
    if let Some((n, bytes)) = frame(name, "rv_save_") {
        b.imm(M::LDA, bytes);
        b.imm(M::LDX, 2 * (12 - n));
        b.jmp(symbols.named("rv_save"));
    } else if let Some((kind, (n, bytes))) =
        ["rv_restore", "rv_leave"].iter().find_map(|kind| Some((kind, frame(name, &format!("{kind}_"))?)))
    {
        b.imm(M::LDA, bytes);
        b.imm(M::LDX, 44u8.wrapping_sub(4 * n));
        b.jmp(symbols.named(kind));
    } else if let Some((kind, r)) = ["zero", "byte", "half", "inc", "dec", "frame", "spill"]
        .iter()
        .find_map(|&kind| Some((kind, register(name.strip_prefix(&format!("rv_{kind}_"))?)?)))
    {
        small(&mut b, kind, r, symbols);
    } else {
        let base = register(name.strip_prefix("rv_sw_")?)?;
        // Store of the register whose cell X names, at [base] + Z.
        for i in 0..4 {
            if i > 0 {
                b.imp(M::INZ);
            }
            b.inst(M::LDA, Mode::BasePageX, Operand::Byte(i));
            b.flat(M::STA, cell(base));
        }
        b.imp(M::RTS);
    }
    Some(b.items)
}

fn register(name: &str) -> Option<Reg> {
    (1..32).map(Reg).find(|r| r.to_string() == name)
}

/// Small constants and sums for one register, which leave X, Y and Z alone; its store at sp + Z.
fn small(b: &mut Builder, kind: &str, r: Reg, symbols: &mut Symbols) {
    let at = cell(r);
    let done = symbols.fresh();
    match kind {
        "zero" => {
            b.imm(M::LDA, 0);
            b.jmp(symbols.named(&format!("rv_byte_{r}")));
            return;
        }
        "spill" => {
            b.imm(M::LDX, at);
            b.jmp(symbols.named("rv_sw_sp"));
            return;
        }
        // r = A, or A and X.
        "byte" | "half" => {
            let given = if kind == "byte" { [M::STA].as_slice() } else { &[M::STA, M::STX] };
            (at..).zip(given).for_each(|(at, &m)| b.bp(m, at));
            b.imm(M::LDA, 0);
            (at + given.len() as u8..at + 4).for_each(|at| b.bp(M::STA, at));
        }
        // r = r + A, carried upwards.
        "inc" => {
            b.imp(M::CLC);
            b.bp(M::ADC, at);
            b.bp(M::STA, at);
            b.branch(M::BCC, done);
            for i in 1..4 {
                b.bp(M::INC, at + i);
                if i < 3 {
                    b.branch(M::BNE, done);
                }
            }
        }
        // r = r + A - 256.
        "dec" => {
            b.imp(M::CLC);
            b.bp(M::ADC, at);
            b.bp(M::STA, at);
            b.branch(M::BCS, done);
            let (second, third) = (symbols.fresh(), symbols.fresh());
            b.bp(M::LDA, at + 1);
            b.branch(M::BNE, second);
            b.bp(M::LDA, at + 2);
            b.branch(M::BNE, third);
            b.bp(M::DEC, at + 3);
            b.label(third);
            b.bp(M::DEC, at + 2);
            b.label(second);
            b.bp(M::DEC, at + 1);
        }
        // r = sp + A, in sp's bank.
        _ => {
            let sp = cell(Reg::SP);
            b.imp(M::CLC);
            b.bp(M::ADC, sp);
            b.bp(M::STA, at);
            b.bp(M::LDA, sp + 1);
            b.imm(M::ADC, 0);
            b.bp(M::STA, at + 1);
            for i in [2, 3] {
                b.bp(M::LDA, sp + i);
                b.bp(M::STA, at + i);
            }
        }
    }
    b.label(done);
    b.imp(M::RTS);
}

/// Registers and bytes of the frame in the name of a save or restore routine.
fn frame(name: &str, prefix: &str) -> Option<(u8, u8)> {
    let (n, bytes) = name.strip_prefix(prefix)?.split_once('_')?;
    Some((n.parse().ok().filter(|&n| n <= 12)?, bytes.parse().ok()?))
}

/// Bytes by which the save routine moves sp: part of LLVM's frame layout.
pub fn frame_size(n: u8) -> u8 {
    (4 * (n + 1)).next_multiple_of(16)
}
