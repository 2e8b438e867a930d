//! The commands as a person uses them: files, pipes, options, what is printed where.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use support::{Test, data, ssnail};
use tiny::{DIM, Tiny, VOCAB};

fn llama() -> Test {
    Test::new().image("m", &Tiny::llama().file(), &[])
}

#[test]
fn an_image_can_go_through_pipes_from_model_to_text() {
    let model = Tiny::llama().file();
    let ran = Test::new().args(["convert", "-", "-o", "-"]).stdin(model.clone()).run();
    let direct = llama();
    assert_eq!(ran.output.stdout, fs::read(direct.path("m.ssnail")).unwrap());
    let image = ran.output.stdout;
    let piped = Test::new().args(["run", "-", "--prompt", "ab", "-n", "5"]).stdin(image).run();
    let direct = direct.args(["run", "m.ssnail", "--prompt", "ab", "-n", "5"]).run();
    assert_eq!(piped.stdout(), direct.stdout());
    let info = Test::new().args(["info", "-", "--json"]).stdin(model).run();
    assert_eq!(info.json()["architecture"], "llama");
}

#[test]
fn options_that_choose_nothing_without_a_temperature_are_named() {
    let run = ["run", "m.ssnail", "--prompt", "ab", "-n", "2", "--seed", "4", "--topk", "3"];
    llama().args(run).stderr_contains("without --temp").stderr_contains("--topk, --seed\n").run();
    llama().args(run).args(["--temp", "0"]).stderr("").run();
}

#[test]
fn tokcheck_takes_one_input_from_standard_input() {
    llama().args(["tokcheck", "-", "m.gguf", "-"]).stdin("ab\n").status(2).stderr_contains("only one of").run();
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let test = llama().args(["run", "m.ssnail", "--prompt", "ab", "-n", "9"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = test.command().stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn run_prints_prompt_and_answer_and_json_only_the_answer() {
    let ran = llama().args(["run", "m.ssnail", "--prompt", "ab", "-n", "5"]).run();
    let json = llama().args(["run", "m.ssnail", "--prompt", "ab", "-n", "5", "--json"]).run().json();
    assert_eq!(ran.stdout(), format!("ab{}\n", json["text"].as_str().unwrap()));
    let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
    let wanted =
        ["prompt_ids", "generated", "text", "stop_reason", "pos", "instructions", "bytes_read", "bytes_written"];
    assert_eq!(keys, wanted);
    assert_eq!(json["generated"].as_array().unwrap().len(), 5);
}

#[test]
fn without_an_image_the_storyteller_tells_a_story_that_ends() {
    let ran = Test::new().args(["run", "--prompt", "Once upon a time", "-n", "250", "--json"]).run();
    assert_eq!(ran.json()["stop_reason"], "eos");
    let story = ran.json()["text"].as_str().unwrap().to_owned();
    assert!(story.trim_end().ends_with("The end."), "{story}");
    assert!(Test::new().args(["chat", "--greedy"]).stdin("Tell me about the rain.\n").run().stdout().len() > 200);
    // The same model from its file is the same image.
    let model = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/storyteller.gguf")).unwrap();
    let test = Test::new().image("m", &model, &[]);
    let again = test.args(["run", "m.ssnail", "--prompt", "Once upon a time", "-n", "250", "--json"]).run();
    assert_eq!(again.stdout(), ran.stdout());
}

#[test]
fn a_prompt_can_come_from_standard_input() {
    let typed = llama().args(["run", "m.ssnail", "--prompt", "ab", "--json"]).run();
    let piped = llama().args(["run", "m.ssnail", "--prompt", "-", "--json"]).stdin("ab\n").run();
    assert_eq!(typed.stdout(), piped.stdout());
}

#[test]
fn the_default_is_64_tokens_and_the_likeliest_each_time() {
    let run = |options: &[&str]| {
        let test = Test::new().image("m", &Tiny::llama().file(), &["--ctx", "64"]);
        let test = test.args(["run", "m.ssnail", "--tokens", "1", "--json"]).args(options.iter().copied());
        test.run().json()
    };
    assert_eq!(run(&[])["generated"].as_array().unwrap().len(), 64);
    assert_eq!(run(&[])["generated"], run(&["--temp", "0"])["generated"]);
}

#[test]
fn the_same_seed_gives_the_same_text_in_run_and_chat() {
    let options = ["--temp", "0.9", "--topk", "12", "--penalty", "1.15", "--seed", "11", "-n", "12"];
    let run = || llama().args(["run", "m.ssnail", "--prompt", "ab"]).args(options).run().stdout();
    let text = run();
    assert_eq!(text, run());
    let chat = llama().args(["chat", "m.ssnail", "--prompt", "ab"]).args(options).run().stdout();
    assert_eq!(chat.lines().last().unwrap(), text.trim_end_matches('\n').strip_prefix("ab").unwrap());
    let other = llama().args(["run", "m.ssnail", "--prompt", "ab", "--temp", "0.9", "--seed", "12", "-n", "12"]).run();
    assert_ne!(text, other.stdout());
}

#[test]
fn logits_have_a_row_for_every_position() {
    let ran = llama().args(["run", "m.ssnail", "--tokens", "1,5,6", "-n", "4", "--logits", "l.f32"]).run();
    let length = fs::metadata(ran.folder().join("l.f32")).unwrap().len();
    assert_eq!(length, 6 * u64::from(VOCAB) * 4);
    let encoder = Test::new().image("m", &Tiny::bert().file(), &[]);
    let ran = encoder.args(["run", "m.ssnail", "--prompt", "the cat", "--logits", "l.f32"]).run();
    assert_eq!(fs::metadata(ran.folder().join("l.f32")).unwrap().len(), u64::from(DIM) * 4);
    assert!(ran.stdout().starts_with("32 values, norm "), "{}", ran.stdout());
}

#[test]
fn statistics_call_the_estimate_an_estimate() {
    let ran = llama().args(["run", "m.ssnail", "--prompt", "ab", "--stats", "--bandwidth", "65"]).run();
    assert!(ran.stderr().contains("estimate for the core at 65 MB/s"), "{}", ran.stderr());
    assert!(ran.stderr().contains("instructions"), "{}", ran.stderr());
    for wrong in ["0", "-1", "nan", "x"] {
        llama().args(["run", "m.ssnail", "--prompt", "a", "--bandwidth", wrong]).status(2).run();
    }
}

#[test]
fn what_cannot_work_together_is_a_usage_error() {
    for options in [
        &["run", "m.ssnail"][..],
        &["run"],
        &["run", "m.ssnail", "--prompt", "a", "--tokens", "1"],
        &["run", "m.ssnail", "--prompt", "a", "--json", "--logits", "-"],
        &["run", "m.ssnail", "--prompt", "a", "--trace", "-", "--logits", "-"],
        &["run", "-", "--prompt", "-"],
        &["run", "m.ssnail", "--tokens", "1,x"],
        &["tokenize", "m.ssnail"],
        &["chat", "-"],
        &["convert", "m.gguf"],
        &["convert", "m.gguf", "-o", "x", "--wtype", "q5_k"],
        &["convert", "m.gguf", "-o", "x", "--kv", "q8_0"],
    ] {
        llama().args(options.iter().copied()).status(2).stdout("").run();
    }
}

#[test]
fn files_that_are_not_there_are_errors_of_the_machine() {
    for command in [
        &["info", "none"][..],
        &["run", "none", "--tokens", "1"],
        &["chat", "none"],
        &["tokenize", "none", "x"],
        &["convert", "none", "-o", "x"],
        &["tokcheck", "none", "none"],
        &["disasm", "none"],
        &["embed", "none", "x"],
    ] {
        let ran = Test::new().args(command.iter().copied()).status(2).stdout("").stderr_contains("none").run();
        assert!(ran.stderr().contains("No such file"), "{}", ran.stderr());
    }
    llama().args(["convert", "m.gguf", "-o", "no/such/folder/x"]).status(2).stderr_contains("no/such").run();
}

#[test]
fn an_encoder_does_not_talk_and_a_decoder_does_not_embed() {
    llama().args(["embed", "m.ssnail", "ab"]).status(1).stderr_contains("ssnail chat").run();
    let long = "the cat ".repeat(40);
    let encoder = Test::new().image("m", &Tiny::bert().file(), &[]);
    encoder.args(["embed", "m.ssnail", "the", &long]).status(1).stderr_contains("text 2").run();
}

#[test]
fn embeddings_come_one_per_text_and_one_per_line() {
    let encoder = || Test::new().image("m", &Tiny::bert().file(), &[]);
    let texts = encoder().args(["embed", "m.ssnail", "the cat", "cats", "--json"]).run().json();
    assert_eq!(texts.as_array().unwrap().len(), 2);
    assert_eq!(texts[0].as_array().unwrap().len(), DIM as usize);
    let lines = encoder().args(["embed", "m.ssnail", "-", "--json"]).stdin("the cat\ncats\n").run().json();
    assert_eq!(texts, lines);
    let plain = encoder().args(["embed", "m.ssnail", "the cat"]).run().stdout();
    let values: Vec<f64> = plain.split_whitespace().map(|value| value.parse().unwrap()).collect();
    let same = values.iter().zip(texts[0].as_array().unwrap()).all(|(a, b)| (a - b.as_f64().unwrap()).abs() < 1e-6);
    assert!(same, "{plain}");
}

#[test]
fn an_encoder_chat_shows_the_three_most_similar_lines() {
    let encoder = Test::new().image("m", &Tiny::bert().file(), &[]);
    let input = "the cat\ncats\nthe\nthe the the\nthe cat\n/temp 1\n/reset\nthe cat\n";
    let ran = encoder.args(["chat", "m.ssnail"]).stdin(input).run();
    let stdout = ran.stdout();
    let lines: Vec<&str> = stdout.lines().filter(|line| line.starts_with(['+', '-'])).collect();
    assert_eq!(lines.len(), 1 + 2 + 3 + 3, "{stdout}");
    assert_eq!(lines[6], "+1.000  the cat");
    assert_eq!(stdout.matches("[stored").count(), 2, "{stdout}");
}

#[test]
fn info_and_plan_agree_on_every_tensor_and_its_place() {
    for (name, model) in [("llama", Tiny::llama()), ("gpt2", Tiny::gpt2()), ("bert", Tiny::bert())] {
        for kv in ["f16", "f32"] {
            let options = ssnail_convert::Options { kv: kv.parse().unwrap(), ..Default::default() };
            let wanted: Vec<(String, u64, u64)> = model.with_plan(&options, |plan| {
                plan.segments().map(|s| (s.name.to_owned(), s.address.into(), s.len.into())).collect()
            });
            let test = Test::new().image("m", &model.file(), &["--kv", kv]);
            let info = test.args(["info", "m.ssnail", "--json"]).run().json();
            let parts = info["memory_map"].as_array().unwrap();
            for (part, address, bytes) in wanted {
                let found = parts.iter().find(|known| known["address"] == address);
                let found = found.unwrap_or_else(|| panic!("{name}: nothing at ${address:X} ({part}): {info:#}"));
                if part.ends_with(".weight") && found.get("format").is_some() {
                    assert_eq!(found["name"], part.as_str(), "{name}");
                }
                assert_eq!(found["bytes"], bytes, "{name} {part}");
            }
            assert_eq!(info["feed_forward"], 64, "{name}");
            assert_eq!((&info["width"], &info["heads"]), (&DIM.into(), &4.into()), "{name}");
        }
    }
}

#[test]
fn disasm_prints_every_instruction_up_to_the_last_halt() {
    let ran = llama().args(["disasm", "m.ssnail", "--raw"]).run();
    let stdout = ran.stdout();
    // 46 + 26 per layer (specification, section 8).
    assert_eq!(stdout.lines().count(), 46 + 26 * 2);
    assert!(stdout.lines().next_back().unwrap().ends_with("HALT"), "{stdout}");
    assert!(!stdout.contains("illegal"), "{stdout}");
    assert!(llama().args(["disasm", "m.ssnail"]).run().stdout().starts_with(" 8005000  09000000 "));
}

#[test]
fn auto_asks_and_without_a_terminal_refuses_unless_told_to_go_on() {
    let mut model = Tiny::llama();
    model.matrices_in(ssnail_quant::GgmlType::Q8_0);
    let options = ssnail_convert::Options::default();
    let whole = model.with_plan(&options, |plan| plan.memory_needed());
    let mb = format!("{}", f64::from(whole - 4096) / f64::from(1 << 20));
    let convert = |more: &[&str]| {
        let test = Test::new().file("m.gguf", model.file()).args(["convert", "m.gguf", "-o", "m.ssnail"]);
        test.args(["--wtype", "auto", "--mem-mb", &mb]).args(more.iter().copied())
    };
    let ran = convert(&[]).status(1).stderr_contains("WARNING").stderr_contains("Not converted").run();
    assert!(ran.stderr().contains("WTYPE=") && ran.stderr().contains("--yes"), "{}", ran.stderr());
    assert_eq!(ran.files(), ["m.gguf"]);
    assert_eq!(convert(&["--yes"]).run().files(), ["m.gguf", "m.ssnail"]);
}

#[test]
fn what_is_too_big_is_told_what_would_fit() {
    let test = Test::new().file("m.gguf", Tiny::llama().file());
    let ran = test.args(["convert", "m.gguf", "-o", "m.ssnail", "--mem-mb", "0.05"]).status(1).run();
    for part in ["too big", "--wtype", "m.8mb.chat", "--ctx"] {
        assert!(ran.stderr().contains(part), "{part}: {}", ran.stderr());
    }
}

#[test]
fn a_model_is_never_replaced_by_its_own_image() {
    let test = Test::new().file("m.gguf", Tiny::llama().file());
    let ran = test.args(["convert", "m.gguf", "-o", "./m.gguf"]).status(1).stderr_contains("own model").run();
    assert_eq!(fs::read(ran.folder().join("m.gguf")).unwrap(), Tiny::llama().file());
}

#[test]
fn numerics_change_within_a_chat_and_the_context_stays() {
    let input = "ab\n/numerics hardware\n\n/numerics\n/stats\n/eos\nab\n/quit\nnever\n";
    let ran = llama().args(["chat", "m.ssnail", "-n", "3", "--seed", "1"]).stdin(input).run();
    let stdout = ran.stdout();
    for part in ["[hardware numerics]", "[float numerics]", "instructions", "[the end is shown]"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    assert!(!stdout.contains("never"));
}

#[test]
fn answers_are_folded_only_on_request() {
    let Some(data) = data() else { return };
    let file = fs::read(data.join("models/stories260K-F16.gguf")).unwrap();
    // Hot enough that byte tokens come, and with them characters outside ASCII.
    let chat = |options: &[&str]| {
        let test = Test::new().image("m", &file, &[]);
        let test =
            test.args(["chat", "m.ssnail", "-n", "200", "--temp", "30", "--topk", "0", "--seed", "2", "--prompt", "a"]);
        test.args(options.iter().copied()).run().stdout()
    };
    assert!(!chat(&[]).is_ascii());
    assert!(chat(&["--ascii"]).is_ascii());
}

/// Sends SIGINT to a running chat once it has answered something.
#[cfg(unix)]
#[test]
fn row_40_ctrl_c_stops_the_answer_and_the_conversation_goes_on() {
    let Some(data) = data() else { return };
    let file = fs::read(data.join("models/stories260K-F32.gguf")).unwrap();
    let test = Test::new().image("m", &file, &["--ctx", "4000"]);
    let mut command = std::process::Command::new(ssnail());
    command.arg("chat").arg(test.path("m.ssnail")).args(["-n", "3900", "--seed", "1"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(b"Once upon a time\n").unwrap();
    let mut said = Vec::new();
    let mut byte = [0];
    // The introduction has three lines; then the answer begins.
    while said.iter().filter(|&&byte| byte == b'\n').count() < 3 || !said.ends_with(b"a") {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1);
        said.push(byte[0]);
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    stdin.write_all(b"/stats\n/n 3\nThe end\n").unwrap();
    drop(stdin);
    stdout.read_to_end(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let said = String::from_utf8(said).unwrap();
    let used: u32 = said.split(" of 4000 tokens").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!((5..3000).contains(&used), "{used}: {said}");
    assert!(said.contains("[up to 3 tokens]"), "{said}");
}

/// The same with the keys of a terminal, which `script` provides.
#[cfg(target_os = "linux")]
#[test]
fn row_40_ctrl_c_on_a_terminal_stops_the_answer_and_asks_at_the_prompt() {
    let Some(data) = data() else { return };
    if std::process::Command::new("script").arg("--version").output().is_err() {
        println!("skipped: the program script (util-linux) is not installed");
        return;
    }
    let file = fs::read(data.join("models/stories260K-F32.gguf")).unwrap();
    let test = Test::new().image("m", &file, &["--ctx", "4000"]);
    // `exec`: a shell that stays above the program would take the Ctrl-C as well, and end with its status.
    let chat = format!("exec '{}' chat m.ssnail -n 3900 --seed 1", ssnail().display());
    let mut child = std::process::Command::new("timeout")
        .args(["120", "script", "-qec", &chat, "/dev/null"])
        .current_dir(test.path("."))
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (mut seen, mut at) = (String::new(), 0);
    // What follows the last text that was waited for, up to and with `text`.
    let mut wait_for = |text: &str| loop {
        if let Some(found) = seen[at..].find(text) {
            let from = at;
            at += found + text.len();
            return seen[from..at].to_owned();
        }
        let mut bytes = [0; 256];
        let count = screen.read(&mut bytes).unwrap();
        assert_ne!(count, 0, "no {text:?} in {seen:?}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    };
    wait_for("> ");
    keys.write_all(b"Once upon a time\r").unwrap();
    // The echo first: an answer has begun when more text than that is there.
    wait_for("Once upon a time");
    wait_for(" a");
    keys.write_all(b"\x03").unwrap();
    wait_for("> ");
    keys.write_all(b"/stats\r").unwrap();
    let stats = wait_for(" of 4000 tokens");
    let used: u32 = stats.split(" of 4000 tokens").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!((5..3000).contains(&used), "{used}");
    wait_for("> ");
    // At the prompt it asks; no is no.
    keys.write_all(b"\x03").unwrap();
    wait_for("Leave?");
    keys.write_all(b"n\r").unwrap();
    wait_for("> ");
    keys.write_all(b"\x03").unwrap();
    wait_for("Leave?");
    keys.write_all(b"y\r").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Outside a conversation Ctrl-C ends the program, and an unfinished image is not left behind.
#[cfg(unix)]
#[test]
fn ctrl_c_while_converting_leaves_no_litter() {
    use std::process::Command;
    let test = Test::new().file("m.gguf", Tiny::llama().file());
    // The image goes into a pipe that nobody reads: the program waits in the middle of writing.
    let fifo = test.path("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut child = Command::new(ssnail())
        .args(["convert", "m.gguf", "-o", "pipe"])
        .current_dir(test.path("."))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    // It has begun once it says what it does.
    assert_eq!(stderr.read(&mut [0]).unwrap(), 1);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let names = fs::read_dir(test.path(".")).unwrap().count();
    assert_eq!(names, 2);
}
