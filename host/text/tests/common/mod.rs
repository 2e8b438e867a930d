//! Test data.
#![allow(dead_code, clippy::unwrap_used)]

use ssnail_gguf::Gguf;
use ssnail_text::Tokenizer;

/// A file of the test data; a skip is printed where there is none.
pub fn data(path: &str) -> Option<Vec<u8>> {
    let root = std::env::var("SSNAIL_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
    let path = format!("{root}/{path}");
    std::fs::read(&path).map_err(|error| println!("skipped: {path}: {error}")).ok()
}

/// A GGUF file of the test data, unpacked if it is packed.
pub fn gguf(path: &str) -> Option<Gguf<'static>> {
    let bytes = data(path)?;
    let bytes = if path.ends_with(".xz") {
        let mut unpacked = Vec::new();
        lzma_rs::xz_decompress(&mut &bytes[..], &mut unpacked).unwrap();
        unpacked
    } else {
        bytes
    };
    Some(Gguf::from_vec(bytes).unwrap())
}

/// The tokenizer of a GGUF file of the test data.
pub fn tokenizer(path: &str) -> Option<Tokenizer> {
    gguf(path).map(|file| Tokenizer::from_gguf(&file).unwrap())
}
