//! Piecewise linear function tables of the hardware numerics (spec section 11): SiLU, GELU, exp.
//!
//! A table has 256 segments over `lo..hi`. The segment is `floor(F32(F32(x - lo) * k))`, kept within 0..=255, and the
//! result `F32(c0 + F32(c1 * x))`. Outside `lo..hi` and for NaN the result is fixed per table.

mod data;

/// What a table gives for `x >= hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// `x` itself.
    Identity,
    /// Exactly one.
    One,
}

/// One function table: F32 coefficients as bits, so that a machine without floating point can hold them as they are.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Lower end of the first segment; below it the result is +0.
    pub lo: f32,
    /// Upper end of the last segment.
    pub hi: f32,
    /// Segments per unit of `x`, as F32 bits.
    pub k_bits: u32,
    /// Constant term of each segment, F32 bits.
    pub c0: &'static [u32; 256],
    /// Slope of each segment, F32 bits.
    pub c1: &'static [u32; 256],
    /// Result at and above `hi`.
    pub above: Above,
    /// Result for NaN, as F32 bits; `None` hands the NaN through.
    pub nan_bits: Option<u32>,
}

/// `x / (1 + exp(-x))`.
pub static SILU: Table = Table {
    lo: -12.0,
    hi: 12.0,
    k_bits: 0x412a_aaab,
    c0: &data::SILU_C0,
    c1: &data::SILU_C1,
    above: Above::Identity,
    nan_bits: None,
};

/// `x/2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 x^3)))`.
pub static GELU: Table = Table {
    lo: -6.0,
    hi: 6.0,
    k_bits: 0x41aa_aaab,
    c0: &data::GELU_C0,
    c1: &data::GELU_C1,
    above: Above::Identity,
    nan_bits: None,
};

/// `exp(x)` for `x <= 0`; NaN gives 1, as the comparison with the upper end lets it pass as "not below".
pub static EXP: Table = Table {
    lo: -16.0,
    hi: 0.0,
    k_bits: 0x4180_0000,
    c0: &data::EXP_C0,
    c1: &data::EXP_C1,
    above: Above::One,
    nan_bits: Some(0x3f80_0000),
};

/// Largest whole number not above a value from 0 up, at most 255. By its bits: a float-to-integer cast is among what some
/// compilers for the 6502 family get wrong.
fn floor_below_256(value: f32) -> u8 {
    let bits = value.to_bits();
    let exponent = bits >> 23;
    let significand = (bits & 0x007F_FFFF) | 0x0080_0000;
    match exponent {
        0..=126 => 0,
        127..=134 => (significand >> (150 - exponent)) as u8,
        _ => 255,
    }
}

impl Table {
    /// The table's value at `x`, every operation rounded to F32.
    #[must_use]
    pub fn eval(&self, x: f32) -> f32 {
        if x.is_nan() {
            return self.nan_bits.map_or(x, f32::from_bits);
        }
        if x < self.lo {
            return 0.0;
        }
        if x >= self.hi {
            return match self.above {
                Above::Identity => x,
                Above::One => 1.0,
            };
        }
        let segment = floor_below_256((x - self.lo) * f32::from_bits(self.k_bits));
        let at = usize::from(segment);
        f32::from_bits(self.c0[at]) + f32::from_bits(self.c1[at]) * x
    }
}
