//! `ssnail disk` and `ssnail card`.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use support::Test;

fn model(bytes: usize) -> Vec<u8> {
    let mut data = b"SSNL".to_vec();
    data.extend((0..bytes).map(|i| (i * 7 / 3) as u8));
    data
}

#[test]
fn a_disk_is_made_listed_changed_and_extracted() {
    let ran = Test::new()
        .file("ssnail.prg", b"\x01\x20abc")
        .file("Read Me.txt", "hello")
        .args(["disk", "create", "out.d81", "--name", "my disk", "ssnail.prg", "Read Me.txt=readme,seq", "=--------"])
        .run();
    let image = fs::read(ran.folder().join("out.d81")).unwrap();
    assert_eq!(image.len(), 819_200);
    let list = "\
0     \"MY DISK         \" SN
1     \"SSNAIL\"           PRG
1     \"README\"           SEQ
0     \"--------\"         DEL
3158 blocks free.
";
    Test::new().file("d.d81", &image).args(["disk", "list", "d.d81"]).stdout(list).run();
    Test::new().args(["disk", "list", "-"]).stdin(image.clone()).stdout(list).run();
    Test::new()
        .file("d.d81", &image)
        .args(["disk", "check", "d.d81"])
        .stdout("2 files, 3158 blocks free; 0 errors, 0 warnings\n")
        .run();
    Test::new().file("d.d81", &image).args(["disk", "extract", "d.d81", "readme", "-o", "-"]).stdout("hello").run();
    let ran = Test::new().file("d.d81", &image).args(["disk", "extract", "d.d81", "-o", "x"]).run();
    assert_eq!(fs::read(ran.folder().join("x/SSNAIL.prg")).unwrap(), b"\x01\x20abc");
    assert_eq!(fs::read(ran.folder().join("x/README.seq")).unwrap(), b"hello");
    let ran = Test::new()
        .file("d.d81", &image)
        .file("story.ssnail", model(1000))
        .args(["disk", "add", "d.d81", "story.ssnail"])
        .run();
    let image = fs::read(ran.folder().join("d.d81")).unwrap();
    let ran = Test::new().file("d.d81", &image).args(["disk", "remove", "d.d81", "ssnail"]).run();
    let image = fs::read(ran.folder().join("d.d81")).unwrap();
    Test::new()
        .file("d.d81", &image)
        .args(["disk", "list", "d.d81"])
        .stdout_contains("4     \"STORY.SSN\"        SEQ")
        .stdout_contains("3155 blocks free")
        .run();
}

#[test]
fn a_model_too_large_for_a_disk_is_refused_with_where_to_put_it() {
    Test::new()
        .file("big.ssnail", model(802_640))
        .args(["disk", "create", "out.d81", "big.ssnail"])
        .status(1)
        .stdout("")
        .stderr_contains("big.ssnail")
        .stderr_contains("802640")
        .stderr_contains("/SSNAIL on the SD card")
        .run();
    Test::new().file("fits.ssnail", model(802_636)).args(["disk", "create", "out.d81", "fits.ssnail"]).run();
}

#[test]
fn a_card_is_made_listed_extended_and_extracted() {
    let ran = Test::new()
        .file("a long name.ssnail", model(100_000))
        .file("config.txt", "ALONGNAM.SSN\n")
        .file("x.prg", "prg")
        .args(["card", "create", "out.img", "--size", "64M", "a long name.ssnail", "config.txt", "x.prg=/TOOLS/X.PRG"])
        .stderr_contains("/SSNAIL/a long name.ssnail as ALONGNAM.SSN")
        .run();
    let card = ran.folder().join("out.img");
    assert_eq!(fs::metadata(&card).unwrap().len(), 64 << 20);
    Test::new()
        .args(["card", "list"])
        .arg(&card)
        .stdout_contains("ALONGNAM.SSN  /SSNAIL/a long name.ssnail")
        .stdout_contains("X.PRG         /TOOLS/X.PRG")
        .stdout_contains("3 files, 100020 bytes")
        .run();
    Test::new().file("y", "yy").args(["card", "add"]).arg(&card).arg("y=/TOOLS/Y.TXT").run();
    Test::new()
        .args(["card", "check"])
        .arg(&card)
        .stdout_contains("4 files, 2 folders")
        .stdout_contains("; 0 errors, 0 warnings")
        .run();
    let again = Test::new().args(["card", "extract"]).arg(&card).args(["-o", "all"]).run();
    assert_eq!(fs::read(again.folder().join("all/SSNAIL/a long name.ssnail")).unwrap(), model(100_000));
    assert_eq!(fs::read(again.folder().join("all/TOOLS/Y.TXT")).unwrap(), b"yy");
    let tools = Test::new().args(["card", "extract"]).arg(&card).args(["tools", "-o", "t"]).run();
    assert_eq!(fs::read_dir(tools.folder().join("t/TOOLS")).unwrap().count(), 2);
    Test::new()
        .args(["card", "extract"])
        .arg(&card)
        .args(["/ssnail/config.txt", "-o", "-"])
        .stdout("ALONGNAM.SSN\n")
        .run();
    let before = fs::read(&card).unwrap();
    Test::new()
        .file("y", "other")
        .file("z", "zz")
        .args(["card", "add"])
        .arg(&card)
        .args(["z", "y=/TOOLS/Y.TXT"])
        .status(1)
        .stderr_contains("/TOOLS/Y.TXT is already on the card")
        .run();
    // Data may stand in clusters that are free; what the card shows is the same.
    Test::new().args(["card", "list"]).arg(&card).stdout_contains("4 files").run();
    assert!(fs::read(&card).unwrap()[..1 << 20] == before[..1 << 20]);
}

#[test]
fn damage_is_reported_with_exit_code_1_and_not_added_to() {
    let ran = Test::new().file("a", "x").args(["card", "create", "c.img", "--size", "64M", "a"]).run();
    let mut card = fs::read(ran.folder().join("c.img")).unwrap();
    // The second FAT's first sector: reserved sectors and the size of a FAT are in the boot sector.
    let word = |at: usize| u32::from_le_bytes(card[(1 << 20) + at..(1 << 20) + at + 4].try_into().unwrap());
    let second = (2048 + (word(0x0E) & 0xFFFF) + word(0x24)) as usize * 512;
    card[second + 400] ^= 1;
    let test = || Test::new().file("c.img", &card).file("b", "y");
    test().args(["card", "check", "c.img"]).status(1).stdout_contains("error: the two FATs differ").run();
    test().args(["card", "add", "c.img", "b"]).status(1).stderr_contains("nothing is added").run();

    let ran = Test::new().file("a", "x").args(["disk", "create", "d.d81", "a"]).run();
    let mut disk = fs::read(ran.folder().join("d.d81")).unwrap();
    disk[(39 * 40 + 1) * 256 + 16] = 3;
    let test = || Test::new().file("d.d81", &disk).file("b", "y");
    test().args(["disk", "check", "d.d81"]).status(1).stdout_contains("error: the map counts 3 free").run();
    test().args(["disk", "add", "d.d81", "b"]).status(1).stderr_contains("not changed").run();
}

#[test]
fn existing_files_are_kept_unless_told_otherwise() {
    for args in [["disk", "create", "out.d81"], ["card", "create", "out.d81"]] {
        let test = || Test::new().file("out.d81", "precious").args(args);
        test().status(1).stderr_contains("--force").run();
        let ran = test().arg("--force").run();
        assert!(fs::metadata(ran.folder().join("out.d81")).unwrap().len() > 100);
    }
}

#[test]
fn wrong_usage_and_missing_files_are_exit_code_2() {
    Test::new().args(["card", "create", "x.img", "--size", "1T"]).status(2).stderr_contains("for example 512M").run();
    Test::new().args(["card", "create", "x.img", "--size", "63M"]).status(2).stderr_contains("64M to 32G").run();
    Test::new().args(["card", "list", "none.img"]).status(2).stderr_contains("none.img").run();
    Test::new().args(["disk", "create", "x.d81", "none"]).status(2).stderr_contains("none").run();
    Test::new().file("a", "").args(["disk", "create", "x.d81", "a=b:c"]).status(2).stderr_contains("':'").run();
    Test::new().file("x.img", "no card").args(["card", "list", "x.img"]).status(1).stderr_contains("x.img").run();
    Test::new().file("x.d81", "no disk").args(["disk", "list", "x.d81"]).status(1).stderr_contains("819200").run();
}

#[test]
fn models_are_installed_into_a_folder_and_a_gguf_is_not() {
    let ran = Test::new()
        .file("story.ssnail", model(5000))
        .args(["card", "install", ".", "story.ssnail"])
        .stderr_contains("copied and read back")
        .run();
    assert_eq!(fs::read(ran.folder().join("SSNAIL/STORY.SSN")).unwrap(), model(5000));
    Test::new()
        .file("story.gguf", "GGUF....")
        .args(["card", "install", ".", "story.gguf"])
        .status(1)
        .stderr_contains("convert it first")
        .run();
}
