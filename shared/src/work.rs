//! What a token of a model costs without the core, before it is loaded: counted from its script, timed by a trial.
//!
//! Scripts are straight: each instruction of a layer stands in them once for each layer, so reading one from the start to
//! HALT counts what a token needs with an empty context. A matrix's time goes by its elements, everything else by
//! lengths of vectors.

use crate::isa::{INSTRUCTION_LEN, Instruction, Opcode, format};

/// Columns of the trial's matrices, and elements of its vectors.
pub const TRIAL_COLUMNS: u32 = 64;
/// Rows whose time is measured.
pub const TRIAL_ROWS: u32 = 8;
/// Formats in the order of the counts and times.
pub const TRIAL_FORMATS: [u8; 5] = [format::F32, format::F16, format::BF16, format::Q8_0, format::Q4_0];

/// Times of the trial, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// [`TRIAL_ROWS`] rows of [`TRIAL_COLUMNS`] in each format.
    pub rows: [u32; TRIAL_FORMATS.len()],
    /// What a quantised GEMV needs for its vector.
    pub quantise: u32,
    /// An operation on a vector.
    pub vector: u32,
    /// Changing from one program to the other and back.
    pub call: u32,
}

/// Elements of the longest vector that the part which computes without the core has room for.
pub const VECTOR_MAX: u32 = 2048;

/// What one token needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// N0 and N1 where the script is.
    n: [u32; 2],
    /// Rows of trial's size in each format.
    rows: [u32; TRIAL_FORMATS.len()],
    /// Vectors of trial's size that are quantised.
    quantised: u32,
    /// Those of other operations.
    vectors: u32,
    /// The longest vector.
    pub widest: u32,
}

impl Count {
    /// Counts an instruction; false at the end of the script.
    pub fn see(&mut self, bytes: &[u8; INSTRUCTION_LEN as usize]) -> bool {
        let Some(i) = Instruction::decode(bytes) else { return false };
        let [columns, rows] = self.n;
        let parts = columns.div_ceil(TRIAL_COLUMNS);
        match i.op {
            Opcode::Halt => return false,
            Opcode::Setn => self.n = [i.x, i.y],
            Opcode::Gemv => {
                self.widest = self.widest.max(columns);
                for (count, number) in self.rows.iter_mut().zip(TRIAL_FORMATS) {
                    if number == i.a {
                        *count = count.saturating_add(parts.saturating_mul(rows));
                    }
                }
                if matches!(i.a, format::Q8_0 | format::Q4_0) {
                    self.quantised = self.quantised.saturating_add(parts);
                }
            }
            Opcode::Vadd
            | Opcode::Vmul
            | Opcode::Silumul
            | Opcode::Rmsnorm
            | Opcode::Layernorm
            | Opcode::Rope
            | Opcode::Gelu
            | Opcode::Deqrow
            | Opcode::Cvt16
            | Opcode::Meanrows => {
                self.widest = self.widest.max(columns);
                self.vectors = self.vectors.saturating_add(parts);
            }
            _ => {}
        }
        true
    }

    /// Milliseconds for all of it.
    #[must_use]
    pub fn milliseconds(&self, times: &Times) -> u32 {
        let mut sum = 0u32;
        let mut add = |count: u32, time: u32, per: u32| {
            // Thousands first where the product would leave 32 bits.
            let whole = (count / per).saturating_mul(time);
            sum = sum.saturating_add(whole / 1000).saturating_add((count % per).saturating_mul(time) / per / 1000);
        };
        for (count, time) in self.rows.iter().zip(times.rows) {
            add(*count, time, TRIAL_ROWS);
        }
        add(self.quantised, times.quantise, 1);
        add(self.vectors, times.vector, 1);
        add(1, times.call, 1);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instruction(op: Opcode, a: u8, x: u32, y: u32) -> [u8; 16] {
        Instruction { op, a, b: 0, x, y, z: 0 }.encode()
    }

    #[test]
    fn a_script_is_counted_to_its_end() {
        let mut count = Count::default();
        for bytes in [
            instruction(Opcode::Setn, 0, 128, 96),
            instruction(Opcode::Gemv, format::Q8_0, 0, 0),
            instruction(Opcode::Gemv, format::F16, 0, 0),
            instruction(Opcode::Setn, 0, 192, 0),
            instruction(Opcode::Silumul, 0, 0, 0),
        ] {
            assert!(count.see(&bytes));
        }
        assert!(!count.see(&instruction(Opcode::Halt, 0, 0, 0)));
        assert!(!count.see(&[0xFF; 16]));
        let times = Times { rows: [0, 80_000, 0, 8_000, 0], quantise: 3_000, vector: 5_000, call: 30_000 };
        // 192 rows of 64 in each format, at 10 and 1 ms; two parts quantised; three parts of a vector.
        assert_eq!(count.milliseconds(&times), 192 * 10 + 192 + 2 * 3 + 3 * 5 + 30);
        assert_eq!(count.widest, 192);
    }

    #[test]
    fn nothing_overflows() {
        let mut count = Count::default();
        count.see(&instruction(Opcode::Setn, 0, u32::MAX, u32::MAX));
        for _ in 0..3 {
            count.see(&instruction(Opcode::Gemv, format::Q4_0, 0, 0));
        }
        let times = Times { rows: [u32::MAX; 5], quantise: u32::MAX, vector: u32::MAX, call: u32::MAX };
        assert!(count.milliseconds(&times) > 1_000_000);
    }
}
