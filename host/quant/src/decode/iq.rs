//! IQ formats: indices into codebooks of short vectors, signs apart, scales per 16 or 32.

use super::{half_at, part, u16_at, u32_at};
use crate::grid;

/// The 16 levels of IQ4_NL and IQ4_XS (figures of ggml).
const LEVELS_4: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// d, 8 × (four indices, four × 7 signs and a 4-bit scale).
pub(super) fn iq2_xxs(b: &[u8; 66], y: &mut [f32; 256]) {
    let d = half_at(b, 0);
    for (g, y) in y.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let indices: &[u8; 4] = part(b, 2 + 8 * g);
        let rest = u32_at(b, 6 + 8 * g);
        let dl = d * (0.5 + (rest >> 28) as f32) * 0.25;
        for (l, (y, i)) in y.as_chunks_mut::<8>().0.iter_mut().zip(indices).enumerate() {
            signed(y, dl, &grid::IQ2_XXS[usize::from(*i)], even_signs(rest >> (7 * l)));
        }
    }
}

/// d, 32 × (9-bit index, 7 signs), 8 × two 4-bit scales.
pub(super) fn iq2_xs(b: &[u8; 74], y: &mut [f32; 256]) {
    let d = half_at(b, 0);
    for (i, y) in y.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let word = u16_at(b, 2 + 2 * i);
        let dl = d * (0.5 + f32::from(nibble(b, 66, i / 2))) * 0.25;
        signed(y, dl, &grid::IQ2_XS[usize::from(word & 511)], even_signs(u32::from(word >> 9)));
    }
}

/// d, 32 low index bytes, 32 sign bytes, 8 × four high index pairs, 8 × two 4-bit scales.
pub(super) fn iq2_s(b: &[u8; 82], y: &mut [f32; 256]) {
    let d = half_at(b, 0);
    for (i, y) in y.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let high = b[66 + i / 4] >> (2 * (i % 4)) & 3;
        let index = usize::from(b[2 + i]) | usize::from(high) << 8;
        let dl = d * (0.5 + f32::from(nibble(b, 74, i / 2))) * 0.25;
        signed(y, dl, &grid::IQ2_S[index], b[34 + i]);
    }
}

/// d, 64 indices of vectors of 4, 8 × (four × 7 signs and a 4-bit scale).
pub(super) fn iq3_xxs(b: &[u8; 98], y: &mut [f32; 256]) {
    let d = half_at(b, 0);
    for (i, y) in y.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let rest = u32_at(b, 66 + 4 * (i / 4));
        let dl = d * (0.5 + (rest >> 28) as f32) * 0.5;
        let [one, two] = *part::<2>(b, 2 + 2 * i);
        let vector = pair(grid::IQ3_XXS[usize::from(one)], grid::IQ3_XXS[usize::from(two)]);
        signed(y, dl, &vector, even_signs(rest >> (7 * (i % 4))));
    }
}

/// d, 64 low index bytes of vectors of 4, 64 high bits, 32 sign bytes, 4 × two 4-bit scales.
pub(super) fn iq3_s(b: &[u8; 110], y: &mut [f32; 256]) {
    let d = half_at(b, 0);
    for (i, y) in y.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let dl = d * f32::from(1 + 2 * nibble(b, 106, i / 4));
        let high = usize::from(b[66 + i / 4]) >> (2 * (i % 4));
        let [one, two] = *part::<2>(b, 2 + 2 * i);
        let one = usize::from(one) | (high & 1) << 8;
        let two = usize::from(two) | (high & 2) << 7;
        signed(y, dl, &pair(grid::IQ3_S[one], grid::IQ3_S[two]), b[74 + i]);
    }
}

/// d, 32 low index bytes, 8 × (four × 3 high index bits, 3-bit scale, sign of the shift).
pub(super) fn iq1_s(b: &[u8; 50], y: &mut [f32; 256]) {
    let d = half_at(b, 0);
    for (i, y) in y.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let word = u16_at(b, 34 + 2 * (i / 4));
        let dl = d * f32::from(2 * (word >> 12 & 7) + 1);
        let index = usize::from(b[2 + i]) | usize::from(word >> (3 * (i % 4)) & 7) << 8;
        shifted(y, dl, &grid::IQ1[index], word & 0x8000 != 0);
    }
}

/// 32 low index bytes, 16 × two (3 high index bits, sign of the shift), 4 words of four 3-bit scales
/// whose upper nibbles make up d.
pub(super) fn iq1_m(b: &[u8; 56], y: &mut [f32; 256]) {
    let words = [u16_at(b, 48), u16_at(b, 50), u16_at(b, 52), u16_at(b, 54)];
    let d = words[0] >> 12 | words[1] >> 8 & 0xF0 | words[2] >> 4 & 0xF00 | words[3] & 0xF000;
    let d = half::f16::from_bits(d).to_f32();
    for (i, y) in y.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let dl = d * f32::from(2 * (words[i / 8] >> (3 * (i / 2 % 4)) & 7) + 1);
        let high = nibble(b, 32, i);
        let index = usize::from(b[i]) | usize::from(high & 7) << 8;
        shifted(y, dl, &grid::IQ1[index], high & 8 != 0);
    }
}

/// d, 16 × two indices into the levels.
pub(super) fn iq4_nl(b: &[u8; 18], y: &mut [f32; 32]) {
    levels(part(b, 2), half_at(b, 0), y);
}

/// d, 8 × 2 high scale bits, 8 × 4 low scale bits, 128 × two indices: d·(s − 32)·level.
pub(super) fn iq4_xs(b: &[u8; 136], y: &mut [f32; 256]) {
    let (d, high) = (half_at(b, 0), u16_at(b, 2));
    for (g, y) in y.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let s = nibble(b, 4, g) | ((high >> (2 * g) & 3) << 4) as u8;
        levels(part(b, 8 + 16 * g), d * f32::from(s as i8 - 32), y);
    }
}

fn levels(qs: &[u8; 16], d: f32, y: &mut [f32; 32]) {
    let (low, high) = y.split_at_mut(16);
    for (q, (low, high)) in qs.iter().zip(low.iter_mut().zip(high)) {
        *low = d * f32::from(LEVELS_4[usize::from(q & 15)]);
        *high = d * f32::from(LEVELS_4[usize::from(q >> 4)]);
    }
}

/// Nibble `n` of the bytes from `at`.
fn nibble(b: &[u8], at: usize, n: usize) -> u8 {
    b.get(at + n / 2).map_or(0, |byte| byte >> (4 * (n % 2)) & 15)
}

fn pair(a: [i8; 4], b: [i8; 4]) -> [i8; 8] {
    [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]
}

/// Eight signs from seven bits: the eighth makes their number even.
fn even_signs(bits: u32) -> u8 {
    let low = (bits & 127) as u8;
    low | ((low.count_ones() & 1) << 7) as u8
}

fn signed(y: &mut [f32; 8], dl: f32, vector: &[i8; 8], signs: u8) {
    for (i, (y, v)) in y.iter_mut().zip(vector).enumerate() {
        let sign = if signs >> i & 1 == 1 { -1.0 } else { 1.0 };
        *y = dl * f32::from(*v) * sign;
    }
}

fn shifted(y: &mut [f32; 8], dl: f32, vector: &[i8; 8], down: bool) {
    let delta = if down { -0.125 } else { 0.125 };
    for (y, v) in y.iter_mut().zip(vector) {
        *y = dl * (f32::from(*v) + delta);
    }
}
