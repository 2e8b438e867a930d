//! Every format decodes and re-encodes to the reference bytes.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;

use ssnail_quant::{GgmlType, decode, encode};

fn quant_dir() -> Option<PathBuf> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let dir = root.join("vectors/quant");
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: {} is not there", dir.display());
    None
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn encoded(kind: GgmlType, x: &[f32]) -> Vec<u8> {
    let mut out = vec![0xAA; kind.row_bytes(x.len() as u64).unwrap() as usize];
    encode(kind, x, &mut out).unwrap();
    out
}

fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).position(|(a, b)| a != b)
}

#[test]
fn every_source_type_decodes_bit_for_bit_and_encodes_again() {
    let Some(dir) = quant_dir() else { return };
    let read = |name: String| std::fs::read(dir.join(name)).unwrap();
    let mut seen = 0;
    for &kind in GgmlType::ALL {
        if !dir.join(format!("{kind}.raw")).exists() {
            continue;
        }
        let raw = read(format!("{kind}.raw"));
        let want = read(format!("{kind}.f32"));
        let mut got = vec![0f32; want.len() / 4];
        decode(kind, &raw, &mut got).unwrap();
        for (i, (got, want)) in got.iter().zip(floats(&want)).enumerate() {
            assert_eq!(got.to_bits(), want.to_bits(), "{kind}[{i}]: {got} instead of {want}");
        }
        for (target, name) in [(GgmlType::Q8_0, "q8_0"), (GgmlType::Q4_0, "q4_0")] {
            assert_eq!(
                first_difference(&encoded(target, &got), &read(format!("{kind}.{name}"))),
                None,
                "{kind} to {target}"
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 23);
}

#[test]
fn awkward_values_encode_bit_for_bit() {
    let Some(dir) = quant_dir() else { return };
    let x = floats(&std::fs::read(dir.join("awkward.f32")).unwrap());
    for kind in [GgmlType::F16, GgmlType::BF16, GgmlType::Q8_0, GgmlType::Q4_0, GgmlType::F32] {
        let want = std::fs::read(dir.join(format!("awkward.{}", kind.name().to_lowercase()))).unwrap();
        let got = encoded(kind, &x);
        if let Some(at) = first_difference(&got, &want) {
            let block = at / kind.block_bytes() as usize;
            let elements = &x[block * kind.block_len() as usize..][..kind.block_len() as usize];
            panic!("{kind}: byte {at} is {:02x}, {:02x} expected; block {block}: {elements:?}", got[at], want[at]);
        }
    }
}
