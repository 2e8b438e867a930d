//! Token by token inference in F32.

use crate::math::{dot, exp_in_place, rms_forward, rope, rope_table, silu_mul};
use crate::model::{Config, Layout};

/// The model in F32.
#[derive(Debug)]
pub struct Float<'a> {
    c: Config,
    layout: Layout,
    w: &'a [f32],
    rope: Vec<f32>,
    /// Keys and values of each block, `[pos, kv_dim]`.
    cache: Vec<[Vec<f32>; 2]>,
    pos: usize,
    logits: Vec<f32>,
}

/// `out[r] = w[r] · x`.
fn matvec(w: &[f32], x: &[f32]) -> Vec<f32> {
    w.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
}

impl<'a> Float<'a> {
    /// An empty context over these parameters.
    pub fn new(c: Config, w: &'a [f32]) -> Self {
        let cache = (0..c.layers).map(|_| [Vec::new(), Vec::new()]).collect();
        Float {
            c,
            layout: Layout::new(&c),
            w,
            rope: rope_table(c.ctx, c.head_dim()),
            cache,
            pos: 0,
            logits: Vec::new(),
        }
    }

    /// The longest sequence.
    pub fn context(&self) -> usize {
        self.c.ctx
    }

    /// The logits that the last [`Float::push`] gave.
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// Forgets the sequence.
    pub fn reset(&mut self) {
        self.pos = 0;
        self.cache.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Appends a token and returns the logits of the next.
    ///
    /// # Errors
    /// When the context is full or the token does not exist.
    pub fn push(&mut self, token: u32) -> anyhow::Result<&[f32]> {
        anyhow::ensure!(self.pos < self.c.ctx, "the context of {} tokens is full", self.c.ctx);
        let (c, w, at) = (self.c, self.w, [self.pos]);
        let (d, hd, kd) = (c.dim, c.head_dim(), c.kv_dim());
        let embed = &w[self.layout.embed.clone()];
        anyhow::ensure!((token as usize) < c.vocab, "token {token} is outside the vocabulary of {}", c.vocab);
        let mut x = embed[token as usize * d..][..d].to_vec();
        let (mut xn, mut r) = (vec![0.0; d], [0.0]);
        for (b, [keys, values]) in self.layout.blocks.iter().zip(&mut self.cache) {
            let [wq, wk, wv, wo] = b.attn.clone().map(|r| &w[r]);
            let [wg, wu, wd] = b.ffn.clone().map(|r| &w[r]);
            rms_forward(&mut xn, &mut r, &x, &w[b.norms[0].clone()]);
            let (mut q, mut k) = (matvec(wq, &xn), matvec(wk, &xn));
            rope(&mut q, d, hd, &at, &self.rope, 1.0);
            rope(&mut k, kd, hd, &at, &self.rope, 1.0);
            keys.extend(k);
            values.extend(matvec(wv, &xn));
            let mut att = vec![0.0; d];
            for (h, (q, out)) in q.chunks_exact(hd).zip(att.chunks_exact_mut(hd)).enumerate() {
                let kv = h * c.kv_heads / c.heads * hd;
                let scale = 1.0 / (hd as f32).sqrt();
                let mut p: Vec<f32> = keys.chunks_exact(kd).map(|k| dot(q, &k[kv..kv + hd]) * scale).collect();
                let sum = exp_in_place(&mut p);
                for (p, v) in p.iter().zip(values.chunks_exact(kd)) {
                    out.iter_mut().zip(&v[kv..]).for_each(|(o, v)| *o += p / sum * v);
                }
            }
            x.iter_mut().zip(matvec(wo, &att)).for_each(|(x, y)| *x += y);
            rms_forward(&mut xn, &mut r, &x, &w[b.norms[1].clone()]);
            let (gate, up) = (matvec(wg, &xn), matvec(wu, &xn));
            let mut act = vec![0.0; c.hidden];
            silu_mul(&mut act, &gate, &up);
            x.iter_mut().zip(matvec(wd, &act)).for_each(|(x, y)| *x += y);
        }
        rms_forward(&mut xn, &mut r, &x, &w[self.layout.norm.clone()]);
        self.logits = matvec(embed, &xn);
        self.pos += 1;
        Ok(&self.logits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Batch, Net};

    #[test]
    fn token_by_token_equals_the_training_pass() {
        let c = Config { dim: 32, layers: 2, hidden: 64, heads: 4, kv_heads: 2, vocab: 40, ctx: 16 };
        let w = Layout::new(&c).init(&c, 3, 0.0);
        let tokens: Vec<u32> = vec![1, 5, 9, 33, 2, 7, 7, 12];
        let mut net = Net::new(c);
        let batch =
            Batch { targets: tokens.clone(), lengths: vec![tokens.len()], tokens: tokens.clone(), ..Batch::default() };
        let all = net.forward(&w, &batch).to_vec();
        let mut engine = Float::new(c, &w);
        for (t, want) in tokens.iter().zip(all.chunks(40)) {
            for (a, b) in engine.push(*t).unwrap().iter().zip(want) {
                assert!((a - b).abs() < 1e-4, "{a} {b}");
            }
        }
    }
}
