//! The sampler's loops in the machine's own code, against those of the shared crate.
#![allow(clippy::unwrap_used, clippy::panic)]

use rv45::asm::Symbols;
use rv45::front::Source;
use rv45::ir::{Function, Ir, Line, Placement};
use rv45::link::{Options, link_source};
use rv45::lower::cells::{BASE, cell};
use rv45::runtime::Runtime;
use rv45::rv::Reg;
use ssnail_m65::{Machine, Model};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::rng::Rng;
use ssnail_shared::sampler::{Candidate, Changed, Digit, Run, Weights, collect, digit, key_of};

const LOGITS: u32 = 0x800_0104;
const BITS: u32 = 0x5_0000;
const NEW: u32 = 0x5_0200;
const ROOM: u32 = 0x5_1000;
const A0: u8 = 10;
/// Key of the largest finite F32.
const LARGEST: u32 = 0xFF7F_FFFF;

/// One routine, ready to be called.
struct Routine {
    machine: Machine,
    entry: u16,
    halt: u16,
}

impl Routine {
    fn new(name: &str) -> Self {
        let mut symbols = Symbols::default();
        let mut runtime = Runtime::new(&mut symbols).unwrap();
        runtime.add(include_str!("../../mega65/src/hw/sampler.s"), &mut symbols).unwrap();
        let (label, target) = (symbols.named("caller"), symbols.named(name));
        let line = |op| Line { addr: 0, op, label: None, text: String::new() };
        let function = Function {
            name: "caller".into(),
            label,
            addr: 0,
            size: 8,
            placement: Placement::Normal,
            lines: vec![line(Ir::Call { target }), line(Ir::Ret)],
            address_taken: Vec::new(),
        };
        let source = Source { functions: vec![function], data: Vec::new(), pointers: Vec::new(), entry: label };
        let program = link_source(source, &runtime, &mut symbols, &Options::default()).unwrap();
        let mut machine = Machine::new(Model::R3);
        machine.load_prg(&program.prg).unwrap();
        let entry = program.map.address("caller").unwrap();
        for _ in 0..100_000 {
            if machine.cpu.pc == entry {
                break;
            }
            machine.step();
        }
        assert_eq!(machine.cpu.pc, entry);
        machine.cpu.pull(&mut machine.board);
        machine.cpu.pull(&mut machine.board);
        Self { machine, entry, halt: program.halt }
    }

    fn write(&mut self, at: u32, words: &[u32]) {
        for (i, byte) in words.iter().flat_map(|w| w.to_le_bytes()).enumerate() {
            self.machine.write_flat(at + i as u32, byte);
        }
    }

    fn read(&mut self, at: u32) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|i| self.machine.read_flat(at + i)))
    }

    /// Calls with these arguments; the two result registers.
    fn call(&mut self, arguments: &[u32]) -> (u32, u32) {
        let at = |n: usize| u32::from(BASE) + u32::from(cell(Reg(A0 + n as u8)));
        for (n, &value) in arguments.iter().enumerate() {
            self.write(at(n), &[value]);
        }
        let m = &mut self.machine;
        let back = self.halt.wrapping_sub(1);
        m.cpu.push(&mut m.board, (back >> 8) as u8);
        m.cpu.push(&mut m.board, back as u8);
        m.cpu.pc = self.entry;
        let start = m.board.cycles;
        while m.cpu.pc != self.halt {
            m.step();
            assert!(m.board.cycles - start < 10_000_000, "no return, pc ${:04X}", m.cpu.pc);
        }
        (self.read(at(0)), self.read(at(1)))
    }
}

/// Logits of many kinds: any finite bits, a narrow range, many equal ones, and values that are not finite.
fn bits(rng: &mut Rng, kind: u32) -> u32 {
    let random = rng.next_u32();
    let finite = if random & 0x7F80_0000 == 0x7F80_0000 { random & 0xBFFF_FFFF } else { random };
    match kind {
        0 => finite,
        1 => (random >> 12) as f32 as u32 & 0x00FF_FFFF | 0x4000_0000,
        2 => 0xC100_0000 | random & 0x3F_0101,
        3 => [0x4080_0000, 0x4080_0001, 0x4080_0100, 0x4081_0000, 0xC080_0000, 0xC080_0001][random as usize % 6],
        4 if random % 40 == 0 => [0xFF80_0000, 0xFF7F_FFFF, 0x7F7F_FFFF, 0x8000_0000, 0][rng.next_u32() as usize % 5],
        5 if random % 300 == 0 => {
            [0x7F80_0000, 0xFF80_0001, 0xFFFF_FFFF, 0x7FC0_0000, 0xFF80_0000][rng.next_u32() as usize % 5]
        }
        _ => ((finite % 2_000_001) as f32 / 100_000.0 - 12.0).to_bits(),
    }
}

#[test]
fn the_kth_digit_is_the_portable_one() {
    let mut routine = Routine::new("ssnail_digit");
    let mut rng = Rng::new(1);
    for round in 0..300 {
        let n = 1 + rng.next_u32() % [10, 70, 300, 600][round as usize % 4];
        let list: Vec<u32> = (0..n).map(|_| bits(&mut rng, round % 7)).collect();
        let mut tokens: Vec<u32> = (0..rng.next_u32() % 65).map(|_| rng.next_u32() % n).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let old: Vec<u32> = tokens.iter().map(|&t| list[t as usize]).collect();
        let new: Vec<u32> = tokens.iter().map(|_| bits(&mut rng, round % 7)).collect();
        let address = [LOGITS, 0x80F_FE24, 0x801_0000][round as usize % 3];
        let memory = SliceMemory::new(address, list.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<u8>>());
        routine.write(address, &list);
        routine.write(BITS, &old);
        routine.write(NEW, &new);
        let changed = Changed { tokens: &tokens, bits: &old, new: &new };
        let run = Run { address, count: n };
        let (mut prefix, mut need) = (0, 1 + rng.next_u32() % n.min(64));
        for level in 0..4 {
            let want = digit(&memory, run, &changed, prefix, level, need);
            let (got, _) = routine.call(&[address, n, BITS, NEW, old.len() as u32, prefix, level, need]);
            let [key, byte, inside, left] = got.to_le_bytes();
            let want_inside = want.inside.min(127);
            let got = Digit { key, bits: byte, inside: inside.into(), need: left.into() };
            assert_eq!(got, Digit { inside: want_inside, ..want }, "round {round}, level {level}, {need} of {n}");
            prefix |= u32::from(want.bits) << (24 - 8 * level);
            need = want.need;
        }
    }
}

#[test]
fn what_is_large_enough_is_collected_as_by_the_portable_loop() {
    let mut routine = Routine::new("ssnail_collect");
    let mut rng = Rng::new(2);
    for round in 0..400 {
        let n = 1 + rng.next_u32() % [10, 70, 300, 600][round as usize % 4];
        let n = if round % 5 == 0 { n.next_multiple_of(64) } else { n };
        let list: Vec<u32> = (0..n).map(|_| bits(&mut rng, round % 7)).collect();
        let memory = SliceMemory::new(LOGITS, list.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<u8>>());
        routine.write(LOGITS, &list);
        let mut keys: Vec<u32> = list.iter().map(|&b| key_of(b)).collect();
        keys.sort_unstable();
        for at in [0, n / 3, n - n.min(40), n - 1] {
            for places in [1, 5, 64] {
                let least = if round % 9 == 0 { at } else { keys[at as usize].min(LARGEST) };
                let (first, run) = (rng.next_u32() % 50_000, Run { address: LOGITS, count: n });
                let mut room = vec![Candidate::default(); places as usize];
                let (passed, len) = collect(&memory, run, first, least, &mut room);
                let got = routine.call(&[LOGITS, n, least, first, ROOM, places]);
                assert_eq!(
                    got,
                    (passed, places - len as u32),
                    "round {round}, least {least:08X}, {places} places, {n}"
                );
                for (i, c) in room[..len].iter().enumerate() {
                    let at = ROOM + 8 * i as u32;
                    assert_eq!((routine.read(at), routine.read(at + 4)), (c.token, c.key));
                }
            }
        }
    }
}

#[test]
fn weights_are_the_portable_ones() {
    let mut routine = Routine::new("ssnail_weigh");
    let mut rng = Rng::new(3);
    for round in 0..600 {
        let n = 1 + rng.next_u32() % 40;
        let mut list: Vec<u32> = (0..n).map(|_| bits(&mut rng, round % 7) & 0xFF7F_FFFF).collect();
        if round % 3 == 0 {
            // All of about one size, and some just beside the largest.
            list = list.iter().map(|b| b & 0x80FF_FFFF | 0x4000_0000).collect();
            list.push(list[0] ^ 1);
        }
        let largest = list.iter().copied().max_by_key(|&b| key_of(b)).unwrap();
        let scale = match round % 5 {
            0 => f32::from_bits(rng.next_u32() & 0x7FFF_FFFF),
            1 => [0.0, f32::MIN_POSITIVE, 1e-42, f32::MAX, f32::INFINITY][rng.next_u32() as usize % 5],
            _ => 1.44 / ((1 + rng.next_u32() % 300) as f32 / 100.0),
        };
        if scale.is_nan() {
            continue;
        }
        let weights = Weights::new(largest, scale);
        let mut room: Vec<Candidate> =
            (0..).zip(&list).map(|(token, &b)| Candidate { token, key: key_of(b) }).collect();
        let words: Vec<u32> = room.iter().flat_map(|c| [c.token, c.key]).collect();
        routine.write(ROOM, &words);
        let fields = [weights.largest, weights.exponent, weights.factor, weights.places];
        let (low, high) = routine.call(&[fields.as_slice(), &[ROOM, room.len() as u32]].concat());
        let sum = weights.weigh(&mut room);
        for (i, c) in room.iter().enumerate() {
            let at = ROOM + 8 * i as u32;
            let got = (routine.read(at), routine.read(at + 4));
            assert_eq!(got, (c.token, c.key), "round {round}, {:08X}, {weights:?}", list[i]);
        }
        assert_eq!(u64::from(high) << 32 | u64::from(low), sum, "round {round}");
    }
}
