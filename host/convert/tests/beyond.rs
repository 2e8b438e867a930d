//! Features beyond the reference, run on the emulator and compared with a double-precision model written
//! from the definitions.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{DIM, HIDDEN, LAYERS, Tiny, VOCAB};
use ssnail_convert::{KvFormat, Options};
use ssnail_machine::{Accelerator, Numerics, Options as MachineOptions, Watch};

/// Double-precision llama: what the definitions say, nothing shared with the converter.
struct Reference<'a> {
    t: &'a Tiny,
    head_dim: usize,
    /// Angle per position of each rotated pair.
    frequencies: Vec<f64>,
    k: Vec<Vec<Vec<f64>>>,
    v: Vec<Vec<Vec<f64>>>,
}

impl Reference<'_> {
    fn new(t: &Tiny, head_dim: u32, frequencies: Vec<f64>) -> Reference<'_> {
        let empty = vec![Vec::new(); LAYERS as usize];
        Reference { t, head_dim: head_dim as usize, frequencies, k: empty.clone(), v: empty }
    }

    fn multiply(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let w = self.t.values(&format!("{name}.weight"));
        let mut y: Vec<f64> =
            w.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum()).collect();
        if let Some(bias) = self.t.tensors.get(&format!("{name}.bias")) {
            y.iter_mut().zip(&bias.values).for_each(|(y, b)| *y += f64::from(*b));
        }
        y
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
        let r = 1.0 / (mean + 1e-5f32 as f64).sqrt();
        x.iter().zip(self.t.values(&format!("{name}.weight"))).map(|(x, g)| x * r * f64::from(*g)).collect()
    }

    fn rotate(&self, x: &mut [f64], pos: usize) {
        for head in x.chunks_mut(self.head_dim) {
            for (pair, f) in head.chunks_mut(2).zip(&self.frequencies) {
                let (sin, cos) = (pos as f64 * f).sin_cos();
                (pair[0], pair[1]) = (pair[0] * cos - pair[1] * sin, pair[0] * sin + pair[1] * cos);
            }
        }
    }

    fn step(&mut self, token: u32, pos: usize) -> Vec<f64> {
        let row = token as usize * DIM as usize;
        let mut x: Vec<f64> =
            self.t.values("token_embd.weight")[row..][..DIM as usize].iter().map(|&v| f64::from(v)).collect();
        for n in 0..LAYERS as usize {
            let name = |part: &str| format!("blk.{n}.{part}");
            let h = self.norm(&name("attn_norm"), &x);
            let (mut q, mut k) = (self.multiply(&name("attn_q"), &h), self.multiply(&name("attn_k"), &h));
            let v = self.multiply(&name("attn_v"), &h);
            self.rotate(&mut q, pos);
            self.rotate(&mut k, pos);
            self.k[n].push(k);
            self.v[n].push(v);
            let mut att = Vec::new();
            for (head, q) in q.chunks(self.head_dim).enumerate() {
                let kv = head / 2 * self.head_dim;
                let scores: Vec<f64> = self.k[n]
                    .iter()
                    .map(|k| {
                        let dot: f64 = q.iter().zip(&k[kv..]).map(|(a, b)| a * b).sum();
                        (dot / (self.head_dim as f64).sqrt()).exp()
                    })
                    .collect();
                let sum: f64 = scores.iter().sum();
                att.extend(
                    (0..self.head_dim)
                        .map(|i| scores.iter().zip(&self.v[n]).map(|(s, v)| s / sum * v[kv + i]).sum::<f64>()),
                );
            }
            for (x, y) in x.iter_mut().zip(self.multiply(&name("attn_output"), &att)) {
                *x += y;
            }
            let h = self.norm(&name("ffn_norm"), &x);
            let gate = self.multiply(&name("ffn_gate"), &h);
            let up = self.multiply(&name("ffn_up"), &h);
            let hidden: Vec<f64> = gate.iter().zip(up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
            assert_eq!(hidden.len(), HIDDEN as usize);
            for (x, y) in x.iter_mut().zip(self.multiply(&name("ffn_down"), &hidden)) {
                *x += y;
            }
        }
        let h = self.norm("output_norm", &x);
        let logits = self.multiply("output", &h);
        assert_eq!(logits.len(), VOCAB as usize);
        logits
    }
}

#[derive(Default)]
struct Logits(Vec<Vec<f32>>);

impl Watch for Logits {
    fn logits(&mut self, _pos: u32, logits: &[f32]) {
        self.0.push(logits.to_vec());
    }
    fn wants_logits(&self) -> bool {
        true
    }
}

/// Largest difference over 40 positions, relative to the largest logit.
#[track_caller]
fn error(t: &Tiny, head_dim: u32, frequencies: Vec<f64>, kv: KvFormat, numerics: Numerics) -> f64 {
    let image = t.image(&Options { kv, ..Options::default() }).unwrap();
    let options = MachineOptions { numerics, ..MachineOptions::default() };
    let mut a = Accelerator::load(&image, &options, |_| {}).unwrap();
    let prompt: Vec<u32> = (0..40).map(|i| (i * 7 + 3) % VOCAB).collect();
    let mut seen = Logits::default();
    a.generate(&prompt, 1, &mut seen).unwrap();
    assert_eq!(seen.0.len(), 40);
    let mut reference = Reference::new(t, head_dim, frequencies);
    let (mut worst, mut largest) = (0f64, 0f64);
    for (pos, (got, token)) in seen.0.iter().zip(&prompt).enumerate() {
        for (got, want) in got.iter().zip(reference.step(*token, pos)) {
            worst = worst.max((f64::from(*got) - want).abs());
            largest = largest.max(want.abs());
        }
    }
    worst / largest
}

fn plain(rotated: u32, base: f64) -> Vec<f64> {
    (0..rotated / 2).map(|j| base.powf(-f64::from(2 * j) / f64::from(rotated))).collect()
}

/// Exact with F32 caches, close with F16 caches, and right in hardware numerics.
#[track_caller]
fn agrees(t: &Tiny, head_dim: u32, frequencies: Vec<f64>) {
    let e = error(t, head_dim, frequencies.clone(), KvFormat::F32, Numerics::Float);
    assert!(e < 1e-5, "F32 caches: {e}");
    let e = error(t, head_dim, frequencies.clone(), KvFormat::F16, Numerics::Float);
    assert!(e < 2e-3, "F16 caches: {e}");
    let e = error(t, head_dim, frequencies, KvFormat::F16, Numerics::Hardware);
    assert!(e < 1e-2, "hardware: {e}");
}

#[test]
fn the_plain_model_agrees() {
    agrees(&Tiny::llama(), 8, plain(8, 10000.0));
}

#[test]
fn the_reference_notices_what_is_left_out() {
    // The same model with another base is far away: the bounds above mean something.
    let e = error(&Tiny::llama(), 8, plain(8, 500.0), KvFormat::F32, Numerics::Float);
    assert!(e > 1e-2, "{e}");
}

#[test]
fn attention_biases_are_added_before_rotation_and_rounding() {
    let mut t = Tiny::llama();
    for n in 0..LAYERS {
        t.random(&format!("blk.{n}.attn_q.bias"), &[32], 0.5);
        t.random(&format!("blk.{n}.attn_k.bias"), &[16], -0.5);
        t.random(&format!("blk.{n}.attn_v.bias"), &[16], 0.3);
        t.random(&format!("blk.{n}.attn_output.bias"), &[DIM], 0.2);
    }
    agrees(&t, 8, plain(8, 10000.0));
}

#[test]
fn each_bias_alone() {
    for (part, rows) in [
        ("attn_q", 32),
        ("attn_k", 16),
        ("attn_v", 16),
        ("attn_output", DIM),
        ("ffn_gate", HIDDEN),
        ("ffn_up", HIDDEN),
        ("ffn_down", DIM),
    ] {
        let mut t = Tiny::llama();
        t.random(&format!("blk.1.{part}.bias"), &[rows], 0.5);
        agrees(&t, 8, plain(8, 10000.0));
    }
}

#[test]
fn heads_may_be_wider_or_narrower_than_their_share() {
    for head_dim in [4, 16, 20] {
        agrees(&Tiny::llama_with(head_dim), head_dim, plain(head_dim, 10000.0));
    }
}

#[test]
fn part_of_a_head_rotates() {
    for rotated in [2, 4, 6] {
        let mut t = Tiny::llama();
        t.set("llama.rope.dimension_count", rotated);
        agrees(&t, 8, plain(rotated, 10000.0));
    }
}

#[test]
fn linear_scaling() {
    let mut t = Tiny::llama();
    t.set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 4.0f32);
    let frequencies: Vec<f64> = plain(8, 10000.0).iter().map(|f| f / 4.0).collect();
    agrees(&t, 8, frequencies.clone());
    let mut t = Tiny::llama();
    t.set("llama.rope.scale_linear", 4.0f32);
    agrees(&t, 8, frequencies);
}

#[test]
fn row_23_rope_factors_of_the_file() {
    let mut t = Tiny::llama();
    t.put("rope_freqs.weight", &[4], vec![1.0, 8.0, 2.0, 0.5]);
    let frequencies = plain(8, 10000.0).iter().zip([1.0, 8.0, 2.0, 0.5]).map(|(f, d)| f / d).collect();
    agrees(&t, 8, frequencies);
}

#[test]
fn row_24_llama3_scaling_at_late_positions() {
    let mut t = Tiny::llama();
    t.set("llama.rope.scaling.type", "llama3")
        .set("llama.rope.scaling.factor", 8.0f32)
        .set("llama.rope.scaling.low_freq_factor", 1.0f32)
        .set("llama.rope.scaling.high_freq_factor", 4.0f32)
        .set("llama.rope.scaling.original_context_length", 64u32)
        .set("llama.rope.freq_base", 100.0f32);
    // Wave lengths 6.3 (kept), 19.9 (between 16 and 64), 62.8 (between), 198.7 (divided).
    let frequencies = plain(8, 100.0)
        .into_iter()
        .map(|f| {
            let wave = 2.0 * std::f64::consts::PI / f;
            let smooth = ((64.0 / wave - 1.0) / 3.0f64).clamp(0.0, 1.0);
            f * (smooth + (1.0 - smooth) / 8.0)
        })
        .collect();
    agrees(&t, 8, frequencies);
}
