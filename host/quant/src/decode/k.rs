//! K-quants: 256 weights, scales of groups of 16 or 32 quantised themselves.

use super::{half_at, part};

/// 16 × (scale, minimum), 64 × four quants, d, dmin: (d·s)·q − dmin·m per 16.
pub(super) fn q2_k(b: &[u8; 84], y: &mut [f32; 256]) {
    let (d, dmin) = (half_at(b, 80), half_at(b, 82));
    let scales: &[u8; 16] = part(b, 0);
    for (g, (y, s)) in y.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let (dl, ml) = (d * f32::from(s & 15), dmin * f32::from(s >> 4));
        for (y, q) in y.iter_mut().zip(two_bits(part(b, 16), g)) {
            *y = dl * f32::from(q) - ml;
        }
    }
}

/// 32 × eight high bits, 64 × four quants, 16 six-bit scales, d: d·(s − 32)·(q − 4 unless the high bit is set).
pub(super) fn q3_k(b: &[u8; 110], y: &mut [f32; 256]) {
    let d = half_at(b, 108);
    let mask: &[u8; 32] = part(b, 0);
    let scales: &[u8; 12] = part(b, 96);
    for (g, y) in y.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = scales[g % 8] >> (4 * (g / 8)) & 15;
        let high = scales[8 + g % 4] >> (2 * (g / 4)) & 3;
        let dl = d * f32::from((low | high << 4) as i8 - 32);
        let mask: &[u8; 16] = part(mask, 16 * (g % 2));
        for ((y, q), m) in y.iter_mut().zip(two_bits(part(b, 32), g)).zip(mask) {
            let missing = (m >> (g / 2) & 1 ^ 1) << 2;
            *y = dl * f32::from(q as i8 - missing as i8);
        }
    }
}

/// d, dmin, 8 × (scale, minimum) of six bits, 128 × two quants: (d·s)·q − dmin·m per 32.
pub(super) fn q4_k(b: &[u8; 144], y: &mut [f32; 256]) {
    let (d, dmin) = (half_at(b, 0), half_at(b, 2));
    for (g, y) in y.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (s, m) = scale_and_minimum(part(b, 4), g);
        let (dl, ml) = (d * f32::from(s), dmin * f32::from(m));
        let qs: &[u8; 32] = part(b, 16 + 32 * (g / 2));
        for (y, q) in y.iter_mut().zip(qs) {
            *y = dl * f32::from(q >> (4 * (g % 2)) & 15) - ml;
        }
    }
}

/// As Q4_K with 32 × eight high bits before the quants.
pub(super) fn q5_k(b: &[u8; 176], y: &mut [f32; 256]) {
    let (d, dmin) = (half_at(b, 0), half_at(b, 2));
    let high: &[u8; 32] = part(b, 16);
    for (g, y) in y.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (s, m) = scale_and_minimum(part(b, 4), g);
        let (dl, ml) = (d * f32::from(s), dmin * f32::from(m));
        let qs: &[u8; 32] = part(b, 48 + 32 * (g / 2));
        for ((y, q), h) in y.iter_mut().zip(qs).zip(high) {
            let q = q >> (4 * (g % 2)) & 15 | (h >> g & 1) << 4;
            *y = dl * f32::from(q) - ml;
        }
    }
}

/// 128 × two low quants, 64 × four high quants, 16 signed scales, d: (d·s)·(q − 32) per 16.
pub(super) fn q6_k(b: &[u8; 210], y: &mut [f32; 256]) {
    let d = half_at(b, 208);
    let scales: &[u8; 16] = part(b, 192);
    for (g, (y, s)) in y.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let dl = d * f32::from(*s as i8);
        // Each half of 128 has four rows of 32: low halves of two rows of bytes, then their high halves.
        let (half, row, side) = (g / 8, g / 2 % 4, g % 2);
        let low: &[u8; 16] = part(b, 64 * half + 32 * (row % 2) + 16 * side);
        let high: &[u8; 16] = part(b, 128 + 32 * half + 16 * side);
        for ((y, l), h) in y.iter_mut().zip(low).zip(high) {
            let q = l >> (4 * (row / 2)) & 15 | (h >> (2 * row) & 3) << 4;
            *y = dl * f32::from(q as i8 - 32);
        }
    }
}

/// Group `g` of 16 of the two-bit quants: 32 bytes serve 128 elements, a pair of bits per row of 32.
fn two_bits(qs: &[u8; 64], g: usize) -> impl Iterator<Item = u8> {
    let bytes: &[u8; 16] = part(qs, 32 * (g / 8) + 16 * (g % 2));
    let shift = g / 2 % 4 * 2;
    bytes.iter().map(move |q| q >> shift & 3)
}

/// Scale and minimum of group `g` of 8: the first four in the low six bits of bytes 0 to 7, the others
/// spread over bytes 8 to 11 and the two high bits of the first eight.
fn scale_and_minimum(packed: &[u8; 12], g: usize) -> (u8, u8) {
    if g < 4 {
        return (packed[g] & 63, packed[g + 4] & 63);
    }
    let rest = packed[g + 4];
    (rest & 15 | packed[g - 4] >> 6 << 4, rest >> 4 | packed[g] >> 6 << 4)
}
