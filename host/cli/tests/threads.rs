//! Faults that users of this kind of software hit, one test per row of the collection, named `row_NN`, seen
//! through the command. The libraries' own tests look at the same rows from within.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "support/models.rs"]
mod models;
mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use models::{address, ids, logits, offset, refused, run_json, said};
use serde_json::Value;
use std::fs;
use support::{Test, data};
use tiny::{DIM, Tiny, VOCAB};

#[test]
fn row_01_to_21_bad_files_are_refused_with_status_1_and_good_ones_are_described() {
    let Some(data) = data() else { return };
    let index = fs::read_to_string(data.join("badgguf/INDEX.tsv")).unwrap();
    let mut seen = 0;
    for line in index.lines() {
        let mut columns = line.split('\t');
        let (Some(name), Some(verdict)) = (columns.next(), columns.nth(1)) else { continue };
        let path = data.join("badgguf").join(format!("{name}.gguf"));
        match verdict {
            _ if !path.is_file() => continue,
            "accept" => drop(Test::new().arg("info").arg(&path).run()),
            "refuse" => {
                // Where in the file, behind its name and before the reason.
                let told = Test::new().arg("info").arg(&path).status(1).stdout("").stderr_contains(name).run().stderr();
                let (place, reason) = told.split_once(" byte ").unwrap_or_else(|| panic!("{name}: {told}"));
                assert!(["header", "key ", "tensor ", "entry "].iter().any(|item| place.contains(item)), "{told}");
                assert!(reason.starts_with(|c: char| c.is_ascii_digit()) && reason.len() > 8, "{told}");
                let test = Test::new().arg("convert").arg(&path).args(["-o", "out"]).status(1);
                let ran = test.stderr_contains(name).run();
                assert_eq!(ran.files(), [""; 0]);
            }
            other => panic!("{name}: {other}"),
        }
        seen += 1;
    }
    assert!(seen > 40, "{seen} files");
}

#[test]
fn row_19_a_cut_model_leaves_no_image() {
    let mut file = Tiny::llama().file();
    file.truncate(file.len() - 100);
    let test = Test::new().file("m.gguf", file).args(["convert", "m.gguf", "-o", "m.ssnail"]);
    assert_eq!(test.status(1).stderr_contains("m.gguf").run().files(), ["m.gguf"]);
}

#[test]
fn row_20_the_architecture_found_and_those_supported_are_named() {
    let mut model = Tiny::llama();
    refused(model.set("general.architecture", "mamba"), &[], &["mamba", "llama", "gpt2", "bert"]);
    let mut model = Tiny::llama();
    refused(model.unset("llama.attention.head_count"), &[], &["llama.attention.head_count"]);
}

#[test]
fn row_21_a_vocabulary_without_weights_is_called_that() {
    let mut model = Tiny::llama();
    model.tensors.clear();
    refused(&model, &[], &["vocabulary but no weights"]);
}

#[test]
fn row_22_a_tied_classifier_runs_like_a_copied_one() {
    for (mut tied, prompt) in [(Tiny::llama(), "1,5,9"), (Tiny::gpt2(), "3,5,9")] {
        let embedding = tied.values("token_embd.weight").to_vec();
        tied.tensors.remove("output.weight");
        let mut copied = tied.clone();
        copied.put("output.weight", &[DIM, VOCAB], embedding);
        assert_eq!(logits(&tied, prompt, VOCAB as usize), logits(&copied, prompt, VOCAB as usize));
    }
}

#[test]
fn row_23_rope_factors_of_the_file_divide_the_frequencies() {
    let plain = Tiny::llama_with(4);
    let mut scaled = plain.clone();
    scaled.put("rope_freqs.weight", &[2], vec![1.0, 8.0]);
    let (a, b) = (logits(&plain, "1,5,9,4", VOCAB as usize), logits(&scaled, "1,5,9,4", VOCAB as usize));
    assert_eq!(a[0], b[0]);
    assert_ne!(a[3], b[3]);
    let mut same = plain.clone();
    same.put("rope_freqs.weight", &[2], vec![1.0, 1.0]);
    assert_eq!(a, logits(&same, "1,5,9,4", VOCAB as usize));
}

#[test]
fn row_24_scaling_of_rope_shows_at_late_positions() {
    let plain = Tiny::llama();
    let mut scaled = plain.clone();
    scaled.set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 4.0f32);
    let tokens: Vec<String> = (0..40).map(|n| (3 + n % 26).to_string()).collect();
    let (a, b) =
        (logits(&plain, &tokens.join(","), VOCAB as usize), logits(&scaled, &tokens.join(","), VOCAB as usize));
    assert_eq!(a[0], b[0]);
    assert_ne!(a[39], b[39]);
    scaled.set("llama.rope.scaling.type", "yarn");
    refused(&scaled, &[], &["yarn"]);
}

#[test]
fn row_26_a_padded_vocabulary_runs_and_a_short_embedding_is_refused() {
    let mut padded = Tiny::llama();
    padded.random("token_embd.weight", &[DIM, VOCAB + 8], 0.0);
    padded.random("output.weight", &[DIM, VOCAB + 8], 0.0);
    assert!(said(&padded, &[]).contains("40 tokens, the model 48 rows"));
    let ran = run_json(&padded, &["--tokens", "1,5", "-n", "20"]);
    assert_eq!(ran["generated"].as_array().unwrap().len(), 20);
    let mut short = Tiny::llama();
    short.random("token_embd.weight", &[DIM, VOCAB - 8], 0.0);
    short.random("output.weight", &[DIM, VOCAB - 8], 0.0);
    refused(&short, &[], &["40 tokens", "32 rows"]);
}

#[test]
fn row_27_pooling_is_read_and_other_kinds_are_refused() {
    let vector = |kind: u32| {
        let mut model = Tiny::bert();
        model.set("bert.pooling_type", kind);
        let test = Test::new().image("m", &model.file(), &[]);
        test.args(["embed", "m.ssnail", "the cat", "--json"]).run().json()
    };
    assert_ne!(vector(1), vector(2));
    for kind in [0_u32, 3] {
        let mut model = Tiny::bert();
        refused(model.set("bert.pooling_type", kind), &[], &["pooling"]);
    }
    let mut silent = Tiny::bert();
    assert!(said(silent.unset("bert.pooling_type"), &[]).contains("pooling_type is missing"));
}

#[test]
fn row_28_matrices_that_become_f16_are_named() {
    let mut model = Tiny::llama();
    for n in 0..2 {
        model.random(&format!("blk.{n}.ffn_gate.weight"), &[DIM, 48], 0.0);
        model.random(&format!("blk.{n}.ffn_up.weight"), &[DIM, 48], 0.0);
        model.random(&format!("blk.{n}.ffn_down.weight"), &[48, DIM], 0.0);
    }
    model.set("llama.feed_forward_length", 48u32);
    let said = said(&model, &["--wtype", "q8_0"]);
    assert!(said.contains("blk.0.ffn_down.weight is stored as F16: its rows of 48"), "{said}");
}

#[test]
fn row_29_nan_weights_are_named_and_no_image_is_left() {
    let mut model = Tiny::llama();
    let mut values = model.values("blk.1.ffn_up.weight").to_vec();
    values[77] = f32::NAN;
    model.put("blk.1.ffn_up.weight", &[DIM, 64], values);
    refused(&model, &[], &["blk.1.ffn_up.weight", "77", "NaN"]);
}

#[test]
fn row_30_prompts_at_the_edge_of_the_context() {
    let model = Tiny::llama().file();
    let run = |count: usize, n: &str| {
        let tokens = vec!["5"; count].join(",");
        let test = Test::new().image("m", &model, &["--ctx", "16"]);
        test.args(["run", "m.ssnail", "--json", "--tokens", &tokens, "-n", n])
    };
    let stop = |ran: Value| (ran["stop_reason"].clone(), ran["generated"].as_array().unwrap().len());
    assert_eq!(stop(run(15, "1").run().json()), ("count".into(), 1));
    assert_eq!(stop(run(15, "9").run().json()), ("context".into(), 2));
    assert_eq!(stop(run(16, "9").run().json()), ("context".into(), 1));
    run(17, "1").status(1).stdout("").stderr_contains("17 tokens").stderr_contains("context holds 16").run();
    run(5000, "1").status(1).stderr_contains("5000 tokens").run();
}

#[test]
fn row_31_the_space_before_the_text_is_added_once_and_only_where_wanted() {
    let model = Tiny::llama();
    assert_eq!(ids(model.file(), "ab", &[]), [1, 29, 30]);
    assert_eq!(ids(model.file(), "<s>ab", &["--special", "--no-bos"]), [1, 30]);
    let mut bare = model.clone();
    bare.set("tokenizer.ggml.add_space_prefix", false);
    assert_eq!(ids(bare.file(), "ab", &[]), [1, 30]);
    // The image as well.
    let ran = run_json(&bare, &["--prompt", "ab", "-n", "1"]);
    assert_eq!(ran["prompt_ids"], serde_json::json!([1, 30]));
}

#[test]
fn row_33_one_begin_token_at_the_start_and_none_where_the_model_has_none() {
    let llama = Tiny::llama();
    let test = Test::new().file("m.gguf", llama.file());
    let ran = test.args(["tokenize", "m.gguf", "<s>ab", "--special"]).run();
    assert!(ran.stderr().contains("two now"), "{}", ran.stderr());
    assert_eq!(ids(Tiny::gpt2().file(), "ab", &[]), [26]);
    assert_eq!(run_json(&Tiny::gpt2(), &["--prompt", "ab", "-n", "1"])["prompt_ids"], serde_json::json!([26]));
}

#[test]
fn row_34_tokens_that_no_merge_makes_are_reported() {
    let said = said(&Tiny::gpt2(), &[]);
    assert!(said.contains("not made by any merge") && said.contains("xyz"), "{said}");
}

#[test]
fn row_35_merges_go_by_rank_not_from_left_to_right() {
    let mut model = Tiny::gpt2();
    model.set("tokenizer.ggml.merges", &["b c", "a b"][..]);
    let texts: Vec<String> = (0..VOCAB)
        .map(|id| match id {
            0..=25 => char::from(b'a' + id as u8).to_string(),
            26 => "ab".to_owned(),
            27 => "bc".to_owned(),
            _ => format!("<|{id}|>"),
        })
        .collect();
    model.set("tokenizer.ggml.tokens", &texts[..]);
    assert_eq!(ids(model.file(), "abc", &[]), [0, 27]);
    let ran = run_json(&model, &["--prompt", "abc", "-n", "1"]);
    assert_eq!(ran["prompt_ids"], serde_json::json!([0, 27]));
}

#[test]
fn row_35_a_merge_whose_product_another_pair_makes_is_a_difference_that_tokcheck_explains() {
    let mut model = Tiny::gpt2();
    let texts: Vec<String> = (0..VOCAB)
        .map(|id| match id {
            0..=2 => char::from(b'a' + id as u8).to_string(),
            3 => "bc".to_owned(),
            4 => "ab".to_owned(),
            5 => "abc".to_owned(),
            _ => format!("<|{id}|>"),
        })
        .collect();
    model.set("tokenizer.ggml.tokens", &texts[..]);
    model.set("tokenizer.ggml.merges", &["b c", "a b", "ab c"][..]);
    assert_eq!(ids(model.file(), "abc", &[]), [0, 3]);
    Test::new()
        .image("m", &model.file(), &[])
        .file("text", "abc\n")
        .args(["tokcheck", "m.ssnail", "m.gguf", "text"])
        .status(1)
        .stdout_contains("image: 5")
        .stdout_contains("model: 0 3")
        .stdout_contains("merges by the token made")
        .stdout_contains("1 of 1 lines differ")
        .run();
}

#[test]
fn row_36_characters_without_a_token_are_counted_not_dropped_in_silence() {
    let model = Tiny::llama();
    let ran = Test::new().file("m.gguf", model.file()).args(["tokenize", "m.gguf", "a?b"]).run();
    assert_eq!(ran.stdout(), "1,29,3,0,4\n");
    assert!(ran.stderr().contains("no token"), "{}", ran.stderr());
}

#[test]
fn row_37_accents_punctuation_and_capitals_are_not_unknown_to_bert() {
    let Some(data) = data() else { return };
    let model = data.join("vocab/ggml-vocab-bert-bge.gguf");
    let tokenize = |text: &str| {
        let ran = Test::new().arg("tokenize").arg(&model).args([text, "--no-bos", "--json"]).run();
        ran.json().as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect::<Vec<_>>()
    };
    const UNKNOWN: u64 = 100;
    for text in ["Hokkaid\u{14d}", "yes \u{2013} no", "CAPITALS", "\u{65e5}\u{672c}"] {
        assert!(!tokenize(text).contains(&UNKNOWN), "{text}: {:?}", tokenize(text));
    }
    assert_eq!(tokenize("Hokkaid\u{14d}"), tokenize("hokkaido"));
    assert_eq!(tokenize(&"a".repeat(101)), [UNKNOWN]);
}

#[test]
fn row_38_control_tokens_typed_as_text_stay_text() {
    let model = Tiny::llama().file();
    let typed = ids(model.clone(), "ab</s>", &[]);
    assert!(!typed.contains(&2), "{typed:?}");
    assert_eq!(ids(model.clone(), "ab</s>", &["--special"]), [1, 29, 30, 2]);
    // In the image the text `</s>` has no piece at all.
    let test = Test::new().image("m", &model, &[]);
    let ran = test.args(["run", "m.ssnail", "--json", "--prompt", "ab</s>", "-n", "1"]).run();
    assert!(!ran.json()["prompt_ids"].as_array().unwrap().contains(&2.into()));
}

#[test]
fn row_39_the_end_of_the_input_ends_the_chat_with_status_0_and_without_prompts() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let ran = test.args(["chat", "m.ssnail", "-n", "3"]).stdin("").run();
    assert!(!ran.stdout().contains('>') && ran.stdout().contains("[llama decoder"), "{}", ran.stdout());
    // The last line needs no line feed.
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let ran = test.args(["chat", "m.ssnail", "-n", "3", "--seed", "1"]).stdin("ab\nabc").run();
    assert!(!ran.stdout().contains('>'), "{}", ran.stdout());
    assert_eq!(ran.stdout().lines().filter(|line| !line.starts_with('[')).count(), 2, "{}", ran.stdout());
}

#[test]
fn row_41_characters_split_over_tokens_arrive_whole() {
    let Some(data) = data() else { return };
    // In this vocabulary the byte b is token 3 + b.
    let run = |bytes: &[u8]| {
        let tokens: Vec<String> = bytes.iter().map(|b| (3 + u32::from(*b)).to_string()).collect();
        let file = fs::read(data.join("models/stories260K-F16.gguf")).unwrap();
        let test = Test::new().image("m", &file, &[]);
        test.args(["run", "m.ssnail", "-n", "0", "--tokens", &tokens.join(",")]).run().stdout()
    };
    assert_eq!(run("\u{1f600}".as_bytes()), "\u{1f600}\n");
    assert_eq!(run(b"a\xf0\x9f\x98"), "a\u{fffd}\n");
    assert_eq!(run(b"a\x80b"), "a\u{fffd}b\n");
}

#[test]
fn row_43_a_conversion_that_fails_keeps_the_old_image_and_leaves_no_litter() {
    let mut model = Tiny::llama();
    let mut values = model.values("output_norm.weight").to_vec();
    values[3] = f32::INFINITY;
    model.put("output_norm.weight", &[DIM], values);
    let ran = Test::new()
        .file("m.gguf", model.file())
        .file("m.ssnail", "old")
        .args(["convert", "m.gguf", "-o", "m.ssnail"])
        .status(1)
        .run();
    assert_eq!(ran.files(), ["m.gguf", "m.ssnail"]);
    assert_eq!(fs::read(ran.folder().join("m.ssnail")).unwrap(), b"old");
}

#[cfg(target_os = "linux")]
#[test]
fn row_43_a_full_disk_is_an_error_of_the_machine() {
    let test = Test::new().file("m.gguf", Tiny::llama().file());
    let full = test.args(["convert", "m.gguf", "-o", "/dev/full"]).status(2).stderr_contains("No space left");
    full.stderr_contains("cannot write /dev/full").run();
}

#[test]
fn row_44_a_web_page_and_a_pointer_saved_as_a_model_are_recognised() {
    let page = Test::new().file("m.gguf", "<!DOCTYPE html><html></html>");
    page.args(["info", "m.gguf"]).status(1).stderr_contains("web page").run();
    let pointer = Test::new().file("m.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    pointer.args(["convert", "m.gguf", "-o", "x"]).status(1).stderr_contains("Git LFS").run();
}

#[test]
fn row_45_temperature_0_or_below_is_greedy_and_top_k_may_exceed_the_vocabulary() {
    let model = Tiny::llama();
    let greedy = run_json(&model, &["--tokens", "1,5"]);
    for options in [&["--temp", "0"][..], &["--temp", "-1"], &["--temp", "0", "--topk", "0"]] {
        let ran = run_json(&model, &[&["--tokens", "1,5"][..], options].concat());
        assert_eq!(ran["generated"], greedy["generated"]);
    }
    let all = run_json(&model, &["--tokens", "1,5", "--temp", "1", "--seed", "4", "--topk", "0"]);
    let more = run_json(&model, &["--tokens", "1,5", "--temp", "1", "--seed", "4", "--topk", "1000000"]);
    assert_eq!(all["generated"], more["generated"]);
    for wrong in [["--temp", "nan"], ["--temp", "x"], ["--penalty", "0"], ["--topk", "-1"]] {
        Test::new().args(["run", "m.ssnail", "--tokens", "1"]).args(wrong).status(2).run();
    }
}

#[test]
fn row_45_logits_that_are_not_numbers_end_the_run_with_the_position() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let at = offset(address(&test, "output_norm"));
    let mut image = fs::read(test.path("m.ssnail")).unwrap();
    image[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    for options in [&["--temp", "0"][..], &["--temp", "1"]] {
        let test = Test::new().file("m.ssnail", &image);
        let ran = test.args(["run", "m.ssnail", "--tokens", "1,5,6"]).args(options.iter().copied()).status(1).run();
        // Recent tokens are looked at first when sampling.
        assert!(ran.stderr().contains("m.ssnail: position 2: the logit of token "), "{}", ran.stderr());
    }
    for temperature in ["0", "1"] {
        // Begin token, space, ab: the last has position 2.
        let test = Test::new().file("m.ssnail", &image).args(["chat", "m.ssnail", "--temp", temperature]);
        test.args(["--prompt", "ab"]).status(1).stderr_contains("m.ssnail: position 2: the logit of token ").run();
    }
}

#[test]
fn row_45_a_vector_that_is_no_number_is_not_shown() {
    let test = Test::new().image("m", &Tiny::bert().file(), &[]);
    let at = offset(address(&test, "token_embd_norm"));
    let mut image = fs::read(test.path("m.ssnail")).unwrap();
    image[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    for args in [
        &["run", "m.ssnail", "--prompt", "ab"][..],
        &["run", "m.ssnail", "--prompt", "ab", "--json", "--logits", "x"],
        &["embed", "m.ssnail", "ab"],
        &["chat", "m.ssnail", "--prompt", "ab"],
    ] {
        let ran = Test::new().file("m.ssnail", &image).args(args.iter().copied()).status(1).run();
        assert!(ran.stderr().contains("m.ssnail: value ") && ran.stderr().contains("not finite"), "{}", ran.stderr());
    }
}

/// A device without an end is no reason to take all memory.
#[cfg(target_os = "linux")]
#[test]
fn a_device_that_never_ends_is_refused() {
    for command in [&["info", "/dev/zero"][..], &["convert", "/dev/zero", "-o", "x"]] {
        Test::new().args(command.iter().copied()).status(1).stderr_contains("/dev/zero: header, byte 0").run();
    }
    let command = ["run", "--prompt", "a", "/dev/zero"];
    Test::new().args(command).status(1).stderr_contains("/dev/zero: header field magic").run();
    let command = ["disk", "list", "/dev/zero"];
    Test::new().args(command).status(2).stderr_contains("/dev/zero: it goes on after 129 MB").run();
}
