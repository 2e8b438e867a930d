//! Placing blobs in the payload and vectors in the scratch memory behind it (spec sections 4 and 6).

use ssnail_gguf::TensorInfo;
use ssnail_shared::map::PAYLOAD;

use crate::model::Rope;
use crate::options::{Options, WeightPolicy};
use crate::policy::{MatrixPlan, Role, choose};

/// Alignment of everything but the script.
const ALIGNMENT: u64 = 32;
/// Alignment of the end of the payload and of scratch vectors.
const PAGE: u64 = 256;

/// One of the tokenizer tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Pieces,
    Index,
    Priorities,
    Bytes,
}

/// Where the bytes of a segment come from.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Filled in later.
    Pending,
    Bytes(Vec<u8>),
    Table(Table),
    /// A matrix in the format of the plan with this index.
    Matrix(TensorInfo, usize),
    /// Norms and biases, one behind the other as singles.
    Floats(Vec<TensorInfo>),
    /// The RoPE table for so many positions.
    Rope(Rope, u32),
}

/// A piece of the payload.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) len: u64,
    pub(crate) content: Content,
}

/// Where a blob was placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blob {
    pub(crate) address: u64,
    segment: usize,
}

/// A matrix in the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    pub(crate) address: u32,
    /// ggml number of the format.
    pub(crate) format: u8,
    pub(crate) row_bytes: u32,
}

/// The payload under construction. Addresses are counted in 64 bits so that the size of a model that does
/// not fit is known; they are cut to 32 where the script uses them, which only matters for such models.
pub(crate) struct Layout<'a> {
    options: &'a Options,
    policy: WeightPolicy,
    at: u64,
    payload_end: u64,
    segments: Vec<Segment>,
    matrices: Vec<MatrixPlan>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(options: &'a Options, policy: WeightPolicy) -> Self {
        Layout {
            options,
            policy,
            at: u64::from(PAYLOAD),
            payload_end: u64::from(PAYLOAD),
            segments: Vec::new(),
            matrices: Vec::new(),
        }
    }

    /// First free address.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn payload_end(&self) -> u64 {
        self.payload_end
    }

    pub(crate) fn finish(self) -> (Vec<Segment>, Vec<MatrixPlan>) {
        (self.segments, self.matrices)
    }

    /// Takes `len` bytes at the next multiple of `alignment`, or behind the boundary if they would lie
    /// across it.
    fn take(&mut self, len: u64, alignment: u64) -> u64 {
        let boundary = u64::from(self.options.boundary);
        let mut start = self.at.next_multiple_of(alignment);
        if start < boundary && boundary < start.saturating_add(len) {
            start = boundary;
        }
        self.at = start.saturating_add(len);
        start
    }

    pub(crate) fn blob(&mut self, name: impl Into<String>, len: u64, alignment: u64, content: Content) -> Blob {
        let address = self.take(len, alignment);
        self.segments.push(Segment { name: name.into(), address, len, content });
        Blob { address, segment: self.segments.len() - 1 }
    }

    /// Sets the bytes of a blob placed as pending.
    pub(crate) fn fill(&mut self, blob: &Blob, bytes: Vec<u8>) {
        if let Some(segment) = self.segments.get_mut(blob.segment) {
            debug_assert!(bytes.len() as u64 <= segment.len);
            segment.content = Content::Bytes(bytes);
        }
    }

    pub(crate) fn matrix(&mut self, info: &TensorInfo, role: Role) -> Weights {
        let plan = choose(info, role, self.policy, self.options);
        let weights = Weights { address: 0, format: plan.target.number() as u8, row_bytes: plan.row_bytes() };
        let content = Content::Matrix(info.clone(), self.matrices.len());
        let blob = self.blob(info.name(), plan.bytes, ALIGNMENT, content);
        self.matrices.push(plan);
        Weights { address: blob.address as u32, ..weights }
    }

    /// Norms and biases, one behind the other in one blob.
    pub(crate) fn floats(&mut self, parts: &[&TensorInfo]) -> u32 {
        let len = parts.iter().map(|t| 4 * t.elements()).sum();
        let name = parts.first().map_or("", |t| t.name());
        let content = Content::Floats(parts.iter().map(|&t| t.clone()).collect());
        self.blob(name, len, ALIGNMENT, content).address as u32
    }

    pub(crate) fn rope(&mut self, rope: &Rope, ctx: u32) -> u32 {
        let len = 4 * u64::from(rope.head_dim) * u64::from(ctx);
        self.blob("rope table", len, ALIGNMENT, Content::Rope(rope.clone(), ctx)).address as u32
    }

    /// One attention block per layer; their contents follow when the caches are placed.
    pub(crate) fn attention_blocks(&mut self, layers: u32) -> Vec<Blob> {
        (0..layers).map(|n| self.blob(format!("attention block {n}"), 32, ALIGNMENT, Content::Pending)).collect()
    }

    /// Ends the payload; what is placed from here on is scratch.
    pub(crate) fn end_payload(&mut self) {
        self.at = self.at.next_multiple_of(PAGE);
        self.payload_end = self.at;
    }

    /// A scratch area of `elements` of `size` bytes, whole pages.
    pub(crate) fn scratch(&mut self, elements: u64, size: u64) -> u32 {
        let len = elements.saturating_mul(size);
        self.take(len.checked_next_multiple_of(PAGE).unwrap_or(len), PAGE) as u32
    }

    /// A scratch vector of singles.
    pub(crate) fn vector(&mut self, elements: u32) -> u32 {
        self.scratch(u64::from(elements), 4)
    }
}
