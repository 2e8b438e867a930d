//! What an image is made of, read from its script: the script says where every matrix lies, in which
//! format, and how large it is.

use crate::image::ImageFile;
use ssnail_quant::GgmlType;
use ssnail_shared::header::{Architecture, TOKENIZER_BLOCK_LEN, TOKENIZER_WIDE, TokenizerBlock};
use ssnail_shared::isa::{Address, INSTRUCTION_LEN, Instruction, Opcode};
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, OUTPUT, TOKEN_SLOTS, TOKENS};
use ssnail_shared::mem::ReadMemory;

/// Matrices of a layer in the order of the script.
const LLAMA: [&str; 7] = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"];
/// The same of gpt2, whose first three are one tensor.
const GPT2: [&str; 6] = ["attn_qkv", "attn_qkv", "attn_qkv", "attn_output", "ffn_up", "ffn_down"];
/// The same of bert.
const BERT: [&str; 6] = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"];
/// Embeddings in the order of the script.
const EMBEDDINGS: [&str; 3] = ["token_embd", "position_embd", "token_types"];

/// Longest script that is looked at: far above any real one, so that a hostile image takes no time.
const LONGEST_SCRIPT: usize = 16_384;

/// A piece of memory.
#[derive(Debug, Clone)]
pub struct Part {
    /// Tensor, table or buffer.
    pub name: String,
    /// First address.
    pub address: u32,
    /// Length in bytes.
    pub bytes: u64,
    /// Format, rows and columns of a matrix.
    pub matrix: Option<(GgmlType, u32, u32)>,
}

/// An image taken apart.
#[derive(Debug, Clone, Default)]
pub struct Anatomy {
    /// Width of the residual stream.
    pub dim: u32,
    /// Layers.
    pub layers: u32,
    /// Query heads, key/value heads, width of a head.
    pub heads: [u32; 3],
    /// Width of the feed-forward part.
    pub hidden: u32,
    /// F16 caches; otherwise F32.
    pub half_cache: bool,
    /// Everything that lies in memory, by address.
    pub parts: Vec<Part>,
}

/// Takes an image apart. What its script does not say is left out: nothing here fails.
pub fn read(image: &ImageFile) -> Anatomy {
    let mut walk = Walk::new(image);
    walk.fixed();
    walk.script();
    walk.finish()
}

struct Walk<'i> {
    image: &'i ImageFile,
    anatomy: Anatomy,
    n: [u32; 3],
    /// Base and stride of the last LEA per address register.
    rows: [(u32, u32); 16],
    products: usize,
    norms: usize,
    biases: usize,
    embeddings: usize,
}

impl<'i> Walk<'i> {
    fn new(image: &'i ImageFile) -> Self {
        Self {
            image,
            anatomy: Anatomy::default(),
            n: [0; 3],
            rows: [(0, 0); 16],
            products: 0,
            norms: 0,
            biases: 0,
            embeddings: 0,
        }
    }

    fn add(&mut self, name: impl Into<String>, address: u32, bytes: u64) {
        self.put(Part { name: name.into(), address, bytes, matrix: None });
    }

    /// The first mention of an address stays: a tied classifier is the embedding.
    fn put(&mut self, part: Part) {
        if self.anatomy.parts.iter().all(|known| known.address != part.address) {
            self.anatomy.parts.push(part);
        }
    }

    /// What the header and the tokenizer block say.
    fn fixed(&mut self) {
        let (header, memory) = (&self.image.header, self.image.memory());
        self.add("header", MEMORY_BASE, HEADER_LEN.into());
        self.add("token buffer", TOKENS, u64::from(TOKEN_SLOTS) * 4);
        self.add("script", header.code, header.data.saturating_sub(header.code).into());
        let pieces = memory.read_u32(header.vocab.saturating_add(header.n_vocab.saturating_mul(4))).unwrap_or(0);
        self.add("vocabulary", header.vocab, pieces.into());
        let name = if header.is_encoder() { "embedding (output)" } else { "logits" };
        self.add(name, if header.is_encoder() { OUTPUT } else { header.output }, u64::from(header.output_len) * 4);
        let mut bytes = [0; TOKENIZER_BLOCK_LEN as usize];
        if memory.read(header.tokenizer, &mut bytes).is_err() {
            return;
        }
        if let Some(block) = TokenizerBlock::decode(&bytes) {
            let width = if block.flags & TOKENIZER_WIDE != 0 { 4 } else { 2 };
            self.add("index", block.index, u64::from(block.index_len) * 4);
            self.add("priorities", block.priorities, u64::from(block.n_vocab) * width);
            self.add("byte table", block.bytes, 1024);
            self.add("tokenizer", header.tokenizer, TOKENIZER_BLOCK_LEN.into());
        }
    }

    fn script(&mut self) {
        let (memory, header) = (self.image.memory(), &self.image.header);
        let mut script = Vec::new();
        for address in (header.code..header.data).step_by(INSTRUCTION_LEN as usize).take(LONGEST_SCRIPT) {
            let mut bytes = [0; INSTRUCTION_LEN as usize];
            match memory.read(address, &mut bytes).ok().and_then(|()| Instruction::decode(&bytes)) {
                Some(instruction) => script.push(instruction),
                None => break,
            }
            if script.last().is_some_and(|last| last.op == Opcode::Halt) {
                break;
            }
        }
        self.anatomy.layers = script.iter().filter(|instruction| instruction.op == Opcode::Attn).count() as u32;
        for instruction in &script {
            self.instruction(instruction);
        }
    }

    fn instruction(&mut self, i: &Instruction) {
        match i.op {
            Opcode::Setn => self.n = [i.x, i.y, i.z],
            Opcode::Lea => {
                if let (Some(row), Address::Absolute(base)) =
                    (self.rows.get_mut(usize::from(i.a)), Address::decode(i.x))
                {
                    *row = (base, i.z);
                }
            }
            Opcode::Deqrow => self.embedding(i),
            Opcode::Gemv => self.product(i),
            Opcode::Rmsnorm | Opcode::Layernorm => self.norm(i),
            Opcode::Vadd => self.bias(i),
            Opcode::Rope => {
                let (base, stride) = self.row(i.y);
                let bytes = u64::from(stride) * u64::from(self.image.header.context);
                self.add("rope table", base, bytes);
            }
            Opcode::Attn => self.block(i),
            _ => {}
        }
    }

    /// Base and stride of an operand.
    fn row(&self, operand: u32) -> (u32, u32) {
        match Address::decode(operand) {
            Address::Absolute(address) => (address, 0),
            Address::Indirect { register, .. } => self.rows.get(usize::from(register)).copied().unwrap_or_default(),
        }
    }

    fn in_payload(&self, address: u32) -> bool {
        (self.image.header.data..self.image.header.payload_end()).contains(&address)
    }

    fn matrix(&mut self, name: String, format: u8, address: u32, rows: u32, columns: u32) {
        let format = GgmlType::from_number(format.into());
        let row = format.and_then(|format| Some((format, format.row_bytes(columns.into())?)));
        if let (Some((format, row)), true) = (row, self.in_payload(address)) {
            let bytes = row.saturating_mul(u64::from(rows));
            self.put(Part { name, address, bytes, matrix: Some((format, rows, columns)) });
        }
    }

    fn embedding(&mut self, i: &Instruction) {
        let (address, _) = self.row(i.x);
        let header = &self.image.header;
        let rows = match self.embeddings {
            0 if header.is_encoder() => header.n_vocab,
            0 => header.output_len,
            // How many there are shows where the next part begins.
            _ => 0,
        };
        let name = EMBEDDINGS.get(self.embeddings).copied().unwrap_or("embedding");
        self.embeddings += 1;
        self.anatomy.dim = self.n[0];
        self.matrix(format!("{name}.weight"), i.a, address, rows, self.n[0]);
    }

    fn product(&mut self, i: &Instruction) {
        let names: &[&str] = match self.image.header.architecture {
            Architecture::Llama => &LLAMA,
            Architecture::Gpt2 => &GPT2,
            Architecture::Bert => &BERT,
        };
        let [columns, rows, _] = self.n;
        let (layer, which) = (self.products / names.len(), self.products % names.len());
        self.products += 1;
        let (address, _) = self.row(i.x);
        let Some(name) = names.get(which).filter(|_| layer < self.anatomy.layers as usize) else {
            return self.matrix("output.weight".to_owned(), i.a, address, rows, columns);
        };
        let name = format!("blk.{layer}.{name}.weight");
        if name.ends_with("ffn_up.weight") {
            self.anatomy.hidden = rows;
        }
        let same = self.anatomy.parts.iter_mut().find(|part| part.name == name);
        match same.and_then(|part| Some((&mut part.bytes, part.matrix.as_mut()?))) {
            // The next rows of one tensor.
            Some((bytes, (format, known, _))) => {
                *known = known.saturating_add(rows);
                *bytes = format.row_bytes(columns.into()).unwrap_or(0).saturating_mul(u64::from(*known));
            }
            None => self.matrix(name, i.a, address, rows, columns),
        }
    }

    fn norm(&mut self, i: &Instruction) {
        let address = self.row(i.y).0;
        let both = i.op == Opcode::Layernorm;
        let (first, names) = match self.image.header.architecture {
            Architecture::Bert => (1, ["attn_output_norm", "layer_output_norm"]),
            _ => (0, ["attn_norm", "ffn_norm"]),
        };
        let name = match self.norms.checked_sub(first) {
            None => "token_embd_norm".to_owned(),
            Some(n) if n < 2 * self.anatomy.layers as usize => format!("blk.{}.{}", n / 2, names[n % 2]),
            Some(_) => "output_norm".to_owned(),
        };
        self.norms += 1;
        self.add(name, address, u64::from(self.n[0]) * if both { 8 } else { 4 });
    }

    fn bias(&mut self, i: &Instruction) {
        let (address, _) = self.row(i.y);
        if !self.in_payload(address) {
            return;
        }
        let bytes = u64::from(self.n[0]) * 4;
        let names: &[&str] = match self.image.header.architecture {
            Architecture::Llama => &["attn"],
            Architecture::Gpt2 => &GPT2,
            Architecture::Bert => &BERT,
        };
        let layer = self.biases / names.len();
        let name = names.get(self.biases % names.len()).copied().unwrap_or_default();
        self.biases += 1;
        let name = match self.image.header.architecture {
            Architecture::Llama => format!("attention bias {}", self.biases),
            _ => format!("blk.{layer}.{name}.bias"),
        };
        match self.anatomy.parts.iter_mut().find(|part| part.name == name) {
            Some(part) => part.bytes = part.bytes.saturating_add(bytes),
            None => self.add(name, address, bytes),
        }
    }

    fn block(&mut self, i: &Instruction) {
        let (address, _) = self.row(i.x);
        let memory = self.image.memory();
        let mut words = [0; 6];
        for (number, word) in (0..).zip(&mut words) {
            *word = memory.read_u32(address.wrapping_add(4 * number)).unwrap_or(0);
        }
        let [keys, values, heads, kv_heads, width, format] = words;
        let layer = self.anatomy.parts.iter().filter(|part| part.name.starts_with("attention block")).count();
        self.add(format!("attention block {layer}"), address, 32);
        self.anatomy.heads = [heads, kv_heads, width];
        self.anatomy.half_cache = format == 1;
        let element = if format == 1 { 2 } else { 4 };
        let context = u64::from(self.image.header.context);
        let bytes = u64::from(kv_heads).saturating_mul(width.into()).saturating_mul(element * context);
        self.add(format!("keys {layer}"), keys, bytes);
        self.add(format!("values {layer}"), values, bytes);
    }

    /// Sorts, measures what was left open, and names the rest of the scratch memory.
    fn finish(mut self) -> Anatomy {
        let header = &self.image.header;
        self.anatomy.parts.sort_by_key(|part| part.address);
        let starts: Vec<u32> = self.anatomy.parts.iter().map(|part| part.address).collect();
        for (at, part) in self.anatomy.parts.iter_mut().enumerate() {
            if let Some((format, rows @ 0, columns)) = &mut part.matrix {
                let end = starts.get(at + 1).copied().unwrap_or(part.address);
                let row = format.row_bytes((*columns).into()).filter(|&row| row > 0).unwrap_or(u64::MAX);
                *rows = (u64::from(end - part.address) / row) as u32;
                part.bytes = row.saturating_mul(u64::from(*rows));
            }
        }
        let mut at = u64::from(header.scratch);
        let end = u64::from(MEMORY_BASE) + u64::from(header.memory_needed);
        let mut gaps = Vec::new();
        let used = self.anatomy.parts.iter().map(|part| (u64::from(part.address), part.bytes));
        for (start, bytes) in used.chain([(end, 0)]).filter(|(start, _)| *start >= u64::from(header.scratch)) {
            // Buffers are padded to 256 bytes: smaller gaps are padding.
            if let Some(bytes) = start.checked_sub(at).filter(|&gap| gap >= u64::from(HEADER_LEN)) {
                gaps.push(Part { name: "activations".to_owned(), address: at as u32, bytes, matrix: None });
            }
            at = at.max(start.saturating_add(bytes));
        }
        self.anatomy.parts.extend(gaps);
        self.anatomy.parts.sort_by_key(|part| part.address);
        self.anatomy
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::tiny::Tiny;
    use std::path::Path;

    /// Numbers that are as good as random.
    fn next(seed: &mut u32) -> usize {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 8) as usize
    }

    #[test]
    fn damaged_images_are_described_or_refused_and_never_panic() {
        let mut seed = 1;
        for model in [Tiny::llama(), Tiny::gpt2(), Tiny::bert()] {
            let whole = model.image(&ssnail_convert::Options::default()).unwrap();
            // Header, script and tokenizer tables are where damage could do harm.
            let room = whole.len().min(8192);
            for _ in 0..3000 {
                let mut image = whole.clone();
                for _ in 0..1 + next(&mut seed) % 4 {
                    let at = next(&mut seed) % room;
                    image[at] = [0, 1, 0x7f, 0x80, 0xff, next(&mut seed) as u8][next(&mut seed) % 6];
                }
                if let Ok(file) = ImageFile::check(image, Path::new("m")) {
                    let anatomy = read(&file);
                    assert!(anatomy.parts.windows(2).all(|pair| pair[0].address <= pair[1].address));
                    drop(crate::commands::info::describe(&file));
                }
            }
        }
    }
}
