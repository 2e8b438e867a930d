//! What the README promises, run: every command that stands there does what it says.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../hub/tests/support/server.rs"]
mod server;
mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use server::{Answer, Server};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{Test, data, ssnail};
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

/// Commands in the text of the README, between backquotes.
fn commands_in_text() -> Vec<String> {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let mut fenced = false;
    let text: Vec<&str> = readme
        .lines()
        .filter(|line| {
            fenced ^= line.starts_with("```");
            !fenced && !line.starts_with("```")
        })
        .collect();
    text.join(" ").split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn no_command_of_the_readme_stands_where_no_test_runs_it() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let mut block: Option<&str> = None;
    for line in readme.lines() {
        if let Some(label) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(label) };
        } else if let Some(label) = block {
            let known = ["sh", "network", "developer"].contains(&label);
            let command = line == "make" || line.starts_with("make ") || line.starts_with("ssnail ");
            assert!(known || !command, "{label:?}: {line}");
        }
    }
    assert_eq!(block, None);
}

/// These take minutes or a toolchain: that make knows them, and every command that the text mentions, is checked here.
#[test]
fn what_the_readme_mentions_exists() {
    let test = Test::new().file("foo.gguf", Tiny::llama().file());
    workshop(&test);
    let mut mentioned = commands("developer");
    mentioned.extend(commands_in_text());
    let (mut targets, mut subcommands) = (0, 0);
    for command in mentioned {
        let mut words = command.split_whitespace();
        match (words.next(), words.next()) {
            (Some("make"), Some(target)) => {
                let line = format!("make -n {target}");
                succeeds(&line, &shell(&test, &line, "http://127.0.0.1:9"));
                targets += 1;
            }
            (Some("ssnail"), Some(subcommand)) => {
                let line = format!("ssnail {subcommand} --help");
                succeeds(&line, &shell(&test, &line, "http://127.0.0.1:9"));
                subcommands += 1;
            }
            _ => {}
        }
    }
    assert!(targets > 6 && subcommands > 1, "{targets} {subcommands}");
}

#[test]
fn the_commands_of_the_readme_s_table_are_there() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let rows = readme.lines().skip_while(|line| *line != "| command | does |").skip(2);
    let cells = rows.map_while(|line| line.strip_prefix("| ")?.split(" | ").next());
    let named: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let help = Test::new().arg("--help").run().stdout();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed: BTreeSet<&str> = listed.map_while(|line| line.split_whitespace().next()).collect();
    assert!(named.len() > 10 && named.is_subset(&listed), "{named:?} {listed:?}");
}

/// The two digits behind `row_` or `weakness_` in the names of tests, `row_05_to_08` and `row_05_and_06` included.
fn numbers_in_test_names(prefix: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut folders = vec![Path::new(ROOT).join("host"), Path::new(ROOT).join("shared")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).unwrap();
                let names = source.lines().filter_map(|line| line.trim().strip_prefix("fn ")?.strip_prefix(prefix));
                found.extend(names.filter_map(|name| name.get(..2)?.parse::<u32>().ok()));
            }
        }
    }
    found
}

#[test]
fn every_known_fault_and_weakness_has_a_test_of_its_name() {
    let Some(data) = data() else { return };
    let read = |path: &str| fs::read_to_string(data.join("..").join(path)).unwrap_or_default();
    let (faults, specification) = (read("docs/field-faults.md"), read("spec/ssnail.md"));
    let rows: Vec<u32> =
        faults.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(' ')?.0.parse().ok()).collect();
    let section = specification.split("## 20. Weaknesses").nth(1).and_then(|rest| rest.split("\n## ").next());
    let list = section.unwrap_or_default();
    let weaknesses: Vec<u32> = list.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect();
    if rows.is_empty() || weaknesses.is_empty() {
        println!("skipped: the lists of faults and weaknesses are not there");
        return;
    }
    assert!(rows.len() > 35 && weaknesses.len() > 20, "{rows:?} {weaknesses:?}");
    for (prefix, numbers) in [("row_", rows), ("weakness_", weaknesses)] {
        let tested = numbers_in_test_names(prefix);
        let missing: Vec<u32> = numbers.into_iter().filter(|number| !tested.contains(number)).collect();
        assert_eq!(missing, [0; 0], "{prefix}NN");
    }
}
