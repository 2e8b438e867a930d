//! The weaknesses of the reference tools (specification, section 20), one test per row, named `weakness_NN`: converter
//! and emulator, seen through the command. 7 and 8 need to look into the image: they are tested in `host/convert`.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "support/models.rs"]
mod models;
mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use models::{address, ids, logits, offset, refused, run_json, said};
use ssnail_gguf::{Gguf, GgufWriter};
use ssnail_quant::GgmlType;
use std::fs;
use support::{Test, data};
use tiny::{DIM, HIDDEN, LAYERS, Tiny, VOCAB};

#[test]
fn weakness_01_impossible_contexts_are_refused() {
    for ctx in ["0", "-1", "4096", "99999999999"] {
        refused(&Tiny::llama(), &["--ctx", ctx], &["context", ctx]);
    }
    refused(&Tiny::gpt2(), &["--ctx", "25"], &["context", "24"]);
    refused(&Tiny::bert(), &["--ctx", "25"], &["context", "24"]);
}

#[test]
fn weakness_02_memory_that_no_board_has_is_for_the_emulator_only() {
    refused(&Tiny::llama(), &["--mem-mb", "73"], &["emulator-only"]);
    refused(&Tiny::llama(), &["--mem-mb", "129", "--emulator-only"], &["128"]);
    refused(&Tiny::llama(), &["--mem-mb", "-1"], &["memory of -1 MB"]);
    refused(&Tiny::llama(), &["--mem-mb", "nan"], &["memory"]);
    said(&Tiny::llama(), &["--mem-mb", "128", "--emulator-only"]);
}

#[test]
fn weakness_03_what_would_change_the_output_does() {
    let tokens = "1,5,9,4";
    let rows = |model: &Tiny| logits(model, tokens, VOCAB as usize);
    let plain = Tiny::llama();
    let usual = rows(&plain);
    let mut biased = plain.clone();
    biased.put("blk.0.attn_q.bias", &[DIM], vec![0.5; DIM as usize]);
    biased.put("blk.0.attn_k.bias", &[DIM / 2], (0..DIM / 2).map(|n| n as f32 / 8.0).collect());
    biased.put("blk.0.attn_v.bias", &[DIM / 2], vec![0.25; DIM as usize / 2]);
    assert_ne!(rows(&biased)[0], usual[0]);
    // Nothing rotates at position 0.
    let mut partial = plain.clone();
    partial.set("llama.rope.dimension_count", 4u32);
    let mut scaled = plain.clone();
    scaled.set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 2.0f32);
    for changed in [partial, scaled] {
        let found = rows(&changed);
        assert_eq!(found[0], usual[0]);
        assert_ne!(found[3], usual[3]);
    }
    refused(plain.clone().set("llama.rope.scaling.type", "longrope"), &[], &["longrope"]);
    let info = |model: &Tiny| {
        let test = Test::new().image("m", &model.file(), &[]);
        test.args(["info", "m.ssnail", "--json"]).run().json()
    };
    assert_eq!(info(&Tiny::llama_with(4))["head_width"], 4);
    let mut bare = plain.clone();
    bare.set("tokenizer.ggml.add_space_prefix", false);
    assert_ne!(
        run_json(&plain, &["--prompt", "ab", "-n", "1"])["prompt_ids"],
        run_json(&bare, &["--prompt", "ab", "-n", "1"])["prompt_ids"]
    );
}

#[test]
fn weakness_03_the_rule_that_splits_text_is_that_of_the_model() {
    let mut model = Tiny::gpt2();
    let texts: Vec<String> = (0..VOCAB)
        .map(|id| match id {
            0 => "1".to_owned(),
            1 => "2".to_owned(),
            2 => "12".to_owned(),
            _ => format!("<|{id}|>"),
        })
        .collect();
    model.set("tokenizer.ggml.tokens", &texts[..]);
    model.set("tokenizer.ggml.merges", &["1 2"][..]);
    for (rule, expected) in [("gpt-2", &[2][..]), ("smollm", &[0, 1])] {
        model.set("tokenizer.ggml.pre", rule);
        assert_eq!(ids(model.file(), "12", &[]), expected, "{rule}");
        let ran = run_json(&model, &["--prompt", "12", "-n", "1"]);
        assert_eq!(ran["prompt_ids"], serde_json::json!(expected), "{rule}");
    }
    model.set("tokenizer.ggml.pre", "of-its-own");
    assert!(said(&model, &[]).contains("the pre-tokenizer \"of-its-own\" is not known"));
}

#[test]
fn weakness_04_missing_tensors_are_named() {
    let mut model = Tiny::gpt2();
    refused(model.drop_tensor("blk.1.ffn_up.bias"), &[], &["blk.1.ffn_up.bias"]);
    let mut model = Tiny::llama();
    model.unset("tokenizer.ggml.token_type").unset("tokenizer.ggml.scores");
    refused(model.unset("tokenizer.ggml.tokens"), &[], &["tokenizer.ggml.tokens"]);
    refused(&Tiny::bert_of(1024), &["--ctx", "8"], &["1024", "960"]);
}

#[test]
fn weakness_04_lists_per_layer_and_tensors_of_another_shape_are_named() {
    let mut model = Tiny::llama();
    model.set("llama.attention.head_count", vec![4i32, 2]);
    refused(&model, &[], &["llama.attention.head_count"]);
    let mut model = Tiny::llama();
    let values = model.values("blk.0.attn_q.weight").to_vec();
    model.put("blk.0.attn_q.weight", &[DIM, DIM / 2, 2], values);
    refused(&model, &[], &["blk.0.attn_q.weight", "[32, 16, 2]"]);
}

#[test]
fn weakness_05_a_list_of_tokens_of_another_length_is_noticed() {
    let mut longer = Tiny::gpt2();
    longer.random("token_embd.weight", &[DIM, VOCAB - 1], 0.0);
    refused(&longer, &[], &["40 tokens", "39 rows"]);
    let mut shorter = Tiny::gpt2();
    shorter.random("token_embd.weight", &[DIM, VOCAB + 1], 0.0);
    assert!(said(&shorter, &[]).contains("40 tokens, the model 41 rows"));
}

#[test]
fn weakness_06_an_image_is_whole_or_absent() {
    let mut model = Tiny::llama();
    let mut values = model.values("output.weight").to_vec();
    *values.last_mut().unwrap() = f32::NAN;
    model.put("output.weight", &[DIM, VOCAB], values);
    refused(&model, &[], &["output.weight", "NaN"]);
    // What has gone into a pipe cannot be taken back: nothing goes there.
    for options in [&[][..], &["--wtype", "q8_0"]] {
        let test = Test::new().file("m.gguf", model.file()).args(["convert", "m.gguf", "-o", "-"]);
        test.args(options.iter().copied()).status(1).stdout("").stderr_contains("output.weight").run();
    }
    // The same in a format that is decoded on the way: scale and minimum of the last block are no numbers.
    let mut writer = GgufWriter::new();
    for (key, value) in &model.keys {
        writer.key(key.as_str(), value.clone());
    }
    for (name, tensor) in &model.tensors {
        if name == "output.weight" {
            let mut blocks = vec![0; (VOCAB * DIM / 32 * 24) as usize];
            let last = blocks.len() - 24;
            blocks[last..last + 4].fill(0xff);
            writer.tensor(name.as_str(), &tensor.dims, GgmlType::Q5_1, blocks);
        } else {
            writer.f32_tensor(name.as_str(), &tensor.dims, &tensor.values);
        }
    }
    let test = Test::new().file("m.gguf", writer.to_vec()).args(["convert", "m.gguf", "-o", "-"]);
    test.status(1).stdout("").stderr_contains("output.weight").run();
    // The name that was asked for is the one that is complained about.
    let test = Test::new().file("m.gguf", Tiny::llama().file());
    let ran = test.args(["convert", "m.gguf", "-o", "no/such/m.ssnail"]).status(2).run();
    let stderr = ran.stderr();
    assert!(stderr.contains("cannot write no/such/m.ssnail: No such file"), "{stderr}");
    assert!(!stderr.contains(".partial"), "{stderr}");
}

#[test]
fn weakness_09_what_is_q8_0_already_is_not_encoded_again() {
    let mut model = Tiny::llama();
    let mut file = model.matrices_in(GgmlType::Q8_0).file();
    let gguf = Gguf::parse(&file).unwrap();
    let at = gguf.need_tensor("token_embd.weight").unwrap().file_offset() as usize;
    drop(gguf);
    // No encoder makes such a block: the largest of its numbers would be 127.
    let mut block = vec![0x00, 0x3C];
    block.extend((0..32).map(|n: u8| n));
    file[at..at + block.len()].copy_from_slice(&block);
    let image = |policy: &str| {
        let test = Test::new().image("m", &file, &["--wtype", policy]);
        fs::read(test.path("m.ssnail")).unwrap()
    };
    assert!(image("keep") == image("q8_0"));
    assert!(image("q8_0").windows(block.len()).any(|bytes| bytes == block));
}

#[test]
fn weakness_10_matrices_that_become_f16_are_named() {
    let mut model = Tiny::llama();
    for n in 0..LAYERS {
        model.random(&format!("blk.{n}.ffn_gate.weight"), &[DIM, HIDDEN + 4], 0.0);
        model.random(&format!("blk.{n}.ffn_up.weight"), &[DIM, HIDDEN + 4], 0.0);
        model.random(&format!("blk.{n}.ffn_down.weight"), &[HIDDEN + 4, DIM], 0.0);
    }
    model.set("llama.feed_forward_length", HIDDEN + 4);
    for (policy, wanted) in [("mixed", "Q8_0"), ("q4_0", "Q4_0")] {
        let said = said(&model, &["--wtype", policy]);
        let note =
            format!("blk.1.ffn_down.weight is stored as F16: its rows of 68 are not a multiple of 32, as {wanted}");
        assert!(said.contains(&note), "{said}");
        assert_eq!(said.matches("is stored as F16").count(), LAYERS as usize, "{said}");
    }
}

#[test]
fn weakness_11_pooling_that_is_neither_mean_nor_first_is_refused_by_name() {
    for (kind, name) in [(0_u32, "none"), (3, "last"), (4, "rank")] {
        refused(Tiny::bert().set("bert.pooling_type", kind), &[], &["bert.pooling_type", name]);
    }
    for kind in [1_u32, 2] {
        said(Tiny::bert().set("bert.pooling_type", kind), &[]);
    }
}

#[test]
fn weakness_12_a_description_never_ends_inside_a_character() {
    for spaces in 0..4 {
        let mut model = Tiny::llama();
        model.set("general.name", format!("{}{}", " x".repeat(spaces), "\u{1f40c}".repeat(60)));
        let test = Test::new().image("m", &model.file(), &[]);
        let ran = test.args(["info", "m.ssnail", "--json"]).run();
        assert!(!ran.json()["description"].as_str().unwrap().contains('\u{fffd}'));
    }
}

#[test]
fn weakness_13_damaged_images_are_refused_by_field() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let whole = fs::read(test.path("m.ssnail")).unwrap();
    let refuse = |image: &[u8], part: &str| {
        for command in [&["info"][..], &["disasm"], &["run", "--tokens", "1"], &["tokenize", "--no-bos"], &["chat"]] {
            let test = Test::new().file("m.ssnail", image).arg(command[0]).arg("m.ssnail");
            let test = test.args(command[1..].iter().copied());
            let test = if command[0] == "tokenize" { test.arg("ab") } else { test };
            if command[0] == "info" && !image.starts_with(b"SSNL") {
                continue;
            }
            test.stdin("").status(1).stderr_contains("m.ssnail").stderr_contains(part).run();
        }
    };
    refuse(&whole[..50], "50 bytes");
    refuse(&whole[..whole.len() - 1], "cut short");
    let patched = |at: usize, value: u32| {
        let mut image = whole.clone();
        image[at..at + 4].copy_from_slice(&value.to_le_bytes());
        image
    };
    refuse(&patched(4, 2), "version");
    refuse(&patched(0x2c, 0xffff_ff00), "payload length");
    refuse(&patched(0x20, 5000), "context");
    refuse(&patched(0x38, 16), "memory needed");
    let gguf = Test::new().file("m.gguf", Tiny::llama().file());
    gguf.args(["run", "m.gguf", "--tokens", "1"]).status(1).stderr_contains("ssnail convert").run();
}

#[test]
fn weakness_13_a_vocabulary_whose_pieces_overlap_cannot_fill_the_memory() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let at = offset(address(&test, "vocabulary"));
    let mut image = fs::read(test.path("m.ssnail")).unwrap();
    // Every other piece is the whole table: few tokens here, but the sum of all grows with their square.
    let table: Vec<u8> = (0..=VOCAB).flat_map(|id| if id % 2 == 0 { [0; 4] } else { [200, 0, 0, 0] }).collect();
    let end = image[at + 4 * VOCAB as usize..][..4].to_vec();
    image[at..at + table.len()].copy_from_slice(&table);
    image[at + 4 * VOCAB as usize..][..4].copy_from_slice(&end);
    let ran = Test::new().file("m.ssnail", image).args(["run", "m.ssnail", "--tokens", "1", "-n", "1"]).status(1).run();
    assert!(ran.stderr().contains("vocabulary"), "{}", ran.stderr());
}

#[test]
fn weakness_13_damaged_tables_of_the_tokenizer_are_refused_by_file_and_field() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let block = offset(address(&test, "tokenizer"));
    let index = offset(address(&test, "index"));
    let image = fs::read(test.path("m.ssnail")).unwrap();
    let mut kind = image.clone();
    kind[block..block + 4].fill(0xff);
    let mut entries = image.clone();
    entries[index..index + 16].fill(0xff);
    for damaged in [kind, entries] {
        for command in [
            &["run", "m.ssnail", "--prompt", "ab"][..],
            &["chat", "m.ssnail", "--prompt", "ab"],
            &["tokenize", "m.ssnail", "ab"],
            &["tokcheck", "m.ssnail", "m.gguf"],
        ] {
            let test = Test::new().file("m.ssnail", &damaged).file("m.gguf", Tiny::llama().file());
            let ran = test.args(command.iter().copied()).status(1).run();
            let stderr = ran.stderr();
            let last = stderr.lines().next_back().unwrap();
            assert!(last.starts_with("ssnail: m.ssnail: ") && last.contains('$'), "{command:?}: {stderr}");
            assert_eq!(last.matches("m.ssnail").count(), 1, "{command:?}: {stderr}");
        }
    }
    // An encoder as well, and an image that comes through a pipe.
    let test = Test::new().image("m", &Tiny::bert().file(), &[]);
    let block = offset(address(&test, "tokenizer"));
    let mut image = fs::read(test.path("m.ssnail")).unwrap();
    image[block..block + 4].fill(0xff);
    let test = Test::new().file("m.ssnail", &image).args(["embed", "m.ssnail", "the cat"]).status(1);
    test.stderr_contains("m.ssnail: ").run();
    let test = Test::new().args(["embed", "-", "the cat"]).stdin(image).status(1);
    test.stderr_contains("standard input: tokenizer kind at $").run();
}

#[test]
fn weakness_14_tokens_that_do_not_exist_are_refused() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    test.args(["run", "m.ssnail", "--tokens", "1,40"]).status(1).stderr_contains("token 40").run();
}

#[test]
fn weakness_15_the_fast_ways_give_the_bits_of_the_plain_one() {
    let tokens: Vec<String> = (0..24).map(|n| (3 + n * 5 % 26).to_string()).collect();
    let tokens = tokens.join(",");
    for kind in [GgmlType::F32, GgmlType::F16, GgmlType::Q8_0] {
        let file = Tiny::llama().matrices_in(kind).file();
        for numerics in ["float", "hardware"] {
            let run = |options: &[&str]| {
                let test = Test::new().image("m", &file, &[]);
                let test = test.args(["run", "m.ssnail", "--tokens", &tokens, "-n", "4", "--logits", "out"]);
                let ran = test.args(["--numerics", numerics]).args(options.iter().copied()).run();
                fs::read(ran.folder().join("out")).unwrap()
            };
            let plain = run(&["--plain", "--threads", "1"]);
            assert_eq!(plain.len(), (24 + 3) * VOCAB as usize * 4);
            assert!(run(&["--threads", "3"]) == plain, "{kind} {numerics}");
        }
    }
}

#[test]
fn weakness_16_the_instruction_limit_is_for_one_run() {
    let model = Tiny::llama().file();
    let test = Test::new().image("m", &model, &[]);
    let test = test.args(["run", "m.ssnail", "--tokens", "1", "--max-instructions", "100"]);
    test.status(1).stderr_contains("instruction limit").run();
    // Each turn of a conversation has the whole limit: together they would exceed it.
    let test = Test::new().image("m", &model, &[]);
    let test = test.args(["chat", "m.ssnail", "-n", "3", "--greedy", "--max-instructions", "1500"]);
    let ran = test.stdin("ab\nab\nab\nab\nab\nab\n").run();
    assert!(!ran.stdout().contains("limit"), "{}", ran.stdout());
}

#[test]
fn weakness_17_scripts_that_no_core_would_run_end_with_a_fault() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let image = fs::read(test.path("m.ssnail")).unwrap();
    let with = |bytes: [u8; 16]| {
        let mut image = image.clone();
        // SETN 32, 1, 0 before it: no operation is over nothing.
        image[256..272].copy_from_slice(&[7, 0, 0, 0, 32, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        image[272..288].copy_from_slice(&bytes);
        Test::new().file("m.ssnail", image).args(["run", "m.ssnail", "--tokens", "1"]).status(1)
    };
    let mut instruction = [0; 16];
    instruction[..3].copy_from_slice(&[0x0b, 99, 0]);
    with(instruction).stderr_contains("register 99").stderr_contains("$8005010").run();
    instruction = [0; 16];
    instruction[0] = 0x55;
    with(instruction).stderr_contains("illegal opcode $55").run();
    instruction = [0; 16];
    // ROPE over 32 elements in heads of 1.
    instruction[0] = 0x24;
    instruction[4..8].copy_from_slice(&0x0800_0000_u32.to_le_bytes());
    instruction[8..12].copy_from_slice(&0x0800_0000_u32.to_le_bytes());
    with(instruction).stderr_contains("ROPE over 32 elements in heads of 1").run();
    instruction = [0; 16];
    instruction[..2].copy_from_slice(&[0x10, 77]);
    for word in 1..4 {
        instruction[4 * word..4 * word + 4].copy_from_slice(&0x0800_0000_u32.to_le_bytes());
    }
    with(instruction).stderr_contains("format 77").run();
}

#[test]
fn weakness_18_tables_do_not_depend_on_the_machine_that_makes_them() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let at = offset(address(&test, "rope table"));
    let image = fs::read(test.path("m.ssnail")).unwrap();
    // 64 positions in heads of 8; the sum is of cosines and sines taken to 60 digits, then rounded once.
    let words = image[at..at + 64 * 8 * 4].as_chunks().0.iter().map(|word| u64::from(u32::from_le_bytes(*word)));
    assert_eq!(words.fold(0u64, |sum, word| sum.wrapping_mul(31).wrapping_add(word)), 0xbec7_d081_e889_5f18);
    let Some(data) = data() else { return };
    let gelu = &ssnail_shared::tables::GELU;
    for (name, table) in [("gelu_c0", gelu.c0), ("gelu_c1", gelu.c1)] {
        let bytes = fs::read(data.join(format!("vectors/hw/{name}.f32"))).unwrap();
        let recorded: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        assert_eq!(recorded, table, "{name}");
    }
}
