//! Runs of a function with chosen numbers, and what they left behind.

use crate::elf::Elf;
use crate::ir::{Function, Ir, Line};
use crate::rv::interp::{Cpu, Memory};
use crate::rv::{Reg, Width, decode};
use std::collections::{HashMap, HashSet};

/// Instructions after which a run is given up.
const STEPS: usize = 60_000;
/// Bytes around the stack pointer that a function may write.
const STACK: std::ops::Range<i32> = -1024..1024;
/// Runs with random numbers, besides those at the edges.
const RANDOM: u32 = 120;

/// Integer types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 64 bits.
    U64,
    /// 32 bits.
    U32,
    /// 32 bits, signed.
    I32,
    /// 16 bits.
    U16,
    /// 16 bits, signed.
    I16,
    /// 8 bits.
    U8,
    /// 8 bits, signed.
    I8,
}

impl Kind {
    /// Wider ones first: a number of one is never taken for one of a narrower type.
    pub const ALL: [Kind; 7] = [Kind::U64, Kind::U32, Kind::I32, Kind::U16, Kind::I16, Kind::U8, Kind::I8];

    /// Digits of the longest number.
    pub fn field(self) -> usize {
        match self {
            Kind::U64 => 20,
            Kind::U32 | Kind::I32 => 10,
            Kind::U16 | Kind::I16 => 5,
            Kind::U8 | Kind::I8 => 3,
        }
    }

    /// How a number of at most 32 bits is loaded.
    pub fn width(self) -> Width {
        match self {
            Kind::U64 | Kind::U32 | Kind::I32 => Width::Word,
            Kind::U16 => Width::HalfUnsigned,
            Kind::I16 => Width::Half,
            Kind::U8 => Width::ByteUnsigned,
            Kind::I8 => Width::Byte,
        }
    }

    /// True where numbers may be negative.
    pub fn signed(self) -> bool {
        matches!(self, Kind::I32 | Kind::I16 | Kind::I8)
    }

    /// The number that the lowest bits of `raw` mean.
    fn value(self, raw: u64) -> i128 {
        match self {
            Kind::U64 => raw.into(),
            Kind::U32 => (raw as u32).into(),
            Kind::I32 => (raw as i32).into(),
            Kind::U16 => (raw as u16).into(),
            Kind::I16 => (raw as i16).into(),
            Kind::U8 => (raw as u8).into(),
            Kind::I8 => (raw as i8).into(),
        }
    }
}

/// Registers, and how much had been written and read before.
#[derive(Debug, Clone)]
pub struct State {
    pub x: [u32; 32],
    writes: usize,
    foreign: usize,
}

/// One run.
pub struct Trial {
    /// The first time that each line was reached, by its address.
    pub at: HashMap<u32, State>,
    /// Where the number was, where its address was, and so on.
    references: Vec<u32>,
    /// True for a negative number.
    pub negative: bool,
    digits: Vec<u8>,
    writes: Vec<(u32, u8)>,
}

impl Trial {
    /// Place of the first digit in a field of `field` bytes.
    pub fn place(&self, field: usize) -> i32 {
        field as i32 - self.digits.len() as i32
    }

    /// Bytes that were written before `state`.
    fn written(&self, state: &State) -> HashMap<u32, u8> {
        self.writes[..state.writes].iter().copied().collect()
    }
}

/// The program's memory, with what a run adds.
struct World<'a> {
    elf: &'a Elf,
    own: HashMap<u32, u8>,
    writes: Vec<(u32, u8)>,
    /// The second argument, which the making of digits does not read.
    formatter: u32,
    foreign: usize,
}

impl Memory for World<'_> {
    fn load(&mut self, addr: u32) -> u8 {
        if addr.wrapping_sub(self.formatter) < 64 {
            self.foreign += 1;
        }
        if let Some(&byte) = self.own.get(&addr) {
            return byte;
        }
        let section = self.elf.sections.iter().find(|s| s.alloc && s.contains(addr));
        section.and_then(|s| s.data.get((addr - s.addr) as usize)).copied().unwrap_or(0)
    }

    fn store(&mut self, addr: u32, value: u8) {
        self.own.insert(addr, value);
        self.writes.push((addr, value));
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 ^ (self.0 >> 11) as u32
    }
}

/// Numbers with every count of digits, the edges first and last.
fn numbers() -> Vec<u64> {
    let mut out = vec![u64::MAX, 1 << 63, 0];
    let mut power = 1u64;
    while let Some(next) = power.checked_mul(10) {
        out.extend([power - 1, power, power + 1, power.wrapping_neg()]);
        power = next;
    }
    out.extend((0..64).flat_map(|k| [1u64 << k, (1u64 << k) - 1, (1u64 << k).wrapping_neg()]));
    let mut random = Random(5);
    out.extend((0..RANDOM).map(|i| (u64::from(random.next()) << 32 | u64::from(random.next())) >> (i % 64)));
    out
}

/// Runs `function` with numbers of `kind`, given by so many references to the reference that every
/// function gets; `None` when one of them leaves no digits on the stack.
pub fn run(elf: &Elf, function: &Function, kind: Kind, depth: usize) -> Option<Vec<Trial>> {
    let lines: HashSet<u32> = function.lines.iter().map(|l| l.addr).collect();
    let mut random = Random(3);
    numbers()
        .into_iter()
        .enumerate()
        .map(|(i, raw)| {
            let places = Places::new(i as u32, depth);
            let trial = one(elf, (function.addr, &lines), kind, raw, places, &mut random);
            let all: HashMap<u32, u8> = trial.writes.iter().copied().collect();
            let found = all.keys().any(|&a| (0u32..).zip(&trial.digits).all(|(i, d)| all.get(&(a + i)) == Some(d)));
            found.then_some(trial)
        })
        .collect()
}

/// Where things are in a run: elsewhere in each, so that an address is never taken for a constant.
struct Places {
    references: Vec<u32>,
    formatter: u32,
    sp: u32,
}

impl Places {
    fn new(i: u32, depth: usize) -> Places {
        let references = (0..=depth as u32).map(|k| 0x0400_0000 + 0x0010_0000 * k + 0x110 * i).collect();
        Places { references, formatter: 0x0500_0000 + 0x130 * i, sp: 0x0300_0000 + 0x50 * i }
    }
}

fn one(
    elf: &Elf,
    (entry, lines): (u32, &HashSet<u32>),
    kind: Kind,
    raw: u64,
    places: Places,
    random: &mut Random,
) -> Trial {
    let Places { references, formatter, sp } = places;
    let value = kind.value(raw);
    let mut world = World { elf, own: HashMap::new(), writes: Vec::new(), formatter, foreign: 0 };
    let mut put = |at: u32, bytes: &[u8]| world.own.extend((at..).zip(bytes.iter().copied()));
    put(references[0], &raw.to_le_bytes());
    for pair in references.windows(2) {
        put(pair[1], &pair[0].to_le_bytes());
    }
    let number = references.last().copied().unwrap_or(0);
    let mut cpu = Cpu::new(entry);
    for r in 1..32 {
        cpu.x[r] = random.next() & 0x7FFF_FFFF | 0x4000_0000;
    }
    (cpu.x[1], cpu.x[2], cpu.x[10], cpu.x[11]) = (2, sp, number, formatter);
    let mut at: HashMap<u32, State> = HashMap::new();
    for _ in 0..STEPS {
        if lines.contains(&cpu.pc) {
            let state = State { x: cpu.x, writes: world.writes.len(), foreign: world.foreign };
            at.entry(cpu.pc).or_insert(state);
        }
        let word = elf.word(cpu.pc).unwrap_or(0);
        let stopped = decode(word).is_none_or(|inst| cpu.execute(inst, &mut world).is_some());
        if stopped {
            break;
        }
    }
    let digits = value.unsigned_abs().to_string().into_bytes();
    Trial { at, references, negative: value < 0, digits, writes: world.writes }
}

/// Offset from sp of the field at whose end the digits stand, in every run.
pub fn field(states: &[(&State, &State, &Trial)], kind: Kind) -> Option<i32> {
    let mut ends: Option<HashSet<i32>> = None;
    for (_, state, trial) in states {
        let written = trial.written(state);
        let len = trial.digits.len() as u32;
        let here =
            |end: u32| (0u32..).zip(&trial.digits).all(|(i, d)| written.get(&(end.wrapping_sub(len) + i)) == Some(d));
        let found: HashSet<i32> = match &ends {
            None => {
                written.keys().map(|a| a + 1).filter(|&e| here(e)).map(|e| e.wrapping_sub(state.x[2]) as i32).collect()
            }
            Some(old) => old.iter().copied().filter(|&e| here(state.x[2].wrapping_add_signed(e))).collect(),
        };
        if found.is_empty() {
            return None;
        }
        ends = Some(found);
    }
    ends?.into_iter().min().map(|end| end - kind.field() as i32)
}

/// True when the part that is left out does more than make digits: reads the formatter, writes beyond the
/// stack, or leaves something on the stack that the lines of `rest` read.
pub fn disturbs(states: &[(&State, &State, &Trial)], field: i32, rest: &[&Line], kind: Kind) -> bool {
    states.iter().any(|(begin, end, trial)| {
        if begin.foreign != end.foreign || begin.writes > end.writes {
            return true;
        }
        let sp = end.x[2];
        let own = field..field + kind.field() as i32;
        let other: Vec<i32> = trial.writes[begin.writes..end.writes]
            .iter()
            .map(|w| w.0.wrapping_sub(sp) as i32)
            .filter(|at| !own.contains(at))
            .collect();
        let read = |line: &&Line| match line.op {
            Ir::Load { width, base, offset, .. } => {
                let from = end.x[usize::from(base.0)].wrapping_add_signed(offset).wrapping_sub(sp) as i32;
                other.iter().any(|at| (from..from.saturating_add(width.bytes() as i32)).contains(at))
            }
            _ => false,
        };
        other.iter().any(|at| !STACK.contains(at)) || rest.iter().any(read)
    })
}

/// The register that leads to the number in every run, and through how many references.
pub fn pointer(states: &[(&State, &State, &Trial)]) -> Option<(Reg, usize)> {
    let depth = states.first().map_or(0, |s| s.2.references.len());
    let holds =
        |r: u8, k: usize| states.iter().all(|(begin, _, t)| t.references.get(k) == Some(&begin.x[usize::from(r)]));
    (0..depth).find_map(|k| (1..32).find(|&r| holds(r, k)).map(|r| (Reg(r), k)))
}
