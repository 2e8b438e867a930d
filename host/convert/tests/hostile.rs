//! No file makes the converter panic: models with changed bytes are converted or refused.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Tiny;
use proptest::prelude::*;
use ssnail_convert::{Options, WeightPolicy, plan};
use ssnail_gguf::Gguf;

fn convert(file: &[u8]) {
    let Ok(gguf) = Gguf::parse(file) else { return };
    for wtype in [WeightPolicy::Auto, WeightPolicy::Mixed] {
        let options = Options { wtype, ctx: Some(8), ..Options::default() };
        match plan(&gguf, &options) {
            Ok(p) => {
                let mut out = Vec::new();
                if p.write(&mut out, &mut |_, _| {}).is_ok() {
                    assert_eq!(out.len() as u64, p.file_len());
                }
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_headers_never_panic(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut file = [Tiny::llama, Tiny::gpt2, Tiny::bert][which]().file();
        let header = Gguf::parse(&file).unwrap().data_start() as usize;
        for (at, value) in changes {
            let at = at.index(header);
            file[at] = value;
        }
        convert(&file);
    }

    #[test]
    fn odd_sizes_never_panic(
        which in 0usize..3,
        key in 0usize..6,
        value in prop_oneof![0u32..70, Just(u32::MAX), Just(1 << 31), Just(1 << 20), any::<u32>()],
    ) {
        let (mut t, family) = match which {
            0 => (Tiny::llama(), "llama"),
            1 => (Tiny::gpt2(), "gpt2"),
            _ => (Tiny::bert(), "bert"),
        };
        let suffix = [
            "embedding_length",
            "block_count",
            "feed_forward_length",
            "attention.head_count",
            "context_length",
            "attention.key_length",
        ][key];
        t.set(&format!("{family}.{suffix}"), value);
        convert(&t.file());
    }
}
