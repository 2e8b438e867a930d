//! Scripts: the emulator and the portable executor of `shared` do the same, instruction by instruction.
//!
//! An input is the number of instructions, the instructions, and the memory behind them.

use crate::mutate::Random;
use ssnail_machine::{Fault as HostFault, Machine, Numerics, Step as HostStep};
use ssnail_shared::exec::{Executor, Fault, Step, Work};
use ssnail_shared::isa::{INSTRUCTION_LEN, Instruction, Opcode, TABLE, format, indirect};
use ssnail_shared::map::{MEMORY_BASE, PAYLOAD};
use ssnail_shared::mem::SliceMemory;

/// Bytes of memory: nothing that fits in it is too long for the work vectors.
const LENGTH: u32 = 1 << 15;
/// Most instructions in an input.
const MOST: usize = 24;
/// Instructions executed.
const LIMIT: usize = 64;

pub fn run(data: &[u8]) {
    let Some((&count, rest)) = data.split_first() else { return };
    let code = rest.len().min(INSTRUCTION_LEN as usize * (1 + count as usize % MOST));
    let mut bytes = vec![0; LENGTH as usize];
    let start = (PAYLOAD - MEMORY_BASE) as usize;
    let room = bytes.len() - start;
    let length = rest.len().min(room);
    // What follows the code fills the memory, again and again.
    bytes[start..start + length].copy_from_slice(&rest[..length]);
    if let Some(values) = rest.get(code..).filter(|v| !v.is_empty()) {
        for (byte, value) in bytes[start + code..].iter_mut().zip(values.iter().cycle()) {
            *byte = *value;
        }
        for (byte, value) in bytes[..start].iter_mut().zip(values.iter().cycle()) {
            *byte = *value;
        }
    }
    differential(bytes);
}

/// Runs both from the same memory and compares them after each instruction.
fn differential(bytes: Vec<u8>) {
    const ROOM: usize = LENGTH as usize / 2;
    let mut host = Machine::new(LENGTH, Numerics::Hardware, 1);
    if let Some(memory) = host.memory_mut().slice_mut(MEMORY_BASE, u64::from(LENGTH)) {
        memory.copy_from_slice(&bytes);
    }
    host.start(PAYLOAD);
    let mut memory = SliceMemory::new(MEMORY_BASE, bytes);
    let mut executor = Executor::new(PAYLOAD);
    let (mut x, mut q, mut scale, mut scores) = (vec![0.0; ROOM], vec![0; ROOM], vec![0.0; ROOM], vec![0.0; ROOM]);
    for _ in 0..LIMIT {
        let at = executor.pc;
        // Before it is executed: an instruction may overwrite itself.
        let code = host.memory().slice(at, u64::from(INSTRUCTION_LEN)).and_then(|b| b.first_chunk());
        let code = code.and_then(Instruction::decode);
        let theirs = host.step(&mut ());
        let mut work = Work { x: &mut x, q: &mut q, scale: &mut scale, scores: &mut scores };
        let ours = executor.step(&mut memory, &mut work);
        let what = || format!("{code:?} at ${at:X}");
        match (&theirs, &ours) {
            (Ok(HostStep::Done), Ok(Step::Done(_))) | (Ok(HostStep::Sync), Ok(Step::Sync)) => {}
            (Ok(HostStep::Halt), Ok(Step::Halt)) => return,
            (Err(_), Err(Fault::Room { .. })) => return,
            // The emulator decodes more weight formats than the core.
            (_, Err(Fault::Operand)) if code.is_some_and(is_foreign) => return,
            (Err(theirs), Err(ours)) => {
                let (theirs, ours) = (HostFault::job_error(theirs), ours.job_error());
                assert_eq!(theirs, Some(ours), "{}", what());
                return;
            }
            _ => panic!("{}: emulator {theirs:?}, executor {ours:?}", what()),
        }
        let registers = &host.registers;
        assert_eq!(
            (registers.r, registers.a, registers.n, registers.pc),
            (executor.r, executor.a, executor.n, executor.pc),
            "{}",
            what()
        );
        let mut now = memory.into_inner();
        let emulated = host.memory().slice(MEMORY_BASE, u64::from(LENGTH)).unwrap_or_default();
        if emulated != &now[..] {
            let at = emulated.iter().zip(&now).position(|(a, b)| a != b).unwrap_or_default();
            assert!(
                nans_only(emulated, &now),
                "{} leaves other memory from ${:X} on",
                what(),
                MEMORY_BASE as usize + at
            );
            now.copy_from_slice(emulated);
        }
        memory = SliceMemory::new(MEMORY_BASE, now);
    }
}

/// Whether the instruction is over weights in a format that only the emulator knows.
fn is_foreign(i: Instruction) -> bool {
    let native = [format::F32, format::F16, format::BF16, format::Q8_0, format::Q4_0];
    matches!(i.op, Opcode::Gemv | Opcode::Deqrow) && !native.contains(&i.a)
}

/// Whether the memories differ only in what is no number in both: its bits are nobody's promise.
fn nans_only(a: &[u8], b: &[u8]) -> bool {
    let nan = |bytes: &[u8], i: usize| {
        let float = (i.saturating_sub(3)..=i)
            .any(|s| bytes.get(s..).and_then(|r| r.first_chunk()).is_some_and(|w| f32::from_le_bytes(*w).is_nan()));
        let half = (i.saturating_sub(1)..=i).any(|s| {
            bytes.get(s..).and_then(|r| r.first_chunk()).is_some_and(|w| u16::from_le_bytes(*w) & 0x7FFF > 0x7C00)
        });
        float || half
    };
    (0..a.len()).all(|i| a[i] == b[i] || (nan(a, i) && nan(b, i)))
}

/// A program that mostly makes sense: operands inside memory, lengths that divide, now and then anything.
pub fn random(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let count = 1 + random.below(MOST);
    let mut out = vec![(count - 1) as u8];
    for n in 0..count {
        let mut i = instruction(&mut random);
        if n == 0 {
            i = Instruction {
                x: length(&mut random),
                y: length(&mut random),
                z: 1e-5f32.to_bits(),
                ..Instruction::new(Opcode::Setn)
            };
        }
        out.extend(i.encode());
    }
    for _ in 0..600 {
        let word = match random.below(5) {
            0 => (random.below(9) as u32).to_le_bytes(),
            1 => random.word().to_le_bytes(),
            2 => address(&mut random).to_le_bytes(),
            _ => (random.below(2000) as f32 / 1000.0 - 1.0).to_le_bytes(),
        };
        out.extend(word);
    }
    out
}

fn address(random: &mut Random) -> u32 {
    match random.below(10) {
        0 => random.word(),
        1 => MEMORY_BASE + LENGTH - random.below(300) as u32,
        2 => indirect(random.below(16) as u8) | random.below(4096) as u32,
        3 => PAYLOAD + 16 * random.below(40) as u32,
        _ => MEMORY_BASE + 4 * random.below(LENGTH as usize / 4) as u32,
    }
}

fn length(random: &mut Random) -> u32 {
    match random.below(16) {
        0 => 0,
        1 => random.word(),
        2 => u32::MAX - random.below(3) as u32,
        3 => 1 << random.below(32),
        4..9 => 32 * random.below(8) as u32,
        _ => random.below(100) as u32,
    }
}

fn instruction(random: &mut Random) -> Instruction {
    let row = &TABLE[random.below(TABLE.len())];
    let field = |r: &mut Random| match r.below(8) {
        0 => r.word() as u8,
        1..4 => [0, 1, 2, 8, 30][r.below(5)],
        _ => r.below(16) as u8,
    };
    let mut i = Instruction { a: field(random), b: field(random), ..Instruction::new(row.op) };
    [i.x, i.y, i.z] = [address(random), address(random), address(random)];
    match row.name {
        "SETN" => [i.x, i.y] = [length(random), length(random)],
        "LI" | "ADDI" | "COPY" => i.z = length(random),
        "LEA" => i.z = random.below(3000) as u32,
        _ => {}
    }
    i
}

/// Four thousand million rows of nothing: their length is zero, so no check of a range stops them.
fn rows_of_nothing(op: Opcode) -> Vec<u8> {
    const AT: u32 = PAYLOAD + 0x100;
    let program = [
        Instruction::new(Opcode::Setn),
        Instruction { a: 1, z: u32::MAX, ..Instruction::new(Opcode::Li) },
        Instruction { a: 1, x: AT, y: AT, z: AT, ..Instruction::new(op) },
    ];
    let code = program.iter().flat_map(Instruction::encode);
    // As an attention block: caches inside memory, four heads of length 0.
    let block = [AT, AT, 4, 4, 0, 0, 0, 0].into_iter().flat_map(u32::to_le_bytes);
    [program.len() as u8 - 1].into_iter().chain(code).chain(block.cycle().take(1024)).collect()
}

/// Heads without end over one cache: both fit the memory, their product fits no patience.
fn heads_by_rows() -> Vec<u8> {
    const AT: u32 = PAYLOAD + 0x100;
    let program = [
        Instruction { a: 1, z: 0x2FFF, ..Instruction::new(Opcode::Li) },
        Instruction { a: 1, x: AT, y: MEMORY_BASE, z: MEMORY_BASE, ..Instruction::new(Opcode::Attn) },
    ];
    let nothing = Instruction::new(Opcode::Nop).encode();
    let code = program.iter().flat_map(Instruction::encode).chain(nothing.into_iter().cycle()).take(0x100);
    let block = [MEMORY_BASE, MEMORY_BASE, 0x1C00, 1, 1, 1, 0, 0].into_iter().flat_map(u32::to_le_bytes);
    [15].into_iter().chain(code).chain(block).collect()
}

pub fn seeds() -> Vec<Vec<u8>> {
    (0..400).map(random).chain([Opcode::Meanrows, Opcode::Attn].map(rows_of_nothing)).chain([heads_by_rows()]).collect()
}
