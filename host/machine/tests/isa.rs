//! One-instruction programs, stop logic and the load port, against the vectors.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use serde_json::Value;
use ssnail_machine::image;
use ssnail_machine::port::Port;
use ssnail_machine::{Fault, Hooks, Machine, Memory, Numerics, Stats};
use ssnail_shared::mem::{Memory as _, ReadMemory as _};
use ssnail_shared::{map, runtime};

const LIMIT: u64 = 10_000;

fn stats(value: &Value) -> Stats {
    Stats {
        instructions: value["instructions"].as_u64().unwrap(),
        bytes_read: value["bytes_read"].as_u64().unwrap(),
        bytes_written: value["bytes_written"].as_u64().unwrap(),
    }
}

fn machine_for(case: &Value, numerics: Numerics) -> Machine {
    let mut m = Machine::new(number(&case["memory_bytes"]), numerics, 1);
    m.memory_mut().write(number(&case["code_at"]), &hex(text(&case["code"]))).unwrap();
    for part in case["mem"].as_array().unwrap() {
        m.memory_mut().write(number(&part[0]), &hex(text(&part[1]))).unwrap();
    }
    m.start(number(&case["code_at"]));
    m
}

#[test]
fn single_instructions() {
    let Some(cases) = json("vectors/isa/cases.json") else { return };
    for case in cases.as_array().unwrap() {
        let name = text(&case["name"]);
        let mut m = machine_for(case, Numerics::Hardware);
        let result = m.run(LIMIT, &mut ());
        match text(&case["result"]) {
            "halt" => assert_eq!(result, Ok(()), "{name}"),
            "error" => {
                let message = result.unwrap_err().to_string();
                assert!(message.starts_with(text(&case["message"])), "{name}: {message}");
            }
            _ => assert!(matches!(result, Err(Fault::Operand { .. })), "{name}: {result:?}"),
        }
        assert_eq!(m.registers.r[..], words(&case["R"])[..], "{name}: R");
        assert_eq!(m.registers.a[..], words(&case["A"])[..], "{name}: A");
        assert_eq!(m.registers.n[..], words(&case["N"])[..], "{name}: N");
        assert_eq!(m.registers.pc, number(&case["pc"]), "{name}: pc");
        assert_eq!(m.stats, stats(&case["stats"]), "{name}: statistics");
        for watch in case["watch"].as_array().unwrap() {
            let seen = m.memory().slice(number(&watch[0]), watch[1].as_u64().unwrap()).unwrap();
            assert_eq!(seen, hex(text(&watch[2])), "{name}: memory at ${:X}", number(&watch[0]));
        }
    }
}

struct Syncs(Vec<(u32, u32)>);

impl Hooks for Syncs {
    fn sync(&mut self, memory: &mut Memory) {
        self.0.push((memory.read_u32(runtime::POS).unwrap(), memory.read_u32(runtime::GENERATED).unwrap()));
    }
}

#[test]
fn stop_logic() {
    let Some(cases) = json("vectors/isa/stops.json") else { return };
    for case in cases.as_array().unwrap() {
        let name = text(&case["name"]);
        let file = bytes(&format!("vectors/images/{}.ssnail", text(&case["image"]))).unwrap();
        let header = image::check(&file).unwrap();
        let mut m = Machine::new(Memory::length_for(header.memory_needed), Numerics::Hardware, 1);
        image::load(&header, &file[..], m.memory_mut(), |_| {}).unwrap();
        let tokens = words(&case["tokens"]);
        let optional = |key: &str| case.get(key).map_or(0, number);
        let prompt_len = case.get("prompt_len").map_or(tokens.len() as u32, number);
        m.memory_mut().write_words(map::TOKENS, &tokens).unwrap();
        let block = [optional("pos"), prompt_len, number(&case["n_generate"]), 0, optional("stop"), 0];
        m.memory_mut().write_words(runtime::POS, &block).unwrap();
        m.start(header.code);
        let mut syncs = Syncs(vec![]);
        m.run(u64::MAX, &mut syncs).unwrap();
        let expected: Vec<_> =
            case["syncs"].as_array().unwrap().iter().map(|s| (number(&s[0]), number(&s[1]))).collect();
        assert_eq!(syncs.0, expected, "{name}: (pos, generated) at each SYNC");
        let word = |at| m.memory().read_u32(at).unwrap();
        let after = [word(runtime::POS), word(runtime::GENERATED), word(runtime::STOP_REASON)];
        let expected = ["pos", "generated", "reason"].map(|k| number(&case["after"][k]));
        assert_eq!(after, expected, "{name}: runtime block");
        let buffer: Vec<u32> = (0..40).map(|i| word(map::TOKENS + 4 * i)).collect();
        assert_eq!(buffer, words(&case["token_buffer"]), "{name}: token buffer");
        assert_eq!(m.stats.instructions, case["instructions"].as_u64().unwrap(), "{name}: instructions");
    }
}

#[test]
fn load_port_actions() {
    let Some(cases) = json("vectors/isa/loadport.json") else { return };
    for case in cases.as_array().unwrap() {
        // Once with whole blocks and once byte by byte: the bulk path must not show.
        for piece in [usize::MAX, 1 << 20, 1, 100] {
            let mut memory = Memory::new(number(&case["memory_bytes"]));
            let mut port = Port::default();
            let steps = case["actions"].as_array().unwrap().iter().zip(case["after_each"].as_array().unwrap());
            for (i, (action, after)) in steps.enumerate() {
                if action[0] == "c" {
                    port.commit(&mut memory, number(&action[1]), action[2].as_bool().unwrap_or(false));
                } else {
                    let data = hex(text(&action[1]));
                    if piece == usize::MAX {
                        port.read_from(&mut memory, &mut &data[..], data.len()).unwrap();
                    } else {
                        data.chunks(piece).for_each(|b| port.write(&mut memory, b));
                    }
                }
                let name = text(&case["name"]);
                assert_eq!(port.pointer(), number(&after["ptr"]), "{name} {i}");
                assert_eq!(port.error(), after["error"], "{name} {i}");
                assert_eq!(crc32fast::hash(memory.as_bytes()), number(&after["crc32"]), "{name} {i}");
            }
        }
    }
}

#[test]
fn images_are_checked() {
    let Some(good) = bytes("vectors/images/llama_q8_0.ssnail") else { return };
    let refused = |file: &[u8]| image::check(file).unwrap_err().to_string();
    assert_eq!(refused(&good[..50]), "the file has 50 bytes, a SSNAIL image begins with a header of 256");
    let cut = refused(&good[..good.len() - 1]);
    assert!(cut.contains("payload length") && cut.contains("cut short"), "{cut}");
    let mut long = good.clone();
    long.push(0);
    assert!(refused(&long).contains("payload length"), "{}", refused(&long));
    for (offset, value, expected) in
        [(0, b'X', "magic"), (4, 2, "version"), (0x65, 0x10, "older memory map"), (0x2D, 9, "payload length")]
    {
        let mut bad = good.clone();
        bad[offset] = value;
        let message = refused(&bad);
        assert!(message.contains(expected), "{message}");
    }
    // The header is whole, the file shrinks while it is read.
    let header = image::check(&good).unwrap();
    let mut memory = Memory::new(1 << 23);
    let error = image::load(&header, &good[..5000], &mut memory, |_| {}).unwrap_err();
    assert!(error.to_string().contains("copy it again"), "{error}");
    // A memory that is too small: the port says so.
    let error = image::load(&header, &good[..], &mut Memory::new(0x8000), |_| {}).unwrap_err();
    assert!(error.to_string().contains("ERROR"), "{error}");
}
