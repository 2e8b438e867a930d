//! A copying head for names, set by least squares.
//!
//! A model that cannot tell yet which friend comes next gains by giving all their names the same embedding, and once
//! they are the same no head can learn to copy one. So, between the two cycles of training, the names get embeddings
//! that differ in a small subspace, and one group of heads of one block is set to carry that subspace from a name in
//! the context to the place where a name is due. What the group did before, the second cycle has to make up for.

use crate::data::Stories;
use crate::model::{Config, Layout};
use crate::net::Net;
use crate::rng::Rng;
use serde::{Deserialize, Serialize};

/// Which group is given up, and how strong the head is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Block.
    pub block: usize,
    /// Group of heads.
    pub group: usize,
    /// Attention score of a due name with a name.
    pub score: f32,
    /// Factor of what is written.
    pub strength: f32,
    /// Length of the differing part of a name's embedding.
    pub spread: f32,
}

/// Solves `a x = b` for a symmetric positive definite `a` of `n` rows, by Gaussian elimination.
fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let (above, below) = a.split_at_mut((i + 1) * n);
        let pivot = &above[i * n..];
        for (j, row) in below.chunks_exact_mut(n).enumerate() {
            let f = row[i] / pivot[i];
            row.iter_mut().zip(pivot).for_each(|(x, p)| *x -= f * p);
            b[i + 1 + j] -= f * b[i];
        }
    }
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| a[i * n + j] * b[j]).sum();
        b[i] = (b[i] - rest) / a[i * n + i];
    }
    b
}

/// The direction whose product with a row of `x` (`[rows, d]`) is closest to 1 where `hit` and to 0 elsewhere.
fn detector(x: &[f32], d: usize, hit: &[bool]) -> Vec<f64> {
    let (mut gram, mut sum) = (vec![0.0; d * d], vec![0.0; d]);
    // Hits are rare: they weigh as much as all the rest together.
    let hits = hit.iter().filter(|h| **h).count().max(1) as f64;
    let weigh = [1.0 / (hit.len() as f64 - hits).max(1.0), 1.0 / hits];
    for (row, hit) in x.chunks_exact(d).zip(hit) {
        let k = weigh[usize::from(*hit)];
        for (i, a) in row.iter().enumerate() {
            let a = f64::from(*a) * k;
            gram[i * d..][..d].iter_mut().zip(row).for_each(|(g, b)| *g += a * f64::from(*b));
            sum[i] += if *hit { a } else { 0.0 };
        }
    }
    (0..d).for_each(|i| gram[i * d + i] += 1e-3);
    solve(gram, sum)
}

/// The eigenvectors of a symmetric matrix of `n` rows with the smallest eigenvalues, by Jacobi's rotations.
fn quietest(mut a: Vec<f64>, n: usize, count: usize) -> Vec<Vec<f32>> {
    let mut v: Vec<f64> = (0..n * n).map(|i| if i / n == i % n { 1.0 } else { 0.0 }).collect();
    for _ in 0..12 {
        for p in 0..n {
            for q in p + 1..n {
                let off = a[p * n + q];
                if off.abs() < 1e-12 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let (c, s) = (1.0 / (t * t + 1.0).sqrt(), t / (t * t + 1.0).sqrt());
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k * n + p], v[k * n + q]);
                    (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| a[i * n + i].total_cmp(&a[j * n + j]));
    order.into_iter().take(count).map(|i| (0..n).map(|k| v[k * n + i] as f32).collect()).collect()
}

/// Sets the head. `stories` are looked at (the first 60) to find out how the block sees names and places for names.
pub fn set(c: &Config, w: &mut [f32], names: &[u32], stories: &Stories, at: Place, seed: u64) {
    let layout = Layout::new(c);
    let (d, hd) = (c.dim, c.head_dim());
    let mut rng = Rng::new(seed, 1 << 41);
    // A subspace in which little happens, both where the block reads and at the end.
    let batch = stories.batch(0..60);
    let mut net = Net::new(*c);
    net.forward(w, &batch);
    let Some(block) = layout.blocks.get(at.block) else { return };
    let mut moments = vec![0.0; d * d];
    let ends = [(net.attention_input(at.block), block.norms[0].clone()), (net.output_input(), layout.norm.clone())];
    for (rows, gain) in ends {
        for row in rows.chunks_exact(d) {
            let x: Vec<f64> = row.iter().zip(&w[gain.clone()]).map(|(x, g)| f64::from(x / g)).collect();
            for (i, a) in x.iter().enumerate() {
                moments[i * d..][..d].iter_mut().zip(&x).for_each(|(m, b)| *m += a * b);
            }
        }
    }
    let basis = quietest(moments, d, hd);
    // All names begin from their mean.
    let mean: Vec<f32> =
        (0..d).map(|j| names.iter().map(|t| w[*t as usize * d + j]).sum::<f32>() / names.len().max(1) as f32).collect();
    for t in names {
        let code: Vec<f32> = (0..hd).map(|_| rng.normal() as f32).collect();
        let norm = code.iter().map(|x| x * x).sum::<f32>().sqrt();
        let row = &mut w[*t as usize * d..][..d];
        row.copy_from_slice(&mean);
        for (code, b) in code.iter().zip(&basis) {
            row.iter_mut().zip(b).for_each(|(x, y)| *x += at.spread * code / norm * y);
        }
    }
    net.forward(w, &batch);
    let seen = net.attention_input(at.block);
    let is = |ids: &[u32]| ids.iter().map(|t| names.contains(t)).collect::<Vec<bool>>();
    let (query, key) = (detector(seen, d, &is(&batch.targets)), detector(seen, d, &is(&batch.tokens)));
    let gain: Vec<f32> = w[block.norms[0].clone()].to_vec();
    let [q, k, v, o] = block.attn.clone();
    // The slowest rotation turns by less than a tenth over the whole context.
    let slow = hd - 2;
    let size = (at.score * (hd as f32).sqrt()).sqrt();
    let per = c.heads / c.kv_heads.max(1);
    for i in 0..hd {
        for j in 0..d {
            w[k.start + (at.group * hd + i) * d + j] = if i == slow { size * key[j] as f32 } else { 0.0 };
            w[v.start + (at.group * hd + i) * d + j] = basis[i][j] / gain[j].abs().max(0.05).copysign(gain[j]);
        }
        for h in at.group * per..(at.group + 1) * per {
            for j in 0..d {
                w[q.start + (h * hd + i) * d + j] = if i == slow { size * query[j] as f32 } else { 0.0 };
                w[o.start + j * d + h * hd + i] = at.strength / per as f32 * basis[i][j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detector_finds_the_direction_that_tells_rows_apart() {
        let mut rng = Rng::new(3, 3);
        let hit: Vec<bool> = (0..400).map(|i| i % 7 == 0).collect();
        let mut x: Vec<f32> = (0..400 * 8).map(|_| rng.normal() as f32).collect();
        for (row, hit) in x.chunks_exact_mut(8).zip(&hit) {
            row[2] = if *hit { 2.0 } else { 0.0 };
        }
        let found = detector(&x, 8, &hit);
        assert!((found[2] - 0.5).abs() < 0.02, "{found:?}");
    }
}
