//! Real small models: every policy gives an image that says of itself what was planned.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;

use ssnail_convert::{Note, Options, WeightPolicy, plan};
use ssnail_gguf::Gguf;
use ssnail_quant::GgmlType;
use ssnail_shared::header::Header;

fn model(name: &str) -> Option<Gguf<'static>> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join(format!("models/{name}.gguf"));
    if path.exists() {
        return Some(Gguf::open(path).unwrap());
    }
    println!("skipped: {} is not there", path.display());
    None
}

const MODELS: [&str; 6] = [
    "stories260K-F32",
    "stories260K-F16",
    "stories260K-Q8_0",
    "stories260K-Q4_0",
    "gpt-nano-sort-F32",
    "paraphrase-MiniLM-L3-v2-v3400-Q4_0",
];

#[test]
fn every_model_converts_with_every_policy() {
    for name in MODELS {
        let Some(gguf) = model(name) else { return };
        for wtype in ["keep", "auto", "mixed", "f32", "f16", "bf16", "q8_0", "q4_0"] {
            // In F32 the encoder needs 18 MB.
            let options = Options { wtype: wtype.parse().unwrap(), mem_mb: 64.0, ..Options::default() };
            let plan = plan(&gguf, &options).unwrap_or_else(|e| panic!("{name} {wtype}: {e}"));
            let mut image = Vec::new();
            plan.write(&mut image, &mut |_, _| {}).unwrap();
            let header = Header::parse(image[..256].try_into().unwrap()).unwrap();
            assert_eq!(&header, plan.header(), "{name} {wtype}");
            assert_eq!(image.len(), header.file_len() as usize, "{name} {wtype}");
            if wtype == "f32" {
                assert!(plan.matrices().iter().all(|m| m.target == GgmlType::F32));
                assert!(plan.lossy().is_none());
            }
        }
    }
}

#[test]
fn rows_of_172_become_f16_and_it_is_said() {
    let Some(gguf) = model("stories260K-F32") else { return };
    let options = Options { wtype: WeightPolicy::Named(GgmlType::Q8_0), ..Options::default() };
    let plan = plan(&gguf, &options).unwrap();
    let said = plan.notes().iter().filter(|n| matches!(n, Note::BecameF16 { columns: 172, .. })).count();
    assert_eq!(said, 5, "{:?}", plan.notes());
}

#[test]
fn the_sorter_has_no_end_token_and_few_letters() {
    let Some(gguf) = model("gpt-nano-sort-F32") else { return };
    let plan = plan(&gguf, &Options::default()).unwrap();
    // "C" is token 2: it must not end a text.
    assert_eq!(plan.header().eos, u32::MAX);
    assert_eq!(plan.header().context, 11);
    assert!(
        plan.notes().iter().any(|n| matches!(n, Note::UntypableCharacters { count: 94, .. })),
        "{:?}",
        plan.notes()
    );
}

#[test]
fn a_name_of_the_file_is_the_description() {
    let Some(gguf) = model("stories260K-Q4_0") else { return };
    let options = Options { type_text: "Story".into(), ..Options::default() };
    let plan = plan(&gguf, &options).unwrap();
    assert_eq!(plan.header().description_bytes(), b"stories260K (llama) [Story]");
    assert_eq!(plan.header().context, 256);
}
