//! Megabytes of source weights converted per second, from a mapped file to memory, on all cores.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Write;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssnail_convert::{Options, plan};
use ssnail_gguf::{Gguf, GgufWriter};
use ssnail_quant::GgmlType;

const DIM: u32 = 512;
const HIDDEN: u32 = 1536;
const LAYERS: u32 = 4;
const VOCAB: u32 = 4096;

/// A llama of 15 million weights in one format, in a file.
fn model(kind: GgmlType) -> (tempfile::NamedTempFile, u64) {
    let mut w = GgufWriter::new();
    w.key("general.architecture", "llama")
        .key("llama.embedding_length", DIM)
        .key("llama.block_count", LAYERS)
        .key("llama.feed_forward_length", HIDDEN)
        .key("llama.attention.head_count", 8u32)
        .key("llama.context_length", 256u32)
        .key("tokenizer.ggml.model", "llama");
    let tokens: Vec<String> = (0..VOCAB).map(|n| format!("\u{2581}w{n}")).collect();
    w.key("tokenizer.ggml.tokens", &tokens[..]);
    let mut state = 1u32;
    let mut weights = 0u64;
    let mut matrix = |w: &mut GgufWriter<'_>, name: String, columns: u32, rows: u32| {
        let mut row = vec![0f32; columns as usize];
        let row_bytes = kind.row_bytes(u64::from(columns)).unwrap() as usize;
        let mut data = vec![0u8; row_bytes * rows as usize];
        for out in data.chunks_mut(row_bytes) {
            for x in &mut row {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *x = (state >> 8) as f32 / 8_388_608.0 - 1.0;
            }
            if kind.is_native() {
                ssnail_quant::encode(kind, &row, out).unwrap();
            } else {
                // Any bytes are a block; a scale of 0x3535 is a number.
                out.fill(0x35);
            }
        }
        weights += u64::from(columns) * u64::from(rows);
        w.tensor(name, &[u64::from(columns), u64::from(rows)], kind, data);
    };
    matrix(&mut w, "token_embd.weight".into(), DIM, VOCAB);
    for n in 0..LAYERS {
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"] {
            matrix(&mut w, format!("blk.{n}.{part}.weight"), DIM, DIM);
        }
        matrix(&mut w, format!("blk.{n}.ffn_gate.weight"), DIM, HIDDEN);
        matrix(&mut w, format!("blk.{n}.ffn_up.weight"), DIM, HIDDEN);
        matrix(&mut w, format!("blk.{n}.ffn_down.weight"), HIDDEN, DIM);
        for norm in ["attn_norm", "ffn_norm"] {
            w.f32_tensor(format!("blk.{n}.{norm}.weight"), &[u64::from(DIM)], &[1.0; DIM as usize]);
        }
    }
    w.f32_tensor("output_norm.weight", &[u64::from(DIM)], &[1.0; DIM as usize]);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    w.write_to(&mut file).unwrap();
    file.flush().unwrap();
    (file, weights)
}

fn conversions(c: &mut Criterion) {
    let mut group = c.benchmark_group("convert");
    group.sample_size(10);
    let cases = [
        (GgmlType::F32, "keep"),
        (GgmlType::Q8_0, "keep"),
        (GgmlType::F32, "q8_0"),
        (GgmlType::F16, "q8_0"),
        (GgmlType::F32, "q4_0"),
        (GgmlType::F32, "f16"),
        (GgmlType::Q4_K, "q8_0"),
        (GgmlType::Q6_K, "q8_0"),
        (GgmlType::IQ3_S, "q8_0"),
    ];
    for (kind, wtype) in cases {
        let (file, weights) = model(kind);
        let gguf = Gguf::open(file.path()).unwrap();
        let options = Options { wtype: wtype.parse().unwrap(), mem_mb: 72.0, ..Options::default() };
        let plan = plan(&gguf, &options).unwrap();
        let mut out = Vec::with_capacity(plan.file_len() as usize);
        // Bytes of the source for copies, of singles for encoders.
        let bytes = if wtype == "keep" { plan.matrices().iter().map(|m| m.bytes).sum() } else { 4 * weights };
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(format!("{kind} {wtype}"), |b| {
            b.iter(|| {
                out.clear();
                plan.write(&mut out, &mut |_, _| {}).unwrap();
            });
        });
    }
    group.finish();

    let (file, _) = model(GgmlType::F32);
    c.bench_function("plan auto", |b| {
        b.iter(|| {
            let gguf = Gguf::open(file.path()).unwrap();
            plan(&gguf, &Options { wtype: "auto".parse().unwrap(), mem_mb: 16.0, ..Options::default() })
                .unwrap()
                .memory_needed()
        });
    });
}

criterion_group!(benches, conversions);
criterion_main!(benches);
