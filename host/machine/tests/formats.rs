//! Every ggml type that can be decoded, through DEQROW and GEMV.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use ssnail_machine::num::exact::dot_wide;
use ssnail_machine::{BadOperand, Fault, Machine, Numerics};
use ssnail_quant::GgmlType;
use ssnail_shared::isa::{Instruction, Opcode};
use ssnail_shared::map::{MEMORY_BASE, PAYLOAD};
use ssnail_shared::mem::Memory as _;

const WEIGHTS: u32 = MEMORY_BASE + 0x1_0001;
const X: u32 = MEMORY_BASE + 0x6_0000;
const OUT: u32 = MEMORY_BASE + 0x8_0000;

/// Runs SETN and one instruction; gives what was written to [`OUT`].
fn run(numerics: Numerics, weights: &[u8], x: &[f32], n: [u32; 2], i: Instruction, length: u64) -> Vec<f32> {
    let mut m = Machine::new(1 << 20, numerics, 1);
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    m.memory_mut().write(WEIGHTS, weights).unwrap();
    m.memory_mut().write(X, &bytes).unwrap();
    let setn = Instruction { x: n[0], y: n[1], ..Instruction::new(Opcode::Setn) };
    for (at, i) in [setn, i, Instruction::new(Opcode::Halt)].iter().enumerate() {
        m.memory_mut().write(PAYLOAD + 16 * at as u32, &i.encode()).unwrap();
    }
    m.start(PAYLOAD);
    m.run(10, &mut ()).unwrap();
    m.memory().slice(OUT, 4 * length).unwrap().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[test]
fn every_type_of_the_vectors() {
    let Some(manifest) = json("vectors/manifest.json") else { return };
    let mut types = 0;
    for entry in manifest["quant"].as_array().unwrap().iter().filter(|e| e.get("ggml_type").is_some()) {
        let (name, number) = (text(&entry["type"]), number(&entry["ggml_type"]) as u8);
        let elements = entry["elements"].as_u64().unwrap();
        let raw = bytes(&format!("vectors/{}", text(&entry["raw"]["file"]))).unwrap();
        let decoded = floats(&format!("vectors/{}", text(&entry["f32"]["file"]))).unwrap();
        let i = Instruction { a: number, x: WEIGHTS, z: OUT, ..Instruction::new(Opcode::Deqrow) };
        let row = run(Numerics::Hardware, &raw, &[], [elements as u32, 0], i, elements);
        assert_eq!(bits(&row), bits(&decoded), "{name}: DEQROW");
        // Two rows of half the elements each, where that is whole blocks.
        let columns = elements as usize / 2;
        let block = GgmlType::from_number(u32::from(number)).unwrap().block_len() as usize;
        assert_eq!(columns % block, 0, "{name}");
        let x: Vec<f32> = (0..columns).map(|i| ((i * 29 % 67) as f32 - 33.0) / 41.0).collect();
        let i = Instruction { a: number, x: WEIGHTS, y: X, z: OUT, ..Instruction::new(Opcode::Gemv) };
        let exact: Vec<f32> =
            decoded.chunks(columns).map(|w| dot_wide(w.iter().copied().zip(x.iter().copied()))).collect();
        if !["Q8_0", "Q4_0"].contains(&name) {
            let y = run(Numerics::Hardware, &raw, &x, [columns as u32, 2], i, 2);
            assert_eq!(bits(&y), bits(&exact), "{name}: GEMV");
        }
        let y = run(Numerics::Float, &raw, &x, [columns as u32, 2], i, 2);
        for ((y, e), w) in y.iter().zip(&exact).zip(decoded.chunks(columns)) {
            let magnitude: f32 = w.iter().zip(&x).map(|(w, x)| (w * x).abs()).sum();
            assert!((y - e).abs() <= 1e-5 * magnitude, "{name}: float GEMV {y} {e}");
        }
        types += 1;
    }
    assert!(types >= 23, "{types}");
}

#[test]
fn types_without_a_decoder_are_faults() {
    for number in 0..=255u8 {
        let decodable = GgmlType::from_number(u32::from(number)).is_some_and(ssnail_quant::is_decodable);
        let mut m = Machine::new(1 << 20, Numerics::Float, 1);
        let setn = Instruction { x: 256, y: 1, ..Instruction::new(Opcode::Setn) };
        let gemv = Instruction { a: number, x: WEIGHTS, y: X, z: OUT, ..Instruction::new(Opcode::Gemv) };
        for (at, i) in [setn, gemv, Instruction::new(Opcode::Halt)].iter().enumerate() {
            m.memory_mut().write(PAYLOAD + 16 * at as u32, &i.encode()).unwrap();
        }
        m.start(PAYLOAD);
        let expected = if decodable {
            Ok(())
        } else {
            Err(Fault::Operand { reason: BadOperand::Format(number), pc: PAYLOAD + 16, opcode: Opcode::Gemv })
        };
        assert_eq!(m.run(10, &mut ()), expected, "type {number}");
    }
}
