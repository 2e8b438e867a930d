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

use ssnail_shared::isa::{Address, INSTRUCTION_LEN, Instruction, Opcode};
use ssnail_shared::map::{ADDRESS_END, HEADER_LEN, MEMORY_BASE};

use super::reader::Reader;
use super::region::Region;
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
    /// All positions together, each seeing one row of the caches more than the one before.
    Attention,
    /// RMSNORM of all positions together: the sums of several side by side.
    Norm,
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
