//! The two implementations of the hardware numerics against each other and against the vectors: this crate's machine, and
//! the portable executor that runs on the MEGA65 itself.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use proptest::prelude::*;
use ssnail_machine::{Fault, Machine, Memory, Numerics};
use ssnail_shared::exec::{self, Executor, Step, Work};
use ssnail_shared::isa::{Instruction, Opcode, TABLE, indirect};
use ssnail_shared::map::{MEMORY_BASE, PAYLOAD, TOKENS};
use ssnail_shared::mem::{Memory as _, ReadMemory as _};
use ssnail_shared::runtime;

struct Buffers {
    x: Vec<f32>,
    q: Vec<i8>,
    scale: Vec<f32>,
    scores: Vec<f32>,
}

impl Buffers {
    fn new(n: usize) -> Self {
        Self { x: vec![0.0; n], q: vec![0; n], scale: vec![0.0; n / 32], scores: vec![0.0; n] }
    }
    fn work(&mut self) -> Work<'_> {
        Work { x: &mut self.x, q: &mut self.q, scale: &mut self.scale, scores: &mut self.scores }
    }
}

fn run(memory: &mut Memory, pc: u32, limit: u64) -> (Executor, Result<bool, exec::Fault>) {
    let mut buffers = Buffers::new(4096);
    let mut executor = Executor::new(pc);
    for _ in 0..limit {
        match executor.step(memory, &mut buffers.work()) {
            Ok(Step::Halt) => return (executor, Ok(true)),
            Ok(_) => {}
            Err(fault) => return (executor, Err(fault)),
        }
    }
    (executor, Ok(false))
}

#[test]
fn recorded_runs_leave_the_recorded_memory() {
    let Some(manifest) = json("vectors/manifest.json") else { return };
    let mut seen = 0;
    for r in manifest["runs"].as_array().unwrap().iter().filter(|r| r["mode"] == "hw") {
        let name = text(&r["image"]);
        let file = bytes(&format!("vectors/images/{name}.ssnail")).unwrap();
        let needed = u32::from_le_bytes(file[0x38..0x3C].try_into().unwrap());
        let mut memory = Memory::new(Memory::length_for(needed));
        memory.write(MEMORY_BASE, &file[..256]).unwrap();
        memory.write(PAYLOAD, &file[256..]).unwrap();
        let prompt = words(&r["prompt_ids"]);
        memory.write_words(TOKENS, &prompt).unwrap();
        memory.write_u32(runtime::PROMPT_LEN, prompt.len() as u32).unwrap();
        let n = r["n_generate"].as_u64().unwrap_or(0) as u32;
        memory.write_u32(runtime::N_GENERATE, n).unwrap();
        let (_, result) = run(&mut memory, PAYLOAD, 1_000_000);
        assert_eq!(result, Ok(true), "{name}");
        let crc = crc32fast::hash(memory.slice(MEMORY_BASE, u64::from(needed)).unwrap());
        assert_eq!(crc, number(&r["mem_crc32_after"]), "{name}");
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
fn recorded_instructions() {
    let Some(cases) = json("vectors/isa/cases.json") else { return };
    for case in cases.as_array().unwrap() {
        let name = text(&case["name"]);
        let mut memory = Memory::new(number(&case["memory_bytes"]));
        memory.write(number(&case["code_at"]), &hex(text(&case["code"]))).unwrap();
        for part in case["mem"].as_array().unwrap() {
            memory.write(number(&part[0]), &hex(text(&part[1]))).unwrap();
        }
        let (executor, result) = run(&mut memory, number(&case["code_at"]), 10_000);
        match text(&case["result"]) {
            "halt" => {
                // Formats that the core does not execute but the PC decodes.
                if result == Err(exec::Fault::Operand) {
                    println!("{name}: a format without hardware");
                    continue;
                }
                assert_eq!(result, Ok(true), "{name}");
            }
            "error" if text(&case["message"]).contains("limit") => assert_eq!(result, Ok(false), "{name}"),
            _ => assert!(result.is_err(), "{name}"),
        }
        assert_eq!(executor.r[..], words(&case["R"])[..], "{name}: R");
        assert_eq!(executor.a[..], words(&case["A"])[..], "{name}: A");
        assert_eq!(executor.n[..], words(&case["N"])[..], "{name}: N");
        assert_eq!(executor.pc, number(&case["pc"]), "{name}: pc");
        for watch in case["watch"].as_array().unwrap() {
            let seen = memory.slice(number(&watch[0]), watch[1].as_u64().unwrap()).unwrap();
            assert_eq!(seen, hex(text(&watch[2])), "{name}");
        }
    }
}

const DATA: u32 = PAYLOAD + 0x1000;
const DATA_LEN: u32 = 0x3000;
const MEMORY: u32 = 0xA000;

/// An address operand: mostly inside the data, sometimes through a register, sometimes at an edge of the memory.
fn operand() -> impl Strategy<Value = u32> {
    prop_oneof![
        12 => (0..DATA_LEN / 4).prop_map(|i| DATA + 4 * i),
        // Even, so that a NaN is seen whole in one half of a word.
        2 => (0..DATA_LEN / 2).prop_map(|i| DATA + 2 * i),
        3 => (0u8..4, 0u32..0x100).prop_map(|(r, o)| indirect(r) | (4 * o)),
        1 => prop_oneof![Just(MEMORY_BASE - 2), Just(MEMORY_BASE + MEMORY - 6), Just(MEMORY_BASE + MEMORY), any::<u32>()],
    ]
}

fn value() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => (-80i32..80, any::<u32>()).prop_map(|(e, m)| {
            ((((127 + e / 4) as u32) << 23) | (m & 0x807F_FFFF)) & 0xBFFF_FFFF | (m & 0x8000_0000)
        }),
        1 => any::<u32>(),
        1 => prop_oneof![Just(0u32), Just(0x8000_0000), Just(0x7F80_0000), Just(0xFF80_0000), Just(1), Just(0x7FC0_0000)],
    ]
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let register = prop_oneof![20 => 0u8..16, 1 => any::<u8>()];
    let format = prop_oneof![
        8 => prop_oneof![Just(0u8), Just(1), Just(2), Just(8), Just(30)],
        1 => Just(200u8)
    ];
    let field = (register.clone(), register, format, 0u8..4);
    (0..TABLE.len(), field, operand(), operand(), operand(), any::<u32>(), 0u32..400).prop_map(
        |(row, (a, b, format, flags), x, y, z, word, small)| {
            let op = TABLE[row].op;
            let mut i = Instruction { op, a, b, x, y, z };
            match op {
                Opcode::Gemv | Opcode::Deqrow => {
                    i.a = format;
                    i.b = flags;
                }
                Opcode::Li | Opcode::Addi => i.z = if word % 3 == 0 { word } else { small % 9 },
                Opcode::Lea => i.z = small % 64,
                Opcode::Copy => i.z = if word % 3 == 0 { word } else { small },
                _ => {}
            }
            i
        },
    )
}

/// Lengths that suit the operations: columns, rows or head, epsilon.
fn lengths() -> impl Strategy<Value = Instruction> {
    let n = prop_oneof![4 => (0u32..5).prop_map(|n| 32 * n), 3 => 0u32..70, 1 => any::<u32>()];
    let m = prop_oneof![8 => prop_oneof![Just(2u32), Just(4), Just(8), Just(16)], 4 => 0u32..20, 1 => any::<u32>()];
    (n, m, value()).prop_map(|(x, y, z)| Instruction { op: Opcode::Setn, a: 0, b: 0, x, y, z })
}

/// An attention block whose words are mostly sensible.
fn attention() -> impl Strategy<Value = [u32; 8]> {
    let place = || (0..DATA_LEN / 4).prop_map(|i| DATA + 4 * i);
    (place(), place(), 0u32..3, 1u32..3, 0u32..9, 0u32..3, any::<bool>()).prop_map(|(k, v, g, kv, dim, format, odd)| {
        [k, v, g * kv + u32::from(odd && g == 2), kv, 2 * dim, if format == 2 { 1 } else { format }, 0, 0]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]
    #[test]
    fn random_programs_do_the_same_on_both(
        program in prop::collection::vec(prop_oneof![2 => instruction(), 1 => lengths()], 1..40),
        values in prop::collection::vec(value(), 64),
        block in attention(),
        seed in any::<u32>(),
        tame in any::<bool>(),
    ) {
        let mut memory = Memory::new(MEMORY);
        let mut rng = ssnail_shared::rng::Rng::new(seed);
        for i in 0..DATA_LEN / 4 {
            let v = values[(rng.next_u32() % 64) as usize];
            // Halves of both signs near one, which are also single values near one.
            let near = 0x3C00_3C00 | (rng.next_u32() & 0x83FF_83FF);
            let v = if tame || rng.next_u32() % 8 == 0 { near } else { v };
            memory.write_u32(DATA + 4 * i, v).unwrap();
        }
        let mut code = Vec::new();
        for (n, i) in program.iter().enumerate() {
            let mut i = *i;
            if i.op == Opcode::Attn {
                memory.write_words(DATA + 64, &block).unwrap();
                i.x = DATA + 64;
            }
            // Branches go forward, so that every program ends.
            if matches!(i.op, Opcode::Beq | Opcode::Bne | Opcode::Blt) {
                i.x = PAYLOAD + 16 * (n as u32 + 1 + i.x % 4);
            }
            code.extend(i.encode());
        }
        code.extend([Instruction::new(Opcode::Halt).encode(); 6].concat());
        memory.write(PAYLOAD, &code).unwrap();

        let mut machine = Machine::new(MEMORY, Numerics::Hardware, 1);
        machine.memory_mut().write(MEMORY_BASE, memory.as_bytes()).unwrap();
        machine.start(PAYLOAD);
        let theirs = machine.run(200, &mut ());
        let (executor, ours) = run(&mut memory, PAYLOAD, 200);
        if let Err(exec::Fault::Room { .. }) = ours {
            return Ok(());
        }
        prop_assert_eq!(executor.pc, machine.registers.pc, "{:?} {:?}", ours, theirs);
        match (ours, &theirs) {
            (Ok(true), Ok(())) => {}
            (Err(a), Err(b)) => prop_assert_eq!(Some(a.job_error()), b.job_error(), "{:?} {:?}", a, b),
            (Ok(false), Err(Fault::Limit { .. })) => {}
            other => prop_assert!(false, "{:?}", other),
        }
        prop_assert_eq!(&executor.r, &machine.registers.r);
        prop_assert_eq!(&executor.a, &machine.registers.a);
        prop_assert_eq!(&executor.n, &machine.registers.n);
        for i in 0..MEMORY / 4 {
            let at = MEMORY_BASE + 4 * i;
            let (a, b) = (memory.read_u32(at).unwrap(), machine.memory().read_u32(at).unwrap());
            // Which NaN comes out of an operation is the processor's choice.
            let nan = |w: u32| f32::from_bits(w).is_nan() || w & 0x7C00 == 0x7C00 || (w >> 16) & 0x7C00 == 0x7C00;
            prop_assert!(a == b || (nan(a) && nan(b)), "${at:07X}: {a:08X} {b:08X}");
        }
    }
}
