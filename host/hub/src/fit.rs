//! Which memory a model fits into: exactly, from what converting would need, or estimated from its
//! number of parameters (spec section 15).

use ssnail_convert::WeightPolicy;
use ssnail_quant::GgmlType;

/// Memory sizes that MEGA65s have, in MB.
pub const MEMORIES: [u32; 3] = [8, 64, 72];

/// A weight format that a model can be stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 8.5 bits per weight.
    Q8_0,
    /// 4.5 bits per weight.
    Q4_0,
}

impl Format {
    /// Name as `--wtype` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q8_0 => "q8_0",
            Self::Q4_0 => "q4_0",
        }
    }

    /// Short name for a column.
    pub fn short(self) -> &'static str {
        match self {
            Self::Q8_0 => "q8",
            Self::Q4_0 => "q4",
        }
    }

    /// Bits per weight.
    pub fn bits(self) -> f64 {
        match self {
            Self::Q8_0 => 8.5,
            Self::Q4_0 => 4.5,
        }
    }
}

/// The better of the two formats in which the image fits into `mb` MB, given what each policy needs.
pub fn exact(needs: &[(WeightPolicy, u64)], mb: u32) -> Option<Format> {
    [(Format::Q8_0, GgmlType::Q8_0), (Format::Q4_0, GgmlType::Q4_0)].into_iter().find_map(|(format, ggml)| {
        let (_, bytes) = needs.iter().find(|(policy, _)| *policy == WeightPolicy::Named(ggml))?;
        (*bytes <= u64::from(mb) << 20).then_some(format)
    })
}

/// The better of the two formats in which a model of so many parameters should fit into `mb` MB.
///
/// An estimate: a fifth of the memory is set aside for tables, caches and buffers.
pub fn estimate(parameters: u64, mb: u32) -> Option<Format> {
    let reserve = if mb > 8 { 65536.0 } else { 0.0 };
    let budget = f64::from(mb) * 1_048_576.0 * 0.8 - reserve;
    [Format::Q8_0, Format::Q4_0].into_iter().find(|format| parameters as f64 * format.bits() / 8.0 <= budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_format_that_fits_is_taken() {
        // 8 MB * 0.8 = 6,710,886 bytes: 6,316,128 weights in Q8_0, 11,930,464 in Q4_0.
        assert_eq!(estimate(6_316_128, 8), Some(Format::Q8_0));
        assert_eq!(estimate(6_316_129, 8), Some(Format::Q4_0));
        assert_eq!(estimate(11_930_465, 8), None);
        assert_eq!(estimate(7_000_000, 8), Some(Format::Q4_0));
        assert_eq!(estimate(0, 8), Some(Format::Q8_0));
        assert_eq!(estimate(u64::MAX, 72), None);
    }
}
