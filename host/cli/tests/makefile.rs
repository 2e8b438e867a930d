//! What the Makefile promises, run.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::{Test, make, make_with, ssnail};
use tiny::Tiny;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[track_caller]
fn made(test: &Test, args: &[&str]) -> String {
    let output = make(test, args);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}\n{stdout}\n{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn story() -> Test {
    Test::new().file("m.gguf", Tiny::llama().file())
}

#[test]
fn an_image_is_made_again_when_its_model_has_changed() {
    let test = story();
    made(&test, &["m.ssnail"]);
    let first = fs::metadata(test.path("m.ssnail")).unwrap().modified().unwrap();
    assert!(made(&test, &["m.ssnail"]).contains("up to date"));
    // Later by more than the file system's clock can miss.
    let later = first + Duration::from_secs(5);
    let model = fs::File::options().write(true).open(test.path("m.gguf")).unwrap();
    model.set_modified(later).unwrap();
    assert!(made(&test, &["m.ssnail"]).contains("convert"));
}

#[test]
fn an_image_is_made_again_when_the_converter_has_changed() {
    let test = story();
    let program = test.path("ssnail-copy");
    fs::copy(ssnail(), &program).unwrap();
    let variable = format!("SSNAIL={}", program.display());
    made(&test, &["m.ssnail", &variable]);
    assert!(made(&test, &["m.ssnail", &variable]).contains("up to date"));
    let time = fs::metadata(test.path("m.ssnail")).unwrap().modified().unwrap() + Duration::from_secs(5);
    fs::File::options().append(true).open(&program).unwrap().set_modified(time).unwrap();
    assert!(made(&test, &["m.ssnail", &variable]).contains("convert"));
}

#[test]
fn an_image_is_made_again_when_a_variable_that_shapes_it_has_changed() {
    let test = story();
    made(&test, &["m.ssnail"]);
    let shapes =
        ["WTYPE=q8_0", "FALLBACK=f16", "ATTICRAM=64", "CONTEXT_WINDOW=20", "KV=f32", "TYPE=It's \"a\", $$b (c) %"];
    for variable in shapes {
        assert!(made(&test, &["m.ssnail", variable]).contains("convert"), "{variable}");
        assert!(made(&test, &["m.ssnail", variable]).contains("up to date"), "{variable}");
    }
    assert!(made(&test, &["m.ssnail", "WTYPE=f16", "HYPERRAM_MB=72"]).contains("--mem-mb '72'"));
    assert!(made(&test, &["m.ssnail", "WTYPE=f16", "HYPERRAM_MB=72"]).contains("up to date"));
    assert!(made(&test, &["m.ssnail", "WTYPE=auto"]).contains("convert"));
    // What is not said stays as it is.
    assert!(made(&test, &["m.ssnail"]).contains("up to date"));
    for variable in ["TEMP=1", "SEED=3", "PROMPT=ab", "TOKENS=3", "HW=1"] {
        assert!(made(&test, &["m.ssnail", variable]).contains("up to date"), "{variable}");
    }
    // What a chat or run is asked for is what it gets.
    made(&test, &["m.72mb.run", "TOKENS=2", "PROMPT=ab"]);
    assert!(made(&test, &["m.72mb.run", "TOKENS=2", "PROMPT=ab", "CONTEXT_WINDOW=9"]).contains("--ctx '9'"));
}

#[test]
fn an_image_made_by_hand_is_not_replaced_because_of_variables() {
    let test = Test::new().image("m", &Tiny::llama().file(), &["--ctx", "7"]);
    assert!(made(&test, &["m.ssnail", "CONTEXT_WINDOW=20"]).contains("up to date"));
}

#[test]
fn a_change_that_fails_leaves_the_old_image_to_be_changed_again() {
    let test = story();
    made(&test, &["m.ssnail"]);
    assert!(!make(&test, &["m.ssnail", "CONTEXT_WINDOW=5000"]).status.success());
    assert!(made(&test, &["m.ssnail"]).contains("up to date"));
    assert!(made(&test, &["m.ssnail", "CONTEXT_WINDOW=9"]).contains("convert"));
}

#[test]
fn a_model_that_is_not_there_is_named() {
    for target in ["story.chat", "story.72mb.run", "sub/story.ssnail"] {
        let output = make(&Test::new(), &[target]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{target}");
        assert!(stderr.contains(&format!("Nothing makes {target}: is there a story.gguf")), "{stderr}");
        assert!(stderr.contains("make fetch"), "{stderr}");
    }
}

#[test]
fn models_may_lie_in_other_folders() {
    let test = story();
    fs::create_dir(test.path("sub")).unwrap();
    fs::copy(test.path("m.gguf"), test.path("sub/m.gguf")).unwrap();
    assert!(made(&test, &["sub/m.run", "TOKENS=2", "PROMPT=ab"]).contains("sub/m.ssnail"));
    let absolute = format!("{}/sub/m.64mb.ssnail", test.path(".").display());
    made(&test, &[&absolute]);
    assert!(test.path("sub/m.64mb.ssnail").exists());
}

#[test]
fn makefile_and_program_may_lie_in_a_folder_with_spaces_and_a_quote() {
    let test = story();
    let folder = test.path("a user's tools");
    fs::create_dir(&folder).unwrap();
    fs::copy(Path::new(ROOT).join("Makefile"), folder.join("Makefile")).unwrap();
    fs::copy(ssnail(), folder.join("the ssnail")).unwrap();
    let makefile = folder.join("Makefile");
    let made = |args: &[&str]| {
        let output = make_with(&test, &makefile, &folder.join("the ssnail"), args);
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}\n{stdout}\n{stderr}");
        stdout.into_owned()
    };
    assert!(made(&["m.run", "TOKENS=2", "PROMPT=ab"]).contains("convert"));
    assert!(made(&["m.ssnail"]).contains("up to date"));
    assert!(made(&["m.info"]).contains("llama"));
    made(&["m.all"]);
    assert!(test.path("m.64mb.ssnail").exists());
    assert!(made(&["help"]).contains("foo.tokcheck"));
    let time = fs::metadata(test.path("m.ssnail")).unwrap().modified().unwrap() + Duration::from_secs(5);
    fs::File::options().append(true).open(folder.join("the ssnail")).unwrap().set_modified(time).unwrap();
    assert!(made(&["m.ssnail"]).contains("convert"));
}

#[test]
fn a_conversion_that_fails_leaves_no_image_that_make_would_take_for_done() {
    let test = Test::new().file("m.gguf", &Tiny::llama().file()[..2000]);
    let output = make(&test, &["m.run"]);
    assert!(!output.status.success());
    assert!(!test.path("m.ssnail").exists());
}

#[test]
fn the_three_sizes_are_made_and_failures_ignored() {
    let test = story();
    made(&test, &["m.all"]);
    for size in ["8mb", "64mb", "72mb"] {
        assert!(test.path(&format!("m.{size}.ssnail")).exists(), "{size}");
    }
    let bad = Test::new().file("m.gguf", "nothing");
    made(&bad, &["m.all"]);
}

#[test]
fn variables_reach_the_commands() {
    let test = story();
    made(&test, &["m.ssnail", "CONTEXT_WINDOW=20", "KV=f32", "WTYPE=q8_0", "TYPE=Two \"words\" $$x"]);
    let info =
        Command::new(ssnail()).args(["info", "m.ssnail", "--json"]).current_dir(test.path(".")).output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!((&info["context"], &info["cache_format"]), (&20.into(), &"F32".into()));
    assert!(info["description"].as_str().unwrap().contains("Two \"words\" $x"), "{info}");
    assert_eq!(info["tensors"][0]["format"], "Q8_0");
    // The image is there: a run shows its text and no conversion.
    let greedy = made(&test, &["m.run", "PROMPT=ab", "TOKENS=5", "TEMP=0"]);
    assert_eq!(greedy, made(&test, &["m.run", "PROMPT=ab", "TOKENS=5"]));
    let seeded = made(&test, &["m.run", "PROMPT=ab", "TOKENS=9", "TEMP=2.5", "SEED=4", "HW=1"]);
    assert_eq!(seeded, made(&test, &["m.run", "PROMPT=ab", "TOKENS=9", "TEMP=2.5", "SEED=4", "HW=1"]));
    assert!(made(&test, &["m.chat", "TOKENS=3", "TEMP=0.0"]).contains("greedy"));
    assert!(made(&test, &["m.72mb.chat", "TOKENS=3", "TEMP=0.5"]).contains("temperature 0.5"));
    let too_big = make(&test, &["m.ssnail", "-B", "ATTICRAM=0.01"]);
    assert!(!too_big.status.success() && String::from_utf8_lossy(&too_big.stderr).contains("too big"));
}

#[test]
fn what_a_variable_says_is_never_a_command_of_the_shell() {
    let test = story();
    made(&test, &["m.ssnail"]);
    for args in [
        ["m.run", "TOKENS=1; touch evil"],
        ["m.run", "TEMP='; touch evil; '"],
        ["m.run", "SEED=`touch evil`"],
        ["m.tokcheck", "TEXT=\"; touch evil; \""],
        ["n.ssnail", "WTYPE='; touch evil; '"],
        ["n.ssnail", "CONTEXT_WINDOW=1; touch evil"],
        ["n.ssnail", "ATTICRAM='; touch evil; '"],
        ["fetch", "URL=\"; touch evil; \""],
        ["'; touch evil; '.chat", "TOKENS=1"],
        ["it's.chat", "TOKENS=1"],
    ] {
        fs::copy(test.path("m.gguf"), test.path("n.gguf")).unwrap();
        let output = make(&test, &args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!test.path("evil").exists(), "{args:?}");
        assert!(!output.status.success() && !stderr.contains("yntax error"), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

#[test]
fn clean_removes_images_and_nothing_else() {
    let test = story();
    made(&test, &["m.ssnail"]);
    made(&test, &["clean"]);
    let left: Vec<_> = fs::read_dir(test.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["m.gguf"]);
}

#[test]
fn make_help_shows_every_target_and_variable() {
    let help = made(&Test::new(), &["help"]);
    let makefile = fs::read_to_string(Path::new(ROOT).join("Makefile")).unwrap();
    let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%') && !name.contains(' ');
    let targets = makefile.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name);
    let targets: Vec<&str> = targets.filter(|name| is_name(name) && *name != "FORCE").collect();
    let variables = makefile.lines().filter_map(|line| line.split_once(" ?=")).map(|(name, _)| name);
    // CARGO and SSNAIL_TOOLS are for whoever packages this.
    let variables: Vec<&str> = variables.filter(|name| !["CARGO", "SSNAIL_TOOLS"].contains(name)).collect();
    assert!(targets.len() > 10 && variables.len() > 10, "{targets:?} {variables:?}");
    for name in targets.iter().map(|target| target.replace('%', "foo")).chain(variables.iter().map(ToString::to_string))
    {
        assert!(help.contains(&name), "{name}: {help}");
    }
}

#[test]
fn make_alone_talks_to_the_storyteller_and_leaves_no_file() {
    let test = Test::new();
    assert!(made(&test, &["TOKENS=5"]).contains("storyteller (llama) [Story]"));
    assert!(made(&test, &["run", "TOKENS=5", "PROMPT=Once upon a time"]).starts_with("Once upon a time"));
    let prompt = r#"It's "so" $HOME, $(x)"#;
    assert!(made(&test, &["run", "TOKENS=5", &format!("PROMPT={prompt}")]).starts_with(prompt));
    assert_eq!(fs::read_dir(test.path(".")).unwrap().count(), 0);
}

/// Puts a script into the test's folder. Another process writes it: one of this process's children could hold the file
/// open for writing when it is to be run.
fn script(test: &Test, name: &str, body: &str) {
    let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod +x \"$1\"";
    let status = Command::new("sh").args(["-c", write, "sh"]).arg(test.path(name)).arg(body).status().unwrap();
    assert!(status.success());
}

#[test]
fn rust_mos_is_asked_for_and_missed_in_a_sentence() {
    let test = Test::new();
    // Neither the compiler that is named nor one that rustup calls mos knows the machine.
    script(&test, "rustc", "echo x86_64-unknown-linux-gnu");
    let path = format!("PATH={}:{}", test.path(".").display(), std::env::var("PATH").unwrap());
    let output = make(&test, &["prg", "TOOLCHAIN=rust-mos", "RUSTC=rustc", &path]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in ["mos-mega65-none", "mrkits/rust-mos", "ghcr.io/sbechet/rust-mos:stable", "RUSTC"] {
        assert!(message.contains(part), "{message}");
    }
    let output = make(&test, &["prg", "TOOLCHAIN=gcc"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("rv45 (the default) or rust-mos, not gcc"));
}

#[test]
fn rust_mos_builds_the_native_crate_where_it_is_there() {
    let test = Test::new();
    script(&test, "rustc", "echo mos-mega65-none");
    script(&test, "cargo", "echo in $(pwd): \"$@\"; exit 1");
    let path = format!("PATH={}:{}", test.path(".").display(), std::env::var("PATH").unwrap());
    let output = make(&test, &["prg", "TOOLCHAIN=rust-mos", "RUSTC=rustc", "CARGO=cargo", &path]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("/mega65: build --release --target mos-mega65-none -Zbuild-std=core"), "{said}");
}
