//! Single operations of the hardware numerics, bit for bit against the vectors, and the exact sum against big integers.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use num_bigint::BigInt;
use proptest::prelude::*;
use serde_json::Value;
use ssnail_machine::kernel::attention::{Buffers, Cache, Heads, attend};
use ssnail_machine::kernel::{self, Format, Level, Numerics, Room, Rows};
use ssnail_machine::num::exact::dot_wide;
use ssnail_machine::num::half::f32_to_f16;
use ssnail_machine::num::hw;
use ssnail_machine::num::quantise::Activations;
use ssnail_shared::tables::{EXP, GELU, SILU, Table};

/// An operation's input or output file.
fn array(op: &Value, side: &str, name: &str) -> Vec<u8> {
    bytes(&format!("vectors/{}", text(&op[side][name]["file"]))).unwrap()
}

fn input(op: &Value, name: &str) -> Vec<f32> {
    array(op, "inputs", name).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn expect(op: &Value, name: &str, ours: &[f32]) {
    let expected: Vec<u8> = ours.iter().flat_map(|v| v.to_le_bytes()).collect();
    assert!(array(op, "outputs", name) == expected, "{}", text(&op["op"]));
}

fn unary(op: &Value, f: impl Fn(f32) -> f32) {
    expect(op, "y", &input(op, "x").into_iter().map(f).collect::<Vec<_>>());
}

fn table(op: &Value, table: &Table) {
    for level in Level::available() {
        let mut values = input(op, "x");
        kernel::table(level, table, &mut values);
        expect(op, "y", &values);
    }
}

fn gemv(format: Format, weights: &[u8], x: Vec<f32>, rows: usize) -> Vec<f32> {
    let mut input = Activations { x, ..Activations::default() };
    kernel::prepare(Level::best(), format, Numerics::Hardware, &mut input);
    let mut out = vec![0.0; rows];
    let row_bytes = weights.len() / rows;
    let job = Rows { format, numerics: Numerics::Hardware, input: &input, weights, row_bytes };
    for level in Level::available() {
        let first = std::mem::replace(&mut out, vec![0.0; rows]);
        kernel::rows(level, &job, &mut Room::default(), &mut out);
        assert!(level == Level::Portable || bits(&out) == bits(&first), "{level:?} differs from the level before");
    }
    out
}

#[test]
fn every_operation_of_the_vectors() {
    let Some(manifest) = json("vectors/manifest.json") else { return };
    for op in manifest["ops"].as_array().unwrap() {
        let name = text(&op["op"]);
        let eps = || f32::from_bits(number(&op["eps_bits"]));
        match name {
            "table_silu" => table(op, &SILU),
            "table_gelu" => table(op, &GELU),
            "table_exp" => table(op, &EXP),
            "recip" => unary(op, hw::recip),
            "rsqrt" => unary(op, hw::rsqrt),
            // The sign of zero is lost in the integer that follows; the reference drops it for -0 alone.
            "roundf" => unary(op, |x| if x == 0.0 { 0.0 } else { x.round() }),
            "seq_sum" => expect(op, "y", &[hw::sum(input(op, "x").into_iter())]),
            "silumul" => {
                let mut z = input(op, "x");
                kernel::table(Level::best(), &SILU, &mut z);
                z.iter_mut().zip(input(op, "y")).for_each(|(z, y)| *z *= y);
                expect(op, "z", &z);
            }
            "gelu" => {
                let mut z = input(op, "x");
                kernel::table(Level::best(), &GELU, &mut z);
                expect(op, "z", &z);
            }
            "cvt16" => {
                let y: Vec<u8> = input(op, "x").iter().flat_map(|v| f32_to_f16(*v).to_le_bytes()).collect();
                assert!(array(op, "outputs", "y") == y, "{name}");
            }
            "quantize_q8_0" => {
                let mut a = Activations { x: input(op, "x"), ..Activations::default() };
                kernel::quantise(Level::best(), &mut a);
                let d: Vec<u8> = a.scale[..a.x.len() / 32].iter().flat_map(|v| f32_to_f16(*v).to_le_bytes()).collect();
                assert!(array(op, "outputs", "d") == d, "{name}: scales");
                let q: Vec<u8> = a.q[..a.x.len()].iter().map(|q| *q as u8).collect();
                assert!(array(op, "outputs", "q") == q, "{name}");
            }
            // MEANROWS is tested through the executor.
            "meanrows" => {}
            _ if name.starts_with("rmsnorm") => {
                let x = input(op, "x");
                let mut y = vec![0.0; x.len()];
                hw::rmsnorm(&x, &input(op, "g"), eps(), &mut y);
                expect(op, "y", &y);
            }
            _ if name.starts_with("layernorm") => {
                let x = input(op, "x");
                let mut y = vec![0.0; x.len()];
                hw::layernorm(&x, &input(op, "g"), &input(op, "b"), eps(), &mut y);
                expect(op, "y", &y);
            }
            _ if name.starts_with("attention") => {
                let heads = Heads { heads: 1, kv_heads: 1, head_dim: number(&op["head_dim"]) as usize };
                let (k, v) = (array(op, "inputs", "k"), array(op, "inputs", "v"));
                let cache = Cache { k: &k, v: &v, halves: true, rows: number(&op["rows"]) as usize };
                let mut y = vec![0.0; heads.head_dim];
                for level in Level::available() {
                    let q = input(op, "q");
                    attend(level, Numerics::Hardware, &heads, &cache, &q, &mut Buffers::default(), &mut y);
                    expect(op, "y", &y);
                }
            }
            _ if name.starts_with("gemv") => {
                let format = if name.contains("q8_0") {
                    Format::Q8_0
                } else if name.contains("q4_0") {
                    Format::Q4_0
                } else if name.contains("bf16") {
                    Format::BF16
                } else if name.contains("gemv_f16") {
                    Format::F16
                } else {
                    Format::F32
                };
                let weights = array(op, "inputs", "w");
                let rows = array(op, "outputs", "y").len() / 4;
                expect(op, "y", &gemv(format, &weights, input(op, "x"), rows));
            }
            other => panic!("no test for {other}"),
        }
    }
}

#[test]
fn tables_are_those_of_the_vectors() {
    for (name, table) in [("silu", &SILU), ("gelu", &GELU), ("exp", &EXP)] {
        let Some(c0) = floats(&format!("vectors/hw/{name}_c0.f32")) else { return };
        assert_eq!(bits(&c0), table.c0, "{name}");
        assert_eq!(bits(&floats(&format!("vectors/hw/{name}_c1.f32")).unwrap()), table.c1, "{name}");
    }
}

/// Each entry from its formula in F64: the tables hold what the specification says, whatever library computes it here.
#[test]
fn tables_follow_their_formulas() {
    let gelu = |x: f64| 0.5 * x * (1.0 + (0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x)).tanh());
    let check = |table: &Table, f: &dyn Fn(f64) -> f64| {
        let (lo, hi) = (f64::from(table.lo), f64::from(table.hi));
        assert_eq!(table.k_bits, ((256.0 / (hi - lo)) as f32).to_bits());
        for i in 0..256 {
            let at = |i: usize| lo + i as f64 * (hi - lo) / 256.0;
            let slope = (f(at(i + 1)) - f(at(i))) / (at(i + 1) - at(i));
            let constant = f(at(i)) - slope * at(i);
            for (ours, formula) in [(table.c1[i], slope), (table.c0[i], constant)] {
                let error = (f64::from(f32::from_bits(ours)) - formula).abs();
                assert!(error <= formula.abs() * 6.0e-8 + 1.0e-13, "segment {i}: {error:e} of {formula:e}");
            }
        }
    };
    check(&SILU, &|x| x / (1.0 + (-x).exp()));
    check(&GELU, &gelu);
    check(&EXP, &f64::exp);
}

/// The exact dot product by big integers: scaled by 2^298, rounded to F64 and then to F32.
fn dot_by_big_integers(pairs: &[(f32, f32)]) -> f32 {
    let integer = |x: f32| {
        let bits = x.to_bits();
        let exponent = (bits >> 23) & 0xff;
        let significand = i64::from(bits & 0x7f_ffff) | if exponent == 0 { 0 } else { 1 << 23 };
        BigInt::from(if x.is_sign_negative() { -significand } else { significand }) << (exponent.max(1) - 1)
    };
    let sum: BigInt = pairs.iter().map(|&(a, b)| integer(a) * integer(b)).sum();
    let magnitude = sum.magnitude();
    let excess = magnitude.bits().saturating_sub(53);
    let mut top: u64 = (magnitude >> excess).try_into().unwrap();
    let rest = magnitude - (num_bigint::BigUint::from(top) << excess);
    if excess > 0 {
        let half = num_bigint::BigUint::from(1u8) << (excess - 1);
        if rest > half || (rest == half && top % 2 == 1) {
            top += 1;
        }
    }
    let value = top as f64 * 2f64.powi(excess as i32 - 298);
    (if sum.sign() == num_bigint::Sign::Minus { -value } else { value }) as f32
}

/// Values that stress the sum: any bits, a few exponents, small integers, and zero.
fn finite() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |x| x.is_finite()),
        -2.0f32..2.0,
        (-4i8..=4).prop_map(f32::from),
        (0u32..0x0100_0000).prop_map(f32::from_bits),
        (0x3f7f_fff0u32..0x3f80_0010).prop_map(f32::from_bits),
    ]
}

/// The row kernel and the wide accumulator both give what big integers give.
fn same_everywhere(pairs: &[(f32, f32)]) {
    let expected = dot_by_big_integers(pairs).to_bits();
    assert_eq!(dot_wide(pairs.iter().copied()).to_bits(), expected, "{pairs:?}");
    let weights: Vec<u8> = pairs.iter().flat_map(|p| p.0.to_le_bytes()).collect();
    let y = gemv(Format::F32, &weights, pairs.iter().map(|p| p.1).collect(), 1);
    assert_eq!(y[0].to_bits(), expected, "{pairs:?}");
}

proptest! {
    #[test]
    fn exact_sums_are_those_of_big_integers(pairs in prop::collection::vec((finite(), finite()), 1..80)) {
        same_everywhere(&pairs);
    }

    #[test]
    fn cancelling_sums_are_those_of_big_integers(
        half in prop::collection::vec((finite(), finite()), 1..40),
        rest in (finite(), finite()),
    ) {
        let mut pairs: Vec<_> = half.iter().chain(&half).copied().collect();
        for pair in &mut pairs[half.len()..] {
            pair.0 = -pair.0;
        }
        pairs.push(rest);
        same_everywhere(&pairs);
    }

    #[test]
    fn sums_near_a_tie_are_those_of_big_integers(
        base in 0x3f80_0000u32..0x4000_0000, tail in -60i32..-20, sign: bool, n in 1usize..6,
    ) {
        // A value, half a place of it, and something tiny that breaks the tie or does not.
        let x = f32::from_bits(base);
        let half = 2f32.powi(-24);
        let tiny = if sign { 2f32.powi(tail) } else { -2f32.powi(tail) };
        let mut pairs = vec![(x, 1.0), (half, 1.0)];
        pairs.extend(std::iter::repeat_n((tiny, 2f32.powi(-25)), n));
        same_everywhere(&pairs);
    }
}

#[test]
fn sums_of_what_is_not_finite() {
    let dot = |pairs: &[(f32, f32)]| {
        let weights: Vec<u8> = pairs.iter().flat_map(|p| p.0.to_le_bytes()).collect();
        gemv(Format::F32, &weights, pairs.iter().map(|p| p.1).collect(), 1)[0]
    };
    let inf = f32::INFINITY;
    assert_eq!(dot(&[(inf, 1.0), (1.0, -5.0)]), inf);
    assert_eq!(dot(&[(3.0, 1.0), (-1.0, inf)]), -inf);
    assert_eq!(dot(&[(inf, 1.0), (inf, -1.0)]).to_bits(), f32::NAN.to_bits());
    assert_eq!(dot(&[(inf, 0.0), (1.0, 1.0)]).to_bits(), f32::NAN.to_bits());
    assert_eq!(dot(&[(-f32::NAN, 1.0)]).to_bits(), f32::NAN.to_bits());
    assert_eq!(dot(&[(f32::MAX, f32::MAX), (f32::MAX, f32::MAX)]), inf, "too large for F32, not for the sum");
    assert_eq!(dot(&[(f32::MAX, f32::MAX), (-f32::MAX, f32::MAX), (1.0, 2.0)]), 2.0);
    assert_eq!(dot(&[(-0.0, 1.0), (-0.0, 1.0)]).to_bits(), 0, "an exact zero is +0");
    assert_eq!(dot(&[(-1e-30, 1e-30)]).to_bits(), (-0.0f32).to_bits(), "a small negative sum keeps its sign");
}
