//! Half precision and BF16, as bits.

/// An IEEE half as F32, exact; a signalling NaN becomes quiet.
#[inline(always)]
#[must_use]
pub fn f16_to_f32(h: u16) -> f32 {
    let sign = u32::from(h & 0x8000) << 16;
    let magnitude = u32::from(h & 0x7fff);
    // Scaling by 2^112 moves the exponent bias and normalises subnormals, both exactly.
    let finite = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
    let special = (magnitude << 13) | 0x7f80_0000 | (u32::from(magnitude > 0x7c00) << 22);
    f32::from_bits(sign | if magnitude >= 0x7c00 { special } else { finite })
}

/// F32 as an IEEE half: nearest, ties to even, overflow to infinity, NaN quiet.
#[inline(always)]
#[must_use]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00 | ((magnitude >> 13) & 0x1ff) as u16
    } else if magnitude >= 0x477f_f000 {
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // At 0.5 the last place is 2^-24, the step of subnormal halves: the addition rounds.
        ((f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()) as u16
    } else {
        ((magnitude + 0xfff + ((magnitude >> 13) & 1) - (112 << 23)) >> 13) as u16
    };
    sign | half
}

/// The upper half of an F32 as F32.
#[inline(always)]
#[must_use]
pub fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits(u32::from(h) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_and_agrees_with_an_independent_converter() {
        for h in 0..=u16::MAX {
            let f = f16_to_f32(h);
            let other = half::f16::from_bits(h);
            if other.is_nan() {
                assert!(f.is_nan());
                assert_eq!(f32_to_f16(f), h | 0x200);
            } else {
                assert_eq!(f.to_bits(), other.to_f32().to_bits());
                assert_eq!(f32_to_f16(f), h);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn rounding_to_half_agrees_with_an_independent_converter(bits: u32, near in 0x3300_0000u32..0x4780_0000) {
            for x in [f32::from_bits(bits), f32::from_bits(near), f32::from_bits(near & 0xffff_f000)] {
                if !x.is_nan() {
                    proptest::prop_assert_eq!(f32_to_f16(x), half::f16::from_f32(x).to_bits());
                }
            }
        }
    }
}
