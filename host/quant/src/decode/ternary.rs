//! TQ1_0 and TQ2_0: −1, 0, 1 times one scale per 256.

use super::{half_at, part};

/// 48 × five digits, 4 × four digits, d. A byte is a fraction of 256 in base 3: multiplying by 3^n modulo
/// 256 brings digit n to the front.
pub(super) fn tq1_0(b: &[u8; 54], y: &mut [f32; 256]) {
    let d = half_at(b, 52);
    let (first, rest) = y.split_at_mut(160);
    let (second, third) = rest.split_at_mut(80);
    digits(part::<32>(b, 0), d, first);
    digits(part::<16>(b, 32), d, second);
    digits(part::<4>(b, 48), d, third);
}

fn digits<const N: usize>(bytes: &[u8; N], d: f32, y: &mut [f32]) {
    let mut power = 1u8;
    for y in y.as_chunks_mut::<N>().0 {
        for (q, y) in bytes.iter().zip(y) {
            let digit = (u16::from(q.wrapping_mul(power)) * 3) >> 8;
            *y = d * f32::from(digit as i8 - 1);
        }
        power = power.wrapping_mul(3);
    }
}

/// 64 × four digits of two bits, d.
pub(super) fn tq2_0(b: &[u8; 66], y: &mut [f32; 256]) {
    let d = half_at(b, 64);
    for (row, y) in y.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let bytes: &[u8; 32] = part(b, 32 * (row / 4));
        for (q, y) in bytes.iter().zip(y) {
            *y = d * f32::from((q >> (2 * (row % 4)) & 3) as i8 - 1);
        }
    }
}
