//! `ssnail m65` as a user starts it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use ssnail_disk::block::{BlockDevice, FileDevice};
use ssnail_disk::d81::demo_disk;
use ssnail_disk::fat::{CardWriter, Fat32, FormatOptions, Layout, Stamp, lookup};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
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

/// Whatever a file is, the sentence names it and says where it belongs.
#[test]
fn what_is_something_else_is_told_where_it_belongs() {
    let mut card = vec![0; 1 << 20];
    card[510..512].copy_from_slice(&[0x55, 0xaa]);
    let cases: [(&[u8], &[&str]); 7] = [
        (b"", &["the file is empty"]),
        (b"SSNL and so on", &["this is a model", "ssnail card create CARD.img given", "ssnail chat given"]),
        (b"GGUF and so on", &["this is a GGUF model", "ssnail convert given"]),
        (b"SNPT and so on", &["computes without the core"]),
        (b"\x7fELF and so on", &["ssnail rv45 given"]),
        (&card, &["image of a card", "--card given"]),
        (&[0xff; 0x1_0003], &["too long for a program", "819200 bytes"]),
    ];
    for (content, sentences) in cases {
        let mut test = Test::new().file("given", content).args(["m65", "given", "--frames", "1"]).status(1);
        for sentence in ["given: "].iter().chain(sentences) {
            test = test.stderr_contains(*sentence);
        }
        test.run();
    }
    let folder = Test::new();
    fs::create_dir(folder.path("given")).unwrap();
    folder.args(["m65", "given"]).status(1).stderr_contains("given is a folder").run();
    Test::new().args(["m65", "given"]).status(2).stderr_contains("cannot read given: ").run();
}

/// 10 SYS 8205, and behind it a program that loads the file X of the card onto the screen, and stores the error
/// code at $0C00 if that fails.
const LOAD: &[u8] = &[
    0x01, 0x20, 0x0b, 0x20, 0x0a, 0x00, 0x9e, b'8', b'2', b'0', b'5', 0x00, 0x00, 0x00, // stub
    0xa9, b'X', 0x8d, 0x00, 0x16, 0xa9, 0x00, 0x8d, 0x01, 0x16, // the name
    0xa0, 0x16, 0xa9, 0x2e, 0x8d, 0x40, 0xd6, 0xb8, // setname
    0xa2, 0x00, 0xa0, 0x08, 0xa3, 0x00, 0xa9, 0x36, 0x8d, 0x40, 0xd6, 0xb8, // loadfile
    0xb0, 0x03, 0x8d, 0x00, 0x0c, 0x60,
];

/// A card with one file, and the sector where its data begins.
fn make_card(path: &Path) -> u32 {
    let options = FormatOptions { cluster_sectors: Some(1), ..FormatOptions::default() };
    let mut card = CardWriter::format(FileDevice::create_new(path, 72_000).unwrap(), &options).unwrap();
    card.add("/X", 5, Stamp::EPOCH, &mut &[8u8, 5, 12, 12, 15][..], Layout::Contiguous).unwrap();
    let mut device = card.finish().unwrap();
    let fat = Fat32::find(&mut device).unwrap();
    let first = lookup(&mut device, fat, "/X").unwrap().first_cluster;
    device.flush().unwrap();
    fat.cluster_lba(first).unwrap()
}

#[test]
fn a_program_loads_from_the_card() {
    let test = Test::new().file("load.prg", LOAD);
    make_card(&test.path("c.img"));
    test.args(["m65", "load.prg", "--card", "c.img", "--frames", "20"])
        .stdout_contains("HELLO")
        .stderr_contains("returned to BASIC")
        .run();
}

#[test]
fn a_faulty_card_or_none_is_told_to_the_program() {
    let test = Test::new().file("load.prg", LOAD);
    let sector = make_card(&test.path("c.img"));
    let ran = test
        .args(["m65", "load.prg", "--card", "c.img", "--frames", "20", "--dump", "0xC00:1:code"])
        .args(["--card-fault".to_owned(), format!("error:{sector}")])
        .run();
    assert_eq!(fs::read(ran.folder().join("code")).unwrap(), [0x20]);
    Test::new()
        .file("load.prg", LOAD)
        .args(["m65", "load.prg", "--card", "gone.img", "--frames", "1"])
        .status(2)
        .stderr_contains("gone.img")
        .run();
}

/// A MEGA65 without a card has its DOS all the same, and that says that there is no drive.
#[test]
fn a_card_that_is_not_there_is_missed() {
    let ran = Test::new()
        .file("load.prg", LOAD)
        .args(["m65", "load.prg", "--frames", "20", "--dump", "0xC00:1:code"])
        .stderr_contains("the program looked for an SD card, and none is in: --card CARD.img")
        .run();
    assert_eq!(fs::read(ran.folder().join("code")).unwrap(), [0x88]);
    assert!(!ran.stderr().contains("trap"), "{}", ran.stderr());
    let ran = Test::new().file("echo.prg", ECHO).args(["m65", "echo.prg", "--frames", "5"]).run();
    assert_eq!(ran.stderr(), "");
}

#[test]
fn what_is_no_card_is_refused() {
    let test = Test::new().file("load.prg", LOAD).file("given", [0x55; 4096]);
    fs::create_dir(test.path("folder")).unwrap();
    let test = test.args(["m65", "load.prg", "--frames", "1", "--card", "given"]).status(1);
    test.stderr_contains("given: sector 0 ends in [55, 55]").stderr_contains("ssnail card create").run();
    let test = Test::new().file("load.prg", LOAD).file("given", b"short");
    test.args(["m65", "load.prg", "--frames", "1", "--card", "given"]).status(1).stderr_contains("given: ").run();
    let test = Test::new().file("load.prg", LOAD);
    fs::create_dir(test.path("given")).unwrap();
    let test = test.args(["m65", "load.prg", "--frames", "1", "--card", "given"]).status(1);
    test.stderr_contains("given: it is a folder").run();
    // A partition whose file system is damaged.
    let test = Test::new().file("load.prg", LOAD);
    make_card(&test.path("given"));
    let mut image = fs::OpenOptions::new().read(true).write(true).open(test.path("given")).unwrap();
    let mut table = [0; 512];
    image.read_exact(&mut table).unwrap();
    let start = u32::from_le_bytes(table[0x1c6..0x1ca].try_into().unwrap());
    image.seek(SeekFrom::Start(u64::from(start) * 512 + 0x0b)).unwrap();
    image.write_all(&[0, 4]).unwrap();
    drop(image);
    let test = test.args(["m65", "load.prg", "--frames", "1", "--card", "given"]).status(1);
    test.stderr_contains("given: ").stderr_contains("bytes per sector at $0B").run();
}

#[test]
fn damaged_disks_are_named_with_what_is_wrong() {
    let sound = demo_disk(ECHO, &[], "readme", None).unwrap().disk.to_bytes();
    let directory = (39 * 40 + 3) * 256;
    let damage = |at: usize, bytes: &[u8]| {
        let mut image = sound.clone();
        image[at..at + bytes.len()].copy_from_slice(bytes);
        image
    };
    let cases: [(Vec<u8>, &str); 5] = [
        (sound[..400_000].to_vec(), "given.d81: 400000 bytes, expected 819200: this is no D81 image"),
        (vec![0; 819_200], "given.d81: there is no program (PRG) on this disk"),
        (damage(directory + 3, &[99, 0]), "given.d81: "),
        (damage(directory + 3, &[40, 60]), "given.d81: "),
        (vec![], "given.d81: the file is empty"),
    ];
    for (image, sentence) in cases {
        let test = Test::new().file("given.d81", image).args(["m65", "given.d81", "--frames", "1"]);
        test.status(1).stderr_contains(sentence).run();
    }
    // A disk is one under any name.
    let test = Test::new().file("given", &sound).args(["m65", "given", "--type", "hello", "--until", "HELLO"]);
    test.stdout_contains("HELLO\n").run();
}

#[test]
fn a_rom_of_the_wrong_length_is_refused() {
    let test = Test::new().file("echo.prg", ECHO).file("rom", [0; 1000]);
    let test = test.args(["m65", "echo.prg", "--rom", "rom", "--frames", "1"]).status(1);
    test.stderr_contains("rom: 1000 bytes, and a ROM of the MEGA65 has 131072").run();
}

#[test]
fn the_program_of_a_disk_is_started() {
    let disk = demo_disk(ECHO, &[], "readme", None).unwrap().disk.to_bytes();
    Test::new()
        .file("x.d81", disk)
        .args(["m65", "x.d81", "--type", "hello", "--until", "HELLO", "--frames", "100"])
        .stdout_contains("HELLO\n")
        .run();
}
