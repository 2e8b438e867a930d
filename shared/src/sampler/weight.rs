//! Powers of two in fixed point: the weights of tokens.

use super::{Candidate, bits_of};

pub(super) fn high(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// 2^(-i/16) as fractions of 2^32.
pub(super) const POWERS: [u32; 16] = [
    0xFFFF_FFFF,
    0xF525_7D15,
    0xEAC0_C6E8,
    0xE0CC_DEEC,
    0xD744_FCCB,
    0xCE24_8C15,
    0xC567_2A11,
    0xBD08_A39F,
    0xB504_F334,
    0xAD58_3EEA,
    0xA5FE_D6AA,
    0x9EF5_3260,
    0x9837_F052,
    0x91C3_D373,
    0x8B95_C1E4,
    0x85AA_C368,
];

/// 2^-t as a fraction of 2^32, `t` with 27 fractional bits.
pub(super) fn power(t: u32) -> u32 {
    const LN2: u32 = 0xB172_17F8;
    const THIRD: u32 = 0x5555_5555;
    let whole = t >> 27;
    let step = (t >> 23) & 15;
    // The rest is below 1/16: four terms of the exponential series leave an error below 2e-9.
    let y = high((t & 0x007F_FFFF) << 5, LN2);
    let s = u32::MAX - (y >> 2);
    let s = u32::MAX - high(high(y, s), THIRD);
    let s = u32::MAX - (high(y, s) >> 1);
    let s = u32::MAX - high(y, s);
    high(POWERS[step as usize], s) >> whole
}

/// Weights of tokens relative to the one with the largest logit: 2^((logit - largest) * scale) as fractions of 2^32.
///
/// Logits that matter lie within 32 / scale of the largest. They are compared on a common grid, so fine that the exponent
/// is off by 2^-23 at most.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// The largest logit on the grid, as are all others: multiples of 2^(exponent - 156).
    pub largest: u32,
    /// The grid's exponent, below 260.
    pub exponent: u32,
    /// The scale's mantissa, its first bit at the top; 0 for a scale of almost 0.
    pub factor: u32,
    /// Places by which a difference on the grid is shifted before the factor is applied, less one; 3 to 258.
    pub places: u32,
}

const MANTISSA: u32 = 0x0080_0000;

impl Weights {
    /// `largest`: bits of the largest logit. `scale` is not negative.
    #[must_use]
    pub fn new(largest: u32, scale: f32) -> Self {
        let own = (largest >> 23) & 0xFF;
        let bits = scale.to_bits();
        let exponent = (bits >> 23) & 0xFF;
        // 32 / scale is not above 2^(132 - (exponent - 127)).
        let reach = 259 - exponent;
        let mut weights = Self {
            largest: 0,
            exponent: if own > reach { own } else { reach },
            factor: if exponent == 0 { 0 } else { (bits & (MANTISSA - 1) | MANTISSA) << 8 },
            places: 0,
        };
        weights.places = weights.exponent + exponent - 256;
        weights.largest = weights.on_grid(largest).unwrap_or(0);
        weights
    }

    /// F32 bits on the grid, in two's complement; nothing where they are too large for it.
    fn on_grid(&self, bits: u32) -> Option<u32> {
        let exponent = (bits >> 23) & 0xFF;
        let mantissa = bits & (MANTISSA - 1) | MANTISSA;
        let size = if exponent + 6 >= self.exponent {
            let places = exponent + 6 - self.exponent;
            if places > 7 {
                return None;
            }
            mantissa << places
        } else {
            let places = self.exponent - exponent - 6;
            if places > 31 { 0 } else { mantissa >> places }
        };
        Some(if bits & 0x8000_0000 == 0 { size } else { size.wrapping_neg() })
    }

    /// Weight of a logit by its key.
    pub(super) fn of(&self, key: u32) -> u32 {
        let Some(value) = self.on_grid(bits_of(key)) else { return 0 };
        let below = self.largest.wrapping_sub(value);
        if below == 0 {
            return power(0);
        }
        // The factor is at least 1/2: what leaves 33 places is 32 or more.
        if self.places > 31 || below > u32::MAX >> self.places {
            return 0;
        }
        let half = high(below << self.places, self.factor);
        if half & 0x8000_0000 != 0 { 0 } else { power(half << 1) }
    }

    /// Puts weights in the place of the candidates' keys; their sum.
    pub fn weigh(&self, room: &mut [Candidate]) -> u64 {
        let mut sum = 0u64;
        for c in room {
            c.key = self.of(c.key);
            sum += u64::from(c.key);
        }
        sum
    }
}
