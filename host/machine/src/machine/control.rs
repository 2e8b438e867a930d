//! Words, registers, branches and COPY.

use ssnail_shared::isa::{Instruction, Opcode};
use ssnail_shared::map::ADDRESS_MASK;

use super::{Machine, Scratch};
use crate::fault::{BadOperand, Fault};

impl Machine {
    /// A register field, checked.
    pub(super) fn register(&self, i: &Instruction, field: char) -> Result<u8, Fault> {
        let number = if field == 'a' { i.a } else { i.b };
        if number > 15 {
            return Err(self.operand(i, BadOperand::Register { field, number }));
        }
        Ok(number)
    }

    fn set(&mut self, register: u8, value: u32) {
        self.registers.r[usize::from(register & 15)] = value;
    }

    pub(super) fn move_data(&mut self, i: &Instruction, s: &mut Scratch) -> Result<(), Fault> {
        let x = self.registers.address(i.x);
        if i.op == Opcode::Copy {
            let length = u64::from(i.z & 0xffff);
            s.bytes.clear();
            s.bytes.extend_from_slice(self.read(i, x, length)?);
            let to = self.registers.address(i.y);
            self.write(i, to, length)?.copy_from_slice(&s.bytes);
            return Ok(());
        }
        let a = self.register(i, 'a')?;
        match i.op {
            Opcode::Li => self.set(a, i.z),
            Opcode::Addi => {
                let b = self.register(i, 'b')?;
                self.set(a, self.registers.read(b).wrapping_add(i.z));
            }
            Opcode::Lea => {
                let b = self.register(i, 'b')?;
                let address = x.wrapping_add(self.registers.read(b).wrapping_mul(i.z)) & ADDRESS_MASK;
                self.registers.a[usize::from(a)] = address;
            }
            Opcode::Ldr => {
                let word = self.read(i, x, 4)?.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                self.set(a, word);
            }
            _ => {
                let word = self.registers.read(a);
                self.write(i, x, 4)?.copy_from_slice(&word.to_le_bytes());
            }
        }
        Ok(())
    }

    /// The address to go on at, if the branch is taken.
    pub(super) fn branch(&self, i: &Instruction) -> Result<Option<u32>, Fault> {
        let a = self.registers.read(self.register(i, 'a')?);
        let b = self.registers.read(self.register(i, 'b')?);
        let taken = match i.op {
            Opcode::Beq => a == b,
            Opcode::Bne => a != b,
            _ => a < b,
        };
        Ok(taken.then(|| self.registers.address(i.x)))
    }
}
