//! Matrices that are multiplied with one vector are computed together where threads share them. Nothing shows it, whatever
//! stands between the instructions: programs that change vectors, weights and script give the same memory and statistics
//! with one thread, where nothing is computed before its turn, and with several.

#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_machine::{Machine, Numerics};
use ssnail_shared::isa::{Instruction, Opcode, indirect};
use ssnail_shared::map::{MEMORY_BASE, PAYLOAD};

const LENGTH: u32 = 1 << 20;
const COLUMNS: u32 = 256;
const ROWS: u32 = 256;
/// Two vectors, three results, three matrices of up to 272 bytes a row.
const VECTORS: [u32; 2] = [MEMORY_BASE + 0x1_0000, MEMORY_BASE + 0x1_0400];
const RESULTS: [u32; 3] = [MEMORY_BASE + 0x1_0800, MEMORY_BASE + 0x1_0c00, MEMORY_BASE + 0x1_1000];
/// Enough for other vectors.
const FLOATS: u32 = MEMORY_BASE + 0x1_2000;
const WEIGHTS: [u32; 3] = [MEMORY_BASE + 0x2_0000, MEMORY_BASE + 0x4_0000, MEMORY_BASE + 0x6_0000];

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % n
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// Products for the most part, most of them of the same vector.
    fn instruction(&mut self, vector: u32) -> Instruction {
        let n = |op, x, y, z| Instruction { x, y, z, ..Instruction::new(op) };
        let anywhere = |r: &mut Self| {
            let lists = [&VECTORS[..], &RESULTS[..], &WEIGHTS[..]];
            let list = lists[r.below(3) as usize];
            r.of(list) + 4 * r.below(200)
        };
        match self.below(20) {
            0 => n(Opcode::Setn, COLUMNS, self.of(&[ROWS, 100, 17]), 0),
            1 => n(Opcode::Setn, self.of(&[COLUMNS, 128]), ROWS, 0),
            2 => n(Opcode::Vadd, vector, self.of(&RESULTS), vector),
            3 => n(Opcode::Copy, anywhere(self), anywhere(self), 4 * (1 + self.below(20))),
            // Over the script, one instruction by another.
            4 => n(Opcode::Copy, PAYLOAD + 16 * (4 + self.below(10)), PAYLOAD + 16 * (4 + self.below(10)), 16),
            5 => Instruction { a: 3, b: 15, ..n(Opcode::Lea, self.of(&RESULTS), 0, 0) },
            _ => Instruction {
                a: self.of(&[8, 8, 8, 2]),
                b: self.of(&[0, 0, 0, 1, 2, 3]),
                ..n(
                    Opcode::Gemv,
                    self.of(&WEIGHTS),
                    if self.below(5) == 0 { self.of(&VECTORS) } else { vector },
                    if self.below(4) == 0 { self.of(&[vector, indirect(3), WEIGHTS[2]]) } else { self.of(&RESULTS) },
                )
            },
        }
    }
}

#[test]
fn programs_run_alike_with_any_number_of_threads() {
    let mut machines: Vec<Machine> =
        [1, 2, 3].map(|threads| Machine::new(LENGTH, Numerics::Hardware, threads)).into_iter().collect();
    machines.iter_mut().for_each(|m| m.set_least_shared(0));
    for seed in 0..150 {
        let mut random = Random(seed);
        let mut memory = vec![0; LENGTH as usize];
        for (i, word) in memory.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            // Floats in the vectors, blocks with ordinary scales in the weights.
            *word = if i < 0x8000 {
                (random.below(2000) as f32 / 1000.0 - 1.0).to_le_bytes()
            } else {
                (random.below(1 << 31) & 0x83ff_83ff | 0x3000_3000).to_le_bytes()
            };
        }
        let vector = random.of(&VECTORS);
        let mut script = vec![
            Instruction { a: 1, z: 0, ..Instruction::new(Opcode::Li) },
            // Each time another vector, so that what was computed the last time is of no use.
            Instruction { a: 4, b: 1, x: FLOATS, z: 4 * COLUMNS, ..Instruction::new(Opcode::Lea) },
            Instruction { x: indirect(4), y: vector, z: 4 * COLUMNS, ..Instruction::new(Opcode::Copy) },
            Instruction { x: COLUMNS, y: ROWS, ..Instruction::new(Opcode::Setn) },
        ];
        script.extend((0..10).map(|_| random.instruction(vector)));
        // Three times: what has been decoded is looked at.
        script.extend([
            Instruction { a: 1, b: 1, z: 1, ..Instruction::new(Opcode::Addi) },
            Instruction { a: 2, z: 3, ..Instruction::new(Opcode::Li) },
            Instruction { a: 1, b: 2, x: PAYLOAD + 16, ..Instruction::new(Opcode::Blt) },
            Instruction::new(Opcode::Halt),
        ]);
        let at = (PAYLOAD - MEMORY_BASE) as usize;
        for (bytes, i) in memory[at..].chunks_mut(16).zip(&script) {
            bytes.copy_from_slice(&i.encode());
        }
        let mut expected = None;
        for m in &mut machines {
            m.memory_mut().slice_mut(MEMORY_BASE, u64::from(LENGTH)).unwrap().copy_from_slice(&memory);
            m.stats = Default::default();
            m.start(PAYLOAD);
            let result = m.run(200, &mut ());
            let found = (result, m.registers.clone(), m.stats, crc32fast::hash(m.memory().as_bytes()));
            assert_eq!(&found, expected.get_or_insert(found.clone()), "program {seed}");
        }
    }
}
