//! Activations as the matrix unit reads them: the input vector, and its form in blocks of 32 signed bytes.

use super::half::{f16_to_f32, f32_to_f16};

/// Elements in a quantised block.
pub const BLOCK: usize = 32;
/// Behind the last block the first ones come again, this many, so that kernels may read groups of blocks that begin
/// anywhere, as if the vector were repeated for the next row.
pub const AGAIN: usize = 16;

/// The input of a GEMV in the forms that its weights call for.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    /// The vector as read.
    pub x: Vec<f32>,
    /// The same in F64, for exact products.
    pub wide: Vec<f64>,
    /// Quantised elements, [`BLOCK`] per block; [`AGAIN`] blocks are repeated at the end, here and below.
    pub q: Vec<i8>,
    /// Scale of each block: an F16 value.
    pub scale: Vec<f32>,
    /// Sum of the elements of each block.
    pub sum: Vec<i32>,
}

impl Activations {
    /// Fills the F64 form.
    pub fn widen(&mut self) {
        self.wide.clear();
        self.wide.extend(self.x.iter().map(|&v| f64::from(v)));
    }

    /// Fills the quantised form (spec section 11): `d = max|x| / 127`, `q = round(x * (1/d))` half away from zero, and the
    /// scale rounded to F16 although `1/d` is not. The vector must be whole blocks.
    pub fn quantise(&mut self) {
        self.q.clear();
        self.scale.clear();
        self.sum.clear();
        for block in self.x.chunks_exact(BLOCK) {
            // `max` drops a NaN, and a block with one must not pass for a finite one.
            let nan = block.iter().any(|v| v.is_nan());
            let max = block.iter().fold(0.0f32, |m, v| m.max(v.abs()));
            let d = if nan { f32::NAN } else { max / 127.0 };
            let id = if d == 0.0 { 0.0 } else { 1.0 / d };
            let mut sum = 0;
            for v in block {
                let q = (v * id).round() as i8;
                sum += i32::from(q);
                self.q.push(q);
            }
            self.sum.push(sum);
            self.scale.push(f16_to_f32(f32_to_f16(d)));
        }
        let blocks = self.scale.len();
        for i in 0..if blocks == 0 { 0 } else { AGAIN } {
            // What was pushed before counts as well, so a short vector goes round more than once.
            self.q.extend_from_within(i * BLOCK..(i + 1) * BLOCK);
            self.scale.push(self.scale[i]);
            self.sum.push(self.sum[i]);
        }
    }
}
