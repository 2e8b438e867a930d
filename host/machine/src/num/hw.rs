//! Hardware numerics, one operation at a time (spec section 11): every step rounded to F32, ties to even; sums in order
//! from the first term.

use ssnail_shared::tables::EXP;

/// `1 / x`, correctly rounded.
#[must_use]
pub fn recip(x: f32) -> f32 {
    1.0 / x
}

/// `1 / sqrt(x)` with the root rounded before the division.
#[must_use]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// Running sum in order, starting from the first term; +0 for nothing. A lone -0 stays -0.
#[must_use]
pub fn sum(mut terms: impl Iterator<Item = f32>) -> f32 {
    match terms.next() {
        Some(first) => terms.fold(first, |acc, term| acc + term),
        None => 0.0,
    }
}

/// `y = (x * r) * gain` with `r = rsqrt(sum(x^2) * recip(n) + eps)`.
pub fn rmsnorm(x: &[f32], gain: &[f32], eps: f32, out: &mut [f32]) {
    let r = rms_factor(sum(x.iter().map(|v| v * v)), x.len(), eps);
    for ((y, v), g) in out.iter_mut().zip(x).zip(gain) {
        *y = (v * r) * g;
    }
}

/// The r of [`rmsnorm`], given the sum of the squares.
#[must_use]
pub fn rms_factor(squares: f32, n: usize, eps: f32) -> f32 {
    rsqrt(squares * recip(n as f32) + eps)
}

/// The sums of the squares of vectors of `n` elements, one after the other in `x`. Several side by side, as each addition
/// waits for the one before.
pub fn sums_of_squares(x: &[f32], n: usize, out: &mut [f32]) {
    const SIDE: usize = 8;
    for (x, out) in x.chunks(SIDE * n.max(1)).zip(out.chunks_mut(SIDE)) {
        if x.len() < SIDE * n {
            for (x, out) in x.chunks(n.max(1)).zip(out) {
                *out = sum(x.iter().map(|v| v * v));
            }
            continue;
        }
        let rows: [&[f32]; SIDE] = std::array::from_fn(|row| &x[row * n..(row + 1) * n]);
        let mut sums = rows.map(|row| row.first().map_or(0.0, |v| v * v));
        for i in 1..n {
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum += row[i] * row[i];
            }
        }
        out.copy_from_slice(&sums);
    }
}

/// `y = ((d * r) * gain) + bias` with `d = x - mean` and `r = rsqrt(sum(d^2) * recip(n) + eps)`.
pub fn layernorm(x: &[f32], gain: &[f32], bias: &[f32], eps: f32, out: &mut [f32]) {
    let n = recip(x.len() as f32);
    let mean = sum(x.iter().copied()) * n;
    for (y, v) in out.iter_mut().zip(x) {
        *y = v - mean;
    }
    let r = rsqrt(sum(out.iter().map(|d| d * d)) * n + eps);
    for ((y, g), b) in out.iter_mut().zip(gain).zip(bias) {
        *y = ((*y * r) * g) + b;
    }
}

/// exp in place, for arguments up to zero.
pub fn exp(x: &mut [f32]) {
    for v in x {
        *v = EXP.eval(*v);
    }
}
