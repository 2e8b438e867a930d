//! Float numerics (spec section 10): F32 operands, F64 inside the norms, GELU and attention, rounded at the end.

/// `y = x * rsqrt(mean(x^2) + eps) * gain`.
pub fn rmsnorm(x: &[f32], gain: &[f32], eps: f32, out: &mut [f32]) {
    let squares: f64 = x.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let r = 1.0 / (squares / x.len() as f64 + f64::from(eps)).sqrt();
    for ((y, &v), &g) in out.iter_mut().zip(x).zip(gain) {
        *y = (f64::from(v) * r * f64::from(g)) as f32;
    }
}

/// `y = (x - mean) * rsqrt(var + eps) * gain + bias`.
pub fn layernorm(x: &[f32], gain: &[f32], bias: &[f32], eps: f32, out: &mut [f32]) {
    let n = x.len() as f64;
    let mean = x.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let var = x.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n;
    let r = 1.0 / (var + f64::from(eps)).sqrt();
    for (((y, &v), &g), &b) in out.iter_mut().zip(x).zip(gain).zip(bias) {
        *y = ((f64::from(v) - mean) * r * f64::from(g) + f64::from(b)) as f32;
    }
}

/// `SiLU(p) * q` in F32.
pub fn silumul(p: &[f32], q: &[f32], out: &mut [f32]) {
    for ((y, p), q) in out.iter_mut().zip(p).zip(q) {
        *y = p / (1.0 + exp(-p)) * q;
    }
}

/// e^x to within 2 units in the last place, 0 below -87 and infinity above 88.7; NaN stays NaN. Plain F32 operations in a
/// fixed order: the same bits everywhere, and loops over it become vector code.
#[inline(always)]
#[must_use]
pub fn exp(x: f32) -> f32 {
    /// Adding and subtracting it rounds to an integer.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts; the first has few enough bits that its product with a small integer is exact.
    const LN2: [f32; 2] = [355.0 / 512.0, -2.121_944_4e-4];
    let inside = x.clamp(-87.0, 88.72);
    let n = (inside * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = (inside - n * LN2[0]) - n * LN2[1];
    // The series to r^7: r is at most 0.35, so the rest is below 6e-9.
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let sum = series.iter().fold(1.0 / 5040.0, |sum, c| sum * r + c);
    // In two steps: 2^128 is not a float, its halves are.
    let half = n as i32 / 2;
    let power = |e: i32| f32::from_bits(((e + 127) << 23) as u32);
    let y = sum * power(half) * power(n as i32 - half);
    let y = if x < -87.0 { 0.0 } else { y };
    let y = if x > 88.72 { f32::INFINITY } else { y };
    if x.is_nan() { x } else { y }
}

/// GELU (tanh form) in place.
pub fn gelu(x: &mut [f32]) {
    for v in x {
        let w = f64::from(*v);
        let inner = 0.797_884_560_802_865_4 * (w + 0.044_715 * w * w * w);
        *v = (0.5 * w * (1.0 + inner.tanh())) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::exp;

    #[test]
    fn exp_is_close() {
        for i in -870_000..887_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 2.4e-7, "exp({x}): relative error {error:e}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-100.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(100.0), f32::INFINITY);
        assert!(exp(f32::NAN).is_nan());
    }
}
