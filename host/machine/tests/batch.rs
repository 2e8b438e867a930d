//! Several prompt positions at once against one after the other: the same memory, registers and statistics whenever the
//! host can look, on the vector images, on damaged copies of them and with any limit.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use ssnail_machine::{Machine, Memory, Numerics, Step, image};
use ssnail_shared::header::Header;
use ssnail_shared::isa::INSTRUCTION_LEN;
use ssnail_shared::map::{MEMORY_BASE, TOKENS};
use ssnail_shared::runtime;

struct Case<'a> {
    name: &'a str,
    header: &'a Header,
    file: &'a [u8],
    numerics: Numerics,
    threads: usize,
    tokens: &'a [u32],
    n: u32,
    pos: u32,
    limit: u64,
    /// Bytes of the script to be changed: offset from its start, value.
    damage: &'a [(u32, u8)],
}

impl Case<'_> {
    fn machine(&self, plain: bool) -> Machine {
        let threads = if plain { 1 } else { self.threads };
        let mut m = Machine::new(Memory::length_for(self.header.memory_needed), self.numerics, threads);
        // Threads share everything that can be shared.
        m.set_least_shared(0);
        image::load(self.header, self.file, m.memory_mut(), |_| {}).unwrap();
        m.set_plain(plain);
        let memory = m.memory_mut();
        memory.write_words(TOKENS, self.tokens).unwrap();
        memory.write_words(runtime::POS, &[self.pos, self.tokens.len() as u32, self.n, 0, 0, 0]).unwrap();
        for (offset, value) in self.damage {
            memory.slice_mut(self.header.code + offset, 1).unwrap()[0] = *value;
        }
        m.start(self.header.code);
        m
    }

    /// Runs both ways and compares; gives the positions that were run side by side.
    fn compare(&self) -> u64 {
        let (mut plain, mut batched) = (self.machine(true), self.machine(false));
        let (mut left, mut left_batched) = (self.limit, self.limit);
        for stop in 0.. {
            let expected = plain.advance(&mut left, &mut ());
            let found = batched.advance(&mut left_batched, &mut ());
            let at = format!("{} {:?}, {} tokens, stop {stop}", self.name, self.numerics, self.tokens.len());
            assert_eq!(found, expected, "{at}");
            assert_eq!(left_batched, left, "{at}: instructions left");
            assert_eq!(batched.registers, plain.registers, "{at}");
            assert_eq!(batched.stats, plain.stats, "{at}");
            let needed = u64::from(self.header.memory_needed);
            let memory = |m: &Machine| crc32fast::hash(m.memory().slice(MEMORY_BASE, needed).unwrap());
            assert_eq!(memory(&batched), memory(&plain), "{at}: memory");
            if !matches!(expected, Ok(Step::Sync)) {
                return batched.positions_batched();
            }
        }
        unreachable!("a run ends")
    }
}

const IMAGES: [&str; 8] = [
    "llama_q8_0",
    "llama_q4_0",
    "llama_f16",
    "llama_q8_0_kvf32",
    "gpt2_q8_0",
    "gpt2_f32",
    "gpt2_q8_0_kvf32",
    "bert_q8_0",
];

fn random(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as u32
}

#[test]
fn every_image_and_prompt_length() {
    let mut state = 7;
    for name in IMAGES {
        let Some(file) = bytes(&format!("vectors/images/{name}.ssnail")) else { return };
        let header = image::check(&file).unwrap();
        for numerics in [Numerics::Hardware, Numerics::Float] {
            for length in [1u32, 2, 3, 7, 18, 31, 32, 33, 40] {
                let tokens: Vec<u32> = (0..length).map(|_| random(&mut state) % header.n_vocab).collect();
                let pos = if length > 20 { random(&mut state) % 12 } else { 0 };
                let limit = u64::MAX;
                let case = Case {
                    name,
                    header: &header,
                    file: &file,
                    numerics,
                    threads: 1 + length as usize % 3,
                    tokens: &tokens,
                    n: 3,
                    pos,
                    limit,
                    damage: &[],
                };
                // The last position is always run alone, and so is one that is left over.
                let all = if header.is_encoder() { 0 } else { length.min(32).saturating_sub(1 + pos) };
                let expected = all - u32::from(all % 16 == 1);
                assert_eq!(case.compare(), u64::from(expected), "{name} {length} {pos}");
            }
        }
    }
}

#[test]
fn tokens_that_do_not_exist_and_any_limit() {
    let mut state = 11;
    for round in 0..120 {
        let name = IMAGES[round % 7];
        let Some(file) = bytes(&format!("vectors/images/{name}.ssnail")) else { return };
        let header = image::check(&file).unwrap();
        let mut tokens: Vec<u32> = (0..24).map(|_| random(&mut state) % header.n_vocab).collect();
        if round % 2 == 0 {
            let wild = [401, 3000, 60_000, 1 << 24, u32::MAX][random(&mut state) as usize % 5];
            tokens[random(&mut state) as usize % 24] = wild;
        }
        let limit = if round % 3 == 0 { u64::from(random(&mut state) % 3000) } else { u64::MAX };
        let numerics = Numerics::Hardware;
        let threads = 1 + round % 2;
        Case {
            name,
            header: &header,
            file: &file,
            numerics,
            threads,
            tokens: &tokens,
            n: 2,
            pos: 0,
            limit,
            damage: &[],
        }
        .compare();
    }
}

#[test]
fn damaged_scripts() {
    let mut state = 13;
    let mut batched = 0;
    for round in 0..400 {
        let name = IMAGES[round % 7];
        let Some(file) = bytes(&format!("vectors/images/{name}.ssnail")) else { return };
        let header = image::check(&file).unwrap();
        let script = (header.vocab - header.code).min(140 * INSTRUCTION_LEN);
        // Some bytes of the loop; bytes that are zero stay zero more often than not, as in real faults of a converter.
        let damage: Vec<(u32, u8)> = (0..1 + round % 3)
            .map(|_| {
                let offset = 9 * INSTRUCTION_LEN + random(&mut state) % (script - 9 * INSTRUCTION_LEN);
                let old = file[(offset + 0x100) as usize];
                let value = match random(&mut state) % 4 {
                    0 => random(&mut state) as u8,
                    1 => old.wrapping_add(1),
                    2 => old.wrapping_sub(16),
                    _ => old ^ 1 << (random(&mut state) % 8),
                };
                (offset, value)
            })
            .collect();
        let tokens: Vec<u32> = (0..20).map(|_| random(&mut state) % header.n_vocab).collect();
        let numerics = if round % 5 == 0 { Numerics::Float } else { Numerics::Hardware };
        let case = Case {
            name,
            header: &header,
            file: &file,
            numerics,
            threads: 1 + usize::from(round % 10 == 0),
            tokens: &tokens,
            n: 2,
            pos: 0,
            limit: 6000,
            damage: &damage,
        };
        batched += u64::from(case.compare() > 0);
    }
    println!("{batched} of 400 damaged scripts still ran side by side");
    assert!(batched > 50);
}
