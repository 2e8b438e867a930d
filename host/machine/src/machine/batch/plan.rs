//! Recognising the loop of a decoder script, and proving that several of its positions may be run side by side.
//!
//! The loop must be straight-line code between its head and the test for the end of the prompt. Side by side is the same
//! as one after the other if every position
//!
//! * writes before it reads in its scratch memory, which is at fixed addresses and lies in one piece,
//! * writes rows of its own into the caches, each before the attention that reads them and never after,
//! * reads nothing else that any position writes,
//! * has logits that only the final ARGMAX reads, whose register only a generated token uses,
//! * and cannot fault.
//!
//! The position after the last one of a batch is always run the plain way, and rewrites all scratch memory and every
//! register that the batch has touched, before the host can look.

use ssnail_shared::isa::{Address, GEMV_ACCUMULATE, GEMV_F16, INSTRUCTION_LEN, Instruction, Opcode};
use ssnail_shared::map::{ADDRESS_END, HEADER_LEN, MEMORY_BASE};

use super::region::{Place, Region};
use crate::kernel::Format;
use crate::memory::Memory;

/// Longest body that is looked at, in instructions.
const LONGEST: u32 = 4096;
/// Largest scratch memory of a position, in bytes.
const LARGEST: u64 = 1 << 20;

/// How an instruction of the body is run for several positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Position by position.
    Each,
    /// One pass over the weights for all positions.
    Gemv {
        /// Format of the weights.
        format: Format,
        /// Bytes of a row, not zero.
        row_bytes: u32,
    },
    /// Not at all: its result is never seen. The bytes that it would read and write are counted.
    Unseen {
        /// Bytes read.
        read: u64,
        /// Bytes written.
        written: u64,
    },
}

/// The registers that control the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Control {
    /// The position.
    pub pos: u8,
    /// Positions that the context holds.
    pub context: u8,
    /// The position after this one.
    pub next: u8,
    /// Length of the prompt.
    pub prompt: u8,
}

/// A loop that may be run side by side.
#[derive(Debug)]
pub(super) struct Plan {
    pub control: Control,
    /// Value of the context register that the proof holds for.
    pub context: u32,
    pub body: Vec<(Instruction, Kind)>,
    /// Where the position is stored at the end of each turn.
    pub store: u32,
    /// Scratch memory.
    pub scratch: Region,
    /// Address of the token buffer.
    pub tokens: u32,
    /// What is read at an address that depends on the token: base, step, length.
    pub token_reads: Vec<(u32, u32, u64)>,
    /// Everything that a batch writes, for [`Plan::token_is_harmless`].
    written: Vec<Region>,
}

/// Where the loop's head is if the code at `start` looks like a decoder script: a BLT over two instructions.
pub(super) fn find_head(memory: &Memory, start: u32) -> Option<u32> {
    (0..64).map(|i| start.wrapping_add(i * INSTRUCTION_LEN)).find(|&pc| read_head(memory, pc).is_some())
}

fn at(memory: &Memory, pc: u32) -> Option<Instruction> {
    Instruction::decode(memory.slice(pc, u64::from(INSTRUCTION_LEN))?.first_chunk()?)
}

fn jump(i: &Instruction) -> Option<u32> {
    match Address::decode(i.x) {
        Address::Absolute(target) if i.op == Opcode::Beq && i.a == 15 && i.b == 15 => Some(target),
        _ => None,
    }
}

/// `BLT pos, context` over a LI and a jump; gives the two registers.
fn read_head(memory: &Memory, pc: u32) -> Option<(u8, u8)> {
    let blt = at(memory, pc).filter(|i| i.op == Opcode::Blt && i.x == pc + 3 * INSTRUCTION_LEN)?;
    at(memory, pc + INSTRUCTION_LEN).filter(|i| i.op == Opcode::Li)?;
    jump(&at(memory, pc + 2 * INSTRUCTION_LEN)?)?;
    (blt.a < 15 && blt.b < 15).then_some((blt.a, blt.b))
}

/// What is known while the body is read from top to bottom.
struct Reader<'a> {
    memory: &'a Memory,
    control: Control,
    context: u32,
    token: Option<u8>,
    tokens: u32,
    a: [Option<Place>; 16],
    n: Option<[u32; 3]>,
    /// Scratch written so far in this turn.
    covered: Vec<Region>,
    /// Rows written so far: base and step, and whether attention has read them.
    rows: Vec<(u32, u32, bool)>,
    /// Fixed addresses that are read without having been written before, and tables by position.
    constants: Vec<Region>,
    token_reads: Vec<(u32, u32, u64)>,
}

impl Plan {
    /// Reads the loop at `head`; `None` where anything is not as it must be.
    pub(super) fn recognise(memory: &Memory, head: u32, r: &[u32; 16]) -> Option<Self> {
        let (pos, context) = read_head(memory, head)?;
        let limit = r[usize::from(context)];
        let first = head + 3 * INSTRUCTION_LEN;
        let mut body = Vec::new();
        let (next, after) = loop {
            let pc = first + body.len() as u32 * INSTRUCTION_LEN;
            let i = at(memory, pc)?;
            if i.op == Opcode::Addi {
                let ends = i.b == pos && i.z == 1 && i.a != pos && i.a < 15;
                break (ends.then_some(i.a)?, pc + INSTRUCTION_LEN);
            }
            if body.len() as u32 == LONGEST {
                return None;
            }
            body.push(i);
        };
        let test = at(memory, after).filter(|i| i.op == Opcode::Blt && i.a == next && i.b < 15)?;
        let Address::Absolute(advance) = Address::decode(test.x) else { return None };
        let step = at(memory, advance)?;
        let add_one = Instruction { a: pos, b: pos, z: 1, ..Instruction::new(Opcode::Addi) };
        let stored = at(memory, advance + INSTRUCTION_LEN).filter(|i| i.op == Opcode::Str && i.a == pos)?;
        let Address::Absolute(store) = Address::decode(stored.x) else { return None };
        let back = jump(&at(memory, advance + 2 * INSTRUCTION_LEN)?)?;
        let control = Control { pos, context, next, prompt: test.b };
        let apart = [pos, context, next, test.b];
        if step != add_one || back != head || (0..4).any(|i| apart[..i].contains(&apart[i])) {
            return None;
        }
        let code = [Region::new(head, u64::from(after - head) + 16), Region::new(advance, 48)];
        Self::prove(memory, control, limit, body, store, &code)
    }

    fn prove(
        memory: &Memory,
        control: Control,
        context: u32,
        body: Vec<Instruction>,
        store: u32,
        code: &[Region],
    ) -> Option<Self> {
        let mut reader = Reader {
            memory,
            control,
            context,
            token: None,
            tokens: 0,
            a: [None; 16],
            n: None,
            covered: Vec::new(),
            rows: Vec::new(),
            constants: Vec::new(),
            token_reads: Vec::new(),
        };
        let (argmax, body) = body.split_last()?;
        let mut kinds = Vec::with_capacity(body.len());
        let mut logits = None;
        for i in body {
            let (kind, written) = reader.instruction(i)?;
            if let Some(region) = written {
                logits = Some((kinds.len(), region));
            }
            kinds.push((*i, kind));
        }
        // The last thing written is what ARGMAX reads, and a product.
        let (at, logits) = logits?;
        let n = reader.n?;
        let read = reader.fixed(reader.operand(argmax.x)?, 4 * u64::from(n[0]))?;
        let only_writer = argmax.op == Opcode::Argmax && n[0] > 0 && argmax.a < 15 && read == logits;
        let reserved = [control.pos, control.context, control.prompt];
        if !only_writer || reserved.contains(&argmax.a) || reader.token == Some(argmax.a) {
            return None;
        }
        let (classifier, kind) = kinds.get(at).copied()?;
        let Kind::Gemv { row_bytes, .. } = kind else { return None };
        let n_then = reader.n_at(body, at)?;
        if classifier.b != 0 || u64::from(n_then[1]) * 4 != logits.len() {
            return None;
        }
        let traffic = 4 * u64::from(n_then[0]) + u64::from(row_bytes) * u64::from(n_then[1]);
        kinds[at].1 = Kind::Unseen { read: traffic, written: logits.len() };
        kinds.push((*argmax, Kind::Unseen { read: logits.len(), written: 0 }));
        // The logits are written last, so what was covered before them is the scratch memory.
        let scratch = Region::around(reader.covered.iter().filter(|r| **r != logits))?;
        let rows: Vec<Region> = reader.rows.iter().map(|r| reader.table(r.0, r.1)).collect::<Option<_>>()?;
        let tokens = Region::new(reader.tokens, 4 * (u64::from(context) + 1));
        let mut constants = reader.constants.clone();
        constants.extend_from_slice(code);
        constants.push(tokens);
        let header = Region::new(MEMORY_BASE, u64::from(HEADER_LEN));
        let position = Region::new(store, 4);
        if !position.inside_union(&[header]) || constants.iter().any(|c| c.meets(&position)) {
            return None;
        }
        constants.push(header);
        let mut written = rows.clone();
        written.extend([scratch, logits]);
        let apart = (0..written.len()).all(|i| written[..i].iter().all(|w| !w.meets(&written[i])));
        let untouched = written.iter().all(|w| constants.iter().all(|c| !w.meets(c)));
        let inside = written.iter().chain(&constants).all(|r| memory.slice(r.start(), r.len()).is_some());
        if !apart || !untouched || !inside || scratch.len() > LARGEST || reader.token.is_none() {
            return None;
        }
        let (tokens, token_reads) = (reader.tokens, reader.token_reads);
        Some(Self { control, context, body: kinds, store, scratch, tokens, token_reads, written })
    }

    /// Whether everything that depends on this token can be read, and is nothing that a batch writes.
    pub(super) fn token_is_harmless(&self, memory: &Memory, token: u32) -> bool {
        self.token_reads.iter().all(|&(base, step, length)| {
            let at = u64::from(base) + u64::from(token) * u64::from(step);
            let Ok(at) = u32::try_from(at) else { return false };
            let read = Region::new(at, length);
            at < ADDRESS_END && memory.slice(at, length).is_some() && self.written.iter().all(|w| !w.meets(&read))
        })
    }
}

impl Reader<'_> {
    /// The values of N before instruction `at` of the body.
    fn n_at(&self, body: &[Instruction], at: usize) -> Option<[u32; 3]> {
        body[..at].iter().rfind(|i| i.op == Opcode::Setn).map(|i| [i.x, i.y, i.z])
    }

    fn operand(&self, word: u32) -> Option<Place> {
        match Address::decode(word) {
            Address::Absolute(address) => Some(Place::Fixed(address)),
            Address::Indirect { register, offset } => self.a[usize::from(register)]?.plus(offset),
        }
    }

    fn fixed(&self, place: Place, length: u64) -> Option<Region> {
        match place {
            Place::Fixed(address) => Some(Region::new(address, length)),
            _ => None,
        }
    }

    /// All rows of a table by position.
    fn table(&self, base: u32, step: u32) -> Option<Region> {
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
    fn instruction(&mut self, i: &Instruction) -> Option<(Kind, Option<Region>)> {
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
            Opcode::Attn => self.attention(i)?,
            _ => return None,
        };
        Some((Kind::Each, written))
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
