//! Matrix rows times a vector: the inner loops, one implementation per instruction set.
//!
//! Every implementation gives the same bits. In hardware numerics the rules fix them; in float numerics [`portable`]
//! fixes the order of the sums and the others keep it.

pub mod attention;
pub mod batch;
pub mod engine;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pool;
pub mod portable;
mod work;
#[cfg(target_arch = "x86_64")]
mod x86;

use ssnail_quant::GgmlType;
use ssnail_shared::tables::Table;

use crate::num::half::f32_to_f16;
use crate::num::quantise::{Activations, Form, quantise_block};

/// A weight format, as the matrix unit tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// IEEE single.
    F32,
    /// IEEE half.
    F16,
    /// Upper half of a single.
    BF16,
    /// Signed bytes in blocks.
    Q8_0,
    /// Nibbles in blocks.
    Q4_0,
    /// Anything else that can be decoded.
    Other(GgmlType),
}

impl Format {
    /// The format with this ggml number; `None` where no decoder exists.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match GgmlType::from_number(u32::from(number))? {
            GgmlType::F32 => Self::F32,
            GgmlType::F16 => Self::F16,
            GgmlType::BF16 => Self::BF16,
            GgmlType::Q8_0 => Self::Q8_0,
            GgmlType::Q4_0 => Self::Q4_0,
            other if ssnail_quant::is_decodable(other) => Self::Other(other),
            _ => return None,
        })
    }

    /// The ggml type.
    #[must_use]
    pub const fn ggml(self) -> GgmlType {
        match self {
            Self::F32 => GgmlType::F32,
            Self::F16 => GgmlType::F16,
            Self::BF16 => GgmlType::BF16,
            Self::Q8_0 => GgmlType::Q8_0,
            Self::Q4_0 => GgmlType::Q4_0,
            Self::Other(t) => t,
        }
    }

    /// Whether hardware numerics multiply this format as integers.
    #[must_use]
    pub const fn is_blocks(self) -> bool {
        matches!(self, Self::Q8_0 | Self::Q4_0)
    }
}

/// How results are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numerics {
    /// As a floating-point program would: the reference for quality.
    #[default]
    Float,
    /// As the core does, to the bit.
    Hardware,
}

/// Rows of one matrix to be multiplied with one vector.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Format of the weights.
    pub format: Format,
    /// Rules of the arithmetic.
    pub numerics: Numerics,
    /// The vector, prepared by [`prepare`].
    pub input: &'a Activations,
    /// The rows, [`Rows::row_bytes`] each.
    pub weights: &'a [u8],
    /// Bytes of a row, not zero.
    pub row_bytes: usize,
}

/// Fills the forms of the input that this format needs.
pub fn prepare(level: Level, format: Format, numerics: Numerics, input: &mut Activations) {
    if numerics == Numerics::Float {
        return;
    }
    let form = if format.is_blocks() { Form::Blocks } else { Form::Wide };
    if input.ready == Some(form) {
        return;
    }
    match form {
        Form::Wide => input.widen(),
        Form::Blocks => quantise(level, input),
    }
    input.ready = Some(form);
}

/// Fills the quantised form of the input.
pub fn quantise(level: Level, input: &mut Activations) {
    #[cfg(target_arch = "x86_64")]
    if x86::quantise(level, input) {
        return;
    }
    let _ = level;
    input.quantise(quantise_block);
}

/// An instruction set with kernels of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Whatever the compiler makes of plain Rust.
    Portable,
    /// NEON.
    Neon,
    /// AVX2 with F16C.
    Avx2,
    /// AVX-512 with VNNI.
    Avx512,
}

impl Level {
    /// The levels that this machine can run, the best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self::Portable];
        #[cfg(target_arch = "aarch64")]
        levels.push(Self::Neon);
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_avx2() {
                levels.push(Self::Avx2);
            }
            if x86::has_avx512() {
                levels.push(Self::Avx512);
            }
        }
        levels
    }

    /// The best level that this machine can run.
    #[must_use]
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::Portable)
    }
}

/// Rows that the kernels work on together.
const ROW_GROUP: usize = 16;

/// What will be read after some rows, as addresses of this process: memory is asked for long before its use.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Ahead {
    /// Reading goes on in order to here,
    end: usize,
    /// and then from here; zero where nothing is known.
    next: usize,
}

/// Asks for a line of memory at an address of this process, which may be any.
fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    x86::prefetch(address);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Room that a kernel needs, kept between calls.
#[derive(Clone, Debug)]
pub struct Room {
    /// Rows that are fewer than a group, with zeros behind.
    #[cfg(target_arch = "x86_64")]
    padded: Vec<u8>,
    /// A decoded row.
    row: Vec<f32>,
    /// A decoded group of rows.
    group: Vec<f32>,
    /// What will be read after the rows; `None` where they lie in the caches anyway.
    ahead: Option<Ahead>,
}

impl Default for Room {
    fn default() -> Self {
        let ahead = Some(Ahead { end: usize::MAX, next: 0 });
        Self {
            #[cfg(target_arch = "x86_64")]
            padded: Vec::new(),
            row: Vec::new(),
            group: Vec::new(),
            ahead,
        }
    }
}

/// Computes `out[i] = row i * input`. `level` must be one of [`Level::available`]; another computes as the portable one.
pub fn rows(level: Level, job: &Rows<'_>, room: &mut Room, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if x86::rows(level, job, room, out) {
        return;
    }
    #[cfg(target_arch = "aarch64")]
    if level == Level::Neon && neon::rows(job, room, out) {
        return;
    }
    let _ = level;
    portable::rows(job, room, out);
}

/// Replaces every value by the table's.
pub fn table(level: Level, table: &Table, values: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if x86::table(level, table, values) {
        return;
    }
    let _ = level;
    for v in values {
        *v = table.eval(*v);
    }
}

/// Writes values as F16, two bytes each.
pub fn halves(level: Level, values: &[f32], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if x86::halves(level, values, out) {
        return;
    }
    let _ = level;
    for (b, v) in out.as_chunks_mut().0.iter_mut().zip(values) {
        *b = f32_to_f16(*v).to_le_bytes();
    }
}
