//! Images that a stranger might have made: one thing of a sound image changed, and the answer that is due. Host, portable
//! executor and native program are all held to this table.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::panic)]

use ssnail_shared::header::{Header, TokenizerBlock, offset};
use ssnail_shared::isa::{INSTRUCTION_LEN, Instruction, Opcode};
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD};
use ssnail_shared::registers::JobError;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A refusal that names this field, before anything is computed.
    Field(&'static str),
    /// The job ends with this error.
    Stops(JobError),
    /// The job does not end: a limit or the person ends it.
    Endless,
    /// It is no fault: everything works.
    Works,
}

pub struct Case {
    pub name: &'static str,
    pub change: fn(&mut Image),
    pub answer: Answer,
}

impl Case {
    /// The changed image.
    pub fn of(&self, sound: &[u8]) -> Vec<u8> {
        let first: &[u8; HEADER_LEN as usize] = sound.first_chunk().unwrap();
        let header = Header::parse(first).unwrap();
        let mut image = Image { bytes: sound.to_vec(), header };
        (self.change)(&mut image);
        image.bytes
    }
}

/// A sound decoder image under change, seen through addresses.
pub struct Image {
    bytes: Vec<u8>,
    /// Its header as it was.
    pub header: Header,
}

/// Words of the tokenizer block.
mod block {
    pub const KIND: u32 = 0;
    pub const N_VOCAB: u32 = 4;
    pub const INDEX: u32 = 8;
    pub const INDEX_LEN: u32 = 12;
    pub const PRIORITIES: u32 = 16;
    pub const BYTES: u32 = 20;
    pub const BEGIN: u32 = 24;
    pub const END: u32 = 28;
    pub const UNKNOWN: u32 = 32;
}

impl Image {
    fn at(address: u32) -> usize {
        (address - PAYLOAD + HEADER_LEN) as usize
    }

    fn word(&self, address: u32) -> u32 {
        u32::from_le_bytes(*self.bytes[Self::at(address)..].first_chunk().unwrap())
    }

    fn put(&mut self, address: u32, bytes: &[u8]) {
        self.bytes[Self::at(address)..][..bytes.len()].copy_from_slice(bytes);
    }

    fn set(&mut self, address: u32, word: u32) {
        self.put(address, &word.to_le_bytes());
    }

    fn set_header(&mut self, at: u32, word: u32) {
        self.bytes[at as usize..][..4].copy_from_slice(&word.to_le_bytes());
    }

    fn set_block(&mut self, at: u32, word: u32) {
        self.set(self.header.tokenizer + at, word);
    }

    fn block(&self) -> TokenizerBlock {
        TokenizerBlock::decode(self.bytes[Self::at(self.header.tokenizer)..].first_chunk().unwrap()).unwrap()
    }

    fn index(&self, n: u32) -> u32 {
        self.block().index + 4 * n
    }

    /// Where the offset of a token's piece stands.
    fn piece(&self, id: u32) -> u32 {
        self.header.vocab + 4 * id
    }

    /// The token at the end of the index.
    fn last(&self) -> u32 {
        self.word(self.index(self.block().index_len - 1))
    }

    /// The block of the first ATTN.
    fn attention(&self) -> u32 {
        let mut at = self.header.code;
        while self.word(at) as u8 != Opcode::Attn as u8 {
            at += INSTRUCTION_LEN;
        }
        self.word(at + 4)
    }

    /// A script in the place of the model's.
    fn script(&mut self, script: &[Instruction]) {
        for (n, i) in script.iter().enumerate() {
            self.put(self.header.code + INSTRUCTION_LEN * n as u32, &i.encode());
        }
    }

    fn end(&self) -> u32 {
        self.header.payload_end()
    }
}

fn halt() -> Instruction {
    Instruction::new(Opcode::Halt)
}

fn setn(x: u32, y: u32) -> Instruction {
    Instruction { x, y, ..Instruction::new(Opcode::Setn) }
}

/// Jumps always: R15 equals itself.
fn jump(x: u32) -> Instruction {
    Instruction { a: 15, b: 15, x, ..Instruction::new(Opcode::Beq) }
}

macro_rules! cases {
    ($($name:literal, $change:expr => $answer:expr;)*) => {
        pub const CASES: &[Case] = &[$(Case { name: $name, change: $change, answer: $answer },)*];
    };
}

use Answer::{Endless, Field, Stops, Works};

cases! {
    // Headers whose fields disagree, or wrap 32 or 28 bits.
    "payload length wraps 32 bits", |i| i.set_header(offset::PAYLOAD_LEN, 0xF800_0000) => Field("payload length");
    "payload length beyond 28 bits", |i| i.set_header(offset::PAYLOAD_LEN, 0x0800_0000) => Field("payload length");
    "memory needed wraps 32 bits", |i| i.set_header(offset::MEMORY_NEEDED, 0xF800_0001) => Field("memory needed");
    "memory needed beyond 28 bits", |i| i.set_header(offset::MEMORY_NEEDED, 0x0800_0001) => Field("memory needed");
    "less memory than payload", |i| i.set_header(offset::MEMORY_NEEDED, 0x5004) => Field("memory needed");
    "token buffer elsewhere", |i| i.set_header(offset::TOKENS, i.end()) => Field("token buffer");
    "script between instructions", |i| i.set_header(offset::CODE, i.header.code + 8) => Field("code");
    "script behind the payload", |i| i.set_header(offset::CODE, i.end()) => Field("code");
    "no context", |i| i.set_header(offset::CONTEXT, 0) => Field("context");
    "more context than the token buffer", |i| i.set_header(offset::CONTEXT, 4096) => Field("context");
    "no vocabulary", |i| i.set_header(offset::N_VOCAB, 0) => Field("vocabulary size");
    "vocabulary table wraps 32 bits", |i| i.set_header(offset::N_VOCAB, 0x3FFF_FFFF) => Field("vocabulary size");
    "vocabulary table before the payload", |i| i.set_header(offset::VOCAB, MEMORY_BASE) => Field("vocabulary table");
    "vocabulary table over the end", |i| i.set_header(offset::VOCAB, i.end() - 8) => Field("vocabulary table");
    "tokenizer block at the end of 32 bits", |i| i.set_header(offset::TOKENIZER, 0xFFFF_FFF0) => Field("tokenizer block");
    "tokenizer block over the end", |i| i.set_header(offset::TOKENIZER, i.end() - 35) => Field("tokenizer block");
    "output length wraps 32 bits", |i| i.set_header(offset::OUTPUT_LEN, 0x4000_0001) => Field("output length");
    "no output", |i| i.set_header(offset::OUTPUT_LEN, 0) => Field("output length");
    "output over the script", |i| i.set_header(offset::OUTPUT, i.header.code) => Field("output");
    "output at the end of 28 bits", |i| i.set_header(offset::OUTPUT, 0x0FFF_FFFC) => Field("output");
    "a decoder that says encoder", |i| i.set_header(offset::VERSION, 0x0001_0001) => Field("flags");
    "a family that does not exist", |i| i.set_header(offset::ARCHITECTURE, 3) => Field("architecture");

    // The tokenizer block.
    "kind of tokenizer", |i| i.put(i.header.tokenizer + block::KIND, &[3]) => Field("tokenizer kind");
    "splitting rule", |i| i.put(i.header.tokenizer + 2, &[0xFF, 0xFF]) => Field("splitting rule");
    "vocabularies of two sizes", |i| i.set_block(block::N_VOCAB, i.header.n_vocab - 1) => Field("tokenizer vocabulary size");
    "index longer than the vocabulary", |i| i.set_block(block::INDEX_LEN, i.header.n_vocab + 1) => Field("index length");
    "index length wraps 32 bits", |i| i.set_block(block::INDEX_LEN, 0x4000_0000) => Field("index length");
    "index outside", |i| i.set_block(block::INDEX, i.end() - 4) => Field("index address");
    "index at the end of 32 bits", |i| i.set_block(block::INDEX, 0xFFFF_FFFC) => Field("index address");
    "priorities that never end", |i| i.set_block(block::PRIORITIES, i.end() - 2) => Field("priorities address");
    "wide priorities that never end", |i| {
        i.put(i.header.tokenizer + 1, &[8]);
        i.set_block(block::PRIORITIES, i.end() - 2 * i.header.n_vocab);
    } => Field("priorities address");
    "byte table outside", |i| i.set_block(block::BYTES, i.end() - 1020) => Field("byte table address");
    "first token outside", |i| i.set_block(block::BEGIN, i.header.n_vocab) => Field("begin token");
    "end token outside", |i| i.set_block(block::END, 0xFFFF_FFFE) => Field("end token");
    "unknown token outside", |i| i.set_block(block::UNKNOWN, i.header.n_vocab) => Field("unknown token");

    // Vocabulary and index.
    "pieces beyond the payload", |i| i.set(i.piece(i.header.n_vocab), i.end() - i.header.vocab + 1) =>
        Field("vocabulary table length");
    "pieces over their own offsets", |i| i.set(i.piece(0), 0) => Field("vocabulary offset");
    "a piece that ends before it begins", |i| i.set(i.piece(4), i.word(i.piece(6))) => Field("vocabulary offset");
    "a piece that wraps 32 bits", |i| i.set(i.piece(4), 0xFFFF_FFFF) => Field("vocabulary offset");
    "index entry outside", |i| i.set(i.index(3), i.header.n_vocab) => Field("index entry");
    "index not sorted", |i| {
        let (a, b) = (i.word(i.index(5)), i.word(i.index(6)));
        i.set(i.index(5), b);
        i.set(i.index(6), a);
    } => Field("index order");
    "index in descending order", |i| {
        let n = i.block().index_len;
        let ids: Vec<u32> = (0..n).map(|at| i.word(i.index(at))).collect();
        for (at, id) in ids.iter().rev().enumerate() {
            i.set(i.index(at as u32), *id);
        }
    } => Field("index order");
    "a token twice in the index", |i| i.set(i.index(6), i.word(i.index(5))) => Field("index order");
    "an empty piece in the index", |i| i.set(i.index(0), 0) => Field("index order");
    "a byte whose token does not exist", |i| i.set(i.block().bytes + 4 * 0x7A, i.header.n_vocab) => Field("byte table");

    "a piece of 64 KB", |i| {
        let n = i.header.n_vocab;
        i.set(i.piece(n), i.word(i.piece(n - 1)) + 0x1_0000);
    } => Field("piece length");

    // What looks odd and harms nothing.
    "a piece that is no UTF-8", |i| {
        let id = i.last();
        let at = i.header.vocab + i.word(i.piece(id));
        i.put(at, &[0xFF]);
    } => Works;
    "priorities that are all the same", |i| {
        let at = i.block().priorities;
        i.put(at, &vec![0; 2 * i.header.n_vocab as usize]);
    } => Works;
    "two tokens with one piece", |i| {
        // Of single letters; the second leaves the index, as only one of equals may stand there.
        let (a, b) = (i.word(i.index(3)), i.word(i.index(4)));
        let letter = i.bytes[Image::at(i.header.vocab + i.word(i.piece(a)))];
        i.put(i.header.vocab + i.word(i.piece(b)), &[letter]);
        let n = i.block().index_len;
        for at in 4..n - 1 {
            i.set(i.index(at), i.word(i.index(at + 1)));
        }
        i.set_block(block::INDEX_LEN, n - 1);
    } => Works;

    // Caches and scripts.
    "K cache over the script", |i| i.set(i.attention(), i.header.code) => Field("K cache");
    "V cache over the tables", |i| i.set(i.attention() + 4, i.header.vocab) => Field("V cache");
    "V cache from the token buffer into the script", |i| i.set(i.attention() + 4, PAYLOAD - 16) => Field("V cache");
    "K cache at the end of 32 bits", |i| i.set(i.attention(), 0xFFFF_FFF0) => Stops(JobError::Address);
    "K cache at the end of 28 bits", |i| i.set(i.attention(), 0x0FFF_FFF0) => Stops(JobError::Address);
    "a script in a circle", |i| i.script(&[jump(i.header.code)]) => Endless;
    "a script in a large circle", |i| {
        let second = jump(i.header.code);
        i.script(&[Instruction { a: 1, b: 1, z: 1, ..Instruction::new(Opcode::Addi) }, second]);
    } => Endless;
    "a jump between instructions", |i| i.script(&[jump(i.header.code + 8)]) => Stops(JobError::Misaligned);
    "a jump out of the memory", |i| i.script(&[jump(0x0FFF_FFF0)]) => Stops(JobError::Address);
    "an opcode that does not exist", |i| i.put(i.header.code, &[0xFF]) => Stops(JobError::IllegalOpcode);
    "rows that wrap 32 bits", |i| {
        let at = i.header.code;
        let gemv = Instruction { x: at, y: at, z: i.end(), ..Instruction::new(Opcode::Gemv) };
        i.script(&[setn(32, 0x0800_0000), gemv, halt()]);
    } => Stops(JobError::Address);
    "a vector that wraps 32 bits", |i| {
        let at = i.end();
        i.script(&[setn(0x4000_0001, 0), Instruction { x: at, y: at, z: at, ..Instruction::new(Opcode::Vadd) }, halt()]);
    } => Stops(JobError::Address);
    "attention over rows without end", |i| {
        // Caches of nothing but one number a row, and as many heads as fit: their product is what takes time.
        let (at, rows, heads) = (i.attention(), 0x10_0000, 0x1000);
        for (n, word) in [i.end(), i.end(), heads, 1, 1, 1, 0, 0].into_iter().enumerate() {
            i.set(at + 4 * n as u32, word);
        }
        let attn = Instruction { a: 1, x: at, y: i.end(), z: i.end(), ..Instruction::new(Opcode::Attn) };
        i.script(&[Instruction { a: 1, z: rows, ..Instruction::new(Opcode::Li) }, attn, halt()]);
    } => Stops(JobError::Operand);
}
