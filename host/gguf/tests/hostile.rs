//! No input makes the reader panic or take more memory than a few times the file.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use ssnail_gguf::{Gguf, GgufWriter, OwnedValue, Value};
use ssnail_quant::GgmlType;

fn sample() -> Vec<u8> {
    let mut w = GgufWriter::new();
    w.key("general.architecture", "llama")
        .key("a.u8", OwnedValue::U8(200))
        .key("a.i64", OwnedValue::I64(-5))
        .key("a.f64", OwnedValue::F64(1e-5))
        .key("a.bools", OwnedValue::Bools(vec![true, false]))
        .key("tokenizer.ggml.tokens", &["a", "b", "\u{2581}c"][..])
        .key("tokenizer.ggml.scores", vec![0.0f32, -1.0, -2.0])
        .key("tokenizer.ggml.token_type", vec![1i32, 3, 6]);
    w.f32_tensor("x", &[4, 2], &[0.5; 8]);
    w.tensor("y", &[32], GgmlType::Q8_0, vec![7u8; 34]);
    w.to_vec()
}

#[test]
fn what_is_written_is_read_back() {
    let file = sample();
    let gguf = Gguf::parse(&file).unwrap();
    assert_eq!(gguf.u32("a.u8").unwrap(), Some(200));
    assert!(gguf.u32("a.i64").unwrap_err().to_string().contains("-5"));
    assert_eq!(gguf.f64("a.f64").unwrap(), Some(1e-5));
    assert_eq!(gguf.array("a.bools").unwrap().unwrap().bools(), Some(vec![true, false]));
    let vocab = gguf.vocab().unwrap();
    assert_eq!(vocab.tokens[2], "\u{2581}c".as_bytes());
    assert_eq!(vocab.token_types, [1, 3, 6]);
    let y = gguf.need_tensor("y").unwrap();
    assert_eq!(gguf.data(y).unwrap(), [7u8; 34]);
    let mut streamed = Vec::new();
    let mut w = GgufWriter::new();
    w.key("general.architecture", "llama").f32_tensor("x", &[4, 2], &[0.5; 8]);
    w.write_to(&mut streamed).unwrap();
    assert_eq!(streamed, w.to_vec());
    assert_eq!(gguf.data(gguf.need_tensor("x").unwrap()).unwrap().len(), 32);
}

#[test]
fn the_writer_refuses_data_of_the_wrong_length() {
    let mut w = GgufWriter::new();
    w.tensor("y", &[33], GgmlType::Q8_0, vec![0u8; 34]);
    assert!(w.write_to(&mut Vec::new()).is_err());
}

#[test]
fn row_17_a_key_written_twice_is_named() {
    let mut file = sample();
    // Rename one key to another of the same length.
    let at = file.windows(5).position(|w| w == b"a.f64").unwrap();
    file[at..at + 5].copy_from_slice(b"a.i64");
    let error = Gguf::parse(&file).unwrap_err().to_string();
    assert!(error.contains("key a.i64") && error.contains("already"), "{error}");
}

#[test]
fn overlapping_tensors_are_refused() {
    let mut w = GgufWriter::new();
    w.f32_tensor("x", &[16], &[0.5; 16]).f32_tensor("y", &[16], &[0.5; 16]);
    let mut file = w.to_vec();
    // The offset of y is the last field of the header.
    let header = file.len() - 128;
    let at = file[..header].windows(8).rposition(|w| w == 64u64.to_le_bytes()).unwrap();
    file[at..at + 8].copy_from_slice(&32u64.to_le_bytes());
    let error = Gguf::parse(&file).unwrap_err().to_string();
    assert!(error.contains("tensor y") && error.contains("over that of tensor x"), "{error}");
}

/// Reads everything there is to read.
fn walk(gguf: &Gguf<'_>) {
    for key in gguf.keys() {
        match gguf.get(key).unwrap() {
            Value::Array(a) => assert_eq!(a.iter().count() as u64, a.len()),
            other => drop(other.value_type().to_string()),
        }
    }
    for t in gguf.tensors() {
        assert_eq!(gguf.data(t).unwrap().len() as u64, t.bytes());
        assert_eq!(t.rows() * t.columns(), t.elements());
    }
    let _ = gguf.vocab();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut file = sample();
        for (at, value) in changes {
            let at = at.index(file.len());
            file[at] = value;
        }
        if let Ok(gguf) = Gguf::parse(&file) {
            walk(&gguf);
        }
    }

    #[test]
    fn changed_words_never_panic(at in any::<prop::sample::Index>(), value in prop_oneof![any::<u64>(), (0u32..64).prop_map(|s| 1u64 << s), Just(u64::MAX)]) {
        let mut file = sample();
        let at = at.index(file.len() - 8);
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        if let Ok(gguf) = Gguf::parse(&file) {
            walk(&gguf);
        }
    }

    #[test]
    fn cut_files_never_panic_and_prefixes_ask_for_more(cut in any::<prop::sample::Index>()) {
        let file = sample();
        let cut = cut.index(file.len());
        // The last bytes are padding.
        if let Ok(gguf) = Gguf::parse(&file[..cut]) {
            walk(&gguf);
        }
        match Gguf::parse_prefix(&file[..cut], file.len() as u64) {
            Ok(gguf) => prop_assert!(gguf.data_start() as usize <= cut + 32),
            Err(e) => prop_assert!(cut < 4 || e.bytes_needed().is_some_and(|n| n as usize > cut)),
        }
    }
}
