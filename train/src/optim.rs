//! The optimiser: AdamW for embedding and gains, and for the projections AdamW or Muon (momentum made orthogonal by
//! five Newton-Schulz steps; K. Jordan 2024, scaled to AdamW's update size as by Liu et al. 2025).

use crate::matmul::{Op, dense};
use crate::model::{Layout, Tensor};
use rayon::prelude::*;

/// Settings of a step.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Learning rate of this step.
    pub rate: f32,
    /// Weight decay of matrices, times the learning rate.
    pub decay: f32,
    /// Muon for the projections.
    pub muon: bool,
}

/// First and second moments.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Mean of the gradients (Muon: momentum).
    pub m: Vec<f32>,
    /// Mean of their squares.
    pub v: Vec<f32>,
}

const BETAS: (f32, f32) = (0.9, 0.98);
const MOMENTUM: f32 = 0.95;

/// Brings the singular values of a matrix near 1; `g` is `[rows, cols]`.
fn orthogonal(g: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    let flip = rows > cols;
    let (m, n) = if flip { (cols, rows) } else { (rows, cols) };
    let norm = g.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt() as f32 + 1e-12;
    let mut x: Vec<f32> = if flip {
        (0..m * n).map(|i| g[(i % n) * cols + i / n] / norm).collect()
    } else {
        g.iter().map(|v| v / norm).collect()
    };
    let (mut a, mut b, mut y) = (vec![0.0; m * m], vec![0.0; m * m], vec![0.0; m * n]);
    for _ in 0..5 {
        dense(Op::Nt, [m, m, n], &mut a, false, &x, &x);
        dense(Op::Nn, [m, m, m], &mut b, false, &a, &a);
        b.iter_mut().zip(&a).for_each(|(b, a)| *b = 2.0315 * *b - 4.7750 * a);
        dense(Op::Nn, [m, n, m], &mut y, false, &b, &x);
        x.iter_mut().zip(&y).for_each(|(x, y)| *x = 3.4445 * *x + y);
    }
    if flip { (0..m * n).map(|i| x[(i % cols) * n + i / cols]).collect() } else { x }
}

/// One tensor with its share of everything.
struct Job<'a> {
    tensor: &'a Tensor,
    w: &'a mut [f32],
    g: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
}

/// One step; `step` counts from 1. `grad` is the gradient of the mean loss.
pub fn step(layout: &Layout, w: &mut [f32], grad: &[f32], moments: &mut Moments, step: u64, s: Settings) {
    let t = i32::try_from(step).unwrap_or(i32::MAX);
    let (bias1, bias2) = (1.0 - BETAS.0.powi(t), 1.0 - BETAS.1.powi(t));
    let mut jobs: Vec<Job<'_>> = Vec::new();
    let (mut w, mut grad, mut m, mut v) = (w, grad, moments.m.as_mut_slice(), moments.v.as_mut_slice());
    for tensor in &layout.tensors {
        let n = tensor.range.len();
        let ((w0, w1), (m0, m1), (v0, v1)) = (w.split_at_mut(n), m.split_at_mut(n), v.split_at_mut(n));
        let (g0, g1) = grad.split_at(n);
        jobs.push(Job { tensor, w: w0, g: g0, m: m0, v: v0 });
        (w, grad, m, v) = (w1, g1, m1, v1);
    }
    jobs.into_par_iter().for_each(|Job { tensor, w, g, m, v }| {
        let matrix = tensor.rows > 1;
        let decay = if matrix { 1.0 - s.rate * s.decay } else { 1.0 };
        if s.muon && matrix && tensor.name.starts_with("blk.") {
            m.iter_mut().zip(g).for_each(|(m, g)| *m = MOMENTUM * *m + (1.0 - MOMENTUM) * g);
            let ahead: Vec<f32> = m.iter().zip(g).map(|(m, g)| MOMENTUM * m + (1.0 - MOMENTUM) * g).collect();
            let size = s.rate * 0.2 * (tensor.rows.max(tensor.cols) as f32).sqrt();
            let update = orthogonal(&ahead, tensor.rows, tensor.cols);
            w.iter_mut().zip(update).for_each(|(w, u)| *w = *w * decay - size * u);
            return;
        }
        for (((w, g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            *m = BETAS.0 * *m + (1.0 - BETAS.0) * g;
            *v = BETAS.1 * *v + (1.0 - BETAS.1) * g * g;
            *w = *w * decay - s.rate * (*m / bias1) / ((*v / bias2).sqrt() + 1e-8);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn newton_schulz_brings_all_singular_values_near_one() {
        let mut rng = Rng::new(1, 1);
        for (rows, cols) in [(8, 20), (20, 8)] {
            let g: Vec<f32> = (0..rows * cols).map(|_| rng.normal() as f32).collect();
            let x = orthogonal(&g, rows, cols);
            let k = rows.min(cols);
            let mut gram = vec![0.0; k * k];
            if rows < cols {
                dense(Op::Nt, [k, k, cols], &mut gram, false, &x, &x);
            } else {
                dense(Op::Tn, [k, k, rows], &mut gram, false, &x, &x);
            }
            for i in 0..k {
                assert!((0.4..1.6).contains(&gram[i * k + i]), "{}", gram[i * k + i]);
            }
        }
    }
}
