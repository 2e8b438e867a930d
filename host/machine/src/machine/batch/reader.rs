//! Reading the body of a loop from top to bottom, noting what every position reads and writes.

use ssnail_shared::isa::{Address, GEMV_ACCUMULATE, GEMV_F16, Instruction, Opcode};
use ssnail_shared::map::ADDRESS_END;

use super::plan::{Control, Kind};
use super::region::{Place, Region};
use crate::kernel::Format;
use crate::memory::Memory;

/// What is known while the body is read from top to bottom.
pub(super) struct Reader<'a> {
    pub(super) memory: &'a Memory,
    pub(super) control: Control,
    pub(super) context: u32,
    pub(super) token: Option<u8>,
    pub(super) tokens: u32,
    pub(super) a: [Option<Place>; 16],
    pub(super) n: Option<[u32; 3]>,
    /// Scratch written so far in this turn.
    pub(super) covered: Vec<Region>,
    /// Rows written so far: base and step, and whether attention has read them.
    pub(super) rows: Vec<(u32, u32, bool)>,
    /// Fixed addresses that are read without having been written before, and tables by position.
    pub(super) constants: Vec<Region>,
    pub(super) token_reads: Vec<(u32, u32, u64)>,
}

impl Reader<'_> {
    /// The values of N before instruction `at` of the body.
    pub(super) fn n_at(&self, body: &[Instruction], at: usize) -> Option<[u32; 3]> {
        body[..at].iter().rfind(|i| i.op == Opcode::Setn).map(|i| [i.x, i.y, i.z])
    }

    pub(super) fn operand(&self, word: u32) -> Option<Place> {
        match Address::decode(word) {
            Address::Absolute(address) => Some(Place::Fixed(address)),
            Address::Indirect { register, offset } => self.a[usize::from(register)]?.plus(offset),
        }
    }

    pub(super) fn fixed(&self, place: Place, length: u64) -> Option<Region> {
        match place {
            Place::Fixed(address) => Some(Region::new(address, length)),
            _ => None,
        }
    }

    /// All rows of a table by position.
    pub(super) fn table(&self, base: u32, step: u32) -> Option<Region> {
        let region = Region::new(base, u64::from(step) * u64::from(self.context));
        (region.end() <= u64::from(ADDRESS_END)).then_some(region)
    }

    /// Notes a read; `None` where it would see what another position writes.
    fn read(&mut self, place: Place, length: u64) -> Option<()> {
        match place {
            Place::Fixed(address) => {
                let region = Region::new(address, length);
                // What is covered in part and not whole is caught when constants are compared with what is written.
                if !region.inside_union(&self.covered) {
                    self.constants.push(region);
                }
            }
            Place::Row { base, step } => {
                let own = self.rows.iter().any(|r| (r.0, r.1) == (base, step));
                if length > u64::from(step) {
                    return None;
                }
                if !own {
                    let table = self.table(base, step)?;
                    self.constants.push(table);
                }
            }
            Place::Token { base, step } => self.token_reads.push((base, step, length)),
        }
        Some(())
    }

    /// Notes a write; gives its region if it is in scratch memory.
    fn write(&mut self, place: Place, length: u64) -> Option<Option<Region>> {
        match place {
            Place::Fixed(address) => {
                let region = Region::new(address, length);
                self.covered.push(region);
                Some(Some(region))
            }
            Place::Row { base, step } => {
                // Whole rows only, so that a row read is a row written; and none after attention has read it.
                if length != u64::from(step) {
                    return None;
                }
                match self.rows.iter().find(|r| (r.0, r.1) == (base, step)) {
                    Some((_, _, true)) => return None,
                    Some(_) => {}
                    None => self.rows.push((base, step, false)),
                }
                Some(None)
            }
            Place::Token { .. } => None,
        }
    }

    /// Follows one instruction: how it may be run, and what it wrote to scratch memory.
    pub(super) fn instruction(&mut self, i: &Instruction) -> Option<(Kind, Option<Region>)> {
        let [n0, n1, _] = self.n.map_or([None; 3], |n| n.map(|n| Some(u64::from(n))));
        let written = match i.op {
            Opcode::Setn => {
                self.n = Some([i.x, i.y, i.z]);
                None
            }
            Opcode::Lea => {
                let Address::Absolute(base) = Address::decode(i.x) else { return None };
                let place = match i.b {
                    15 => Place::Fixed(base),
                    b if b == self.control.pos => Place::Row { base, step: i.z },
                    b if Some(b) == self.token => Place::Token { base, step: i.z },
                    _ => return None,
                };
                *self.a.get_mut(usize::from(i.a))? = Some(place);
                None
            }
            Opcode::Ldr => {
                // The token of this position, once.
                let Place::Row { base, step: 4 } = self.operand(i.x)? else { return None };
                let control = [self.control.pos, self.control.context, self.control.next, self.control.prompt];
                if self.token.is_some() || i.a >= 15 || control.contains(&i.a) {
                    return None;
                }
                (self.token, self.tokens) = (Some(i.a), base);
                None
            }
            Opcode::Deqrow => {
                let (_, row_bytes) = format(i.a, n0?)?;
                self.read(self.operand(i.x)?, row_bytes)?;
                self.write(self.operand(i.z)?, 4 * n0?)?
            }
            Opcode::Gemv => return self.gemv(i, n0?, n1?),
            Opcode::Vadd | Opcode::Vmul | Opcode::Silumul => {
                self.read(self.operand(i.x)?, 4 * n0?)?;
                self.read(self.operand(i.y)?, 4 * n0?)?;
                self.write(self.operand(i.z)?, 4 * n0?)?
            }
            Opcode::Rmsnorm | Opcode::Layernorm => {
                let n = n0.filter(|n| *n > 0)?;
                self.read(self.operand(i.x)?, 4 * n)?;
                self.read(self.operand(i.y)?, if i.op == Opcode::Layernorm { 8 * n } else { 4 * n })?;
                self.write(self.operand(i.z)?, 4 * n)?
            }
            Opcode::Gelu | Opcode::Cvt16 => {
                self.read(self.operand(i.x)?, 4 * n0?)?;
                self.write(self.operand(i.z)?, if i.op == Opcode::Cvt16 { 2 * n0? } else { 4 * n0? })?
            }
            Opcode::Rope => {
                let head = n1.filter(|h| *h > 0 && h % 2 == 0 && n0.is_some_and(|n| n % h == 0))?;
                self.read(self.operand(i.x)?, 4 * n0?)?;
                self.read(self.operand(i.y)?, 4 * head)?;
                self.write(self.operand(i.x)?, 4 * n0?)?
            }
            Opcode::Attn => return Some((Kind::Attention, self.attention(i)?)),
            _ => return None,
        };
        Some((if i.op == Opcode::Rmsnorm { Kind::Norm } else { Kind::Each }, written))
    }

    fn gemv(&mut self, i: &Instruction, columns: u64, rows: u64) -> Option<(Kind, Option<Region>)> {
        let (format, row_bytes) = format(i.a, columns)?;
        let weights = self.fixed(self.operand(i.x)?, row_bytes.checked_mul(rows)?)?;
        let (x, y) = (self.operand(i.y)?, self.operand(i.z)?);
        self.read(x, 4 * columns)?;
        self.constants.push(weights);
        if i.b & GEMV_ACCUMULATE != 0 {
            self.read(y, 4 * rows)?;
        }
        let written = self.write(y, if i.b & GEMV_F16 != 0 { 2 * rows } else { 4 * rows })?;
        let row_bytes = u32::try_from(row_bytes).ok().filter(|b| *b > 0 && rows > 0)?;
        Some((Kind::Gemv { format, row_bytes }, written))
    }

    fn attention(&mut self, i: &Instruction) -> Option<Option<Region>> {
        let block = self.fixed(self.operand(i.x)?, 32)?;
        let bytes = self.memory.slice(block.start(), 32)?;
        let mut words = [0u32; 8];
        for (word, b) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*b);
        }
        let [k, v, heads, kv_heads, head_dim, cache, ..] = words;
        if i.a != self.control.pos || kv_heads == 0 || heads % kv_heads != 0 || cache > 1 {
            return None;
        }
        self.constants.push(block);
        let step = u64::from(kv_heads) * u64::from(head_dim) * if cache == 1 { 2 } else { 4 };
        for base in [k, v] {
            let row = self.rows.iter_mut().find(|r| r.0 == base && u64::from(r.1) == step)?;
            row.2 = true;
        }
        let width = u64::from(heads).checked_mul(u64::from(head_dim)).filter(|w| *w < 1 << 24)?;
        self.read(self.operand(i.y)?, 4 * width)?;
        self.write(self.operand(i.z)?, 4 * width)
    }
}

/// A format and the bytes of a row.
fn format(number: u8, columns: u64) -> Option<(Format, u64)> {
    let format = Format::from_number(number)?;
    Some((format, format.ggml().row_bytes(columns)?))
}
