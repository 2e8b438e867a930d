//! Encoders against literal readings of their definitions, on random blocks.
#![allow(clippy::unwrap_used, clippy::panic)]

use half::f16;
use proptest::prelude::*;
use ssnail_quant::{GgmlType, decode, encode, is_decodable};

/// Weights over many magnitudes, with exact ties and repeated extremes likely.
fn weight() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -2.0f32..2.0,
        2 => (-254i32..=254).prop_map(|q| q as f32 * 0.5),
        1 => (-30i32..30, -1.0f32..1.0).prop_map(|(e, m)| m * (e as f32).exp2()),
        1 => Just(0.0),
        1 => Just(-0.0),
    ]
}

fn encoded(kind: GgmlType, x: &[f32]) -> Vec<u8> {
    let mut out = vec![0; kind.row_bytes(x.len() as u64).unwrap() as usize];
    encode(kind, x, &mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn q8_0_is_its_definition(x in prop::collection::vec(weight(), 32)) {
        let d = x.iter().fold(0f32, |a, v| a.max(v.abs())) / 127.0;
        let id = if d == 0.0 { 0.0 } else { 1.0 / d };
        let mut want = f16::from_f32(d).to_le_bytes().to_vec();
        want.extend(x.iter().map(|v| (v * id).round() as i8 as u8));
        prop_assert_eq!(encoded(GgmlType::Q8_0, &x), want);
    }

    #[test]
    fn q4_0_is_its_definition(x in prop::collection::vec(weight(), 32)) {
        let mut m = 0f32;
        for v in &x {
            if v.abs() > m.abs() {
                m = *v;
            }
        }
        let d = m / -8.0;
        let id = if d == 0.0 { 0.0 } else { 1.0 / d };
        let q: Vec<u8> = x.iter().map(|v| ((v * id + 8.5) as u8).min(15)).collect();
        let got = encoded(GgmlType::Q4_0, &x);
        prop_assert_eq!(f32::from(f16::from_le_bytes([got[0], got[1]])), f32::from(f16::from_f32(d)));
        for (j, byte) in got[2..].iter().enumerate() {
            prop_assert_eq!(*byte, q[j] | q[j + 16] << 4);
        }
    }

    #[test]
    fn halves_round_to_nearest_even(x in prop::collection::vec(any::<f32>(), 37)) {
        let bf: Vec<u8> = x.iter().flat_map(|v| half::bf16::from_f32(*v).to_le_bytes()).collect();
        prop_assert_eq!(encoded(GgmlType::BF16, &x), bf);
        let mut back = vec![0f32; 37];
        decode(GgmlType::F16, &encoded(GgmlType::F16, &x), &mut back).unwrap();
        for (v, b) in x.iter().zip(back) {
            prop_assert!(v.is_nan() == b.is_nan());
            prop_assert!(v.is_nan() || b == f16::from_f32_const(*v).to_f32_const());
        }
    }

    #[test]
    fn any_bytes_decode_without_panic(seed in prop::collection::vec(any::<u8>(), 292)) {
        for &kind in GgmlType::ALL {
            let (len, bytes) = (kind.block_len() as usize, kind.block_bytes() as usize);
            let mut out = vec![0f32; len];
            prop_assert_eq!(decode(kind, &seed[..bytes], &mut out).is_ok(), is_decodable(kind));
            prop_assert!(decode(kind, &seed[..bytes - 1], &mut out).is_err());
        }
    }

    #[test]
    fn native_formats_survive_a_second_round(x in prop::collection::vec(weight(), 64)) {
        // What a float format holds is kept exactly by the same format.
        for kind in [GgmlType::F32, GgmlType::F16, GgmlType::BF16] {
            let once = encoded(kind, &x);
            let mut y = vec![0f32; 64];
            decode(kind, &once, &mut y).unwrap();
            prop_assert_eq!(encoded(kind, &y), once);
        }
    }
}

#[test]
fn formats_that_are_not_native_are_not_written() {
    let mut out = [0u8; 144];
    let error = encode(GgmlType::Q4_K, &[0.0; 256], &mut out).unwrap_err();
    assert!(error.to_string().contains("Q4_K"));
    assert!(decode(GgmlType::I32, &[0; 4], &mut [0.0]).is_err());
}
