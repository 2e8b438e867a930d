//! Small synthetic models that tests change one thing of.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use ssnail_convert::{ConvertError, Options, Plan, plan};
use ssnail_gguf::{Gguf, GgufWriter, OwnedValue};
use ssnail_quant::GgmlType;

/// A tensor of singles, encoded when the file is made.
#[derive(Clone)]
pub struct Tensor {
    pub dims: Vec<u64>,
    pub kind: GgmlType,
    pub values: Vec<f32>,
}

/// A model in pieces.
#[derive(Clone, Default)]
pub struct Tiny {
    pub keys: BTreeMap<String, OwnedValue>,
    pub tensors: BTreeMap<String, Tensor>,
    seed: u32,
}

pub const DIM: u32 = 32;
pub const HIDDEN: u32 = 64;
pub const LAYERS: u32 = 2;
pub const VOCAB: u32 = 40;

impl Tiny {
    pub fn set(&mut self, key: &str, value: impl Into<OwnedValue>) -> &mut Self {
        self.keys.insert(key.into(), value.into());
        self
    }

    pub fn unset(&mut self, key: &str) -> &mut Self {
        assert!(self.keys.remove(key).is_some(), "{key}");
        self
    }

    /// Adds or replaces a tensor of random weights around `center`.
    pub fn random(&mut self, name: &str, dims: &[u32], center: f32) -> &mut Self {
        let n = dims.iter().product::<u32>();
        let values = (0..n).map(|_| center + 0.2 * self.next()).collect();
        self.put(name, dims, values)
    }

    pub fn put(&mut self, name: &str, dims: &[u32], values: Vec<f32>) -> &mut Self {
        assert_eq!(values.len() as u32, dims.iter().product::<u32>());
        let dims = dims.iter().map(|&d| u64::from(d)).collect();
        self.tensors.insert(name.into(), Tensor { dims, kind: GgmlType::F32, values });
        self
    }

    pub fn drop_tensor(&mut self, name: &str) -> &mut Self {
        assert!(self.tensors.remove(name).is_some(), "{name}");
        self
    }

    /// Every matrix in this format from now on.
    pub fn matrices_in(&mut self, kind: GgmlType) -> &mut Self {
        for t in self.tensors.values_mut() {
            if t.dims.len() == 2 && kind.row_bytes(t.dims[0]).is_some() {
                t.kind = kind;
            }
        }
        self
    }

    /// Between −1 and 1.
    fn next(&mut self) -> f32 {
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.seed >> 8) as f32 / 8_388_608.0 - 1.0
    }

    pub fn values(&self, name: &str) -> &[f32] {
        &self.tensors.get(name).unwrap_or_else(|| panic!("{name}")).values
    }

    pub fn file(&self) -> Vec<u8> {
        let mut w = GgufWriter::new();
        for (key, value) in &self.keys {
            w.key(key.as_str(), value.clone());
        }
        for (name, t) in &self.tensors {
            let mut data = vec![0; t.kind.row_bytes(t.values.len() as u64).unwrap() as usize];
            ssnail_quant::encode(t.kind, &t.values, &mut data).unwrap();
            w.tensor(name.as_str(), &t.dims, t.kind, data);
        }
        w.to_vec()
    }

    /// Plans, writes and returns the image.
    pub fn image(&self, options: &Options) -> Result<Vec<u8>, ConvertError> {
        let file = self.file();
        let gguf = Gguf::parse(&file).unwrap();
        let mut out = Vec::new();
        plan(&gguf, options)?.write(&mut out, &mut |_, _| {})?;
        Ok(out)
    }

    /// The message of the refusal.
    #[track_caller]
    pub fn refusal(&self, options: &Options) -> String {
        match self.image(options) {
            Ok(_) => panic!("converted, a refusal expected"),
            Err(e) => e.to_string(),
        }
    }

    /// Hands a plan to `look`.
    pub fn with_plan<T>(&self, options: &Options, look: impl FnOnce(&Plan<'_>) -> T) -> T {
        let file = self.file();
        let gguf = Gguf::parse(&file).unwrap();
        look(&plan(&gguf, options).unwrap())
    }

    fn spm_vocabulary(&mut self, n: u32) {
        let texts: Vec<String> = (0..n)
            .map(|id| match id {
                0 => "<unk>".into(),
                1 => "<s>".into(),
                2 => "</s>".into(),
                3..=28 => char::from(b'a' + id as u8 - 3).to_string(),
                29 => "\u{2581}".into(),
                30 => "ab".into(),
                31 => "abc".into(),
                _ => format!("\u{2581}t{id}"),
            })
            .collect();
        self.set("tokenizer.ggml.model", "llama");
        self.set("tokenizer.ggml.tokens", &texts[..]);
        self.set("tokenizer.ggml.scores", (0..n).map(|id| -(id as f32)).collect::<Vec<_>>());
        self.set("tokenizer.ggml.token_type", (0..n).map(|id| if id < 3 { 3 } else { 1 }).collect::<Vec<i32>>());
        self.set("tokenizer.ggml.bos_token_id", 1u32);
        self.set("tokenizer.ggml.eos_token_id", 2u32);
    }

    /// llama with 4 heads of `head_dim`, 2 key heads.
    pub fn llama_with(head_dim: u32) -> Tiny {
        let mut t = Tiny { seed: 7, ..Tiny::default() };
        t.set("general.architecture", "llama")
            .set("llama.embedding_length", DIM)
            .set("llama.block_count", LAYERS)
            .set("llama.feed_forward_length", HIDDEN)
            .set("llama.attention.head_count", 4u32)
            .set("llama.attention.head_count_kv", 2u32)
            .set("llama.context_length", 64u32);
        if head_dim != DIM / 4 {
            t.set("llama.attention.key_length", head_dim).set("llama.attention.value_length", head_dim);
        }
        t.spm_vocabulary(VOCAB);
        t.random("token_embd.weight", &[DIM, VOCAB], 0.0);
        t.random("output_norm.weight", &[DIM], 1.0);
        t.random("output.weight", &[DIM, VOCAB], 0.0);
        for n in 0..LAYERS {
            let name = |part: &str| format!("blk.{n}.{part}.weight");
            t.random(&name("attn_norm"), &[DIM], 1.0);
            t.random(&name("ffn_norm"), &[DIM], 1.0);
            t.random(&name("attn_q"), &[DIM, 4 * head_dim], 0.0);
            t.random(&name("attn_k"), &[DIM, 2 * head_dim], 0.0);
            t.random(&name("attn_v"), &[DIM, 2 * head_dim], 0.0);
            t.random(&name("attn_output"), &[4 * head_dim, DIM], 0.0);
            t.random(&name("ffn_gate"), &[DIM, HIDDEN], 0.0);
            t.random(&name("ffn_up"), &[DIM, HIDDEN], 0.0);
            t.random(&name("ffn_down"), &[HIDDEN, DIM], 0.0);
        }
        t
    }

    pub fn llama() -> Tiny {
        Tiny::llama_with(DIM / 4)
    }

    pub fn gpt2() -> Tiny {
        let mut t = Tiny { seed: 9, ..Tiny::default() };
        t.set("general.architecture", "gpt2")
            .set("gpt2.embedding_length", DIM)
            .set("gpt2.block_count", LAYERS)
            .set("gpt2.feed_forward_length", HIDDEN)
            .set("gpt2.attention.head_count", 4u32)
            .set("gpt2.context_length", 24u32)
            .set("tokenizer.ggml.model", "gpt2");
        let texts: Vec<String> = (0..VOCAB)
            .map(|id| match id {
                0..=25 => char::from(b'a' + id as u8).to_string(),
                26 => "ab".into(),
                27 => "abc".into(),
                28 => "xyz".into(),
                29 => "\u{0120}".into(),
                _ => format!("<|{id}|>"),
            })
            .collect();
        t.set("tokenizer.ggml.tokens", &texts[..]);
        t.set("tokenizer.ggml.merges", &["a b", "ab c"][..]);
        t.set("tokenizer.ggml.token_type", (0..VOCAB).map(|id| if id < 30 { 1 } else { 3 }).collect::<Vec<i32>>());
        t.random("token_embd.weight", &[DIM, VOCAB], 0.0);
        t.random("position_embd.weight", &[DIM, 24], 0.0);
        t.norm("output_norm");
        for n in 0..LAYERS {
            t.norm(&format!("blk.{n}.attn_norm"));
            t.norm(&format!("blk.{n}.ffn_norm"));
            t.linear(&format!("blk.{n}.attn_qkv"), DIM, 3 * DIM);
            t.linear(&format!("blk.{n}.attn_output"), DIM, DIM);
            t.linear(&format!("blk.{n}.ffn_up"), DIM, HIDDEN);
            t.linear(&format!("blk.{n}.ffn_down"), HIDDEN, DIM);
        }
        t
    }

    pub fn bert() -> Tiny {
        Tiny::bert_of(DIM)
    }

    pub fn bert_of(dim: u32) -> Tiny {
        let mut t = Tiny { seed: 11, ..Tiny::default() };
        t.set("general.architecture", "bert")
            .set("bert.embedding_length", dim)
            .set("bert.block_count", 1u32)
            .set("bert.feed_forward_length", HIDDEN)
            .set("bert.attention.head_count", 4u32)
            .set("bert.context_length", 24u32)
            .set("bert.pooling_type", 1u32)
            .set("tokenizer.ggml.model", "bert");
        let texts = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u{2581}the", "\u{2581}cat", "s"];
        t.set("tokenizer.ggml.tokens", &texts[..]);
        t.random("token_embd.weight", &[dim, texts.len() as u32], 0.0);
        t.random("position_embd.weight", &[dim, 24], 0.0);
        t.norm_of("token_embd_norm", dim);
        t.norm_of("blk.0.attn_output_norm", dim);
        t.norm_of("blk.0.layer_output_norm", dim);
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"] {
            t.linear(&format!("blk.0.{part}"), dim, dim);
        }
        t.linear("blk.0.ffn_up", dim, HIDDEN);
        t.linear("blk.0.ffn_down", HIDDEN, dim);
        t
    }

    fn norm(&mut self, name: &str) {
        self.norm_of(name, DIM);
    }

    fn norm_of(&mut self, name: &str, dim: u32) {
        self.random(&format!("{name}.weight"), &[dim], 1.0);
        self.random(&format!("{name}.bias"), &[dim], 0.0);
    }

    fn linear(&mut self, name: &str, columns: u32, rows: u32) {
        self.random(&format!("{name}.weight"), &[columns, rows], 0.0);
        self.random(&format!("{name}.bias"), &[rows], 0.0);
    }
}
