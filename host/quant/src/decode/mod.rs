//! Block formats to single precision, bit for bit as gguf-py 0.19 (spec section 7).
//!
//! A `half × small integer` product is exact in single precision, so most formulas below round once at
//! most; where two roundings matter the order of the operations is that of the format's definition.

mod classic;
mod fp4;
mod iq;
mod k;
mod ternary;

use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::error::{Error, same_blocks};
use crate::types::GgmlType;

/// Decodes whole blocks: `src` as the format stores them, `dst` one element per weight.
///
/// # Errors
/// [`Error::NotDecodable`] for integers, Q8_1 and Q8_K; [`Error::Length`] if the slices do not match.
pub fn decode(kind: GgmlType, src: &[u8], dst: &mut [f32]) -> Result<(), Error> {
    same_blocks(kind, src.len(), dst.len())?;
    match kind {
        GgmlType::F32 => each(src, dst, |b| f32::from_le_bytes(*b)),
        GgmlType::F64 => each(src, dst, |b| f64::from_le_bytes(*b) as f32),
        GgmlType::F16 => halves(src, dst),
        GgmlType::BF16 => each(src, dst, |b| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16)),
        GgmlType::Q4_0 => blocks(src, dst, classic::q4_0),
        GgmlType::Q4_1 => blocks(src, dst, classic::q4_1),
        GgmlType::Q5_0 => blocks(src, dst, classic::q5_0),
        GgmlType::Q5_1 => blocks(src, dst, classic::q5_1),
        GgmlType::Q8_0 => blocks(src, dst, classic::q8_0),
        GgmlType::Q2_K => blocks(src, dst, k::q2_k),
        GgmlType::Q3_K => blocks(src, dst, k::q3_k),
        GgmlType::Q4_K => blocks(src, dst, k::q4_k),
        GgmlType::Q5_K => blocks(src, dst, k::q5_k),
        GgmlType::Q6_K => blocks(src, dst, k::q6_k),
        GgmlType::IQ2_XXS => blocks(src, dst, iq::iq2_xxs),
        GgmlType::IQ2_XS => blocks(src, dst, iq::iq2_xs),
        GgmlType::IQ2_S => blocks(src, dst, iq::iq2_s),
        GgmlType::IQ3_XXS => blocks(src, dst, iq::iq3_xxs),
        GgmlType::IQ3_S => blocks(src, dst, iq::iq3_s),
        GgmlType::IQ1_S => blocks(src, dst, iq::iq1_s),
        GgmlType::IQ1_M => blocks(src, dst, iq::iq1_m),
        GgmlType::IQ4_NL => blocks(src, dst, iq::iq4_nl),
        GgmlType::IQ4_XS => blocks(src, dst, iq::iq4_xs),
        GgmlType::TQ1_0 => blocks(src, dst, ternary::tq1_0),
        GgmlType::TQ2_0 => blocks(src, dst, ternary::tq2_0),
        GgmlType::MXFP4 => blocks(src, dst, fp4::mxfp4),
        GgmlType::NVFP4 => blocks(src, dst, fp4::nvfp4),
        GgmlType::Q8_1 | GgmlType::Q8_K | GgmlType::I8 | GgmlType::I16 | GgmlType::I32 | GgmlType::I64 => {
            return Err(Error::NotDecodable(kind));
        }
    }
    Ok(())
}

/// Whether [`decode`] knows the format.
pub const fn is_decodable(kind: GgmlType) -> bool {
    !matches!(kind, GgmlType::Q8_1 | GgmlType::Q8_K | GgmlType::I8 | GgmlType::I16 | GgmlType::I32 | GgmlType::I64)
}

/// Applies `one` to every element of `N` bytes.
fn each<const N: usize>(src: &[u8], dst: &mut [f32], one: impl Fn(&[u8; N]) -> f32) {
    for (b, x) in src.as_chunks::<N>().0.iter().zip(dst) {
        *x = one(b);
    }
}

/// Applies `one` to every block of `B` bytes and `L` elements.
fn blocks<const B: usize, const L: usize>(src: &[u8], dst: &mut [f32], one: impl Fn(&[u8; B], &mut [f32; L])) {
    for (b, x) in src.as_chunks::<B>().0.iter().zip(dst.as_chunks_mut::<L>().0) {
        one(b, x);
    }
}

fn halves(src: &[u8], dst: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if crate::x86::decode_f16(src, dst) {
        return;
    }
    decode_f16(src, dst);
}

pub(crate) fn decode_f16(src: &[u8], dst: &mut [f32]) {
    // In pieces through the stack: the source need not be aligned for 16-bit loads.
    let mut halves = [f16::ZERO; 256];
    for (src, dst) in src.chunks(512).zip(dst.chunks_mut(256)) {
        for (b, h) in src.as_chunks::<2>().0.iter().zip(&mut halves) {
            *h = f16::from_le_bytes(*b);
        }
        if let Some(halves) = halves.get(..dst.len()) {
            halves.convert_to_f32_slice(dst);
        }
    }
}

/// Fixed-size piece `N` bytes long at `at`. Block layouts are constants, so it is always inside.
fn part<const N: usize>(block: &[u8], at: usize) -> &[u8; N] {
    const { assert!(N > 0) };
    block.get(at..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0; N])
}

/// Half-precision number at `at`.
fn half_at(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes(*part(block, at)).to_f32()
}

/// Little-endian 16-bit word at `at`.
fn u16_at(block: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(*part(block, at))
}

/// Little-endian 32-bit word at `at`.
fn u32_at(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*part(block, at))
}
