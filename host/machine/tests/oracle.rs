//! Real models against independent implementations: llama.cpp, PyTorch, float64 NumPy. Float numerics, F32 caches.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use serde_json::Value;
use ssnail_convert::{KvFormat, Options as Convert};
use ssnail_gguf::Gguf;
use ssnail_machine::{Accelerator, Executed, Numerics, Options, Watch};
use ssnail_shared::isa::Opcode;

/// Converts a model of the shared data with an F32 cache and loads it.
fn model(name: &str, ctx: i64, numerics: Numerics) -> Option<Accelerator> {
    let gguf = Gguf::open(data(&format!("models/{name}.gguf"))?).unwrap();
    let options = Convert { ctx: Some(ctx), kv: KvFormat::F32, mem_mb: 64.0, ..Convert::default() };
    let plan = ssnail_convert::plan(&gguf, &options).unwrap();
    let mut image = Vec::new();
    plan.write(&mut image, &mut |_, _| {}).unwrap();
    Some(Accelerator::load(&image, &Options { numerics, ..Options::default() }, |_| {}).unwrap())
}

fn reals(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
}

fn largest_error(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Logits of one position, and every token.
struct At {
    pos: u32,
    logits: Vec<f32>,
    tokens: Vec<u32>,
}

impl Watch for At {
    fn logits(&mut self, pos: u32, logits: &[f32]) {
        if pos == self.pos {
            self.logits = logits.to_vec();
        }
    }
    fn wants_logits(&self) -> bool {
        true
    }
    fn token(&mut self, token: u32) -> bool {
        self.tokens.push(token);
        true
    }
}

fn stories(name: &str) {
    let Some(oracle) = json(&format!("oracle/stories260K-{name}.json")) else { return };
    let mut acc = model(&format!("stories260K-{name}"), 512, Numerics::Float).unwrap();
    let mut equal = 0;
    for run in oracle["runs"].as_array().unwrap() {
        let prompt = words(&run["prompt_tokens"]);
        let mut at = At { pos: prompt.len() as u32 - 1, logits: vec![], tokens: vec![] };
        let greedy = words(&run["f64_greedy"]);
        // The oracle goes on behind the end of a story; the script stops there.
        let mut tokens = Vec::new();
        while tokens.len() < greedy.len() {
            let context: Vec<u32> = prompt.iter().chain(&tokens).copied().collect();
            let outcome = acc.generate(&context, (greedy.len() - tokens.len()) as u32, &mut at).unwrap();
            tokens.extend(outcome.generated);
        }
        let error = largest_error(&at.logits, &reals(&run["f64_logits_after_prompt"]));
        assert!(error <= 1e-4, "{name} {}: logits off by {error:e}", run["prompt"]);
        equal += tokens.iter().zip(&greedy).take_while(|(a, b)| a == b).count();
    }
    assert_eq!(equal, 800, "{name}: greedy tokens equal to float64's");
}

#[test]
fn stories_f32() {
    stories("F32");
}

#[test]
fn stories_f16() {
    stories("F16");
}

#[test]
fn stories_q8_0() {
    stories("Q8_0");
}

#[test]
fn stories_q4_0() {
    stories("Q4_0");
}

#[test]
fn minilm_embeddings() {
    let Some(oracle) = json("oracle/paraphrase-minilm-l3-v3400-Q4_0.json") else { return };
    let mut acc = model("paraphrase-MiniLM-L3-v2-v3400-Q4_0", 128, Numerics::Float).unwrap();
    let pairs = oracle["ids"].as_array().unwrap().iter().zip(oracle["embedding_f64"].as_array().unwrap());
    for (ids, embedding) in pairs {
        let ours = acc.embed(&words(ids), &mut ()).unwrap();
        let theirs = reals(embedding);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let cosine = dot(&ours, &theirs) / (dot(&ours, &ours) * dot(&theirs, &theirs)).sqrt();
        assert!(cosine >= 0.9999, "cosine {cosine}");
    }
}

/// What each instruction wrote, in order: the stages of a forward pass.
#[derive(Default)]
struct Stages {
    written: Vec<(Opcode, Vec<f32>)>,
    positions: Vec<Vec<(Opcode, Vec<f32>)>>,
}

impl Watch for Stages {
    fn instruction(&mut self, executed: &Executed<'_>) {
        if let Some((_, bytes)) = executed.written {
            let values = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            self.written.push((executed.instruction.op, values));
        }
        if executed.instruction.op == Opcode::Argmax {
            self.positions.push(std::mem::take(&mut self.written));
        }
    }
    fn wants_instructions(&self) -> bool {
        true
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |c: u8| DIGITS.iter().position(|d| *d == c).unwrap() as u32;
    let text = text.trim_end_matches('=').as_bytes();
    let three = |c: &[u8]| {
        let word = c.iter().fold(0, |w, c| w << 6 | digit(*c)) << (6 * (4 - c.len()));
        word.to_be_bytes()[1..c.len()].to_vec()
    };
    text.chunks(4).flat_map(three).collect()
}

fn tensor(value: &Value) -> Vec<f32> {
    base64(text(&value["data"])).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[test]
fn every_stage_of_gpt_nano() {
    const T: usize = 11;
    let Some(oracle) = json("oracle/gpt-nano-sort-t0-partials.json") else { return };
    let mut acc = model("gpt-nano-sort-F32", T as i64, Numerics::Float).unwrap();
    let sequences = tensor(&oracle["idx"]);
    for (b, sequence) in sequences.chunks(T).enumerate() {
        let prompt: Vec<u32> = sequence.iter().map(|v| *v as u32).collect();
        let mut stages = Stages::default();
        acc.generate(&prompt, 1, &mut stages).unwrap();
        assert_eq!(stages.positions.len(), T);
        for (t, written) in stages.positions.iter().enumerate() {
            let nth = |op: Opcode, n: usize| &written.iter().filter(|w| w.0 == op).nth(n).unwrap().1;
            let check = |name: &str, ours: &[f32]| {
                let all = tensor(&oracle[name]);
                let width = ours.len();
                // The embedding of positions has no batch.
                let row = if all.len() == T * width { t } else { b * T + t };
                let error = largest_error(ours, &all[row * width..][..width]);
                assert!(error <= 1e-4, "{name}, sequence {b}, position {t}: off by {error:e}");
            };
            check("tok_emb", nth(Opcode::Deqrow, 0));
            check("pos_emb", nth(Opcode::Deqrow, 1));
            check("x", nth(Opcode::Vadd, 0));
            check("ln1", nth(Opcode::Layernorm, 0));
            let qkv: Vec<f32> = (1..4).flat_map(|n| nth(Opcode::Vadd, n).clone()).collect();
            check("qkv", &qkv);
            check("y", nth(Opcode::Attn, 0));
            check("attnResid", nth(Opcode::Vadd, 4));
            check("ln2", nth(Opcode::Layernorm, 1));
            check("fc", nth(Opcode::Vadd, 5));
            check("gelu", nth(Opcode::Gelu, 0));
            // A block has six VADDs behind the embedding's one; the last one ends it.
            for (block, n) in [("block0", 6), ("block1", 12), ("block2", 18)] {
                check(block, nth(Opcode::Vadd, n));
            }
            check("ln_f", nth(Opcode::Layernorm, 6));
            check("lm_head", &written.iter().rfind(|w| w.0 == Opcode::Gemv).unwrap().1);
        }
    }
}
