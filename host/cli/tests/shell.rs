//! How the command behaves towards the shell, whatever the subcommand.
#![allow(clippy::unwrap_used)]

mod support;
use support::Test;

#[test]
fn help_goes_to_standard_output_and_ends_with_status_0() {
    Test::new().arg("--help").status(0).stdout_contains("ssnail COMMAND --help").stderr("").run();
}

#[test]
fn the_help_of_every_command_teaches_by_examples() {
    let ran = Test::new().arg("--help").run();
    let list = ran.stdout();
    let commands: Vec<&str> = list
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.contains(&"convert") && commands.len() > 10, "{list}");
    for command in commands {
        Test::new().args([command, "--help"]).stdout_contains(format!("\n  ssnail {command} ")).run();
    }
}

#[test]
fn a_wrong_option_ends_with_status_2() {
    Test::new().arg("--frobnicate").status(2).stderr_contains("--frobnicate").stdout("").run();
}

#[test]
fn no_command_shows_the_help_with_status_2() {
    Test::new().status(2).stderr_contains("Usage: ssnail").run();
}

#[test]
fn a_closed_pipe_ends_quietly() {
    use std::process::{Command, Stdio};
    // The reader goes away before the first byte is written.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(support::ssnail())
        .args(["completions", "bash"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    use std::process::{Command, Stdio};
    for args in [&["completions", "bash"][..], &["--help"], &["--version"], &["disk", "create", "--help"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(support::ssnail()).args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("No space left"), "{args:?}: {stderr}");
    }
}
