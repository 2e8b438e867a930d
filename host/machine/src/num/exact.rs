//! Exact sum of F32 products, rounded to F64 and then to F32: the float-weight dot product of the hardware numerics
//! (spec section 11).
//!
//! A product of two F32 values is a multiple of 2^-298 below 2^256, so 640 bits of fixed point hold any sum of up to
//! 2^31 of them. [`Wide`] is that accumulator. It is needed rarely: [`decide`] takes an ordinary F64 sum with a proven
//! bound on its error and gives the answer whenever every value within the bound rounds to the same F32.

/// Lowest bit that a product of two F32 values can have, as a power of two.
const LOWEST: i32 = -298;
/// Limbs of 32 bits each; 2^(640 - 298) leaves room for 2^31 products above the largest.
const LIMBS: usize = 20;

/// A fixed-point accumulator wide enough for every F32 product, with the carries left in 64-bit limbs.
#[derive(Clone, Debug)]
pub struct Wide {
    limbs: [i64; LIMBS],
    special: Special,
}

/// What non-finite terms have made of the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Special {
    Finite,
    Infinite(f64),
    NaN,
}

impl Default for Wide {
    fn default() -> Self {
        Self { limbs: [0; LIMBS], special: Special::Finite }
    }
}

impl Wide {
    /// Adds the exact product `a * b`. At most 2^31 products may be added.
    pub fn add_product(&mut self, a: f32, b: f32) {
        let p = f64::from(a) * f64::from(b);
        if !p.is_finite() {
            self.add_special(p);
            return;
        }
        if p == 0.0 {
            return;
        }
        // Exact: 48 bits of significand, and never subnormal as an F64.
        let bits = p.to_bits();
        let significand = (bits & ((1 << 52) - 1)) | (1 << 52);
        let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023 - 52;
        // The 53-bit form of a 48-bit product may reach below LOWEST, but only with zero bits.
        let (significand, at) = if exponent < LOWEST {
            (significand >> (LOWEST - exponent), 0)
        } else {
            (significand, (exponent - LOWEST) as usize)
        };
        let shifted = u128::from(significand) << (at % 32);
        let negative = p < 0.0;
        let first = at / 32;
        for (i, limb) in self.limbs[first..].iter_mut().take(3).enumerate() {
            let part = (shifted >> (32 * i)) as u32;
            if negative {
                *limb -= i64::from(part);
            } else {
                *limb += i64::from(part);
            }
        }
    }

    fn add_special(&mut self, p: f64) {
        self.special = match self.special {
            _ if p.is_nan() => Special::NaN,
            Special::Finite => Special::Infinite(p),
            Special::Infinite(sum) if sum == p => Special::Infinite(sum),
            Special::Infinite(_) | Special::NaN => Special::NaN,
        };
    }

    /// The sum rounded to F64, then to F32, ties to even. Nothing or an exact zero gives +0; infinities of both signs
    /// or a NaN give the canonical quiet NaN.
    #[must_use]
    pub fn round(&self) -> f32 {
        match self.special {
            Special::Finite => self.round_f64() as f32,
            Special::Infinite(sum) => sum as f32,
            Special::NaN => f32::NAN,
        }
    }

    fn round_f64(&self) -> f64 {
        let mut words = [0u32; LIMBS];
        let negative = carry(&self.limbs, &mut words) < 0;
        if negative {
            // Two's complement of the whole number: the magnitude.
            let mut borrow = true;
            for word in &mut words {
                let (w, b) = (!*word).overflowing_add(u32::from(borrow));
                *word = w;
                borrow = b;
            }
        }
        let Some(top) = words.iter().rposition(|&w| w != 0) else { return 0.0 };
        // 128 bits from the top word downwards always hold the 53 bits wanted and the bit below them.
        let word = |back: usize| top.checked_sub(back).map_or(0, |i| words[i]);
        let head = (0..4).fold(0u128, |acc, back| (acc << 32) | u128::from(word(back)));
        let mut sticky = top >= 4 && words[..top - 3].iter().any(|&w| w != 0);
        let shift = 128 - 53 - head.leading_zeros();
        let mut significand = (head >> shift) as u64;
        let rest = head & ((1u128 << shift) - 1);
        let half = 1u128 << (shift - 1);
        sticky |= rest & (half - 1) != 0;
        if rest & half != 0 && (sticky || significand & 1 != 0) {
            significand += 1;
        }
        let exponent = (32 * top) as i32 - 96 + shift as i32 + LOWEST;
        // Both factors are exact: the significand has at most 53 bits, the power is a normal F64.
        let magnitude = significand as f64 * power_of_two(exponent);
        if negative { -magnitude } else { magnitude }
    }
}

/// Resolves the carries of `limbs` into 32-bit words (two's complement) and returns the carry out of the top.
fn carry(limbs: &[i64; LIMBS], words: &mut [u32; LIMBS]) -> i64 {
    let mut carry = 0i64;
    for (limb, word) in limbs.iter().zip(words) {
        let sum = limb + carry;
        *word = sum as u32;
        carry = sum >> 32;
    }
    carry
}

/// 2^e for e within the normal range of F64.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// The dot product by the wide accumulator alone.
#[must_use]
pub fn dot_wide(pairs: impl Iterator<Item = (f32, f32)>) -> f32 {
    let mut wide = Wide::default();
    for (a, b) in pairs {
        wide.add_product(a, b);
    }
    wide.round()
}

/// The exactly rounded result, if an approximate sum settles it.
///
/// `sum` is an F64 sum of products in any order, `magnitude` the F64 sum of their magnitudes in any order, `depth` an
/// upper bound on the additions that any single term went through in either. Each addition errs by at most 2^-53 of its
/// result, which the sum of magnitudes bounds: |sum - exact| <= 2^-53 * depth * exact magnitude, and the computed
/// magnitude is short of the exact one by at most a factor 1 - 2^-53 * depth. Twice the first bound covers both for every
/// depth below 2^50. Rounding is monotone, so if the two ends of the interval round alike, so does the exact sum.
#[must_use]
pub fn decide(sum: f64, magnitude: f64, depth: usize) -> Option<f32> {
    if !magnitude.is_finite() {
        return None;
    }
    let bound = magnitude * (depth as f64 * f64::EPSILON);
    if magnitude == 0.0 {
        // An exact zero is +0 whatever the signs of its terms.
        return Some(0.0);
    }
    let low = (sum - bound) as f32;
    let high = (sum + bound) as f32;
    (low.to_bits() == high.to_bits()).then_some(low)
}
