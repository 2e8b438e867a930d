//! The exact sum of F32 products, rounded to F64 and then to F32: the dot product of float weights in hardware numerics
//! (specification, section 11).
//!
//! A fixed-point number of 20 words holds every product of two F32 values (multiples of 2^-298 below 2^256) and any sum
//! of fewer than 2^30 of them. Positive and negative products are summed apart, so that a carry never has to borrow.

/// Words of 32 bits.
const WORDS: usize = 20;
/// The lowest bit is 2^-298.
const LOWEST: i32 = -298;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    None,
    Infinite { negative: bool },
    Nan,
}

/// A running exact sum.
#[derive(Clone, Debug)]
pub struct Accumulator {
    sums: [[u32; WORDS]; 2],
    special: Special,
    used: bool,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::new()
    }
}

/// Sign, significand and power of two; the significand of zero is 0.
fn split(value: f32) -> (bool, u32, i32) {
    let bits = value.to_bits();
    let exponent = (bits >> 23) & 0xFF;
    let fraction = bits & 0x007F_FFFF;
    let negative = bits >> 31 != 0;
    if exponent == 0 { (negative, fraction, -149) } else { (negative, fraction | 0x0080_0000, exponent as i32 - 150) }
}

fn is_special(value: f32) -> bool {
    value.to_bits() & 0x7F80_0000 == 0x7F80_0000
}

impl Accumulator {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { sums: [[0; WORDS]; 2], special: Special::None, used: false }
    }

    /// Back to nothing.
    pub fn clear(&mut self) {
        if self.used {
            *self = Self::new();
        }
    }

    /// Adds `a * b`, exactly.
    pub fn add_product(&mut self, a: f32, b: f32) {
        if is_special(a) || is_special(b) {
            self.used = true;
            // The processor's own rules: infinity times zero is not a number.
            let p = a * b;
            self.special = match self.special {
                _ if p.is_nan() => Special::Nan,
                Special::None => Special::Infinite { negative: p < 0.0 },
                Special::Infinite { negative } if negative == (p < 0.0) => self.special,
                _ => Special::Nan,
            };
            return;
        }
        let (negative_a, m, e) = split(a);
        let (negative_b, n, f) = split(b);
        if m == 0 || n == 0 {
            return;
        }
        self.used = true;
        let product = u64::from(m) * u64::from(n);
        let at = (e + f - LOWEST) as u32;
        let sum = &mut self.sums[usize::from(negative_a != negative_b)];
        let (word, shift) = ((at >> 5) as usize, at & 31);
        let (low, high) = (product as u32, (product >> 32) as u32);
        let parts = if shift == 0 {
            [low, high, 0]
        } else {
            [low << shift, (high << shift) | (low >> (32 - shift)), high >> (32 - shift)]
        };
        let mut carry = false;
        let mut i = word;
        while i < WORDS && (i < word + 3 || carry) {
            let part = if i < word + 3 { parts[i - word] } else { 0 };
            let (s, c) = sum[i].overflowing_add(part);
            let (s, d) = s.overflowing_add(u32::from(carry));
            sum[i] = s;
            carry = c || d;
            i += 1;
        }
    }

    /// The sum, rounded to F64 and then to F32, ties to even. Nothing and an exact zero are +0; infinities of both signs
    /// and NaN give a quiet NaN.
    #[must_use]
    pub fn round(&self) -> f32 {
        match self.special {
            Special::Nan => return f32::NAN,
            Special::Infinite { negative } => return if negative { f32::NEG_INFINITY } else { f32::INFINITY },
            Special::None => {}
        }
        let [plus, minus] = &self.sums;
        let Some(differ) = (0..WORDS).rev().find(|&i| plus[i] != minus[i]) else { return 0.0 };
        let negative = plus[differ] < minus[differ];
        let (large, small) = if negative { (minus, plus) } else { (plus, minus) };
        let mut difference = [0u32; WORDS];
        let mut borrow = false;
        for i in 0..=differ {
            let (d, b) = large[i].overflowing_sub(small[i]);
            let (d, c) = d.overflowing_sub(u32::from(borrow));
            difference[i] = d;
            borrow = b || c;
        }
        let magnitude = round_words(&difference);
        f32::from_bits(magnitude | u32::from(negative) << 31)
    }
}

/// Bits of the F32 nearest to the F64 nearest to a positive fixed-point number.
fn round_words(words: &[u32; WORDS]) -> u32 {
    let Some(top) = words.iter().rposition(|&w| w != 0) else { return 0 };
    let bits = 32 * top as i32 + 32 - words[top].leading_zeros() as i32;
    // 53 bits from the top, and whether anything lies below them.
    let first = bits - 53;
    let (mut significand, mut exponent) = (take(words, first), first + LOWEST);
    if first > 0 {
        let (half, below) = (bit(words, first - 1), any_below(words, first - 1));
        if half && (below || significand & 1 != 0) {
            significand += 1;
            if significand >> 53 != 0 {
                significand >>= 1;
                exponent += 1;
            }
        }
    }
    // An F32 keeps 24 of them, fewer below the normal range, whose last place is 2^-149.
    let drop = if exponent + 29 < -149 { -149 - exponent } else { 29 };
    if drop > 54 {
        return 0;
    }
    let kept = significand >> drop;
    let rest = significand & ((1u64 << drop) - 1);
    let half = 1u64 << (drop - 1);
    let mut kept = kept as u32;
    if rest > half || (rest == half && kept & 1 != 0) {
        kept += 1;
    }
    let exponent = exponent + drop;
    // A carry out of the significand moves into the exponent field by itself.
    if kept < 0x0080_0000 {
        return kept;
    }
    let field = exponent + 149;
    if field >= 254 {
        return 0x7F80_0000;
    }
    ((field as u32) << 23) + kept
}

fn bit(words: &[u32; WORDS], at: i32) -> bool {
    at >= 0 && words[at as usize >> 5] >> (at & 31) & 1 != 0
}

fn any_below(words: &[u32; WORDS], at: i32) -> bool {
    let word = at as usize >> 5;
    words[..word].iter().any(|&w| w != 0) || words[word] & ((1u32 << (at & 31)) - 1) != 0
}

/// 53 bits from bit `first` on; `first` may be negative.
fn take(words: &[u32; WORDS], first: i32) -> u64 {
    let word = |i: i32| u64::from(if i >= 0 && (i as usize) < WORDS { words[i as usize] } else { 0 });
    let at = first >> 5;
    let shift = (first & 31) as u32;
    let low = word(at) | word(at + 1) << 32;
    let value = if shift == 0 { low } else { (low >> shift) | (word(at + 2) << (64 - shift)) };
    value & ((1 << 53) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::rng::Rng;

    fn exact(pairs: &[(f32, f32)]) -> f32 {
        let mut a = Accumulator::new();
        for &(x, y) in pairs {
            a.add_product(x, y);
        }
        a.round()
    }

    #[test]
    fn a_single_product_rounds_as_the_processor_does() {
        let mut rng = Rng::new(1);
        for i in 0..cases(300_000) {
            let (mut a, mut b) = (rng.next_u32(), rng.next_u32());
            if i % 3 == 0 {
                // Results near the subnormal edge.
                a = (a & 0x807F_FFFF) | ((30 + (a >> 23) % 60) << 23);
                b = (b & 0x807F_FFFF) | ((30 + (b >> 23) % 60) << 23);
            }
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            let want = (f64::from(x) * f64::from(y)) as f32;
            let got = exact(&[(x, y)]);
            let same =
                got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()) || (got == 0.0 && want == 0.0);
            assert!(same, "{x:e} * {y:e}: {got:e} {want:e}");
        }
    }

    #[test]
    fn sums_of_small_integers_are_exact() {
        let mut rng = Rng::new(5);
        for _ in 0..cases(2000) {
            let n = rng.next_u32() % 100;
            let pairs: Vec<(f32, f32)> = (0..n)
                .map(|_| ((rng.next_u32() % 4001) as f32 - 2000.0, (rng.next_u32() % 4001) as f32 - 2000.0))
                .collect();
            let want: i64 = pairs.iter().map(|&(a, b)| a as i64 * b as i64).sum();
            assert_eq!(exact(&pairs), want as f32);
        }
    }

    #[test]
    fn cancellation_leaves_the_small_terms() {
        assert_eq!(exact(&[(1e30, 1e8), (1e-30, 1.0), (-1e30, 1e8)]), 1e-30);
        assert_eq!(exact(&[(f32::MAX, f32::MAX), (1e-40, 1e-5), (-f32::MAX, f32::MAX)]).to_bits(), 1);
        assert_eq!(exact(&[(1.0, -0.0)]).to_bits(), 0);
        assert_eq!(exact(&[(2.0, -3.0), (6.0, 1.0)]).to_bits(), 0);
    }

    #[test]
    fn rounding_twice_is_kept() {
        // 1 + 2^-24 + 2^-54: F64 rounds to the tie, which F32 rounds to even; one rounding would go up.
        let two = |e: i32| f32::from_bits(((e + 127) as u32) << 23);
        assert_eq!(exact(&[(1.0, 1.0), (two(-24), 1.0), (two(-54), 1.0)]), 1.0);
        assert_eq!(exact(&[(1.0, 1.0), (two(-24), 1.0), (two(-52), 1.0)]), 1.0 + f32::EPSILON);
    }

    #[test]
    fn what_is_not_finite() {
        assert!(exact(&[(f32::INFINITY, 0.0)]).is_nan());
        assert!(exact(&[(f32::INFINITY, 1.0), (f32::INFINITY, -1.0)]).is_nan());
        assert!(exact(&[(f32::NAN, 1.0), (1.0, 1.0)]).is_nan());
        assert_eq!(exact(&[(f32::INFINITY, -1.0), (1.0, 1.0)]), f32::NEG_INFINITY);
        assert_eq!(exact(&[(f32::MAX, 2.0)]), f32::INFINITY);
    }
}
