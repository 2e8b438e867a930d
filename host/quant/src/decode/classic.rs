//! Q4_0, Q4_1, Q5_0, Q5_1, Q8_0: blocks of 32 with a half-precision scale.
//!
//! Four-bit quants: byte j holds element j in its low and element j + 16 in its high half.

use super::{half_at, part, u32_at};

/// d, 16 × two quants: d·(q − 8).
pub(super) fn q4_0(b: &[u8; 18], y: &mut [f32; 32]) {
    let d = half_at(b, 0);
    nibbles(part(b, 2), y, |q, _| d * f32::from(q as i8 - 8));
}

/// d, m, 16 × two quants: d·q + m.
pub(super) fn q4_1(b: &[u8; 20], y: &mut [f32; 32]) {
    let (d, m) = (half_at(b, 0), half_at(b, 2));
    nibbles(part(b, 4), y, |q, _| d * f32::from(q) + m);
}

/// d, 32 high bits, 16 × two quants: d·(q − 16).
pub(super) fn q5_0(b: &[u8; 22], y: &mut [f32; 32]) {
    let (d, high) = (half_at(b, 0), u32_at(b, 2));
    nibbles(part(b, 6), y, |q, i| d * f32::from((q | fifth_bit(high, i)) as i8 - 16));
}

/// d, m, 32 high bits, 16 × two quants: d·q + m.
pub(super) fn q5_1(b: &[u8; 24], y: &mut [f32; 32]) {
    let (d, m, high) = (half_at(b, 0), half_at(b, 2), u32_at(b, 4));
    nibbles(part(b, 8), y, |q, i| d * f32::from(q | fifth_bit(high, i)) + m);
}

/// d, 32 signed quants: d·q.
pub(super) fn q8_0(b: &[u8; 34], y: &mut [f32; 32]) {
    let d = half_at(b, 0);
    for (q, y) in part::<32>(b, 2).iter().zip(y) {
        *y = d * f32::from(*q as i8);
    }
}

fn nibbles(qs: &[u8; 16], y: &mut [f32; 32], one: impl Fn(u8, u32) -> f32) {
    let (low, high) = y.split_at_mut(16);
    for (i, (q, (low, high))) in (0u32..).zip(qs.iter().zip(low.iter_mut().zip(high))) {
        *low = one(q & 15, i);
        *high = one(q >> 4, i + 16);
    }
}

fn fifth_bit(high: u32, i: u32) -> u8 {
    ((high >> i & 1) << 4) as u8
}
