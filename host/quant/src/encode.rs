//! Single precision to the five formats of the accelerator, bit for bit as gguf-py 0.19 (spec section 7).
//!
//! The loops are branch-free so that they vectorise without instructions beyond the baseline; where there are more, the
//! two block formats have code of their own.

use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::error::{Error, same_blocks};
use crate::types::GgmlType;

/// Encodes whole blocks: `src` one element per weight, `dst` as the format stores them.
///
/// # Errors
/// [`Error::NotEncodable`] for formats other than the five; [`Error::Length`] if the slices do not match.
pub fn encode(kind: GgmlType, src: &[f32], dst: &mut [u8]) -> Result<(), Error> {
    if !kind.is_native() {
        return Err(Error::NotEncodable(kind));
    }
    same_blocks(kind, dst.len(), src.len())?;
    match kind {
        GgmlType::F16 => encode_f16(src, dst),
        GgmlType::BF16 => {
            for (x, b) in src.iter().zip(dst.as_chunks_mut::<2>().0) {
                *b = bf16(*x).to_le_bytes();
            }
        }
        GgmlType::Q8_0 => q8_0_blocks(src.as_chunks().0, dst.as_chunks_mut().0),
        GgmlType::Q4_0 => q4_0_blocks(src.as_chunks().0, dst.as_chunks_mut().0),
        _ => {
            for (x, b) in src.iter().zip(dst.as_chunks_mut::<4>().0) {
                *b = x.to_le_bytes();
            }
        }
    }
    Ok(())
}

fn q8_0_blocks(src: &[[f32; 32]], dst: &mut [[u8; 34]]) {
    #[cfg(target_arch = "x86_64")]
    if crate::x86::encode_q8_0(src, dst) {
        return;
    }
    src.iter().zip(dst).for_each(|(x, b)| q8_0(x, b));
}

fn q4_0_blocks(src: &[[f32; 32]], dst: &mut [[u8; 18]]) {
    #[cfg(target_arch = "x86_64")]
    if crate::x86::encode_q4_0(src, dst) {
        return;
    }
    src.iter().zip(dst).for_each(|(x, b)| q4_0(x, b));
}

fn encode_f16(src: &[f32], dst: &mut [u8]) {
    let mut halves = [f16::ZERO; 256];
    for (src, dst) in src.chunks(256).zip(dst.chunks_mut(512)) {
        if let Some(halves) = halves.get_mut(..src.len()) {
            halves.convert_from_f32_slice(src);
        }
        for (h, b) in halves.iter().zip(dst.as_chunks_mut::<2>().0) {
            *b = h.to_le_bytes();
        }
    }
}

/// The upper half, rounded to nearest even; what is not a number stays one, quiet.
fn bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        return (bits >> 16) as u16 | 64;
    }
    // Cannot overflow: infinity, the largest pattern here, has a zero lower half.
    (bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16) as u16
}

/// Scale max|x| / 127 as F16, quants rounded half away from zero.
pub(crate) fn q8_0(x: &[f32; 32], b: &mut [u8; 34]) {
    let d = largest(x) / 127.0;
    let id = if d == 0.0 { 0.0 } else { 1.0 / d };
    let (head, quants) = b.split_at_mut(2);
    head.copy_from_slice(&f16::from_f32(d).to_le_bytes());
    for (x, q) in x.iter().zip(quants) {
        *q = round_to_byte(x * id);
    }
}

/// Rounds |t| < 2^21 to the nearest integer, half away from zero, and returns its low byte. Larger values
/// and infinities give some byte.
fn round_to_byte(t: f32) -> u8 {
    // Adding 1.5·2^23 rounds to an integer, half to even; the difference is exact, so a tie that went
    // towards zero shows as ±0.5 and is moved on.
    const MAGIC: f32 = 12_582_912.0;
    let rounded = (t + MAGIC) - MAGIC;
    let rest = t - rounded;
    let up = if t > 0.0 && rest == 0.5 { 1.0 } else { 0.0 };
    let down = if t < 0.0 && rest == -0.5 { 1.0 } else { 0.0 };
    ((rounded + up - down) + MAGIC).to_bits() as u8
}

/// Scale m / −8 as F16, where m is the first element of largest magnitude; quants truncated after adding 8.5.
pub(crate) fn q4_0(x: &[f32; 32], b: &mut [u8; 18]) {
    let m = signed_largest(x);
    let d = m / -8.0;
    let id = if d == 0.0 { 0.0 } else { 1.0 / d };
    let (head, quants) = b.split_at_mut(2);
    head.copy_from_slice(&f16::from_f32(d).to_le_bytes());
    let quant = |x: f32| -> u8 {
        let t = x * id + 8.5;
        // Overflow (a scale too small to divide by) gives 0, as the conversion of infinity to an integer
        // does in the definition.
        let t = if t < 256.0 { t } else { 0.0 };
        (t as i32).min(15) as u8
    };
    let (low, high) = x.split_at(16);
    for ((low, high), q) in low.iter().zip(high).zip(quants) {
        *q = quant(*low) | quant(*high) << 4;
    }
}

/// The largest magnitude.
fn largest(x: &[f32; 32]) -> f32 {
    let mut lanes = [0f32; 8];
    for x in x.as_chunks::<8>().0 {
        for (lane, x) in lanes.iter_mut().zip(x) {
            let x = x.abs();
            *lane = if x > *lane { x } else { *lane };
        }
    }
    lanes.iter().fold(0.0, |a, &b| if b > a { b } else { a })
}

/// The first element of largest magnitude, with its sign.
fn signed_largest(x: &[f32; 32]) -> f32 {
    let largest = largest(x);
    let first = x.iter().find(|x| x.abs() == largest);
    first.copied().unwrap_or(0.0)
}
