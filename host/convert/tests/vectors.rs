//! Every image of the vectors comes out byte for byte.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use ssnail_convert::{Options, Plan, native_format, plan};
use ssnail_gguf::Gguf;

fn vectors() -> Option<(PathBuf, Value)> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let dir = root.join("vectors");
    match std::fs::read(dir.join("manifest.json")) {
        Ok(text) => Some((dir, serde_json::from_slice(&text).unwrap())),
        Err(_) => {
            println!("skipped: {} is not there", dir.display());
            None
        }
    }
}

fn options(image: &Value) -> Options {
    let args = &image["args"];
    let text = |key: &str| args[key].as_str().unwrap();
    Options {
        ctx: args["ctx"].as_i64(),
        wtype: text("wtype").parse().unwrap(),
        kv: text("kv").parse().unwrap(),
        fallback: native_format(text("fallback")).unwrap(),
        mem_mb: args["mem_mb"].as_f64().unwrap(),
        type_text: text("type").into(),
        boundary: image["sd_end_override"].as_u64().map_or(Options::default().boundary, |b| b as u32),
        ..Options::default()
    }
}

fn written(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = (0, 0);
    plan.write(&mut out, &mut |done, total| {
        assert!(done >= last.0 && done <= total);
        last = (done, total);
    })
    .unwrap();
    assert_eq!(out.len() as u64, plan.file_len());
    assert_eq!(last, (plan.file_len(), plan.file_len()));
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The first difference with its segment.
fn explain(plan: &Plan<'_>, got: &[u8], want: &[u8]) -> String {
    let at = got.iter().zip(want).position(|(a, b)| a != b).unwrap_or(got.len().min(want.len()));
    let address = 0x800_5000 + at as u32 - 256;
    let segment = plan.segments().filter(|s| s.address <= address).last();
    format!("lengths {} and {}, first difference at {at} (${address:X}) in {segment:?}", got.len(), want.len())
}

/// llama_q8_0 with the end token of `like` in the header and in the script's LI, as the vector was made.
fn eos_patched(dir: &Path, like: &[u8]) -> Vec<u8> {
    let gguf = Gguf::open(dir.join("models/llama_q8_0.gguf")).unwrap();
    let mut image = written(&plan(&gguf, &Options { ctx: Some(32), ..Options::default() }).unwrap());
    let eos = 0x28..0x2C;
    image[eos.clone()].copy_from_slice(&like[eos.clone()]);
    let li = 0x100 + 16 * 5 + 12;
    image[li..li + 4].copy_from_slice(&like[eos]);
    image
}

#[test]
fn all_images_come_out_byte_for_byte() {
    let Some((dir, manifest)) = vectors() else { return };
    let mut seen = 0;
    for image in manifest["images"].as_array().unwrap() {
        let name = image["name"].as_str().unwrap();
        let Some(model) = image["model"].as_str() else {
            assert_eq!(name, "llama_q8_0_eospatched");
            let want = std::fs::read(dir.join(image["file"].as_str().unwrap())).unwrap();
            assert!(eos_patched(&dir, &want) == want, "{name}");
            seen += 1;
            continue;
        };
        let gguf = Gguf::open(dir.join(format!("models/{model}.gguf"))).unwrap();
        let plan = plan(&gguf, &options(image)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = written(&plan);
        if let Some(file) = image["file"].as_str() {
            let want = std::fs::read(dir.join(file)).unwrap();
            assert!(got == want, "{name}: {}", explain(&plan, &got, &want));
        }
        assert_eq!(got.len() as u64, image["bytes"].as_u64().unwrap(), "{name}");
        assert_eq!(hex(&Sha256::digest(&got)), image["sha256"].as_str().unwrap(), "{name}");
        assert_eq!(u64::from(plan.instructions()), image["script_instructions"].as_u64().unwrap(), "{name}");
        assert_eq!(plan.lossy().map_or(0, |l| u64::from(l.matrices)), image["lossy"].as_u64().unwrap(), "{name}");
        let tensors = image["tensors"].as_array().unwrap();
        assert_eq!(plan.matrices().len(), tensors.len(), "{name}");
        for (m, t) in plan.matrices().iter().zip(tensors) {
            assert_eq!(m.name, t["name"], "{name}");
            assert_eq!(
                (m.source.name(), m.target.name()),
                (t["src"].as_str().unwrap(), t["dst"].as_str().unwrap()),
                "{name}"
            );
            assert_eq!(m.bytes, t["bytes"].as_u64().unwrap(), "{name}");
        }
        let header = plan.header();
        for (key, value) in
            [("mem_needed", header.memory_needed), ("output", header.output), ("n_vocab", header.n_vocab)]
        {
            assert_eq!(u64::from(value), image["header"][key].as_u64().unwrap(), "{name} {key}");
        }
        seen += 1;
    }
    assert_eq!(seen, 58);
}

#[test]
fn every_board_size_gives_the_same_bytes() {
    let Some((dir, _)) = vectors() else { return };
    for model in ["llama_q8_0", "gpt2_q4_0", "bert_f16"] {
        let gguf = Gguf::open(dir.join(format!("models/{model}.gguf"))).unwrap();
        let image = |mem_mb| written(&plan(&gguf, &Options { mem_mb, ..Options::default() }).unwrap());
        let small = image(8.0);
        assert!(small == image(64.0) && small == image(72.0), "{model}");
    }
}
