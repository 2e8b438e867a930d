//! Elementwise parts of the model and their derivatives, written so that the compiler can vectorise them.

use crate::model::{NORM_EPS, ROPE_BASE};

const LANES: usize = 16;

/// Sum of products in sixteen lanes.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut acc = [0.0f32; LANES];
    let (ac, bc) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f32 = ac.remainder().iter().zip(b.get(ac.len() * LANES..).unwrap_or(&[])).map(|(x, y)| x * y).sum();
    for (x, y) in ac.zip(bc) {
        for ((s, x), y) in acc.iter_mut().zip(x).zip(y) {
            *s += x * y;
        }
    }
    acc.iter().sum::<f32>() + tail
}

/// e^x for x ≤ 0 with a relative error near 1e-7·(1 + |x|): 2^n by the exponent field, the rest by a polynomial.
#[inline]
pub fn fast_exp(x: f32) -> f32 {
    let t = (x * std::f32::consts::LOG2_E).clamp(-126.0, 126.0);
    let n = (t + 12_582_912.0) - 12_582_912.0;
    let f = (t - n) * std::f32::consts::LN_2;
    let p = 1.0 + f * (1.0 + f * (0.5 + f * (1.0 / 6.0 + f * (1.0 / 24.0 + f * (1.0 / 120.0 + f * (1.0 / 720.0))))));
    p * f32::from_bits((((n as i32) + 127) << 23) as u32)
}

/// Replaces each x by e^(x − max) and returns their sum.
pub fn exp_in_place(row: &mut [f32]) -> f32 {
    let mut top = [f32::NEG_INFINITY; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder().iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for ch in chunks {
        for (m, x) in top.iter_mut().zip(ch) {
            *m = if *x > *m { *x } else { *m };
        }
    }
    let max = top.iter().copied().fold(rest, f32::max);
    row.iter_mut().for_each(|x| *x = fast_exp(*x - max));
    let mut acc = [0.0f32; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().sum();
    for ch in chunks {
        acc.iter_mut().zip(ch).for_each(|(s, x)| *s += x);
    }
    acc.iter().sum::<f32>() + rest
}

/// `out = x · r · gain` per row, with `r = 1/√(mean(x²) + eps)`.
pub fn rms_forward(out: &mut [f32], r: &mut [f32], x: &[f32], gain: &[f32]) {
    let d = gain.len();
    for ((out, x), r) in out.chunks_exact_mut(d).zip(x.chunks_exact(d)).zip(r) {
        *r = 1.0 / (dot(x, x) / d as f32 + NORM_EPS).sqrt();
        for ((o, x), g) in out.iter_mut().zip(x).zip(gain) {
            *o = x * *r * g;
        }
    }
}

/// Adds the gradient through [`rms_forward`] to `dx` and `dgain`.
pub fn rms_backward(dx: &mut [f32], dgain: &mut [f32], dout: &[f32], x: &[f32], r: &[f32], gain: &[f32]) {
    let d = gain.len();
    for (((dx, dout), x), r) in dx.chunks_exact_mut(d).zip(dout.chunks_exact(d)).zip(x.chunks_exact(d)).zip(r) {
        let mut acc = [0.0f32; LANES];
        for (((o, x), g), dg) in
            dout.chunks(LANES).zip(x.chunks(LANES)).zip(gain.chunks(LANES)).zip(dgain.chunks_mut(LANES))
        {
            for ((((o, x), g), dg), s) in o.iter().zip(x).zip(g).zip(dg).zip(&mut acc) {
                *dg += o * x * r;
                *s += o * x * g;
            }
        }
        let mean = acc.iter().sum::<f32>() * r * r / d as f32;
        for (((dx, o), x), g) in dx.iter_mut().zip(dout).zip(x).zip(gain) {
            *dx += r * (o * g - x * mean);
        }
    }
}

/// cos and sin of position · base^(−2j/head_dim), interleaved: `[ctx, head_dim]`.
pub fn rope_table(ctx: usize, head_dim: usize) -> Vec<f32> {
    let mut table = Vec::with_capacity(ctx * head_dim);
    for pos in 0..ctx {
        for j in 0..head_dim / 2 {
            let angle = pos as f64 / ROPE_BASE.powf(2.0 * j as f64 / head_dim as f64);
            table.extend([angle.cos() as f32, angle.sin() as f32]);
        }
    }
    table
}

/// Rotates adjacent pairs of every head of every row; `sign` −1 is the inverse and so the derivative.
pub fn rope(x: &mut [f32], width: usize, head_dim: usize, positions: &[usize], table: &[f32], sign: f32) {
    for (row, pos) in x.chunks_exact_mut(width).zip(positions) {
        let angles = &table[pos * head_dim..][..head_dim];
        for head in row.chunks_exact_mut(head_dim) {
            for (v, a) in head.chunks_exact_mut(2).zip(angles.chunks_exact(2)) {
                let (c, s) = (a[0], a[1] * sign);
                (v[0], v[1]) = (v[0] * c - v[1] * s, v[0] * s + v[1] * c);
            }
        }
    }
}

#[inline]
fn sigmoid(x: f32) -> f32 {
    let e = fast_exp(-x.abs());
    (if x >= 0.0 { 1.0 } else { e }) / (1.0 + e)
}

/// `out = silu(gate) · up`.
pub fn silu_mul(out: &mut [f32], gate: &[f32], up: &[f32]) {
    for ((o, g), u) in out.iter_mut().zip(gate).zip(up) {
        *o = g * sigmoid(*g) * u;
    }
}

/// Turns the gradient of [`silu_mul`]'s result in `da` into that of the gate; `db` receives that of `up`.
pub fn silu_mul_backward(da: &mut [f32], db: &mut [f32], gate: &[f32], up: &[f32]) {
    for (((a, b), g), u) in da.iter_mut().zip(db).zip(gate).zip(up) {
        let s = sigmoid(*g);
        *b = *a * g * s;
        *a *= u * s * (1.0 + g * (1.0 - s));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_close_to_the_library() {
        for i in 0..8000 {
            let x = -(i as f32) * 0.01;
            let want = x.exp();
            assert!((fast_exp(x) - want).abs() <= (1e-6 + 1e-7 * x.abs()) * want, "{x}: {} {want}", fast_exp(x));
        }
    }
}
