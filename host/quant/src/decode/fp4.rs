//! MXFP4 and NVFP4: four-bit floats (sign, two bits of exponent, one of mantissa) with a scale per block.

use super::part;

/// Twice the values of the sixteen four-bit floats; the scales below carry the half.
const TWICE: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// A power of two e, 16 × two floats: 2^(e − 128) · twice.
pub(super) fn mxfp4(b: &[u8; 17], y: &mut [f32; 32]) {
    let d = half_power(b[0]);
    floats(part::<16>(b, 1), d, y);
}

/// Four scales, 32 × two floats in groups of 16.
pub(super) fn nvfp4(b: &[u8; 36], y: &mut [f32; 64]) {
    let scales: &[u8; 4] = part(b, 0);
    for (g, (y, s)) in y.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        floats(part::<8>(b, 4 + 8 * g), half_e4m3(*s), y);
    }
}

fn floats<const N: usize>(qs: &[u8; N], d: f32, y: &mut [f32]) {
    let (low, high) = y.split_at_mut(N);
    for (q, (low, high)) in qs.iter().zip(low.iter_mut().zip(high)) {
        *low = d * f32::from(TWICE[usize::from(q & 15)]);
        *high = d * f32::from(TWICE[usize::from(q >> 4)]);
    }
}

/// 2^(e − 128), the two smallest as subnormal singles.
fn half_power(e: u8) -> f32 {
    f32::from_bits(match e {
        0 | 1 => 0x0020_0000 << e,
        _ => u32::from(e - 1) << 23,
    })
}

/// Half of an unsigned float with four bits of exponent (bias 7) and three of mantissa; 127 is no number
/// and counts as 0.
fn half_e4m3(x: u8) -> f32 {
    if x == 0 || x == 0x7F {
        return 0.0;
    }
    let mantissa = f32::from(x & 7);
    match x >> 3 & 15 {
        0 => mantissa / 1024.0,
        e => (1.0 + mantissa / 8.0) * f32::from_bits((u32::from(e) + 127 - 8) << 23),
    }
}
