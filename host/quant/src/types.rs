//! The table of ggml tensor types: number, name, block length and block size.
//!
//! A tensor row is a whole number of blocks; a block holds `block_len` weights in `block_bytes` bytes
//! (spec section 7; the numbers are those of the GGUF file format).

use core::fmt;

macro_rules! ggml_types {
    ($($variant:ident = $number:literal, $name:literal, $len:literal, $bytes:literal, $doc:literal;)*) => {
        /// A ggml tensor type, as numbered in GGUF files.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum GgmlType {
            $(#[doc = $doc] $variant = $number,)*
        }

        impl GgmlType {
            /// Every type, in the order of its number.
            pub const ALL: &'static [GgmlType] = &[$(GgmlType::$variant,)*];

            /// The type with this number in a GGUF file; `None` for removed and unknown numbers.
            pub const fn from_number(number: u32) -> Option<GgmlType> {
                match number {
                    $($number => Some(GgmlType::$variant),)*
                    _ => None,
                }
            }

            /// The name as ggml writes it, for example `Q4_K`.
            pub const fn name(self) -> &'static str {
                match self { $(GgmlType::$variant => $name,)* }
            }

            /// Weights in a block.
            pub const fn block_len(self) -> u32 {
                match self { $(GgmlType::$variant => $len,)* }
            }

            /// Bytes in a block.
            pub const fn block_bytes(self) -> u32 {
                match self { $(GgmlType::$variant => $bytes,)* }
            }
        }
    };
}

ggml_types! {
    F32 = 0, "F32", 1, 4, "IEEE single precision.";
    F16 = 1, "F16", 1, 2, "IEEE half precision.";
    Q4_0 = 2, "Q4_0", 32, 18, "4-bit quants, one F16 scale per 32.";
    Q4_1 = 3, "Q4_1", 32, 20, "4-bit quants, F16 scale and minimum per 32.";
    Q5_0 = 6, "Q5_0", 32, 22, "5-bit quants, one F16 scale per 32.";
    Q5_1 = 7, "Q5_1", 32, 24, "5-bit quants, F16 scale and minimum per 32.";
    Q8_0 = 8, "Q8_0", 32, 34, "8-bit quants, one F16 scale per 32.";
    Q8_1 = 9, "Q8_1", 32, 36, "Q8_0 with the sum of the quants (activations only).";
    Q2_K = 10, "Q2_K", 256, 84, "2-bit quants, 4-bit scales and minima per 16.";
    Q3_K = 11, "Q3_K", 256, 110, "3-bit quants, 6-bit scales per 16.";
    Q4_K = 12, "Q4_K", 256, 144, "4-bit quants, 6-bit scales and minima per 32.";
    Q5_K = 13, "Q5_K", 256, 176, "5-bit quants, 6-bit scales and minima per 32.";
    Q6_K = 14, "Q6_K", 256, 210, "6-bit quants, 8-bit scales per 16.";
    Q8_K = 15, "Q8_K", 256, 292, "8-bit quants, F32 scale (activations only).";
    IQ2_XXS = 16, "IQ2_XXS", 256, 66, "Codebook of 256 vectors of 8, 4-bit scales per 32.";
    IQ2_XS = 17, "IQ2_XS", 256, 74, "Codebook of 512 vectors of 8, 4-bit scales per 16.";
    IQ3_XXS = 18, "IQ3_XXS", 256, 98, "Codebook of 256 vectors of 4, 4-bit scales per 32.";
    IQ1_S = 19, "IQ1_S", 256, 50, "Codebook of 2048 ternary vectors of 8, 3-bit scales per 32.";
    IQ4_NL = 20, "IQ4_NL", 32, 18, "4-bit indices into a table of 16 levels, one F16 scale per 32.";
    IQ3_S = 21, "IQ3_S", 256, 110, "Codebook of 512 vectors of 4, 4-bit scales per 32.";
    IQ2_S = 22, "IQ2_S", 256, 82, "Codebook of 1024 vectors of 8, 4-bit scales per 16.";
    IQ4_XS = 23, "IQ4_XS", 256, 136, "4-bit indices into a table of 16 levels, 6-bit scales per 32.";
    I8 = 24, "I8", 1, 1, "8-bit integers.";
    I16 = 25, "I16", 1, 2, "16-bit integers.";
    I32 = 26, "I32", 1, 4, "32-bit integers.";
    I64 = 27, "I64", 1, 8, "64-bit integers.";
    F64 = 28, "F64", 1, 8, "IEEE double precision.";
    IQ1_M = 29, "IQ1_M", 256, 56, "Codebook of 2048 ternary vectors of 8, 3-bit scales per 16.";
    BF16 = 30, "BF16", 1, 2, "The upper half of a single.";
    TQ1_0 = 34, "TQ1_0", 256, 54, "Ternary, five to a byte, one F16 scale per 256.";
    TQ2_0 = 35, "TQ2_0", 256, 66, "Ternary, four to a byte, one F16 scale per 256.";
    MXFP4 = 39, "MXFP4", 32, 17, "4-bit floats, one power-of-two scale per 32.";
    NVFP4 = 40, "NVFP4", 64, 36, "4-bit floats, one 8-bit float scale per 16.";
}

impl GgmlType {
    /// The number in a GGUF file and in the instructions of the accelerator.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The type with this name; case does not matter.
    pub fn from_name(name: &str) -> Option<GgmlType> {
        Self::ALL.iter().copied().find(|t| t.name().eq_ignore_ascii_case(name))
    }

    /// Bytes of a row of `columns` weights; `None` if `columns` is not a whole number of blocks
    /// or the size does not fit.
    pub const fn row_bytes(self, columns: u64) -> Option<u64> {
        let len = self.block_len() as u64;
        if !columns.is_multiple_of(len) {
            return None;
        }
        (columns / len).checked_mul(self.block_bytes() as u64)
    }

    /// Bits per weight, scales included: 8.5 for Q8_0, 4.5 for Q4_0.
    pub const fn bits_per_weight(self) -> f64 {
        8.0 * self.block_bytes() as f64 / self.block_len() as f64
    }

    /// Whether the accelerator computes with this format: F32, F16, BF16, Q8_0 and Q4_0.
    pub const fn is_native(self) -> bool {
        matches!(self, GgmlType::F32 | GgmlType::F16 | GgmlType::BF16 | GgmlType::Q8_0 | GgmlType::Q4_0)
    }

    /// Whether this is a floating-point format without blocks (nothing was quantised yet).
    pub const fn is_float(self) -> bool {
        matches!(self, GgmlType::F32 | GgmlType::F16 | GgmlType::BF16 | GgmlType::F64)
    }
}

impl fmt::Display for GgmlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_round_trip() {
        for &t in GgmlType::ALL {
            assert_eq!(GgmlType::from_number(t.number()), Some(t));
            assert_eq!(GgmlType::from_name(&t.name().to_lowercase()), Some(t));
        }
        for removed in [4, 5, 31, 32, 33, 36, 37, 38, 999] {
            assert_eq!(GgmlType::from_number(removed), None);
        }
    }

    #[test]
    fn rows_are_whole_blocks() {
        assert_eq!(GgmlType::Q8_0.row_bytes(64), Some(68));
        assert_eq!(GgmlType::Q8_0.row_bytes(33), None);
        assert_eq!(GgmlType::F64.row_bytes(u64::MAX), None);
        assert_eq!(GgmlType::Q4_0.bits_per_weight(), 4.5);
    }
}
