//! How much memory running a model takes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use support::Test;
use tiny::{DIM, Tiny};

/// Rows of the vocabulary: with them the image has about 50 MB.
const ROWS: u32 = 200_000;

#[test]
fn an_image_is_in_memory_once() {
    let mut model = Tiny::llama();
    model.put("token_embd.weight", &[DIM, ROWS], vec![0.5; (DIM * ROWS) as usize]);
    model.put("output.weight", &[DIM, ROWS], vec![0.25; (DIM * ROWS) as usize]);
    let test = Test::new().image("m", &model.file(), &["--mem-mb", "72", "--ctx", "8"]);
    let image = fs::metadata(test.path("m.ssnail")).unwrap().len();
    assert!(image > 50_000_000, "{image}");
    let test = test.args(["chat", "m.ssnail", "--threads", "1"]);
    let mut child = test.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It has loaded the image when it introduces itself.
    let mut line = String::new();
    // Its end of the pipe stays open: a program whose reader has gone away ends.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(child.stdin.take());
    drop(stdout);
    child.wait().unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = 1024 * peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
    println!("{peak} bytes for an image of {image}");
    assert!(peak >= image && peak < image * 3 / 2, "{peak} bytes at most for an image of {image}");
}
