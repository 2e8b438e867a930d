//! The demo program for the emulated MEGA65: built, and used with a card made on the fly.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use support::Test;

/// The demo, built once; `None` where no compiler for RISC-V can be had.
fn demo() -> Option<Vec<u8>> {
    static PROGRAM: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    PROGRAM.get_or_init(build).clone()
}

fn build() -> Option<Vec<u8>> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let built = Command::new("sh").arg(root.join("host/m65/demo/build.sh")).output().unwrap();
    let log = String::from_utf8_lossy(&built.stderr);
    if built.status.code() == Some(3) {
        println!("skipped: {}", log.trim());
        return None;
    }
    assert!(built.status.success(), "{log}");
    Some(fs::read(root.join("build/DEMO.PRG")).unwrap())
}

fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &b| (sum ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

/// What is typed: echo, directory, a file, one that is missing, and enough lines to scroll.
const SCRIPT: &str = "\
wait > 
type Hello, MEGA65!<RETURN>
wait Hello, MEGA65!
type dir<RETURN>
wait 4 entries
type load story.bin<RETURN>
wait attic RAM holds
type load none.bin<RETURN>
wait There is no such file on the card.
frames 110
";

#[test]
fn the_demo_shows_the_time_echoes_lists_and_loads() {
    let Some(program) = demo() else { return };
    let story: Vec<u8> = (0..20_000u32).map(|n| ((n * n) >> 7) as u8).collect();
    let card = Test::new()
        .file("DEMO.PRG", &program)
        .file("STORY.BIN", &story)
        .file("README.TXT", "hello from the card\n")
        .file("CONFIG.TXT", "font=a\n")
        .args(["card", "create", "card.img", "--size", "64M", "DEMO.PRG", "STORY.BIN", "README.TXT", "CONFIG.TXT"])
        .run();
    let folder = card.folder();
    let path = |name: &str| folder.join(name).display().to_string();
    let checksum = format!("20000 bytes, checksum {:08X}", fnv(&story));
    let same = "; attic RAM holds the same";
    for (model, options, where_to) in [
        ("R3", &[][..], "The accelerator is here: files go through its load port."),
        ("R6", &[], "The accelerator is here: files go through its load port."),
        ("R3", &["--no-accelerator"], "No accelerator: files go to attic RAM by DMA."),
    ] {
        let dump = format!("0x8000000:20000:{}", path("attic.bin"));
        let ran = Test::new()
            .file("script", SCRIPT)
            .args(["m65", &path("DEMO.PRG"), "--card", &path("card.img"), "--script", "script", "--model", model])
            .args(["--until", "no such file", "--frames", "1500", "--screenshot", &path("demo.png"), "--dump", &dump])
            .args(options)
            .stdout_contains(where_to)
            .stdout_contains("> Hello, MEGA65!\nHello, MEGA65!\n")
            .stdout_contains("DEMO     PRG")
            .stdout_contains("STORY    BIN     20000\n")
            .stdout_contains("SSNAIL          folder\n")
            .stdout_contains(format!("{checksum}{same}\n"))
            .stdout_contains("There is no such file on the card.\n>")
            .stdout_contains(" 2026-11-30 12:00:")
            .run();
        assert!(!options.is_empty() || ran.stderr().is_empty(), "{}", ran.stderr());
        assert_eq!(fs::read(folder.join("attic.bin")).unwrap(), story, "{model}");
    }
    if let Some(copy) = std::env::var_os("SSNAIL_DEMO_PICTURE") {
        fs::copy(folder.join("demo.png"), copy).unwrap();
    }
}

#[test]
fn the_demo_scrolls_and_ends() {
    let Some(program) = demo() else { return };
    let lines: String = (1..=60).map(|n| format!("line {n}<RETURN>")).collect();
    Test::new()
        .file("demo.prg", &program)
        .args(["m65", "demo.prg", "--type", &format!("{lines}<RUN/STOP>"), "--until", "Goodbye.", "--frames", "6000"])
        .stdout_contains("> line 59\nline 59\n> line 60\nline 60\n>\nGoodbye.\n")
        .run();
}
