//! Activations as the matrix unit reads them: the input vector, and its form in blocks of 32 signed bytes.

use super::half::{f16_to_f32, f32_to_f16};

/// Elements in a quantised block.
pub const BLOCK: usize = 32;

/// The input of a GEMV in the forms that its weights call for. Aligned for the same reason as the memory.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub struct Activations {
    /// The vector as read.
    pub x: Vec<f32>,
    /// The same in F64, for exact products.
    pub wide: Vec<f64>,
    /// Quantised elements, [`BLOCK`] per block.
    pub q: Vec<i8>,
    /// Scale of each block: an F16 value.
    pub scale: Vec<f32>,
    /// Sum of the elements of each block.
    pub sum: Vec<i32>,
    /// The form that is filled already. Who changes `x` clears it; [`Activations::load`] does.
    pub ready: Option<Form>,
}

/// A form of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// [`Activations::wide`].
    Wide,
    /// Blocks of signed bytes.
    Blocks,
}

/// A block quantised (spec section 11): `d = max|x| / 127`, `q = round(x * (1/d))` half away from zero. The scale is
/// rounded to F16 although `1/d` is not. Gives the scale and the sum of the elements.
pub fn quantise_block(x: &[f32; BLOCK], q: &mut [i8; BLOCK]) -> (f32, i32) {
    // `max` drops a NaN, and a block with one must not pass for a finite one.
    let nan = x.iter().any(|v| v.is_nan());
    let max = x.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    let d = if nan { f32::NAN } else { max / 127.0 };
    let id = if d == 0.0 { 0.0 } else { 1.0 / d };
    for (q, v) in q.iter_mut().zip(x) {
        // Only where 1/d is infinite could it leave this range.
        *q = (v * id).round().clamp(-127.0, 127.0) as i8;
    }
    (f16_to_f32(f32_to_f16(d)), q.iter().map(|q| i32::from(*q)).sum())
}

impl Activations {
    /// Takes the vector from the bytes of a memory. The other forms stay where it is the same as before: several
    /// matrices are multiplied with one vector. Says whether it is another.
    pub fn load(&mut self, bytes: &[u8]) -> bool {
        if cfg!(target_endian = "little") && bytemuck::cast_slice::<_, u8>(&self.x) == bytes {
            return false;
        }
        self.x.clear();
        self.x.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)));
        self.ready = None;
        true
    }

    /// Fills the F64 form.
    pub fn widen(&mut self) {
        self.wide.clear();
        self.wide.extend(self.x.iter().map(|&v| f64::from(v)));
    }

    /// Fills the quantised form by means of `block`, which gives the bits of [`quantise_block`]. The vector must be whole
    /// blocks.
    pub fn quantise(&mut self, block: impl Fn(&[f32; BLOCK], &mut [i8; BLOCK]) -> (f32, i32)) {
        let blocks = self.x.as_chunks::<BLOCK>().0;
        self.q.clear();
        self.q.resize(blocks.len() * BLOCK, 0);
        self.scale.clear();
        self.sum.clear();
        for (x, q) in blocks.iter().zip(self.q.as_chunks_mut().0) {
            let (scale, sum) = block(x, q);
            self.scale.push(scale);
            self.sum.push(sum);
        }
    }
}
