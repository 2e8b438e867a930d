//! Number formats and the operations that `core` lacks, by integers: they are exact, and cost no float-to-integer casts,
//! which some compilers for the 6502 family get wrong.

/// An IEEE half as F32; exact. A signalling NaN becomes quiet.
#[must_use]
pub const fn f16_to_f32(half: u16) -> f32 {
    let sign = (half as u32 & 0x8000) << 16;
    let exponent = (half as u32 >> 10) & 31;
    let fraction = half as u32 & 0x3FF;
    let bits = if exponent == 31 {
        0x7F80_0000 | (fraction << 13) | if fraction == 0 { 0 } else { 0x0040_0000 }
    } else if exponent > 0 {
        ((exponent + 112) << 23) | (fraction << 13)
    } else if fraction == 0 {
        0
    } else {
        // Subnormal: the leading one moves to the hidden place.
        let shift = fraction.leading_zeros() - 21;
        ((113 - shift) << 23) | ((fraction << (13 + shift)) & 0x007F_FFFF)
    };
    f32::from_bits(sign | bits)
}

/// F32 as an IEEE half: nearest, ties to even, overflow to infinity, a NaN stays one.
#[must_use]
pub const fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7FFF_FFFF;
    let half = if magnitude > 0x7F80_0000 {
        0x7E00 | ((magnitude >> 13) & 0x1FF)
    } else if magnitude >= 0x477F_F000 {
        0x7C00
    } else if magnitude >= 0x3880_0000 {
        (magnitude - (112 << 23) + 0xFFF + ((magnitude >> 13) & 1)) >> 13
    } else if magnitude < 0x3300_0000 {
        0
    } else {
        let shift = 126 - (magnitude >> 23);
        let significand = (magnitude & 0x007F_FFFF) | 0x0080_0000;
        let kept = significand >> shift;
        let rest = significand & ((1 << shift) - 1);
        let middle = 1 << (shift - 1);
        kept + (rest > middle || (rest == middle && kept & 1 != 0)) as u32
    };
    sign | half as u16
}

/// The upper half of an F32 as F32.
#[must_use]
pub const fn bf16_to_f32(half: u16) -> f32 {
    f32::from_bits((half as u32) << 16)
}

/// Nearest whole number, half away from zero, of a value whose magnitude is at most 255; larger ones and NaN as the
/// core's saturating conversion to a signed byte: -128 to 127, NaN 0.
#[must_use]
pub const fn round_i8(value: f32) -> i8 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7FFF_FFFF;
    let exponent = magnitude >> 23;
    let negative = bits >> 31 != 0;
    if magnitude > 0x7F80_0000 {
        return 0;
    }
    let n = if exponent < 126 {
        0
    } else if exponent > 134 {
        255
    } else {
        let significand = (magnitude & 0x007F_FFFF) | 0x0080_0000;
        // One bit below the point remains, and adding it rounds half away from zero.
        let twice = significand >> (149 - exponent);
        (twice + 1) >> 1
    };
    match (negative, n) {
        (false, 0..=127) => n as i8,
        (false, _) => 127,
        (true, 0..=127) => -(n as i8),
        (true, _) => -128,
    }
}

/// Square root, correctly rounded; NaN for negative values, -0 for -0.
#[must_use]
pub const fn sqrt(value: f32) -> f32 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7FFF_FFFF;
    if magnitude == 0 || magnitude > 0x7F80_0000 || bits == 0x7F80_0000 {
        return value;
    }
    if bits >> 31 != 0 {
        return f32::NAN;
    }
    let (mut significand, mut exponent) = (bits & 0x007F_FFFF, (bits >> 23) as i32);
    if exponent == 0 {
        let shift = significand.leading_zeros() - 8;
        significand <<= shift;
        exponent = 1 - shift as i32;
    } else {
        significand |= 0x0080_0000;
    }
    // value = significand * 2^e with e odd, so that significand * 2^25 stands before an even power of two; its root has
    // 25 bits, of which the last rounds. A tie would need an odd root of an even number.
    let mut e = exponent - 150;
    if e & 1 == 0 {
        significand <<= 1;
        e -= 1;
    }
    let (mut root, mut rest, mut pairs, mut i) = (0u32, 0u32, significand << 7, 0);
    while i < 25 {
        rest = (rest << 2) | (pairs >> 30);
        pairs <<= 2;
        let trial = (root << 2) | 1;
        root <<= 1;
        if rest >= trial {
            rest -= trial;
            root |= 1;
        }
        i += 1;
    }
    let rounded = (root >> 1) + (root & 1);
    let scale = (e - 25) / 2 + 1;
    // A carry out of the significand moves into the exponent by itself. Roots are never subnormal.
    f32::from_bits((((scale + 149) as u32) << 23) + rounded)
}

/// 1 / x.
#[must_use]
pub fn recip(x: f32) -> f32 {
    1.0 / x
}

/// 1 / root of x, both rounded.
#[must_use]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / sqrt(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{cases, step};
    use crate::rng::Rng;

    #[test]
    fn roots_are_those_of_the_processor() {
        let mut rng = Rng::new(1);
        let check = |bits: u32| {
            let x = f32::from_bits(bits);
            let (a, b) = (sqrt(x), x.sqrt());
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{bits:08X}: {a:e} {b:e}");
        };
        for _ in 0..cases(300_000) {
            check(rng.next_u32());
        }
        for i in 0..cases(4000) {
            for base in [0, 0x0080_0000, 0x3F80_0000, 0x4000_0000, 0x7F7F_F000, 0x7F80_0000, 0x8000_0000] {
                check(i + base);
            }
            check(((i * i) as f32).to_bits());
        }
    }

    #[test]
    fn halves_come_back() {
        for h in (0..=u16::MAX).step_by(step(65_536)) {
            let f = f16_to_f32(h);
            let back = f32_to_f16(f);
            assert!(back == h || (f.is_nan() && back == h | 0x200), "{h:04X} {f:e} {back:04X}");
        }
    }

    #[test]
    fn halves_are_the_nearest() {
        let mut rng = Rng::new(8);
        for i in 0..cases(300_000) {
            let bits = if i % 2 == 0 { rng.next_u32() } else { 0x3280_0000 + rng.next_u32() % 0x1600_0000 };
            let x = f32::from_bits(bits);
            if x.is_nan() {
                continue;
            }
            let h = f32_to_f16(x);
            let magnitude = x.abs();
            if magnitude >= 65520.0 {
                assert_eq!(h & 0x7FFF, 0x7C00);
                continue;
            }
            let distance = |h: u16| (f64::from(f16_to_f32(h & 0x7FFF)) - f64::from(magnitude)).abs();
            let own = distance(h);
            for other in [(h & 0x7FFF).wrapping_sub(1), (h & 0x7FFF) + 1] {
                if other < 0x7C00 {
                    let d = distance(other);
                    assert!(own < d || (own == d && h & 1 == 0), "{bits:08X} {h:04X}");
                }
            }
        }
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        let mut rng = Rng::new(3);
        let quarters = cases(2100);
        for i in 0..cases(200_000) {
            let x = if i < quarters {
                ((i * (2100 / quarters)) as f32 - 1050.0) / 4.0
            } else {
                f32::from_bits(rng.next_u32())
            };
            assert_eq!(round_i8(x), x.round() as i8, "{x:e}");
        }
        assert_eq!(round_i8(0.499_999_97), 0);
        assert_eq!(round_i8(f32::NAN), 0);
    }
}
