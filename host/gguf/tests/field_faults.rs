//! Faults of other readers, row by row: none of them occurs here.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;

use ssnail_gguf::{Error, Gguf, GgufWriter};
use ssnail_quant::GgmlType;

/// Bytes of a file of the index; `None` where the data is absent.
fn fixture(name: &str) -> Option<Vec<u8>> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join(format!("badgguf/{name}.gguf"));
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(std::fs::read(path).unwrap())
}

/// The file is refused, and the message has these parts.
#[track_caller]
fn refused(name: &str, parts: &[&str]) {
    let Some(bytes) = fixture(name) else { return };
    let message = Gguf::parse(&bytes).expect_err(name).to_string();
    for part in parts {
        assert!(message.contains(part), "{name}: {message:?} does not say {part:?}");
    }
}

/// A file with one tensor `t` of singles with these dimensions and 16 bytes of data.
fn with_dims(dims: &[u64]) -> Vec<u8> {
    let mut w = GgufWriter::new();
    w.key("general.architecture", "llama").tensor("t", dims, GgmlType::F32, vec![0u8; 16]);
    w.to_vec()
}

#[test]
fn row_01_a_zero_dimension_is_named_not_divided_by() {
    refused("dim-zero", &["tensor t", "dimension 1 is 0"]);
}

#[test]
fn row_02_dimension_counts_and_products_are_checked() {
    refused("ndims-max", &["tensor t", "4294967295 dimensions"]);
    refused("ndims-5", &["tensor t", "5 dimensions"]);
    refused("dim-mulwrap", &["tensor t", "dimension 1"]);
    refused("dim-neg", &["tensor t", "dimension 0"]);
}

#[test]
fn row_03_sizes_that_wrap_are_refused() {
    for dims in [&[1 << 42 | 1, 1 << 22][..], &[1 << 61, 2, 2], &[1 << 62, 2], &[(1 << 62) + 1]] {
        let message = Gguf::parse(&with_dims(dims)).unwrap_err().to_string();
        assert!(message.contains("tensor t"), "{dims:?}: {message}");
    }
}

#[test]
fn row_04_types_are_looked_up() {
    refused("type-999", &["tensor t", "999"]);
    refused("type-4", &["tensor t", "tensor type 4"]);
}

#[test]
fn row_05_counts_reserve_nothing() {
    refused("kv-count-500M", &["500000000", "left"]);
    refused("kv-count-huge", &["left"]);
}

#[test]
fn row_06_lengths_of_arrays_reserve_nothing() {
    refused("arr-len-2^63", &["key a", "9223372036854775808", "left"]);
    refused("arr-len-mulwrap", &["key a", "left"]);
}

#[test]
fn row_07_string_lengths_are_checked() {
    let Some(mut bytes) = fixture("ok-v3") else { return };
    // The length of the first key.
    bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    let message = Gguf::parse(&bytes).unwrap_err().to_string();
    assert!(message.contains("18446744073709551615") && message.contains("left"), "{message}");
    refused("str-len-max", &["byte 16"]);
}

#[test]
fn row_08_nested_arrays_do_not_recurse() {
    refused("arr-nest-2000", &["key a", "arrays of arrays"]);
}

#[test]
fn row_09_alignments_of_gibibytes_are_refused() {
    refused("align-2^31", &["general.alignment", "2147483648"]);
}

#[test]
fn row_10_an_alignment_of_0_is_refused() {
    refused("align-0", &["general.alignment", "is 0"]);
}

#[test]
fn row_12_an_alignment_of_another_type_is_an_error_of_that_type() {
    refused("align-u64", &["general.alignment", "u64"]);
    refused("align-str", &["general.alignment", "string"]);
}

#[test]
fn row_13_bytes_behind_the_data_are_ignored() {
    let Some(bytes) = fixture("trail-garbage") else { return };
    assert_eq!(Gguf::parse(&bytes).unwrap().trailing_bytes(), 7);
}

#[test]
fn row_15_big_endian_is_told_from_version_2() {
    refused("be-v3", &["big-endian"]);
    let Some(bytes) = fixture("ok-v2") else { return };
    assert_eq!(Gguf::parse(&bytes).unwrap().version(), 2);
}

#[test]
fn row_16_other_magics_are_recognised() {
    refused("magic-fugg", &["FUGG"]);
    refused("html", &["web page"]);
    refused("lfs-pointer", &["Git LFS"]);
}

#[test]
fn row_17_a_repeated_key_is_named() {
    refused("key-dup", &["general.architecture", "already"]);
    refused("tensor-dup", &["tensor t", "already"]);
}

#[test]
fn row_19_cut_files_are_recognised_from_the_header() {
    refused("trunc-data", &["tensor t", "byte 143", "cut off"]);
    refused("off-past-eof", &["tensor t", "cut off"]);
    let whole = with_dims(&[4]);
    Gguf::parse(&whole).unwrap();
    for cut in 1..whole.len() - 16 {
        assert!(Gguf::parse(&whole[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn row_21_a_file_without_tensors_is_read() {
    let Some(bytes) = fixture("no-tensors") else { return };
    let gguf = Gguf::parse(&bytes).unwrap();
    assert!(gguf.tensors().is_empty());
    assert!(matches!(gguf.need_tensor("token_embd.weight"), Err(Error::MissingTensor { .. })));
}
