//! What has no end, and what there is too little of: inputs that go on for ever, memory, threads, the length of a file.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::thread;
use support::{Test, ssnail};
use tiny::{DIM, Tiny};

fn story() -> Test {
    Test::new().image("m", &Tiny::llama().file(), &[])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The files of the folder; what is left over is seen here.
fn names(test: &Test) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(test.path("")).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs with a standard input that begins like this and goes on with one byte for ever; gives back what was taken.
fn endless(test: &Test, args: &[&str], start: &[u8], byte: u8) -> (Output, usize) {
    let mut command = test.command();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let start = start.to_vec();
    let feeder = thread::spawn(move || {
        let (block, mut taken) = (vec![byte; 64 << 10], start.len());
        let mut more = stdin.write_all(&start).is_ok();
        while more {
            more = stdin.write_all(&block).is_ok();
            taken += block.len();
        }
        taken
    });
    let output = child.wait_with_output().unwrap();
    (output, feeder.join().unwrap())
}

#[test]
fn an_input_without_an_end_is_refused_as_soon_as_it_can_be_told() {
    const SOON: usize = 4 << 20;
    const WHOLE: usize = 160 << 20;
    let test = story();
    let image = fs::read(test.path("m.ssnail")).unwrap();
    for (args, start, status, sentence, most) in [
        (&["info", "-"][..], &b""[..], 1, "standard input: header, byte 0", SOON),
        (&["info", "-"], b"GGUF\x03\0\0\0", 1, "standard input: ", SOON),
        (&["convert", "-", "-o", "x"], b"", 1, "standard input: header, byte 0", SOON),
        (&["tokenize", "-", "hi"], b"", 1, "standard input: header, byte 0", SOON),
        (&["disasm", "-"], b"", 1, "standard input: header field magic", SOON),
        (&["run", "-", "--tokens", "1"], b"", 1, "standard input: header field magic", SOON),
        (&["chat", "m.ssnail", "-n", "1"], b"", 1, "standard input: a line goes on after", SOON),
        (&["run", "-", "--tokens", "1"], &image, 2, "standard input: it goes on after 129 MB", WHOLE),
        (&["disk", "list", "-"], b"", 2, "standard input: it goes on after 129 MB", WHOLE),
        (&["run", "m.ssnail", "--prompt", "-"], b"", 2, "standard input: it goes on after 129 MB", WHOLE),
    ] {
        let (output, taken) = endless(&test, args, start, b'a');
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {stderr}");
        assert!(stderr.contains(sentence), "{args:?}: {stderr}");
        assert!(taken <= most, "{args:?}: {taken} bytes were taken");
    }
    assert_eq!(names(&test), ["m.gguf", "m.ssnail"]);
}

#[test]
fn a_model_from_a_stream_that_goes_on_behind_it_is_read_to_its_end() {
    let test = story();
    let model = fs::read(test.path("m.gguf")).unwrap();
    let (output, taken) = endless(&test, &["convert", "-", "-o", "n.ssnail"], &model, 0);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("bytes behind the last tensor are ignored"), "{}", text(&output.stderr));
    assert!(taken <= model.len() + (4 << 20), "{taken} bytes were taken");
    assert_eq!(fs::read(test.path("n.ssnail")).unwrap(), fs::read(test.path("m.ssnail")).unwrap());
}

#[test]
fn a_named_pipe_is_read_like_the_file_behind_it() {
    let test = story();
    let pipe = test.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for args in [
        &["info", "m.gguf"][..],
        &["info", "m.ssnail"],
        &["disasm", "m.ssnail"],
        &["tokenize", "m.gguf", "abc"],
        &["tokenize", "m.ssnail", "abc"],
        &["run", "m.ssnail", "--tokens", "1", "-n", "2"],
    ] {
        let expected = test.command().args(args).stdin(Stdio::null()).output().unwrap();
        assert!(expected.status.success(), "{args:?}: {}", text(&expected.stderr));
        let bytes = fs::read(test.path(args[1])).unwrap();
        let (target, whole) = (pipe.clone(), bytes.clone());
        let writer = thread::spawn(move || fs::write(target, whole));
        let mut piped = args.to_vec();
        piped[1] = "pipe";
        let output = test.command().args(&piped).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), text(&expected.stdout), "{args:?}");
        writer.join().unwrap().unwrap();
    }
}

/// Runs with limits of the shell's.
fn limited(test: &Test, limits: &str, args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits}; exec \"$SSNAIL\" \"$@\""), "sh"]).args(args);
    command.env("SSNAIL", ssnail()).current_dir(test.path("")).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_file_that_may_not_become_longer_is_an_error_with_a_sentence() {
    let test = story();
    for args in [
        &["convert", "m.gguf", "-o", "x"][..],
        &["disk", "create", "x", "m.ssnail"],
        &["card", "create", "x", "--size", "64M", "m.ssnail"],
    ] {
        // 20 blocks of 512 bytes. Nobody ignores the signal beforehand.
        let output = limited(&test, "ulimit -f 20", args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {:?} {stderr}", output.status);
        assert!(stderr.contains("cannot write x"), "{args:?}: {stderr}");
        assert_eq!(names(&test), ["m.gguf", "m.ssnail"], "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_cannot_be_had_ends_with_a_sentence_and_nothing_left() {
    let mut model = Tiny::llama();
    model.random("token_embd.weight", &[DIM, 40_000], 0.0).random("output.weight", &[DIM, 40_000], 0.0);
    let test = Test::new().image("m", &model.file(), &["--mem-mb", "64"]);
    let limited = |megabytes: u32, args: &[&str]| limited(&test, &format!("ulimit -v {}", megabytes << 10), args);
    let least = (20..2000).step_by(5).find(|&mb| limited(mb, &["--version"]).status.success()).unwrap();
    for args in [
        &["run", "m.ssnail", "--tokens", "1", "-n", "1"][..],
        &["convert", "m.gguf", "-o", "x", "--mem-mb", "64", "--wtype", "q8_0"],
        &["tokenize", "m.ssnail", "--file", "m.gguf"],
    ] {
        for megabytes in (least..least + 60).step_by(6) {
            let output = limited(megabytes, args);
            let stderr = text(&output.stderr);
            let what = format!("{args:?} with {megabytes} MB: {:?} {stderr}", output.status);
            assert!(output.status.code().is_some_and(|code| code <= 2), "{what}");
            assert!(!stderr.contains("panicked"), "{what}");
            let _ = fs::remove_file(test.path("x"));
            assert_eq!(names(&test), ["m.gguf", "m.ssnail"], "{what}");
        }
    }
}

/// So much stack for each thread that the system gives none.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "70368744177664");

#[cfg(target_pointer_width = "64")]
#[test]
fn without_a_thread_to_be_had_the_work_is_done_by_one() {
    let test = story();
    for args in [
        &["convert", "m.gguf", "-o", "n.ssnail"][..],
        // To a pipe the weights are checked before.
        &["convert", "m.gguf", "-o", "-"],
        &["run", "m.ssnail", "--tokens", "1", "-n", "3", "--threads", "4"],
        &["chat", "m.ssnail", "--prompt", "a", "--temp", "0"],
    ] {
        let expected = test.command().args(args).stdin(Stdio::null()).output().unwrap();
        let output = test.command().args(args).env(NO_THREADS.0, NO_THREADS.1).stdin(Stdio::null()).output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
        assert_eq!(text(&output.stdout), text(&expected.stdout), "{args:?}");
    }
    assert_eq!(fs::read(test.path("n.ssnail")).unwrap(), fs::read(test.path("m.ssnail")).unwrap());
}

#[test]
fn names_out_of_files_cannot_command_a_terminal() {
    let mut model = Tiny::llama();
    model.set("general.name", "x\u{1b}]0;owned\u{7}\u{9b}31m");
    model.set("a\u{1b}[2J.b", 1);
    let test = Test::new().file("m.gguf", model.file());
    for args in [&["info", "m.gguf"][..], &["convert", "m.gguf", "-o", "m.ssnail"]] {
        let output = test.command().args(args).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{args:?}: {shown:?}");
    }
    // A name of the command line as well, in a message.
    let output = test.command().args(["info", "gone\u{1b}[2J"]).output().unwrap();
    assert!(!output.stderr.contains(&0x1b));
}
