//! What README and Makefile promise, run: every command that stands there does what it says.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../hub/tests/support/server.rs"]
mod server;
mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use server::{Answer, Server};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::{Test, make, ssnail};
use tiny::Tiny;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Lines of the fenced blocks of the README that carry this label.
fn commands(label: &str) -> Vec<String> {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let mut inside = false;
    let mut found = Vec::new();
    for line in readme.lines() {
        match line.strip_prefix("```") {
            Some(fence) => inside = !inside && fence == label,
            None if inside => found.push(line.to_owned()),
            None => {}
        }
    }
    assert!(!found.is_empty(), "no block labelled {label}");
    found
}

/// A folder where `ssnail` and `make` are what a person has after building.
fn workshop(test: &Test) {
    let bin = test.path("bin");
    fs::create_dir(&bin).unwrap();
    symlink(ssnail(), bin.join("ssnail")).unwrap();
    let script = format!(
        "#!/bin/sh\nexec /usr/bin/env -u MAKEFLAGS -u MAKELEVEL make -f '{ROOT}/Makefile' SSNAIL='{}' \"$@\"\n",
        ssnail().display()
    );
    // The shell's own `make` must not find itself.
    fs::write(bin.join("ssnail-make"), script).unwrap();
    fs::set_permissions(bin.join("ssnail-make"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn shell(test: &Test, line: &str, endpoint: &str) -> Output {
    let line = line.strip_prefix("make").map_or_else(|| line.to_owned(), |rest| format!("ssnail-make{rest}"));
    let path = format!("{}:{}", test.path("bin").display(), std::env::var("PATH").unwrap());
    Command::new("sh")
        .args(["-c", &line])
        .current_dir(test.path("."))
        .env("PATH", path)
        .env("HF_ENDPOINT", endpoint)
        .env("HF_HOME", test.path("none"))
        .env_remove("HF_TOKEN")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn succeeds(line: &str, output: &Output) {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{line}\n{stdout}\n{stderr}");
}

#[test]
fn every_command_of_the_readme_works() {
    let test = Test::new().file("story.gguf", Tiny::llama().file());
    workshop(&test);
    for line in commands("sh") {
        succeeds(&line, &shell(&test, &line, "http://127.0.0.1:9"));
    }
}

#[test]
fn the_network_commands_of_the_readme_work() {
    let model = Tiny::llama().file();
    let size = model.len();
    let hub = Server::start(move |request| match request.path.as_str() {
        path if path.starts_with("/api/models?") => Answer::json(r#"[{"id":"owner/name","downloads":3}]"#),
        path if path.starts_with("/api/models/owner/name") => {
            Answer::json(format!(r#"[{{"path":"tiny-f32.gguf","size":{size}}}]"#))
        }
        _ => Answer::file(model.clone(), "v"),
    });
    let test = Test::new();
    workshop(&test);
    for line in commands("network") {
        let output = shell(&test, &line, hub.address());
        succeeds(&line, &output);
        if line.contains("findmodels") {
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(stdout.contains("make fetch URL=http") && stdout.contains("owner/name"), "{stdout}");
        }
    }
    assert_eq!(fs::read(test.path("tiny-f32.gguf")).unwrap(), Tiny::llama().file());
}

#[track_caller]
fn made(test: &Test, args: &[&str]) -> String {
    let output = make(test, args);
    succeeds(&args.join(" "), &output);
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
fn clean_removes_images_and_nothing_else() {
    let test = story();
    made(&test, &["m.ssnail"]);
    made(&test, &["clean"]);
    assert!(test.path("m.gguf").exists() && !test.path("m.ssnail").exists());
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
    assert_eq!(fs::read_dir(test.path(".")).unwrap().count(), 0);
}
