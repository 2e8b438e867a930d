//! D81
/// Bytes of an image.
pub const IMAGE_BYTES: usize = 819_200;
