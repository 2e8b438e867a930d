//! The image header and the tokenizer block (specification, sections 4 and 5).

use core::fmt;

use crate::map::{ADDRESS_END, HEADER_LEN, MAX_CONTEXT, MEMORY_BASE, OUTPUT, OUTPUT_LEN, PAYLOAD, TOKENS};

/// First four bytes of an image.
pub const MAGIC: [u8; 4] = *b"SSNL";
/// The version that this project reads and writes.
pub const VERSION: u16 = 1;
/// Flag: an encoder (no text is generated).
pub const FLAG_ENCODER: u16 = 1;
/// Bytes of the description, its final zero included.
pub const DESCRIPTION_LEN: usize = 128;

/// Offsets of the header's fields.
pub mod offset {
    #![allow(missing_docs)]
    pub const MAGIC: u32 = 0x00;
    pub const VERSION: u32 = 0x04;
    pub const FLAGS: u32 = 0x06;
    pub const CODE: u32 = 0x08;
    pub const DATA: u32 = 0x0C;
    pub const SCRATCH: u32 = 0x10;
    pub const TOKENS: u32 = 0x14;
    pub const VOCAB: u32 = 0x18;
    pub const N_VOCAB: u32 = 0x1C;
    pub const CONTEXT: u32 = 0x20;
    pub const BOS: u32 = 0x24;
    pub const EOS: u32 = 0x28;
    pub const PAYLOAD_LEN: u32 = 0x2C;
    pub const OUTPUT: u32 = 0x30;
    pub const OUTPUT_LEN: u32 = 0x34;
    pub const MEMORY_NEEDED: u32 = 0x38;
    pub const ARCHITECTURE: u32 = 0x3C;
    pub const LOAD_BASE: u32 = 0x64;
    pub const HOST_SEGMENT: u32 = 0x70;
    pub const HOST_SEGMENT_LEN: u32 = 0x74;
    pub const TOKENIZER: u32 = 0x78;
    pub const DESCRIPTION: u32 = 0x80;
}

/// Model families, as the header numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// llama.
    Llama = 0,
    /// gpt2.
    Gpt2 = 1,
    /// bert.
    Bert = 2,
}

impl Architecture {
    /// GGUF's name of the family.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Gpt2 => "gpt2",
            Self::Bert => "bert",
        }
    }

    /// Reads the header's word.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Llama),
            1 => Some(Self::Gpt2),
            2 => Some(Self::Bert),
            _ => None,
        }
    }
}

/// A header that has been checked against itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`FLAG_ENCODER`].
    pub flags: u16,
    /// Address of the script.
    pub code: u32,
    /// End of the script's slots: the vocabulary table.
    pub data: u32,
    /// End of the payload: scratch begins.
    pub scratch: u32,
    /// Token buffer.
    pub tokens: u32,
    /// Vocabulary table.
    pub vocab: u32,
    /// Tokens in the vocabulary table.
    pub n_vocab: u32,
    /// Positions that the KV caches hold.
    pub context: u32,
    /// Begin-of-sequence token.
    pub bos: u32,
    /// End-of-sequence token.
    pub eos: u32,
    /// File length less the header.
    pub payload_len: u32,
    /// Logits, or the pooled embedding.
    pub output: u32,
    /// Floats in the output: vocabulary rows, or the width of the embedding.
    pub output_len: u32,
    /// Bytes needed from [`MEMORY_BASE`].
    pub memory_needed: u32,
    /// Model family.
    pub architecture: Architecture,
    /// Tokenizer block; see [`TokenizerBlock`].
    pub tokenizer: u32,
    /// Description, UTF-8, ended by a zero.
    pub description: [u8; DESCRIPTION_LEN],
}

/// Names of the fields that are checked, one place for each half word of the header: what takes least room.
static NAMES: &[u8] = b"magic,,version,flags,code,,,,,,token buffer,,vocabulary table,,vocabulary size,,context,,,,,,\
    payload length,,output,,output length,,memory needed,,architecture,,,,,,,,,,,,,,,,,,,,load base,,,,,\
    ,,,host segment length,,tokenizer block,";

/// The name of the header field at this offset, in ASCII; empty where no field is checked.
#[must_use]
pub fn field_name(offset: u32) -> &'static [u8] {
    let mut left = offset / 2;
    let mut name = NAMES;
    while let Some(end) = name.iter().position(|b| *b == b',') {
        let (first, rest) = name.split_at(end);
        if left == 0 {
            return first;
        }
        left -= 1;
        name = rest.get(1..).unwrap_or_default();
    }
    name
}

/// Why a header was refused: where the field is, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// The field's offset in the file; [`field_name`] names it.
    pub offset: u32,
    /// What was found there.
    pub found: u32,
}

impl HeaderError {
    /// What is right or wrong, in words.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        match self.offset {
            offset::MAGIC => "not a SSNAIL image, which begins with SSNL",
            offset::VERSION => "only version 1 is known; convert the model again",
            offset::LOAD_BASE | offset::HOST_SEGMENT_LEN => "made for an older memory map; convert the model again",
            offset::ARCHITECTURE => "expected 0 (llama), 1 (gpt2) or 2 (bert)",
            offset::PAYLOAD_LEN => "longer than the 28-bit memory",
            offset::MEMORY_NEEDED if self.found > ADDRESS_END - MEMORY_BASE => "more than the 28-bit memory",
            offset::MEMORY_NEEDED => "less than the payload itself",
            offset::TOKENS => "expected $8001000",
            offset::CODE => "expected a multiple of 16 inside the payload",
            offset::CONTEXT => "expected 1 to 4095 positions",
            offset::N_VOCAB => "more tokens than the payload has room for",
            offset::VOCAB => "the table leaves the payload",
            offset::TOKENIZER => "the block leaves the payload",
            offset::OUTPUT_LEN if self.found == 0 => "expected at least one value",
            offset::OUTPUT_LEN => "longer than the memory",
            offset::OUTPUT => "the output vector leaves the memory",
            offset::FLAGS => "the encoder flag and the architecture disagree",
            _ => "not what the specification says",
        }
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, found } = self;
        let name = core::str::from_utf8(field_name(*offset)).unwrap_or_default();
        write!(f, "header field {name} at offset ${offset:02X} is ${found:X}: {}", self.expected())
    }
}

impl core::error::Error for HeaderError {}

fn word(bytes: &[u8; HEADER_LEN as usize], at: u32) -> u32 {
    let i = at as usize;
    u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]])
}

impl Header {
    /// Reads and checks 256 bytes. The lengths of the file and of the memory are the caller's to compare:
    /// [`Header::file_len`], [`Header::memory_needed`].
    ///
    /// # Errors
    /// The first field that cannot be right.
    pub fn parse(bytes: &[u8; HEADER_LEN as usize]) -> Result<Self, HeaderError> {
        use offset as at;
        let magic = word(bytes, at::MAGIC);
        if bytes[..4] != MAGIC {
            return Err(HeaderError { offset: at::MAGIC, found: magic });
        }
        let version = word(bytes, at::VERSION) as u16;
        if version != VERSION {
            return Err(HeaderError { offset: at::VERSION, found: u32::from(version) });
        }
        let load_base = word(bytes, at::LOAD_BASE);
        let host_len = word(bytes, at::HOST_SEGMENT_LEN);
        if load_base != PAYLOAD || host_len != 0 {
            let (offset, found) =
                if load_base == PAYLOAD { (at::HOST_SEGMENT_LEN, host_len) } else { (at::LOAD_BASE, load_base) };
            return Err(HeaderError { offset, found });
        }
        let description = {
            let mut d = [0; DESCRIPTION_LEN];
            d.copy_from_slice(&bytes[at::DESCRIPTION as usize..]);
            d[DESCRIPTION_LEN - 1] = 0;
            d
        };
        let Some(architecture) = Architecture::from_word(word(bytes, at::ARCHITECTURE)) else {
            return Err(HeaderError { offset: at::ARCHITECTURE, found: word(bytes, at::ARCHITECTURE) });
        };
        let header = Self {
            flags: (word(bytes, at::VERSION) >> 16) as u16,
            code: word(bytes, at::CODE),
            data: word(bytes, at::DATA),
            scratch: word(bytes, at::SCRATCH),
            tokens: word(bytes, at::TOKENS),
            vocab: word(bytes, at::VOCAB),
            n_vocab: word(bytes, at::N_VOCAB),
            context: word(bytes, at::CONTEXT),
            bos: word(bytes, at::BOS),
            eos: word(bytes, at::EOS),
            payload_len: word(bytes, at::PAYLOAD_LEN),
            output: word(bytes, at::OUTPUT),
            output_len: word(bytes, at::OUTPUT_LEN),
            memory_needed: word(bytes, at::MEMORY_NEEDED),
            architecture,
            tokenizer: word(bytes, at::TOKENIZER),
            description,
        };
        header.check()?;
        Ok(header)
    }

    /// Whether the fields agree with each other.
    fn check(&self) -> Result<(), HeaderError> {
        use offset as at;
        let wrong = |offset, found| Err(HeaderError { offset, found });
        let end = match PAYLOAD.checked_add(self.payload_len) {
            Some(end) if end <= ADDRESS_END => end,
            _ => return wrong(at::PAYLOAD_LEN, self.payload_len),
        };
        let needed_end = match MEMORY_BASE.checked_add(self.memory_needed) {
            Some(e) if e <= ADDRESS_END => e,
            _ => return wrong(at::MEMORY_NEEDED, self.memory_needed),
        };
        if needed_end < end {
            return wrong(at::MEMORY_NEEDED, self.memory_needed);
        }
        if self.tokens != TOKENS {
            return wrong(at::TOKENS, self.tokens);
        }
        if self.code < PAYLOAD || self.code >= end || self.code & 15 != 0 {
            return wrong(at::CODE, self.code);
        }
        if self.context == 0 || self.context > MAX_CONTEXT {
            return wrong(at::CONTEXT, self.context);
        }
        if self.n_vocab == 0 || self.n_vocab > self.payload_len / 4 {
            return wrong(at::N_VOCAB, self.n_vocab);
        }
        let table_len = 4 * (self.n_vocab + 1);
        if self.vocab < PAYLOAD || self.vocab > end || end - self.vocab < table_len {
            return wrong(at::VOCAB, self.vocab);
        }
        if self.tokenizer < PAYLOAD || self.tokenizer > end || end - self.tokenizer < TOKENIZER_BLOCK_LEN {
            return wrong(at::TOKENIZER, self.tokenizer);
        }
        let Some(output_bytes) = self.output_len.checked_mul(4) else {
            return wrong(at::OUTPUT_LEN, self.output_len);
        };
        if self.output_len == 0 {
            return wrong(at::OUTPUT_LEN, self.output_len);
        }
        let inside_scratch =
            self.output >= end && self.output <= needed_end && needed_end - self.output >= output_bytes;
        let inside_window = self.output == OUTPUT && output_bytes <= OUTPUT_LEN;
        if !inside_scratch && !inside_window {
            return wrong(at::OUTPUT, self.output);
        }
        if self.is_encoder() != matches!(self.architecture, Architecture::Bert) {
            return wrong(at::FLAGS, u32::from(self.flags));
        }
        Ok(())
    }

    /// Whether the image computes an embedding instead of text.
    #[must_use]
    pub const fn is_encoder(&self) -> bool {
        self.flags & FLAG_ENCODER != 0
    }

    /// Length that the file must have.
    #[must_use]
    pub const fn file_len(&self) -> u32 {
        HEADER_LEN + self.payload_len
    }

    /// First address behind the payload.
    #[must_use]
    pub const fn payload_end(&self) -> u32 {
        PAYLOAD + self.payload_len
    }

    /// The description up to its zero; UTF-8 in every image that this project writes.
    #[must_use]
    pub fn description_bytes(&self) -> &[u8] {
        let end = self.description.iter().position(|&b| b == 0).unwrap_or(DESCRIPTION_LEN);
        &self.description[..end]
    }

    /// The 256 bytes of the file; the runtime block is zero.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_LEN as usize] {
        use offset as at;
        let mut out = [0; HEADER_LEN as usize];
        let mut put = |at: u32, value: u32| out[at as usize..at as usize + 4].copy_from_slice(&value.to_le_bytes());
        put(at::MAGIC, u32::from_le_bytes(MAGIC));
        put(at::VERSION, u32::from(VERSION) | u32::from(self.flags) << 16);
        put(at::CODE, self.code);
        put(at::DATA, self.data);
        put(at::SCRATCH, self.scratch);
        put(at::TOKENS, self.tokens);
        put(at::VOCAB, self.vocab);
        put(at::N_VOCAB, self.n_vocab);
        put(at::CONTEXT, self.context);
        put(at::BOS, self.bos);
        put(at::EOS, self.eos);
        put(at::PAYLOAD_LEN, self.payload_len);
        put(at::OUTPUT, self.output);
        put(at::OUTPUT_LEN, self.output_len);
        put(at::MEMORY_NEEDED, self.memory_needed);
        put(at::ARCHITECTURE, self.architecture as u32);
        put(at::LOAD_BASE, PAYLOAD);
        put(at::TOKENIZER, self.tokenizer);
        out[at::DESCRIPTION as usize..].copy_from_slice(&self.description);
        out
    }
}

/// Bytes in the tokenizer block.
pub const TOKENIZER_BLOCK_LEN: u32 = 36;
/// Word for "no token" in the byte table and in begin, end, unknown.
pub const NO_TOKEN: u32 = 0xFFFF_FFFF;
/// Tokenizer flag: WordPiece lower-cases its input.
pub const TOKENIZER_LOWERCASE: u8 = 0x02;
/// Tokenizer flag: priorities are words, not half words.
pub const TOKENIZER_WIDE: u8 = 0x08;
/// Tokenizer flag of SentencePiece: the vocabulary wants no space put before the text (`add_space_prefix` is false).
/// The reference tools never set it.
pub const TOKENIZER_NO_SPACE_PREFIX: u8 = 0x10;

/// How an image tokenizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerKind {
    /// SentencePiece: merges over the whole text.
    Spm = 0,
    /// Byte-level BPE: merges inside chunks.
    Bpe = 1,
    /// WordPiece: longest match inside words.
    WordPiece = 2,
}

impl TokenizerKind {
    /// Reads the block's first byte.
    #[must_use]
    pub const fn from_u8(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Spm),
            1 => Some(Self::Bpe),
            2 => Some(Self::WordPiece),
            _ => None,
        }
    }
}

/// The tokenizer block, as it stands in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenizerBlock {
    /// The algorithm.
    pub kind: TokenizerKind,
    /// [`TOKENIZER_LOWERCASE`], [`TOKENIZER_WIDE`], [`TOKENIZER_NO_SPACE_PREFIX`].
    pub flags: u8,
    /// How BPE splits a text before merging: a [`crate::tokenizer::Split`]. The reference tools write 0, GPT-2's rule.
    pub split: u16,
    /// Tokens in the vocabulary.
    pub n_vocab: u32,
    /// Sorted index: token ids.
    pub index: u32,
    /// Ids in the index.
    pub index_len: u32,
    /// Merge priorities, one for each token.
    pub priorities: u32,
    /// 256 words: the token of each byte.
    pub bytes: u32,
    /// Token put before a text, or [`NO_TOKEN`].
    pub begin: u32,
    /// Token put behind a text, or [`NO_TOKEN`].
    pub end: u32,
    /// Token of a word that has no pieces.
    pub unknown: u32,
}

impl TokenizerBlock {
    /// Reads 36 bytes; `None` where the kind is unknown. The addresses are the tokenizer's to check.
    #[must_use]
    pub fn decode(bytes: &[u8; TOKENIZER_BLOCK_LEN as usize]) -> Option<Self> {
        let w = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Some(Self {
            kind: TokenizerKind::from_u8(bytes[0])?,
            flags: bytes[1],
            split: u16::from_le_bytes([bytes[2], bytes[3]]),
            n_vocab: w(4),
            index: w(8),
            index_len: w(12),
            priorities: w(16),
            bytes: w(20),
            begin: w(24),
            end: w(28),
            unknown: w(32),
        })
    }

    /// The 36 bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; TOKENIZER_BLOCK_LEN as usize] {
        let mut out = [0; TOKENIZER_BLOCK_LEN as usize];
        out[0] = self.kind as u8;
        out[1] = self.flags;
        out[2..4].copy_from_slice(&self.split.to_le_bytes());
        let words =
            [self.n_vocab, self.index, self.index_len, self.priorities, self.bytes, self.begin, self.end, self.unknown];
        for (i, w) in words.iter().enumerate() {
            out[4 + 4 * i..8 + 4 * i].copy_from_slice(&w.to_le_bytes());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Header {
        let mut description = [0; DESCRIPTION_LEN];
        description[..4].copy_from_slice(b"test");
        Header {
            flags: 0,
            code: PAYLOAD,
            data: PAYLOAD + 0x400,
            scratch: PAYLOAD + 0x1000,
            tokens: TOKENS,
            vocab: PAYLOAD + 0x400,
            n_vocab: 10,
            context: 32,
            bos: 1,
            eos: 2,
            payload_len: 0x1000,
            output: PAYLOAD + 0x1000,
            output_len: 10,
            memory_needed: 0x7000,
            architecture: Architecture::Llama,
            tokenizer: PAYLOAD + 0x800,
            description,
        }
    }

    #[test]
    fn header_survives_encoding() {
        let h = sample();
        assert_eq!(Header::parse(&h.encode()), Ok(h.clone()));
        assert_eq!(h.description_bytes(), b"test");
    }

    #[test]
    fn each_damaged_field_is_named() {
        let good = sample().encode();
        let cases: [(u32, u32, &str); 13] = [
            (offset::MAGIC, 0, "magic"),
            (offset::VERSION, 2, "version"),
            (offset::LOAD_BASE, 0x800_0100, "load base"),
            (offset::HOST_SEGMENT_LEN, 1, "host segment length"),
            (offset::ARCHITECTURE, 7, "architecture"),
            (offset::PAYLOAD_LEN, u32::MAX, "payload length"),
            (offset::MEMORY_NEEDED, 0x100, "memory needed"),
            (offset::TOKENS, 0, "token buffer"),
            (offset::CODE, PAYLOAD + 8, "code"),
            (offset::CONTEXT, 4096, "context"),
            (offset::N_VOCAB, u32::MAX, "vocabulary size"),
            (offset::TOKENIZER, PAYLOAD + 0xFF0, "tokenizer block"),
            (offset::OUTPUT, 0x1000, "output"),
        ];
        for (at, value, field) in cases {
            let mut bytes = good;
            bytes[at as usize..at as usize + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(field_name(Header::parse(&bytes).unwrap_err().offset), field.as_bytes());
        }
    }
}
