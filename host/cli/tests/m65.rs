//! `ssnail m65` as a user starts it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;
use support::Test;

/// 10 SYS 8205, and behind it a program that echoes keys at the top of the screen until RETURN.
const ECHO: &[u8] = &[
    0x01, 0x20, 0x0b, 0x20, 0x0a, 0x00, 0x9e, b'8', b'2', b'0', b'5', 0x00, 0x00, 0x00, 0xa2, 0x00, 0xad, 0x10, 0xd6,
    0xf0, 0xfb, 0x8d, 0x10, 0xd6, 0xc9, 0x0d, 0xf0, 0x0b, 0xc9, 0x60, 0x90, 0x02, 0xe9, 0x60, 0x9d, 0x00, 0x08, 0xe8,
    0x80, 0xe8, 0x60,
];

#[test]
fn types_waits_and_prints_the_screen() {
    Test::new()
        .file("echo.prg", ECHO)
        .args(["m65", "echo.prg", "--type", "hello", "--until", "HELLO", "--frames", "100"])
        .stdout_contains("HELLO\n")
        .run();
}

#[test]
fn text_that_does_not_come_is_exit_code_1() {
    Test::new()
        .file("echo.prg", ECHO)
        .args(["m65", "echo.prg", "--until", "HELLO", "--frames", "5"])
        .status(1)
        .stderr_contains("`HELLO` did not come within 5 frames")
        .run();
}

#[test]
fn a_script_takes_turns_with_the_program() {
    Test::new()
        .file("echo.prg", ECHO)
        .file("steps", b"# two words\ntype abc\nwait ABC\nframes 3\ntype d<RETURN>\n")
        .args(["m65", "echo.prg", "--script", "steps", "--frames", "40"])
        .stdout_contains("ABCD\n")
        .stderr_contains("returned to BASIC")
        .run();
}

#[test]
fn memory_goes_in_and_out_and_the_picture_is_written() {
    let ran = Test::new()
        .file("echo.prg", ECHO)
        .file("data", b"0123456789")
        .args(["m65", "echo.prg", "--frames", "1", "--preload", "0x8123456:data"])
        .args(["--dump", "0x8123458:4:part", "--screenshot", "s.png"])
        .run();
    assert_eq!(fs::read(ran.folder().join("part")).unwrap(), b"2345");
    assert_eq!(fs::read(ran.folder().join("s.png")).unwrap()[1..4], *b"PNG");
}

#[test]
fn a_range_that_is_no_memory_is_refused() {
    Test::new()
        .file("echo.prg", ECHO)
        .args(["m65", "echo.prg", "--frames", "1", "--dump", "0x87FFFFF:2:x"])
        .status(1)
        .stderr_contains("$87FFFFF (+2) is not wholly memory")
        .run();
}

#[test]
fn what_is_no_program_is_refused() {
    for (content, message) in [(&[1u8][..], "two-byte load address"), (&[1, 0x20, 0, 0], "no SYS line")] {
        Test::new()
            .file("x.prg", content)
            .args(["m65", "x.prg", "--frames", "1"])
            .status(1)
            .stderr_contains(message)
            .run();
    }
}
