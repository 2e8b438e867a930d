//! Any number of threads, and every instruction set, gives the same bits.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::bits;
use proptest::prelude::*;
use ssnail_machine::Memory;
use ssnail_machine::kernel::attention::{Buffers, Cache, Heads, attend};
use ssnail_machine::kernel::batch::{self, Batch, MOST};
use ssnail_machine::kernel::engine::{Attention, Engine, Product};
use ssnail_machine::kernel::{self, Format, Level, Numerics, Room, Rows};
use ssnail_machine::num::half::f32_to_f16;
use ssnail_machine::num::quantise::Activations;
use ssnail_shared::map::MEMORY_BASE;
use ssnail_shared::tables::{EXP, GELU, SILU};

/// How much of everything: Miri, which some thousand times more slowly looks for other faults, gets a little of it.
struct Extent {
    cases: u32,
    rounds: usize,
    blocks: usize,
    rows: usize,
    /// Values of a head, and rows of a cache.
    head: usize,
}

const EXTENT: Extent = if cfg!(miri) {
    Extent { cases: 8, rounds: 6, blocks: 3, rows: 40, head: 20 }
} else {
    Extent { cases: 60, rounds: 150, blocks: 40, rows: 700, head: 140 }
};

/// Engines of so many threads; under Miri they share work of any size.
fn engines<const N: usize>(threads: [usize; N]) -> Vec<Engine> {
    let mut engines: Vec<Engine> = threads.into_iter().map(Engine::new).collect();
    if cfg!(miri) {
        engines.iter_mut().for_each(|engine| engine.set_least_shared(0));
    }
    engines
}

/// Pseudo-random words.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// -1..1 with a few larger values and zeros.
    fn float(&mut self) -> f32 {
        let v = (self.next() as f32 / 2f32.powi(31)) - 1.0;
        match self.next() % 32 {
            0 => 0.0,
            1 => v * 1000.0,
            2 => v * 1e-6,
            _ => v,
        }
    }

    fn bytes(&mut self, format: Format, columns: usize, rows: usize) -> Vec<u8> {
        let mut row = vec![0; format.ggml().row_bytes(columns as u64).unwrap() as usize];
        (0..rows)
            .flat_map(|_| {
                let values: Vec<f32> = (0..columns).map(|_| self.float()).collect();
                ssnail_quant::encode(format.ggml(), &values, &mut row).unwrap();
                row.clone()
            })
            .collect()
    }
}

const FORMATS: [Format; 5] = [Format::F32, Format::F16, Format::BF16, Format::Q8_0, Format::Q4_0];

proptest! {
    #![proptest_config(ProptestConfig { cases: EXTENT.cases, ..ProptestConfig::default() })]

    #[test]
    fn every_level_multiplies_alike(seed: u64, f in 0usize..5, hardware: bool, blocks in 1..EXTENT.blocks, rows in 1usize..40) {
        let mut random = Random(seed);
        let (format, columns) = (FORMATS[f], if f < 3 { blocks * 7 } else { blocks * 32 });
        let numerics = if hardware { Numerics::Hardware } else { Numerics::Float };
        let weights = random.bytes(format, columns, rows);
        let mut input = Activations { x: (0..columns).map(|_| random.float()).collect(), ..Activations::default() };
        kernel::prepare(Level::best(), format, numerics, &mut input);
        let job = Rows { format, numerics, input: &input, weights: &weights, row_bytes: weights.len() / rows };
        let mut expected = vec![0.0; rows];
        kernel::rows(Level::Portable, &job, &mut Room::default(), &mut expected);
        for level in Level::available() {
            let mut out = vec![0.0; rows];
            kernel::rows(level, &job, &mut Room::default(), &mut out);
            prop_assert_eq!(bits(&out), bits(&expected), "{:?} {:?} {:?}", level, format, numerics);
        }
        // Several vectors at once: the first is the one above.
        let vectors = 1 + seed as usize % MOST;
        let mut batch = Batch::default();
        batch.inputs_mut(vectors)[0].x = input.x.clone();
        for other in &mut batch.inputs_mut(vectors)[1..] {
            other.x = (0..columns).map(|_| random.float()).collect();
        }
        let mut inputs = batch.inputs_mut(vectors).to_vec();
        for level in Level::available() {
            let mut batch = batch.clone();
            batch.prepare(level, format, numerics);
            let mut all = vec![0.0; rows.next_multiple_of(16) * vectors];
            batch::rows(level, &job, &batch, &mut Room::default(), &mut all);
            for (j, input) in inputs.iter_mut().enumerate() {
                kernel::prepare(Level::best(), format, numerics, input);
                kernel::rows(Level::Portable, &Rows { input, ..job }, &mut Room::default(), &mut expected);
                let out: Vec<f32> = (0..rows).map(|row| all[batch::place(row, j, vectors)]).collect();
                prop_assert_eq!(bits(&out), bits(&expected), "{:?} {:?} {:?} vector {}", level, format, numerics, j);
            }
        }
    }

    #[test]
    fn every_level_looks_up_alike(values in prop::collection::vec(any::<u32>(), 1..70), near in prop::collection::vec(-20.0f32..20.0, 1..70)) {
        for table in [&SILU, &GELU, &EXP] {
            let values: Vec<f32> = values.iter().map(|v| f32::from_bits(*v)).chain(near.iter().copied()).collect();
            let expected: Vec<f32> = values.iter().map(|v| table.eval(*v)).collect();
            for level in Level::available() {
                let mut out = values.clone();
                kernel::table(level, table, &mut out);
                prop_assert_eq!(bits(&out), bits(&expected), "{:?}", level);
            }
        }
    }

    #[test]
    fn every_level_quantises_alike(seed: u64, blocks in 1..EXTENT.blocks, wild in prop::collection::vec(any::<u32>(), 32)) {
        let mut random = Random(seed);
        let mut x: Vec<f32> = (0..32 * blocks).map(|_| random.float()).collect();
        // Halves that must go away from zero, and a block of anything.
        x.extend((0..32).map(|i| if i == 0 { 127.0 } else { i as f32 - 15.5 }));
        x.extend(wild.iter().map(|v| f32::from_bits(*v)));
        x.extend(wild.iter().map(|v| f32::from_bits(v & 0x807f_ffff)));
        let run = |level| {
            let mut a = Activations { x: x.clone(), ..Activations::default() };
            kernel::quantise(level, &mut a);
            (a.q, bits(&a.scale), a.sum)
        };
        let expected = run(Level::Portable);
        for level in Level::available() {
            prop_assert_eq!(run(level), expected.clone(), "{:?}", level);
        }
    }

    #[test]
    fn every_level_rounds_to_half_alike(values in prop::collection::vec(any::<u32>(), 0..70), near in 0x3300_0000u32..0x4780_0000) {
        let near = [near, near & 0xffff_f000, near | 0x8000_0fff, 0x7f80_0001, 0xffc0_1234];
        let values: Vec<f32> = values.iter().chain(&near).map(|v| f32::from_bits(*v)).collect();
        let expected: Vec<u8> = values.iter().flat_map(|v| f32_to_f16(*v).to_le_bytes()).collect();
        for level in Level::available() {
            let mut out = vec![0; expected.len()];
            kernel::halves(level, &values, &mut out);
            prop_assert_eq!(&out, &expected, "{:?}", level);
        }
    }

    #[test]
    fn every_level_attends_alike(
        seed: u64, hardware: bool, halves: bool, kv_heads in 1usize..4, group in 1usize..7, head in 1..EXTENT.head,
        rows in 1..EXTENT.head,
    ) {
        let mut random = Random(seed);
        let heads = Heads { heads: kv_heads * group, kv_heads, head_dim: head };
        let mut cache = || -> Vec<u8> {
            let values: Vec<f32> = (0..rows * kv_heads * head).map(|_| random.float()).collect();
            if halves {
                values.iter().flat_map(|v| f32_to_f16(*v).to_le_bytes()).collect()
            } else {
                values.iter().flat_map(|v| v.to_le_bytes()).collect()
            }
        };
        let (k, v) = (cache(), cache());
        let query: Vec<f32> = (0..heads.heads * head).map(|_| random.float()).collect();
        let numerics = if hardware { Numerics::Hardware } else { Numerics::Float };
        let cache = Cache { k: &k, v: &v, halves, rows };
        let run = |level| {
            let mut out = vec![0.0; query.len()];
            attend(level, numerics, &heads, &cache, &query, &mut Buffers::default(), &mut out);
            bits(&out)
        };
        let expected = run(Level::Portable);
        for level in Level::available() {
            prop_assert_eq!(run(level), expected.clone(), "{:?} {:?}", level, numerics);
        }
    }
}

#[test]
fn threads_do_not_show() {
    let mut random = Random(1);
    let mut memory = Arc::new(Memory::new(1 << 20));
    let mut engines = engines([1, 2, 3, 5]);
    for round in 0..EXTENT.rounds {
        let format = FORMATS[round % 5];
        let (columns, rows) =
            (32 * (1 + random.next() as usize % EXTENT.blocks.min(8)), 1 + random.next() as usize % EXTENT.rows);
        let weights = random.bytes(format, columns, rows);
        Arc::make_mut(&mut memory).slice_mut(MEMORY_BASE, weights.len() as u64).unwrap().copy_from_slice(&weights);
        let mut input = Activations { x: (0..columns).map(|_| random.float()).collect(), ..Activations::default() };
        let numerics = [Numerics::Hardware, Numerics::Float][round / 5 % 2];
        kernel::prepare(Level::best(), format, numerics, &mut input);
        let mut batch = Batch::default();
        let vectors = 1 + round % MOST;
        for vector in batch.inputs_mut(vectors) {
            vector.x.clone_from(&input.x);
        }
        batch.prepare(Level::best(), format, numerics);
        let (input, together) = (Arc::new(input), Arc::new(batch));
        let row_bytes = weights.len() / rows;
        let product = Product { format, numerics, weights: MEMORY_BASE, row_bytes, rows };
        let heads = Heads { heads: 4, kv_heads: 4, head_dim: columns / 4 };
        let (k, v, rows_cached) =
            (MEMORY_BASE, MEMORY_BASE + 0x40000, 1 + random.next() as usize % EXTENT.rows.min(500));
        let attention = Attention { numerics, heads, k, v, halves: true, rows: rows_cached, queries: 1 };
        let mut first: Option<(Vec<u32>, Vec<u32>)> = None;
        for engine in &mut engines {
            let (mut y, mut z) = (vec![0.0; rows], vec![0.0; columns]);
            engine.multiply(&product, &memory, &input, &mut y);
            engine.attend(&attention, &memory, &input, &mut z);
            // All vectors are the same, so all results are.
            let mut all = vec![0.0; rows.next_multiple_of(batch::GROUP) * vectors];
            engine.multiply_batch(&product, &memory, &together, |first, results| {
                all[first * vectors..][..results.len()].copy_from_slice(results);
            });
            for (vector, row) in (0..vectors).flat_map(|v| (0..rows).map(move |r| (v, r))) {
                let there = all[batch::place(row, vector, vectors)];
                assert_eq!(there.to_bits(), y[row].to_bits(), "round {round}, row {row}, vector {vector}");
            }
            // Three queries together, each of which sees a row more.
            let three = Arc::new(Activations { x: input.x.repeat(3), ..Activations::default() });
            let mut several = vec![0.0; 3 * columns];
            engine.attend(&Attention { queries: 3, ..attention }, &memory, &three, &mut several);
            for (query, several) in several.chunks(columns).enumerate() {
                let mut one = vec![0.0; columns];
                engine.attend(&Attention { rows: rows_cached + query, ..attention }, &memory, &input, &mut one);
                assert_eq!(bits(several), bits(&one), "round {round}, query {query}");
            }
            let both = (bits(&y), bits(&z));
            assert_eq!(&both, first.get_or_insert(both.clone()), "round {round}, {} threads", engine.threads());
        }
        // The memory is the caller's alone again: nothing is copied to change it.
        assert!(Arc::get_mut(&mut memory).is_some());
    }
}

#[test]
fn several_vectors_at_once_give_what_each_gives() {
    let mut random = Random(2);
    let mut memory = Arc::new(Memory::new(1 << 20));
    let mut engines = engines([1, 2, 3]);
    for round in 0..EXTENT.rounds.min(120) {
        let format = FORMATS[round % 5];
        // Little work stays with one thread, much is shared; few numbers of rows are whole groups.
        let most = if round % 2 == 0 { 60 } else { EXTENT.rows };
        let (columns, rows) =
            (32 * (1 + random.next() as usize % EXTENT.blocks.min(8)), 1 + random.next() as usize % most);
        let vectors = 1 + random.next() as usize % MOST;
        let weights = random.bytes(format, columns, rows);
        Arc::make_mut(&mut memory).slice_mut(MEMORY_BASE, weights.len() as u64).unwrap().copy_from_slice(&weights);
        let product = Product {
            format,
            numerics: Numerics::Hardware,
            weights: MEMORY_BASE,
            row_bytes: weights.len() / rows,
            rows,
        };
        let mut several = Batch::default();
        for input in several.inputs_mut(vectors) {
            input.x = (0..columns).map(|_| random.float()).collect();
        }
        let inputs: Vec<Activations> = several.inputs_mut(vectors).to_vec();
        several.prepare(Level::best(), format, Numerics::Hardware);
        let several = Arc::new(several);
        for engine in &mut engines {
            let mut out = vec![0.0; rows.next_multiple_of(batch::GROUP) * vectors];
            engine.multiply_batch(&product, &memory, &several, |first, results| {
                out[first * vectors..][..results.len()].copy_from_slice(results);
            });
            for (v, input) in inputs.iter().enumerate() {
                let mut input = input.clone();
                kernel::prepare(Level::best(), format, Numerics::Hardware, &mut input);
                let mut y = vec![0.0; rows];
                engine.multiply(&product, &memory, &Arc::new(input), &mut y);
                let found: Vec<f32> = (0..rows).map(|row| out[batch::place(row, v, vectors)]).collect();
                assert_eq!(
                    bits(&found),
                    bits(&y),
                    "round {round}, {} threads, {rows} rows, vector {v}",
                    engine.threads()
                );
            }
        }
    }
}
