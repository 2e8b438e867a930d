//! Test data, and images that hold nothing but a vocabulary.
#![allow(dead_code, clippy::unwrap_used)]

pub mod cases;

use proptest::test_runner::Config;
use serde_json::Value;
use ssnail_shared::header::{
    Architecture, DESCRIPTION_LEN, Header, NO_TOKEN, TOKENIZER_BLOCK_LEN, TOKENIZER_WIDE, TokenizerBlock, TokenizerKind,
};
use ssnail_shared::map::{HEADER_LEN, PAYLOAD, TOKENS};
use ssnail_shared::mem::SliceMemory;

/// Settings of the property tests: the usual ones, with fewer cases under Miri.
pub fn properties() -> Config {
    let usual = Config::default();
    Config { cases: cases::cases(usual.cases), ..usual }
}

/// A file of the test data; a skip is printed where there is none.
pub fn data(path: &str) -> Option<Vec<u8>> {
    let path = format!("{}/{path}", cases::data_folder()?);
    std::fs::read(&path).map_err(|error| println!("skipped: {path}: {error}")).ok()
}

/// A JSON file of the test data.
pub fn json(path: &str) -> Option<Value> {
    data(path).map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

/// Payload memory of an image and its header.
pub struct Image {
    pub header: Header,
    pub memory: SliceMemory<Vec<u8>>,
}

impl Image {
    /// An image file of the test data.
    pub fn load(path: &str) -> Option<Self> {
        let bytes = data(path)?;
        let (header, payload) = bytes.split_at(HEADER_LEN as usize);
        let header = Header::parse(header.try_into().unwrap()).unwrap();
        Some(Self { header, memory: SliceMemory::new(PAYLOAD, payload.to_vec()) })
    }
}

/// What the tables of an image are made from.
#[derive(Debug)]
pub struct Vocabulary {
    pub kind: TokenizerKind,
    pub flags: u8,
    pub split: u16,
    /// Piece bytes of each token.
    pub pieces: Vec<Vec<u8>>,
    /// Tokens that the index may hold; their order is made here.
    pub index: Vec<u32>,
    pub priorities: Vec<Option<u32>>,
    /// Tokens for bytes that the index has no piece for.
    pub bytes: Vec<(u8, u32)>,
    pub begin: u32,
    pub end: u32,
    pub unknown: u32,
}

impl Vocabulary {
    /// A vocabulary in which every non-empty piece is in the index.
    pub fn new(kind: TokenizerKind, pieces: &[&str]) -> Self {
        Self {
            kind,
            flags: 0,
            split: 0,
            pieces: pieces.iter().map(|p| p.as_bytes().to_vec()).collect(),
            index: (0..pieces.len() as u32).collect(),
            priorities: vec![None; pieces.len()],
            bytes: Vec::new(),
            begin: NO_TOKEN,
            end: NO_TOKEN,
            unknown: 0,
        }
    }

    /// The index in its order: by bytes, then id, the lowest id of equal texts.
    pub fn sorted(&self) -> Vec<u32> {
        let mut index = self.index.clone();
        index.retain(|&id| !self.pieces[id as usize].is_empty());
        index.sort_by_key(|&id| (&self.pieces[id as usize], id));
        index.dedup_by_key(|id| &self.pieces[*id as usize]);
        index
    }

    /// Lays the tables out as the converter does, without weights.
    pub fn image(&self) -> Image {
        let mut payload = vec![0; 64];
        let place = |payload: &mut Vec<u8>, bytes: &[u8]| {
            payload.resize(payload.len().next_multiple_of(32), 0);
            let address = PAYLOAD + payload.len() as u32;
            payload.extend_from_slice(bytes);
            address
        };
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let n = self.pieces.len() as u32;
        let mut offsets = vec![4 * (n + 1)];
        for piece in &self.pieces {
            offsets.push(offsets.last().unwrap() + piece.len() as u32);
        }
        let mut table = words(&offsets);
        table.extend(self.pieces.iter().flatten());
        let vocab = place(&mut payload, &table);
        let sorted = self.sorted();
        let index = place(&mut payload, &words(&sorted));
        let wide = self.flags & TOKENIZER_WIDE != 0;
        let priorities: Vec<u8> = self
            .priorities
            .iter()
            .flat_map(|p| {
                let all = p.unwrap_or(u32::MAX).to_le_bytes();
                all[..if wide { 4 } else { 2 }].to_vec()
            })
            .collect();
        let priorities = place(&mut payload, &priorities);
        let mut byte_table = vec![NO_TOKEN; 256];
        for &(byte, id) in &self.bytes {
            byte_table[byte as usize] = id;
        }
        for &id in &sorted {
            if let [byte] = self.pieces[id as usize][..] {
                byte_table[byte as usize] = id;
            }
        }
        let bytes = place(&mut payload, &words(&byte_table));
        let block = TokenizerBlock {
            kind: self.kind,
            flags: self.flags,
            split: self.split,
            n_vocab: n,
            index,
            index_len: sorted.len() as u32,
            priorities,
            bytes,
            begin: self.begin,
            end: self.end,
            unknown: self.unknown,
        };
        let tokenizer = place(&mut payload, &block.encode());
        assert_eq!(payload.len() as u32 + PAYLOAD, tokenizer + TOKENIZER_BLOCK_LEN);
        payload.resize(payload.len().next_multiple_of(256), 0);
        let payload_len = payload.len() as u32;
        let end = PAYLOAD + payload_len;
        let header = Header {
            flags: 0,
            code: PAYLOAD,
            data: vocab,
            scratch: end,
            tokens: TOKENS,
            vocab,
            n_vocab: n,
            context: 64,
            bos: 1,
            eos: 2,
            payload_len,
            output: end,
            output_len: n,
            memory_needed: end + 4 * n - ssnail_shared::map::MEMORY_BASE,
            architecture: Architecture::Llama,
            tokenizer,
            description: [0; DESCRIPTION_LEN],
        };
        Image { header, memory: SliceMemory::new(PAYLOAD, payload) }
    }
}
