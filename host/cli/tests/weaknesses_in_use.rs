//! The weaknesses of the reference tools (specification, section 20) that a person meets: chat, tokenizer, Makefile.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "support/models.rs"]
mod models;
mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use models::ids;
use std::fs;
use support::{Test, data};
use tiny::{DIM, Tiny, VOCAB};

/// What a chat answers, without the introduction.
#[track_caller]
fn chat(options: &[&str], input: &str) -> String {
    chat_with(&Tiny::llama(), options, input)
}

#[track_caller]
fn chat_with(model: &Tiny, options: &[&str], input: &str) -> String {
    let test = Test::new().image("m", &model.file(), &["--ctx", "48"]);
    let ran = test.args(["chat", "m.ssnail", "--seed", "3"]).args(options.iter().copied()).stdin(input).run();
    let stdout = ran.stdout();
    stdout.lines().skip(2).map(|line| format!("{line}\n")).collect()
}

#[test]
fn weakness_19_no_tokens_in_the_first_turn_keep_the_prompt() {
    let apart = chat(&["-n", "0", "--greedy"], "ab\n/n 5\n\n");
    let together = chat(&["-n", "5", "--greedy"], "ab\n");
    assert_eq!(apart.lines().next_back(), together.lines().next_back());
}

#[test]
fn weakness_20_bad_arguments_are_explained_and_the_chat_goes_on() {
    let said = chat(&["-n", "2"], "/n x\n/temp\n/topk 1.5\n/penalty 0\n/seed -1\n/numerics fast\n/what\nab\n");
    for command in ["/n takes", "/temp takes", "/topk takes", "/penalty takes", "/seed takes", "/numerics takes"] {
        assert!(said.contains(command), "{said}");
    }
    assert!(said.contains("/quit"), "{said}");
    assert!(!said.lines().next_back().unwrap().starts_with('['), "{said}");
}

#[test]
fn weakness_21_a_full_context_says_how_to_go_on_and_a_reset_does() {
    let said = chat(&["-n", "500", "--greedy"], "ab\nabc\n/reset\n/n 2\nab\n");
    assert_eq!(said.matches("context full").count(), 2, "{said}");
    assert!(said.contains("/reset"), "{said}");
    let last = said.lines().next_back().unwrap();
    assert!(!last.contains("full") && said.contains("[a fresh context]"), "{said}");
}

#[test]
fn weakness_21_a_line_that_does_not_fit_is_counted_whole() {
    let needed = |pairs: usize| -> usize {
        let said = chat(&["-n", "1", "--greedy"], &format!("{}\n", "ab ".repeat(pairs)));
        let number = said.split_once(" tokens would be needed").unwrap().0.rsplit('(').next().unwrap().to_owned();
        number.parse().unwrap()
    };
    let (one, two) = (needed(200), needed(400));
    assert!(one > 200 && two > one + 199, "{one} {two}");
}

#[test]
fn weakness_22_later_turns_get_no_extra_space_and_curly_quotes_are_understood() {
    // Two turns without answers are one text: the second one adds no space.
    let apart = chat(&["-n", "0", "--greedy"], "ab\nc\n/n 6\n\n");
    let together = chat(&["-n", "6", "--greedy"], "abc\n");
    let spaced = chat(&["-n", "6", "--greedy"], "ab c\n");
    assert_ne!(together, spaced);
    let same_tokens = |text: &str| text.lines().next_back().unwrap().to_owned();
    // The tokens differ (ab + c against abc), the text that they stand for does not: no unknown token, no space.
    assert!(!apart.contains("have no token"), "{apart}");
    assert!(!same_tokens(&apart).is_empty());
    let Some(data) = data() else { return };
    let file = fs::read(data.join("models/stories260K-F16.gguf")).unwrap();
    let say = |text: &str| {
        let test = Test::new().image("m", &file, &[]);
        test.args(["chat", "m.ssnail", "--greedy", "-n", "8", "--prompt", text]).run().stdout()
    };
    assert_eq!(say("It\u{2019}s \u{201c}Lily\u{201d}"), say("It's \"Lily\""));
}

#[test]
fn weakness_23_a_character_that_an_answer_left_unfinished_does_not_reach_into_the_next() {
    let mut model = Tiny::llama();
    let names: Vec<String> = model.tensors.keys().cloned().collect();
    for name in names {
        let dims: Vec<u32> = model.tensors[&name].dims.iter().map(|&n| n as u32).collect();
        let value = if name.contains("norm") || name == "token_embd.weight" { 1.0 } else { 0.0 };
        model.put(&name, &dims, vec![value; dims.iter().product::<u32>() as usize]);
    }
    // Whatever was said, the likeliest token is 30: the first byte of a character of four.
    let mut rows = vec![0.0; (DIM * VOCAB) as usize];
    rows[30 * DIM as usize..31 * DIM as usize].fill(1.0);
    model.put("output.weight", &[DIM, VOCAB], rows);
    let mut texts: Vec<String> = (0..VOCAB).map(|id| format!("\u{2581}t{id}")).collect();
    (texts[3], texts[30]) = ("a".to_owned(), "<0xF0>".to_owned());
    model.set("tokenizer.ggml.tokens", &texts[..]);
    model.set("tokenizer.ggml.token_type", (0..VOCAB).map(|id| if id == 30 { 6 } else { 1 }).collect::<Vec<i32>>());
    model.set("tokenizer.ggml.add_space_prefix", false);
    for options in [&["--ascii"][..], &[]] {
        let options = [&["-n", "1", "--greedy"][..], options].concat();
        let said = chat_with(&model, &options, "a\n/reset\na\na\n");
        let lines: Vec<&str> = said.lines().skip(1).collect();
        assert_eq!(lines.len(), 4, "{said}");
        assert!(lines[1] == "[a fresh context]" && lines[0] == lines[2] && lines[2] == lines[3], "{said}");
    }
}

#[test]
fn weakness_makefile_an_image_that_a_run_needed_is_kept() {
    let test = Test::new().file("m.gguf", Tiny::llama().file());
    let ran = support::make(&test, &["m.72mb.run", "TOKENS=3", "PROMPT=ab"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(test.path("m.72mb.ssnail").exists());
}

#[test]
fn weakness_tokenizer_words_are_those_of_the_real_one() {
    // Word pieces: an underscore is a word of its own, a word has at most 100 characters.
    let mut model = Tiny::bert();
    let texts = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u{2581}the", "\u{2581}_", "s"];
    model.set("tokenizer.ggml.tokens", &texts[..]);
    let both = |model: &Tiny, text: &str| {
        let test = Test::new().image("m", &model.file(), &[]).file("text", text);
        let test = test.args(["tokenize", "m.ssnail", "--rules", "real", "--file", "text", "--json"]);
        let image = test.run().json();
        let own = ids(model.file(), text, &[]);
        assert_eq!(image, serde_json::json!(own), "{text}");
        own
    };
    assert_eq!(both(&model, "the_the"), [2, 4, 5, 4, 3]);
    assert_eq!(both(&model, &format!("the{}", "s".repeat(97))).len(), 100);
    assert_eq!(both(&model, &format!("the{}", "s".repeat(98))), [2, 1, 3]);
    // Byte pairs: a carriage return is a byte like any other.
    let mut model = Tiny::gpt2();
    let texts: Vec<String> = (0..VOCAB)
        .map(|id| match id {
            0..=2 => char::from(b'a' + id as u8).to_string(),
            3 => "\u{10d}".to_owned(),
            _ => format!("<|{id}|>"),
        })
        .collect();
    model.set("tokenizer.ggml.tokens", &texts[..]);
    model.set("tokenizer.ggml.merges", &["a b"][..]);
    assert_eq!(both(&model, "a\rc"), [0, 3, 2]);
}
