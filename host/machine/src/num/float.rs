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
        *y = p / (1.0 + (-p).exp()) * q;
    }
}

/// GELU (tanh form) in place.
pub fn gelu(x: &mut [f32]) {
    for v in x {
        let w = f64::from(*v);
        let inner = 0.797_884_560_802_865_4 * (w + 0.044_715 * w * w * w);
        *v = (0.5 * w * (1.0 + inner.tanh())) as f32;
    }
}
