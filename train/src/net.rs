//! Forward and backward pass over a batch of sequences of different lengths, laid one after the other.

use crate::math::{exp_in_place, rms_backward, rms_forward, rope, silu_mul, silu_mul_backward};
use crate::matmul::{Op, View, ViewMut, dense, matmul};
use crate::model::{Config, Layout};

/// Sequences laid one after the other: token `i` is to be followed by `targets[i]`.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Input tokens of all sequences.
    pub tokens: Vec<u32>,
    /// The token after each.
    pub targets: Vec<u32>,
    /// Length of each sequence.
    pub lengths: Vec<usize>,
    /// Which tokens are possible after each, one bit per token of the vocabulary in whole words of 64, or empty.
    pub possible: Vec<u64>,
}

/// What training asks for besides likely targets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// Weight of `(ln Σ exp logits)²`. It draws the logits towards log-probabilities, so that a repetition penalty,
    /// which scales raw logits, hardly touches a token the model is sure of.
    pub z: f32,
    /// Weight of `−ln` of the probability that all possible tokens have together.
    pub strict: f32,
}

/// What the backward pass needs of one block. Shapes are `[tokens, …]`.
#[derive(Debug, Default)]
struct Saved {
    x: Vec<f32>,
    xn: Vec<f32>,
    r: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    /// Attention weights: for each sequence and head a square of its length.
    p: Vec<f32>,
    att: Vec<f32>,
    y: Vec<f32>,
    yn: Vec<f32>,
    yr: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    act: Vec<f32>,
}

/// Buffers of one worker, reused from batch to batch.
#[derive(Debug)]
pub struct Net {
    c: Config,
    layout: Layout,
    /// cos, sin for each position and pair: `[ctx, head_dim]`.
    rope: Vec<f32>,
    saved: Vec<Saved>,
    /// Input and output of the last norm.
    x: Vec<f32>,
    xn: Vec<f32>,
    r: Vec<f32>,
    /// `[tokens, vocab]`
    logits: Vec<f32>,
    scratch: [Vec<f32>; 6],
}

/// Sums over a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loss {
    /// Sum of −ln p of the targets.
    pub nll: f64,
    /// Number of targets.
    pub count: usize,
    /// Sum of the probabilities of what is not possible, where that is known.
    pub impossible: f64,
}

impl std::ops::AddAssign for Loss {
    fn add_assign(&mut self, other: Self) {
        self.nll += other.nll;
        self.count += other.count;
        self.impossible += other.impossible;
    }
}

fn sized(v: &mut Vec<f32>, n: usize) -> &mut [f32] {
    v.resize(n, 0.0);
    v.as_mut_slice()
}

/// Sum of those of up to 64 values whose bit is set.
fn chosen(values: &[f32], bits: u64) -> f32 {
    values.iter().enumerate().map(|(i, p)| if bits >> i & 1 == 1 { *p } else { 0.0 }).sum()
}

impl Net {
    /// Buffers for a model of these sizes.
    pub fn new(c: Config) -> Self {
        let layout = Layout::new(&c);
        let saved = (0..c.layers).map(|_| Saved::default()).collect();
        let rope = crate::math::rope_table(c.ctx, c.head_dim());
        let empty = Vec::new;
        Net {
            c,
            layout,
            rope,
            saved,
            x: empty(),
            xn: empty(),
            r: empty(),
            logits: empty(),
            scratch: Default::default(),
        }
    }

    /// What the attention of a block saw in the last forward pass: `[tokens, dim]`, after the norm.
    pub fn attention_input(&self, block: usize) -> &[f32] {
        self.saved.get(block).map_or(&[], |s| &s.xn)
    }

    /// What the classifier saw in the last forward pass: `[tokens, dim]`, after the norm.
    pub fn output_input(&self) -> &[f32] {
        &self.xn
    }

    fn each_head(&self, lengths: &[usize]) -> Vec<(usize, usize, usize, usize)> {
        // (first token, length, head, offset of its square)
        let (mut start, mut square, mut out) = (0, 0, Vec::new());
        for l in lengths {
            for h in 0..self.c.heads {
                out.push((start, *l, h, square));
                square += l * l;
            }
            start += l;
        }
        out
    }

    /// Logits `[tokens, vocab]` for every token of the batch.
    pub fn forward(&mut self, w: &[f32], batch: &Batch) -> &[f32] {
        let c = self.c;
        let t = batch.tokens.len();
        let (d, kd, hd, heads) = (c.dim, c.kv_dim(), c.head_dim(), self.each_head(&batch.lengths));
        let squares: usize = batch.lengths.iter().map(|l| l * l * c.heads).sum();
        let positions: Vec<usize> = batch.lengths.iter().flat_map(|l| 0..*l).collect();
        let embed = &w[self.layout.embed.clone()];
        sized(&mut self.x, t * d);
        for (row, id) in self.x.chunks_exact_mut(d).zip(&batch.tokens) {
            row.copy_from_slice(&embed[*id as usize * d..][..d]);
        }
        for (block, s) in self.layout.blocks.iter().zip(&mut self.saved) {
            let [wq, wk, wv, wo] = block.attn.clone().map(|r| &w[r]);
            let [wg, wu, wd] = block.ffn.clone().map(|r| &w[r]);
            sized(&mut s.x, t * d).copy_from_slice(&self.x);
            rms_forward(sized(&mut s.xn, t * d), sized(&mut s.r, t), &s.x, &w[block.norms[0].clone()]);
            dense(Op::Nt, [t, d, d], sized(&mut s.q, t * d), false, &s.xn, wq);
            dense(Op::Nt, [t, kd, d], sized(&mut s.k, t * kd), false, &s.xn, wk);
            dense(Op::Nt, [t, kd, d], sized(&mut s.v, t * kd), false, &s.xn, wv);
            rope(&mut s.q, d, hd, &positions, &self.rope, 1.0);
            rope(&mut s.k, kd, hd, &positions, &self.rope, 1.0);
            sized(&mut s.att, t * d);
            sized(&mut s.p, squares);
            for (start, l, h, sq) in &heads {
                let (l, kv) = (*l, h * c.kv_heads / c.heads);
                let p = &mut s.p[*sq..sq + l * l];
                let q = View { data: &s.q[start * d + h * hd..], stride: d };
                let k = View { data: &s.k[start * kd + kv * hd..], stride: kd };
                let v = View { data: &s.v[start * kd + kv * hd..], stride: kd };
                matmul(Op::Nt, [l, l, hd], ViewMut { data: p, stride: l }, false, 1.0 / (hd as f32).sqrt(), q, k);
                for (i, row) in p.chunks_exact_mut(l).enumerate() {
                    let (past, future) = row.split_at_mut(i + 1);
                    future.fill(0.0);
                    let sum = exp_in_place(past);
                    past.iter_mut().for_each(|x| *x /= sum);
                }
                let out = ViewMut { data: &mut s.att[start * d + h * hd..], stride: d };
                matmul(Op::Nn, [l, hd, l], out, false, 1.0, View { data: p, stride: l }, v);
            }
            dense(Op::Nt, [t, d, d], &mut self.x, true, &s.att, wo);
            sized(&mut s.y, t * d).copy_from_slice(&self.x);
            rms_forward(sized(&mut s.yn, t * d), sized(&mut s.yr, t), &s.y, &w[block.norms[1].clone()]);
            dense(Op::Nt, [t, c.hidden, d], sized(&mut s.gate, t * c.hidden), false, &s.yn, wg);
            dense(Op::Nt, [t, c.hidden, d], sized(&mut s.up, t * c.hidden), false, &s.yn, wu);
            silu_mul(sized(&mut s.act, t * c.hidden), &s.gate, &s.up);
            dense(Op::Nt, [t, d, c.hidden], &mut self.x, true, &s.act, wd);
        }
        rms_forward(sized(&mut self.xn, t * d), sized(&mut self.r, t), &self.x, &w[self.layout.norm.clone()]);
        dense(Op::Nt, [t, c.vocab, d], sized(&mut self.logits, t * c.vocab), false, &self.xn, embed);
        &self.logits
    }

    /// Turns the logits into probabilities and sums the loss; the gradient of the loss with its further `terms` is left
    /// in the place of the logits.
    fn loss(&mut self, batch: &Batch, terms: Terms, scale: f32) -> Loss {
        let mut loss = Loss { count: batch.targets.len(), ..Loss::default() };
        let mut possible = batch.possible.chunks_exact(self.c.vocab.div_ceil(64));
        for (row, target) in self.logits.chunks_exact_mut(self.c.vocab).zip(&batch.targets) {
            let at = row.get(*target as usize).copied().unwrap_or(0.0);
            let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum = exp_in_place(row);
            let lse = max + sum.ln();
            loss.nll += f64::from(lse - at);
            let k = scale * (1.0 + 2.0 * terms.z * lse) / sum;
            if let Some(bits) = possible.next() {
                let good = row.chunks(64).zip(bits).map(|(p, bits)| chosen(p, *bits)).sum::<f32>() / sum;
                loss.impossible += f64::from(1.0 - good);
                let s = scale * terms.strict / sum;
                let (good, bad) = (k + s * (1.0 - 1.0 / good.max(1e-3)), k + s);
                for (p, bits) in row.chunks_mut(64).zip(bits) {
                    p.iter_mut().enumerate().for_each(|(i, p)| *p *= if bits >> i & 1 == 1 { good } else { bad });
                }
            } else {
                row.iter_mut().for_each(|p| *p *= k);
            }
            if let Some(p) = row.get_mut(*target as usize) {
                *p -= scale;
            }
        }
        loss
    }

    /// Loss without gradients.
    pub fn evaluate(&mut self, w: &[f32], batch: &Batch) -> Loss {
        self.forward(w, batch);
        self.loss(batch, Terms::default(), 1.0)
    }

    /// Adds `scale` times the gradient of the summed loss to `grad` and returns the loss.
    pub fn backward(&mut self, w: &[f32], batch: &Batch, grad: &mut [f32], scale: f32, terms: Terms) -> Loss {
        self.forward(w, batch);
        let loss = self.loss(batch, terms, scale);
        let c = self.c;
        let t = batch.tokens.len();
        let (d, kd, hd, f) = (c.dim, c.kv_dim(), c.head_dim(), c.hidden);
        let heads = self.each_head(&batch.lengths);
        let positions: Vec<usize> = batch.lengths.iter().flat_map(|l| 0..*l).collect();
        let [dx, dn, da, db, dk, dv] = &mut self.scratch;
        sized(dx, t * d);
        sized(dn, t * d);
        let (e, norm) = (self.layout.embed.clone(), self.layout.norm.clone());
        dense(Op::Tn, [c.vocab, d, t], &mut grad[e.clone()], true, &self.logits, &self.xn);
        dense(Op::Nn, [t, d, c.vocab], dn, false, &self.logits, &w[e.clone()]);
        dx.fill(0.0);
        rms_backward(dx, &mut grad[norm.clone()], dn, &self.x, &self.r, &w[norm]);
        for (block, s) in self.layout.blocks.iter().zip(&self.saved).rev() {
            let [wq, wk, wv, wo] = block.attn.clone().map(|r| &w[r]);
            let [wg, wu, wd] = block.ffn.clone().map(|r| &w[r]);
            let [gq, gk, gv, go] = block.attn.clone();
            let [gg, gu, gd] = block.ffn.clone();
            // feed-forward part
            dense(Op::Tn, [d, f, t], &mut grad[gd], true, dx, &s.act);
            dense(Op::Nn, [t, f, d], sized(da, t * f), false, dx, wd);
            silu_mul_backward(da, sized(db, t * f), &s.gate, &s.up);
            dense(Op::Tn, [f, d, t], &mut grad[gg], true, da, &s.yn);
            dense(Op::Tn, [f, d, t], &mut grad[gu], true, db, &s.yn);
            dense(Op::Nn, [t, d, f], dn, false, da, wg);
            dense(Op::Nn, [t, d, f], dn, true, db, wu);
            rms_backward(dx, &mut grad[block.norms[1].clone()], dn, &s.y, &s.yr, &w[block.norms[1].clone()]);
            // attention
            dense(Op::Tn, [d, d, t], &mut grad[go], true, dx, &s.att);
            dense(Op::Nn, [t, d, d], dn, false, dx, wo);
            let dq = sized(da, t * d);
            sized(dk, t * kd).fill(0.0);
            sized(dv, t * kd).fill(0.0);
            for (start, l, h, sq) in &heads {
                let (l, kv) = (*l, h * c.kv_heads / c.heads);
                let (at, at_kv) = (start * d + h * hd, start * kd + kv * hd);
                let p = &s.p[*sq..sq + l * l];
                let square = View { data: p, stride: l };
                let out = View { data: &dn[at..], stride: d };
                matmul(Op::Tn, [l, hd, l], ViewMut { data: &mut dv[at_kv..], stride: kd }, true, 1.0, square, out);
                let ds = sized(db, l * l);
                let v = View { data: &s.v[at_kv..], stride: kd };
                matmul(Op::Nt, [l, l, hd], ViewMut { data: ds, stride: l }, false, 1.0, out, v);
                for (i, (row, pr)) in ds.chunks_exact_mut(l).zip(p.chunks_exact(l)).enumerate() {
                    let (past, future) = row.split_at_mut(i + 1);
                    future.fill(0.0);
                    let mean = crate::math::dot(past, &pr[..=i]);
                    past.iter_mut().zip(pr).for_each(|(x, p)| *x = p * (*x - mean));
                }
                let root = 1.0 / (hd as f32).sqrt();
                let (ds, k) = (View { data: ds, stride: l }, View { data: &s.k[at_kv..], stride: kd });
                matmul(Op::Nn, [l, hd, l], ViewMut { data: &mut dq[at..], stride: d }, false, root, ds, k);
                let q = View { data: &s.q[at..], stride: d };
                matmul(Op::Tn, [l, hd, l], ViewMut { data: &mut dk[at_kv..], stride: kd }, true, root, ds, q);
            }
            rope(dq, d, hd, &positions, &self.rope, -1.0);
            rope(dk, kd, hd, &positions, &self.rope, -1.0);
            dense(Op::Tn, [d, d, t], &mut grad[gq], true, dq, &s.xn);
            dense(Op::Tn, [kd, d, t], &mut grad[gk], true, dk, &s.xn);
            dense(Op::Tn, [kd, d, t], &mut grad[gv], true, dv, &s.xn);
            dense(Op::Nn, [t, d, d], dn, false, dq, wq);
            dense(Op::Nn, [t, d, kd], dn, true, dk, wk);
            dense(Op::Nn, [t, d, kd], dn, true, dv, wv);
            rms_backward(dx, &mut grad[block.norms[0].clone()], dn, &s.x, &s.r, &w[block.norms[0].clone()]);
        }
        let ge = &mut grad[e];
        for (row, id) in dx.chunks_exact(d).zip(&batch.tokens) {
            ge[*id as usize * d..][..d].iter_mut().zip(row).for_each(|(g, x)| *g += x);
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Every kind of tensor against central differences.
    #[test]
    fn gradients_agree_with_finite_differences() {
        let c = Config { dim: 32, layers: 2, hidden: 64, heads: 4, kv_heads: 2, vocab: 50, ctx: 16 };
        let layout = Layout::new(&c);
        let mut rng = Rng::new(5, 0);
        let mut w: Vec<f32> = layout.init(&c, 5, 0.5).iter().map(|x| x + (rng.normal() * 0.05) as f32).collect();
        let tokens: Vec<u32> = (0..19).map(|_| rng.below(50) as u32).collect();
        let targets = tokens.iter().map(|t| (t * 7 + 3) % 50).collect();
        let batch = Batch { tokens, targets, lengths: vec![12, 7], ..Batch::default() };
        let mut net = Net::new(c);
        let mut grad = vec![0.0; layout.len()];
        net.backward(&w, &batch, &mut grad, 1.0, Terms::default());
        for t in &layout.tensors {
            // Along the gradient itself, where the difference is largest.
            let norm = grad[t.range.clone()].iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            let step = 1e-3 / norm;
            let old = w[t.range.clone()].to_vec();
            let mut at = |side: f64| {
                for (i, o) in t.range.clone().zip(&old) {
                    w[i] = (f64::from(*o) + side * step * f64::from(grad[i])) as f32;
                }
                net.evaluate(&w, &batch).nll
            };
            let slope = (at(1.0) - at(-1.0)) / (2.0 * step * norm);
            w[t.range.clone()].copy_from_slice(&old);
            assert!((slope / norm - 1.0).abs() < 0.02, "{}: {slope} against {norm}", t.name);
        }
    }

    #[test]
    fn the_further_terms_have_the_right_gradient() {
        let c = Config { dim: 32, layers: 1, hidden: 32, heads: 2, kv_heads: 1, vocab: 20, ctx: 8 };
        let layout = Layout::new(&c);
        let mut w = layout.init(&c, 9, 0.0);
        let bits = 0b1111_0000_0101_0001_0110u64;
        let batch = Batch { tokens: vec![1, 2, 3], targets: vec![2, 4, 8], lengths: vec![3], possible: vec![bits; 3] };
        let mut net = Net::new(c);
        let i = layout.norm.start;
        for terms in [Terms { z: 0.5, strict: 0.0 }, Terms { z: 0.0, strict: 3.0 }] {
            let (mut plain, mut full) = (vec![0.0; layout.len()], vec![0.0; layout.len()]);
            net.backward(&w, &batch, &mut plain, 1.0, Terms::default());
            net.backward(&w, &batch, &mut full, 1.0, terms);
            let mut term = |w: &[f32]| -> f64 {
                let logits = net.forward(w, &batch).to_vec();
                let of = |row: &[f32], set: u64| -> f64 {
                    let chosen = row.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                    chosen.map(|(_, x)| f64::from(*x).exp()).sum::<f64>().ln()
                };
                let row = |r| {
                    f64::from(terms.z) * of(r, u64::MAX).powi(2)
                        + f64::from(terms.strict) * (of(r, u64::MAX) - of(r, bits))
                };
                logits.chunks(20).map(row).sum()
            };
            let old = w[i];
            w[i] = old + 1e-2;
            let high = term(&w);
            w[i] = old - 1e-2;
            let slope = (high - term(&w)) / 2e-2;
            w[i] = old;
            let got = f64::from(full[i] - plain[i]);
            assert!(slope != 0.0 && (got - slope).abs() < 1e-2 * slope.abs().max(0.1), "{terms:?}: {got} {slope}");
        }
    }
}
