//! Random programs over random memory: faults are values, never a panic, whatever the operands.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use ssnail_machine::{Fault, Machine, Numerics};
use ssnail_shared::isa::{Instruction, TABLE, indirect};
use ssnail_shared::map::{MEMORY_BASE, PAYLOAD};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    /// An address operand: mostly inside, near an end, through a register, or anything.
    fn address(&mut self, length: u32) -> u32 {
        match self.below(10) {
            0 => self.next(),
            1 => MEMORY_BASE + length - self.below(300),
            2 => indirect(self.below(16) as u8) | self.below(4096),
            3 => PAYLOAD + 16 * self.below(40),
            _ => MEMORY_BASE + self.below(length),
        }
    }

    /// A length: small, with many divisors, zero, or far too large.
    fn length(&mut self) -> u32 {
        match self.below(12) {
            0 => 0,
            1 => self.next(),
            2 => u32::MAX - self.below(3),
            3 => 1 << self.below(32),
            4..7 => 32 * self.below(20),
            _ => self.below(200),
        }
    }

    fn instruction(&mut self, length: u32) -> Instruction {
        let op = TABLE[self.below(TABLE.len() as u32) as usize].op;
        let field = |r: &mut Self| match r.below(8) {
            0 => r.next() as u8,
            1 => [0, 1, 2, 8, 30][r.below(5) as usize],
            2 => r.below(41) as u8,
            _ => r.below(16) as u8,
        };
        let mut i = Instruction { op, a: field(self), b: field(self), x: 0, y: 0, z: 0 };
        [i.x, i.y, i.z] = [self.address(length), self.address(length), self.address(length)];
        match TABLE.iter().find(|row| row.op == op).unwrap().name {
            "SETN" => [i.x, i.y, i.z] = [self.length(), self.length(), self.next()],
            "LI" | "ADDI" | "COPY" => i.z = self.length(),
            "LEA" => i.z = self.below(3000),
            _ => {}
        }
        i
    }
}

#[test]
fn random_programs_end_in_values() {
    const LENGTH: u32 = 1 << 18;
    let (mut halted, mut faults) = (0, [0; 5]);
    for seed in 0..1500 {
        let mut random = Random(seed);
        let numerics = if seed % 2 == 0 { Numerics::Hardware } else { Numerics::Float };
        let mut m = Machine::new(LENGTH, numerics, 1 + seed as usize % 2);
        m.set_least_shared(0);
        let memory = m.memory_mut().slice_mut(MEMORY_BASE, u64::from(LENGTH)).unwrap();
        for word in memory.as_chunks_mut().0 {
            // Small words, so that blocks of attention make sense now and then, and floats of every kind.
            *word = match random.below(4) {
                0 => random.below(9).to_le_bytes(),
                1 => random.next().to_le_bytes(),
                2 => random.address(LENGTH).to_le_bytes(),
                _ => (random.below(2000) as f32 / 1000.0 - 1.0).to_le_bytes(),
            };
        }
        for at in 0..60 {
            let code = random.instruction(LENGTH).encode();
            m.memory_mut().slice_mut(PAYLOAD + 16 * at, 16).unwrap().copy_from_slice(&code);
        }
        m.start(PAYLOAD);
        match m.run(300, &mut ()) {
            Ok(()) => halted += 1,
            Err(Fault::Address { .. }) => faults[0] += 1,
            Err(Fault::Misaligned { .. }) => faults[1] += 1,
            Err(Fault::IllegalOpcode { .. }) => faults[2] += 1,
            Err(Fault::Operand { .. }) => faults[3] += 1,
            Err(Fault::Limit { .. }) => faults[4] += 1,
        }
    }
    println!("{halted} halted; address, alignment, opcode, operand, limit: {faults:?}");
    assert!(halted > 50 && faults[0] > 100 && faults[1] > 10 && faults[3] > 100);
}
