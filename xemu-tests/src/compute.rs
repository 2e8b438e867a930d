//! SSNAIL.CPU by itself on the emulated MEGA65: how long the instructions of a script take without the core.

use crate::bench::HERTZ;
use ssnail_m65::io::keyboard::Key;
use ssnail_m65::{Machine, Model};
use ssnail_machine::{Accelerator, Numerics, Options, Watch};
use ssnail_shared::isa::{INSTRUCTION_LEN, Instruction, Opcode};
use ssnail_shared::map::MEMORY_BASE;
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::runtime;

/// What the program's mailbox module says.
#[path = "../../mega65/src/hw/mailbox.rs"]
#[allow(dead_code, unreachable_pub)]
mod mailbox;

/// The reserve at the end of 8 MB.
const RESERVE: u32 = MEMORY_BASE + (8 << 20) - mailbox::RESERVE;
const MAILBOX: u32 = RESERVE + mailbox::MAILBOX;
/// Where the program finds the milliseconds that a token is estimated to take, with 8 MB.
pub const ESTIMATE: u32 = MAILBOX + mailbox::MILLISECONDS;
/// Where the caller is.
const STUB: usize = 0x1610;
/// Words of the file's head, and where its code goes.
const HEAD: usize = 20;
const LOAD: usize = 0x2001;

/// The part in a machine.
pub struct Part {
    /// The machine.
    pub machine: Machine,
    code: Vec<u8>,
    data: Vec<u8>,
    place: usize,
    zeros: usize,
}

/// How a call ended, and its cycles.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// Status in the mailbox.
    pub status: u32,
    /// Cycles of the call, without copying the part to its place.
    pub cycles: u64,
}

impl Part {
    /// Puts a model's memory into attic RAM; the job begins at `code`.
    pub fn new(file: &[u8], memory: &[u8], code: u32) -> Self {
        let word =
            |n: usize| u32::from_le_bytes([file[4 * n], file[4 * n + 1], file[4 * n + 2], file[4 * n + 3]]) as usize;
        let (length, place, data, zeros) = (word(1), word(2), word(3), word(4));
        let mut machine = Machine::new(Model::R3);
        let attic = memory.len().min((RESERVE - MEMORY_BASE) as usize);
        for (&b, at) in memory[..attic].iter().zip(MEMORY_BASE..) {
            machine.write_flat(at, b);
        }
        let mut part = Self {
            machine,
            code: file[HEAD..HEAD + length].to_vec(),
            data: file[HEAD + length..HEAD + length + data].to_vec(),
            place,
            zeros,
        };
        part.set(mailbox::PC, code);
        part.set(mailbox::END, RESERVE);
        part.set(mailbox::COMMAND, mailbox::RUN);
        part
    }

    fn set(&mut self, offset: u32, value: u32) {
        self.poke(MAILBOX + offset, value);
    }

    fn get(&mut self, offset: u32) -> u32 {
        self.peek(MAILBOX + offset)
    }

    /// Writes a word of attic RAM.
    pub fn poke(&mut self, address: u32, value: u32) {
        value.to_le_bytes().iter().zip(address..).for_each(|(&b, at)| self.machine.write_flat(at, b));
    }

    /// Reads a word.
    pub fn peek(&mut self, address: u32) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|i| self.machine.read_flat(address + i)))
    }

    /// The memory of the model.
    pub fn memory(&mut self, length: usize) -> Vec<u8> {
        (MEMORY_BASE..).take(length).map(|at| self.machine.read_flat(at)).collect()
    }

    /// Calls the part.
    pub fn call(&mut self) -> Called {
        let stub = [
            0x78, 0xA9, 0x47, 0x8D, 0x2F, 0xD0, 0xA9, 0x53, 0x8D, 0x2F, 0xD0, // the MEGA65's registers
            0xA9, 0x41, 0x8D, 0x00, 0x00, 0xA9, 0x35, 0x8D, 0x01, 0x00, 0xA9, 0x44, 0x8D, 0x30, 0xD0, // fast, RAM
            0xA9, 0x00, 0xAA, 0xA8, 0x4B, 0x5C, 0xEA, 0x02, // nothing mapped, a long stack
            0xA0, 0x1D, 0x2B, 0xA2, 0xF0, 0x9A, 0x20, 0x20, 0x20, // $1DF0; the part
            0xA9, 0x00, 0x5B, 0x8D, 0xCF, 0xD6, 0xA9, 0x42, 0x8D, 0xCF, 0xD6, // the end
        ];
        let ram = self.machine.board.chip_ram_mut();
        ram[STUB..][..stub.len()].copy_from_slice(&stub);
        ram[mailbox::WHERE as usize..][..4].copy_from_slice(&MAILBOX.to_le_bytes());
        ram[LOAD..][..self.code.len()].copy_from_slice(&self.code);
        let end = self.place + self.data.len();
        ram[self.place..end].copy_from_slice(&self.data);
        ram[end..end + self.zeros].fill(0);
        ram[end + self.zeros..0x1_DFF0].fill(0xB7);
        self.set(mailbox::STATUS, mailbox::BROKEN);
        let m = &mut self.machine;
        let start = m.board.cycles;
        m.cpu.sp = 0x01F0;
        m.sys(STUB as u16);
        let stop = m.run_until(start + 600 * HERTZ);
        assert!(stop.is_some(), "no end, pc ${:04X}", m.cpu.pc);
        let cycles = m.board.cycles - start;
        Called { status: self.get(mailbox::STATUS), cycles }
    }

    /// Bytes of the soft stack that the last call left untouched.
    pub fn stack_left(&self) -> usize {
        let from = self.place + self.data.len() + self.zeros;
        self.machine.board.chip_ram()[from..].iter().take_while(|&&b| b == 0xB7).count()
    }

    /// Runs to the next token: its cycles.
    pub fn token(&mut self) -> u64 {
        let called = self.call();
        assert!(matches!(called.status, mailbox::SYNC | mailbox::HALT), "status {}", called.status);
        called.cycles
    }

    /// Runs one instruction: which, and its cycles with those of the call.
    pub fn step(&mut self) -> (Instruction, u32, u64) {
        if self.machine.board.keyboard.is_empty() {
            self.machine.board.keyboard.press(Key { ascii: 1, petscii: 1, modifiers: 0 });
        }
        let pc = self.get(mailbox::PC);
        let bytes: Vec<u8> = (pc..pc + INSTRUCTION_LEN).map(|at| self.machine.read_flat(at)).collect();
        let i = Instruction::decode(bytes.as_slice().try_into().expect("16 bytes")).expect("an instruction");
        let called = self.call();
        (i, called.status, called.cycles)
    }
}

struct Quiet;
impl Watch for Quiet {}

/// Memory of a model before the token at `position` is computed, its code's address, and memory after that token.
pub fn at_position(image: &[u8], position: u32) -> (Vec<u8>, u32, Vec<u8>) {
    let load = || {
        let options = Options { numerics: Numerics::Hardware, ..Options::default() };
        let mut golden = Accelerator::load(image, &options, |_| {}).unwrap_or_else(|e| panic!("{e}"));
        // Token by token: prompts at once leave other working memory behind.
        golden.machine_mut().set_plain(true);
        golden
    };
    let mut golden = load();
    let code = golden.header().code;
    let vocabulary = golden.header().n_vocab;
    let mut prompt: Vec<u32> = (0..=position).map(|i| if i == 0 { 1 } else { 3 + i * 37 % (vocabulary - 3) }).collect();
    if position > 0 {
        // What the model tells by itself, as far as that goes.
        let told = golden.generate(&[1], position, &mut Quiet).unwrap_or_else(|e| panic!("{e}")).generated;
        prompt.iter_mut().skip(1).zip(told).for_each(|(at, token)| *at = token);
        golden = load();
    }
    let words = |memory: &mut Vec<u8>, at: u32, words: &[u32]| {
        for (i, word) in words.iter().enumerate() {
            let from = (at - MEMORY_BASE) as usize + 4 * i;
            memory[from..from + 4].copy_from_slice(&word.to_le_bytes());
        }
    };
    if position > 0 {
        golden.generate(&prompt[..position as usize], 1, &mut Quiet).unwrap_or_else(|e| panic!("{e}"));
    }
    let mut before = golden.machine().memory().as_bytes().to_vec();
    words(&mut before, ssnail_shared::map::TOKENS, &prompt);
    words(&mut before, runtime::POS, &[position, position + 1, 1, 0, 0, 0]);
    let mut golden = load();
    golden.generate(&prompt, 1, &mut Quiet).unwrap_or_else(|e| panic!("{e}"));
    let _ = golden.machine().memory().check(MEMORY_BASE, 4);
    (before, code, golden.machine().memory().as_bytes().to_vec())
}

/// Cycles by opcode for the token at some position: opcode, instructions, cycles.
pub fn profile(file: &[u8], memory: &[u8], code: u32) -> Vec<(Opcode, u32, u64)> {
    let mut part = Part::new(file, memory, code);
    let mut list: Vec<(Opcode, u32, u64)> = Vec::new();
    let mut least = u64::MAX;
    loop {
        let (i, status, cycles) = part.step();
        least = least.min(cycles);
        match list.iter_mut().find(|(op, ..)| *op == i.op) {
            Some((_, count, sum)) => {
                *count += 1;
                *sum += cycles;
            }
            None => list.push((i.op, 1, cycles)),
        }
        if status != mailbox::KEY {
            break;
        }
    }
    for (_, count, sum) in &mut list {
        *sum -= least * u64::from(*count);
    }
    list.sort_by_key(|(_, _, sum)| std::cmp::Reverse(*sum));
    list
}
