//! What cannot be converted is refused with its reason, never silently wrong.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::PathBuf;

use common::{DIM, Tiny, VOCAB};
use ssnail_convert::{ConvertError, Note, Options, native_format, plan};
use ssnail_gguf::{Gguf, OwnedValue};
use ssnail_quant::GgmlType;

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

fn bad_file(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join(format!("badgguf/{name}.gguf"));
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

#[test]
fn the_models_that_the_tests_change_convert() {
    for model in [Tiny::llama(), Tiny::gpt2(), Tiny::bert()] {
        model.image(&Options::default()).unwrap();
    }
}

#[test]
fn row_20_the_architecture_found_and_those_supported_are_named() {
    let mut t = Tiny::llama();
    t.set("general.architecture", "mamba");
    says(&t.refusal(&Options::default()), &["mamba", "llama", "gpt2", "bert"]);
    let mut t = Tiny::llama();
    t.unset("llama.attention.head_count");
    says(&t.refusal(&Options::default()), &["llama.attention.head_count", "missing"]);
    let reads = |name: &str| bad_file(name).map(|p| plan(&Gguf::open(p).unwrap(), &Options::default()).err().unwrap());
    if let Some(e) = reads("no-arch") {
        assert!(matches!(e, ConvertError::NoArchitecture(_)), "{e}");
    }
    if let Some(e) = reads("arch-u32") {
        says(&e.to_string(), &["general.architecture", "string expected", "u32"]);
    }
}

#[test]
fn row_21_a_vocabulary_without_weights_is_called_that() {
    let Some(path) = bad_file("no-tensors") else { return };
    let gguf = Gguf::open(path).unwrap();
    says(&plan(&gguf, &Options::default()).err().unwrap().to_string(), &["a vocabulary but no weights"]);
    let mut t = Tiny::llama();
    t.unset("tokenizer.ggml.tokens").unset("tokenizer.ggml.scores").unset("tokenizer.ggml.token_type");
    says(&t.refusal(&Options::default()), &["no vocabulary"]);
}

#[test]
fn row_19_a_cut_file_is_refused_before_anything_is_written() {
    let mut file = Tiny::llama().file();
    file.truncate(file.len() - 200);
    says(&Gguf::parse(&file).unwrap_err().to_string(), &["tensor", "cut off"]);
}

#[test]
fn a_size_beyond_any_model_is_refused_under_its_key() {
    for (key, value) in [("embedding_length", 1u32 << 31), ("feed_forward_length", u32::MAX)] {
        let mut t = Tiny::llama();
        t.set(&format!("llama.{key}"), value);
        says(&t.refusal(&Options::default()), &[&format!("llama.{key}: "), &value.to_string(), "beyond any model"]);
    }
}

#[test]
fn impossible_contexts_are_refused() {
    for ctx in [0, -1, i64::MIN, 4096, i64::MAX] {
        for model in [Tiny::llama(), Tiny::gpt2(), Tiny::bert()] {
            says(&model.refusal(&with(|o| o.ctx = Some(ctx))), &[&ctx.to_string(), "4095"]);
        }
    }
    for model in [Tiny::gpt2(), Tiny::bert()] {
        says(&model.refusal(&with(|o| o.ctx = Some(25))), &["25", "learned 24 positions"]);
        model.image(&with(|o| o.ctx = Some(24))).unwrap();
    }
    // Rotary positions go on; the user is told.
    let notes = Tiny::llama().with_plan(&with(|o| o.ctx = Some(4095)), |p| p.notes().to_vec());
    assert!(notes.contains(&Note::ContextBeyondTraining { ctx: 4095, trained: 64 }), "{notes:?}");
}

#[test]
fn fewer_position_rows_than_the_key_says_limit_the_context() {
    let mut t = Tiny::gpt2();
    t.random("position_embd.weight", &[DIM, 10], 0.0);
    says(&t.refusal(&with(|o| o.ctx = Some(11))), &["10 positions"]);
    assert_eq!(t.with_plan(&Options::default(), |p| p.header().context), 10);
}

#[test]
fn impossible_memory_sizes_are_refused() {
    let t = Tiny::llama();
    says(&t.refusal(&with(|o| o.mem_mb = 72.5)), &["72.5", "--emulator-only"]);
    t.image(&with(|o| (o.mem_mb, o.emulator_only) = (128.0, true))).unwrap();
    says(&t.refusal(&with(|o| (o.mem_mb, o.emulator_only) = (128.1, true))), &["128"]);
    for mem_mb in [f64::NAN, -1.0, f64::INFINITY] {
        let e = t.image(&with(|o| (o.mem_mb, o.emulator_only) = (mem_mb, true))).unwrap_err();
        assert!(matches!(e, ConvertError::Memory { .. }), "{e}");
    }
}

#[test]
fn missing_tensors_are_all_named() {
    let mut t = Tiny::llama();
    t.drop_tensor("blk.0.attn_q.weight").drop_tensor("blk.1.ffn_norm.weight").drop_tensor("output_norm.weight");
    says(&t.refusal(&Options::default()), &["blk.0.attn_q.weight", "blk.1.ffn_norm.weight", "output_norm.weight"]);
    let mut t = Tiny::gpt2();
    t.drop_tensor("blk.1.attn_qkv.bias");
    says(&t.refusal(&Options::default()), &["blk.1.attn_qkv.bias"]);
    let mut t = Tiny::llama();
    t.drop_tensor("token_embd.weight");
    says(&t.refusal(&Options::default()), &["token_embd.weight"]);
}

#[test]
fn misshapen_tensors_are_refused_with_both_shapes() {
    let mut t = Tiny::llama();
    t.random("blk.0.attn_k.weight", &[DIM, 24], 0.0);
    says(&t.refusal(&Options::default()), &["blk.0.attn_k.weight", "[32, 24]", "[32, 16]"]);
    let mut t = Tiny::llama();
    t.random("blk.0.ffn_up.weight", &[DIM, 32, 2], 0.0);
    says(&t.refusal(&Options::default()), &["blk.0.ffn_up.weight", "[32, 32, 2]"]);
}

#[test]
fn tensors_that_are_not_understood_are_named() {
    let mut t = Tiny::llama();
    t.random("blk.0.attn_q_norm.weight", &[8], 1.0);
    says(&t.refusal(&Options::default()), &["blk.0.attn_q_norm.weight"]);
}

#[test]
fn row_22_tied_classifiers_share_the_embedding() {
    let mut t = Tiny::llama();
    let untied = t.with_plan(&Options::default(), |p| p.file_len());
    t.drop_tensor("output.weight");
    let tied = t.with_plan(&Options::default(), |p| p.file_len());
    assert!(untied - tied >= u64::from(4 * DIM * VOCAB) - 256);
    // gpt2 as well: the small model has no classifier of its own.
    Tiny::gpt2().image(&Options::default()).unwrap();
}

#[test]
fn other_rope_scalings_are_refused_by_name() {
    for kind in ["yarn", "longrope", "dynamic"] {
        let mut t = Tiny::llama();
        t.set("llama.rope.scaling.type", kind).set("llama.rope.scaling.factor", 4.0f32);
        says(&t.refusal(&Options::default()), &["llama.rope.scaling.type", kind]);
    }
    let mut t = Tiny::llama();
    t.set("llama.rope.scaling.type", "linear");
    says(&t.refusal(&Options::default()), &["llama.rope.scaling.factor", "missing"]);
    let mut t = Tiny::llama();
    t.set("llama.rope.dimension_count", 7u32);
    says(&t.refusal(&Options::default()), &["llama.rope.dimension_count", "7"]);
}

#[test]
fn features_without_a_step_are_refused_by_key() {
    let features: [(&str, OwnedValue); 5] = [
        ("llama.expert_count", OwnedValue::U32(8)),
        ("llama.attention.sliding_window", OwnedValue::U32(16)),
        ("llama.attention.causal", OwnedValue::Bool(false)),
        ("llama.logit_scale", OwnedValue::F32(0.5)),
        ("llama.attention.value_length", OwnedValue::U32(16)),
    ];
    for (key, value) in features {
        let mut t = Tiny::llama();
        t.set(key, value);
        says(&t.refusal(&Options::default()), &[key, "not supported"]);
    }
    // The same keys with what has no effect.
    let mut t = Tiny::llama();
    t.set("llama.expert_count", 0u32).set("llama.attention.causal", true).set("llama.logit_scale", 1.0f32);
    t.image(&Options::default()).unwrap();
}

#[test]
fn sizes_that_differ_from_layer_to_layer_are_refused() {
    let mut t = Tiny::llama();
    t.set("llama.attention.head_count_kv", vec![2i32, 4]);
    says(&t.refusal(&Options::default()), &["llama.attention.head_count_kv", "layer to layer"]);
    t.set("llama.attention.head_count_kv", vec![2i32, 2]);
    t.image(&Options::default()).unwrap();
}

#[test]
fn row_26_padded_vocabularies_get_fillers_and_short_ones_are_refused() {
    let mut t = Tiny::llama();
    t.random("token_embd.weight", &[DIM, VOCAB + 24], 0.0).random("output.weight", &[DIM, VOCAB + 24], 0.0);
    t.with_plan(&Options::default(), |p| {
        assert_eq!((p.header().n_vocab, p.header().output_len), (VOCAB + 24, VOCAB + 24));
        assert!(p.notes().contains(&Note::PaddedVocabulary { tokens: VOCAB, rows: VOCAB + 24 }));
    });
    let image = t.image(&Options::default()).unwrap();
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap()) as usize;
    let table = word(0x18) - 0x800_5000 + 0x100;
    let offset = |id: usize| word(table + 4 * id);
    for id in VOCAB as usize..(VOCAB + 24) as usize {
        assert_eq!(offset(id), offset(id + 1), "filler {id} has no text");
    }
    assert!(offset(31) < offset(32), "a token has text");

    t.random("token_embd.weight", &[DIM, VOCAB - 1], 0.0).random("output.weight", &[DIM, VOCAB - 1], 0.0);
    says(&t.refusal(&Options::default()), &["40 tokens", "39 rows"]);
}

#[test]
fn row_27_pooling_is_read_and_other_kinds_are_refused() {
    for (kind, name) in [(0u32, "none"), (3, "last"), (4, "rank"), (9, "9")] {
        let mut t = Tiny::bert();
        t.set("bert.pooling_type", kind);
        says(&t.refusal(&Options::default()), &["bert.pooling_type", name]);
    }
    let mut t = Tiny::bert();
    t.unset("bert.pooling_type");
    t.with_plan(&Options::default(), |p| assert!(p.notes().contains(&Note::PoolingAssumed)));
    let mean = Tiny::bert().image(&Options::default()).unwrap();
    assert!(mean == t.image(&Options::default()).unwrap());
    t.set("bert.pooling_type", 2u32);
    assert!(mean != t.image(&Options::default()).unwrap());
}

#[test]
fn encoders_wider_than_the_output_window_are_refused() {
    Tiny::bert_of(960).image(&with(|o| o.mem_mb = 72.0)).unwrap();
    says(&Tiny::bert_of(992).refusal(&with(|o| o.mem_mb = 72.0)), &["992", "960"]);
}

#[test]
fn row_28_rows_that_are_no_multiple_of_32_become_f16_and_it_is_said() {
    let mut t = Tiny::llama();
    t.set("llama.feed_forward_length", 44u32);
    for n in 0..2 {
        t.random(&format!("blk.{n}.ffn_gate.weight"), &[DIM, 44], 0.0);
        t.random(&format!("blk.{n}.ffn_up.weight"), &[DIM, 44], 0.0);
        t.random(&format!("blk.{n}.ffn_down.weight"), &[44, DIM], 0.0);
    }
    t.with_plan(&with(|o| o.wtype = "q8_0".parse().unwrap()), |p| {
        let f16: Vec<&str> =
            p.matrices().iter().filter(|m| m.target == GgmlType::F16).map(|m| m.name.as_str()).collect();
        assert_eq!(f16, ["blk.0.ffn_down.weight", "blk.1.ffn_down.weight"]);
        let said: Vec<String> = p.notes().iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|n| n.contains("blk.1.ffn_down.weight") && n.contains("rows of 44")), "{said:?}");
    });
}

#[test]
fn row_29_nan_and_infinity_are_named_with_tensor_and_index() {
    for (kind, wtype) in [
        ("f32", "keep"),
        ("f16", "keep"),
        ("bf16", "keep"),
        ("q8_0", "keep"),
        ("q4_0", "keep"),
        ("f32", "q8_0"),
        ("f16", "q4_0"),
    ] {
        let mut t = Tiny::llama();
        t.matrices_in(native_format(kind).unwrap());
        let at = 5 * DIM as usize + 3;
        t.tensors.get_mut("blk.1.attn_v.weight").unwrap().values[at] = f32::NAN;
        t.tensors.get_mut("blk.1.attn_v.weight").unwrap().values[at + 1] = f32::INFINITY;
        let message = t.refusal(&with(|o| o.wtype = wtype.parse().unwrap()));
        says(&message, &["blk.1.attn_v.weight", "element "]);
        if !kind.starts_with('q') {
            says(&message, &[&format!("element {at}"), "NaN"]);
        }
    }
    let mut t = Tiny::llama();
    t.tensors.get_mut("output_norm.weight").unwrap().values[7] = f32::NEG_INFINITY;
    says(&t.refusal(&Options::default()), &["output_norm.weight", "element 7", "inf"]);
}

#[test]
fn row_34_tokens_that_no_merge_makes_are_reported() {
    let notes = Tiny::gpt2().with_plan(&Options::default(), |p| p.notes().to_vec());
    assert!(notes.contains(&Note::OrphanTokens { count: 1, examples: vec!["xyz".into()] }), "{notes:?}");
}

#[test]
fn merges_without_a_space_are_refused() {
    let mut t = Tiny::gpt2();
    t.set("tokenizer.ggml.merges", &["a b", "abc"][..]);
    says(&t.refusal(&Options::default()), &["tokenizer.ggml.merges", "merge 1", "abc"]);
}

#[test]
fn row_33_begin_tokens_only_where_the_file_has_them() {
    let begin = |t: &Tiny| {
        let image = t.image(&Options::default()).unwrap();
        let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
        word(word(0x78) as usize - 0x800_5000 + 0x100 + 24)
    };
    let none = u32::MAX;
    assert_eq!(begin(&Tiny::llama()), 1);
    assert_eq!(begin(Tiny::llama().set("tokenizer.ggml.add_bos_token", false)), none);
    assert_eq!(begin(&Tiny::gpt2()), none);
    // Wanted, but there is none: not some other token.
    assert_eq!(begin(Tiny::gpt2().set("tokenizer.ggml.add_bos_token", true)), none);
    let mut t = Tiny::gpt2();
    t.set("tokenizer.ggml.add_bos_token", true).set("tokenizer.ggml.bos_token_id", 33u32);
    assert_eq!(begin(&t), 33);
}

#[test]
fn an_end_token_outside_the_vocabulary_ends_nothing() {
    let eos = |t: &Tiny| t.with_plan(&Options::default(), |p| (p.header().eos, p.notes().to_vec()));
    let (id, notes) = eos(Tiny::gpt2().set("tokenizer.ggml.eos_token_id", 50256u32));
    assert_eq!(id, u32::MAX);
    assert!(notes.iter().any(|n| matches!(n, Note::IdOutsideVocabulary { id: 50256, rows: VOCAB, .. })));
    // Script and header agree where the key is absent, and no ordinary token ends a text.
    let t = Tiny::gpt2();
    assert_eq!(eos(&t).0, u32::MAX);
    let li =
        t.with_plan(&Options::default(), |p| u32::from_le_bytes(p.script()[5 * 16 + 12..][..4].try_into().unwrap()));
    assert_eq!(li, u32::MAX);
}

#[test]
fn unknown_tokenizers_are_refused_by_name() {
    let mut t = Tiny::llama();
    t.set("tokenizer.ggml.model", "t5");
    says(&t.refusal(&Options::default()), &["tokenizer.ggml.model", "t5"]);
}

#[test]
fn descriptions_are_never_cut_inside_a_character() {
    for padding in 0..4 {
        let mut t = Tiny::llama();
        let name = "x".repeat(padding) + &"\u{1F40C}".repeat(40);
        t.set("general.name", name.as_str());
        let description = t.with_plan(&Options::default(), |p| p.header().description_bytes().to_vec());
        let text = std::str::from_utf8(&description).unwrap();
        assert!(name.starts_with(text) && text.len() > 123, "{text:?}");
    }
    let mut t = Tiny::llama();
    t.set("general.name", "two\nlines");
    let d = t.with_plan(&Options::default(), |p| p.header().description_bytes().to_vec());
    assert_eq!(d, b"two lines (llama) [General]");
}

#[test]
fn weakness_07_script_and_header_name_the_same_end_of_text() {
    use ssnail_shared::header::NO_TOKEN;
    for (mut t, without_key) in [(Tiny::llama(), 2), (Tiny::gpt2(), NO_TOKEN)] {
        t.set("tokenizer.ggml.eos_token_id", 7u32);
        let with_key = t.image(&Options::default()).unwrap();
        t.unset("tokenizer.ggml.eos_token_id");
        for (image, expected) in [(with_key, 7), (t.image(&Options::default()).unwrap(), without_key)] {
            let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
            // The sixth instruction of a decoder: LI R5, the end of text.
            let li = 0x100 + 5 * 16;
            assert_eq!(&image[li..li + 2], &[8, 5]);
            assert_eq!((word(li + 12), word(0x28)), (expected, expected));
        }
    }
}

#[test]
fn weakness_08_caches_do_not_straddle_the_boundary() {
    // The boundary is moved through the scratch memory; a cache never lies across it.
    let t = Tiny::llama();
    let (start, end) = t.with_plan(&Options::default(), |p| (p.header().scratch, 0x800_0000 + p.memory_needed()));
    for boundary in (start..end).step_by(256) {
        let options = with(|o| o.boundary = boundary);
        let image = t.image(&options).unwrap();
        let word = |address: u32| {
            let at = (address - 0x800_5000 + 0x100) as usize;
            u32::from_le_bytes(image[at..at + 4].try_into().unwrap())
        };
        let (blocks, ctx, needed) = t.with_plan(&options, |p| {
            let blocks: Vec<u32> =
                p.segments().filter(|s| s.name.starts_with("attention block")).map(|s| s.address).collect();
            (blocks, p.header().context, p.memory_needed())
        });
        for block in blocks {
            for cache in [word(block), word(block + 4)] {
                let last = cache + 2 * ctx * 16;
                assert!(last <= boundary || cache >= boundary, "{cache:X} to {last:X} over {boundary:X}");
                assert!(last <= 0x800_0000 + needed);
            }
        }
    }
}
