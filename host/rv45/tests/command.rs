//! The `rv45` command as it is started: what it says, and that its outputs are whole or as they were.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "start: LDA #$12\n    RTS\n";

fn rv45(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rv45")).current_dir(folder).args(args).output().unwrap()
}

/// Standard error of a run that has to fail with status 2.
fn complaint(folder: &Path, args: &[&str]) -> String {
    let output = rv45(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("no.elf"), "This is no ELF file, but long enough to have been one: fifty-two bytes.").unwrap();
    fs::write(at.join("x.s"), SOURCE).unwrap();
    fs::write(at.join("bad.s"), "start: LDA #$12\n    FLY\n").unwrap();
    fs::create_dir(at.join("folder")).unwrap();
    let cases: [(&[&str], &[&str]); 9] = [
        (&[], &["no input", "usage: rv45 ELF -o X.PRG"]),
        (&["gone.elf", "-o", "X"], &["gone.elf: "]),
        (&["no.elf", "-o", "X"], &["no.elf: not a 32-bit little-endian RISC-V ELF"]),
        (&["folder", "-o", "X"], &["folder: "]),
        (&["-o"], &["-o needs a value"]),
        (&["no.elf", "x.s"], &["more than one input"]),
        (&["--block", "G000", "-o", "X", "x.s"], &["G000: no hex number"]),
        (&["--block", "E000", "-o", "X", "bad.s"], &["line 2", "FLY"]),
        (&["--block", "E000", "-o", "gone/X", "x.s"], &["cannot write gone/X: "]),
    ];
    for (args, wanted) in cases {
        let said = complaint(at, args);
        for text in wanted {
            assert!(said.contains(text), "{args:?}: {said}");
        }
    }
    assert_eq!(fs::read_dir(at).unwrap().count(), 4, "nothing is left behind");
    let help = rv45(at, &["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8(help.stdout).unwrap().starts_with("rv45 ELF -o X.PRG"));
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("x.s"), SOURCE).unwrap();
    fs::create_dir(at.join("far")).unwrap();
    fs::write(at.join("far/block.bin"), "old").unwrap();
    std::os::unix::fs::symlink("far/block.bin", at.join("link")).unwrap();
    let output = rv45(at, &["--block", "FF00", "-o", "link", "x.s"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::symlink_metadata(at.join("link")).unwrap().is_symlink());
    let block = fs::read(at.join("far/block.bin")).unwrap();
    assert_eq!((block.len(), &block[..3]), (256, &[0xa9, 0x12, 0x60][..]));
    assert_eq!(fs::read_dir(at).unwrap().count(), 3);
    assert_eq!(fs::read_dir(at.join("far")).unwrap().count(), 1);
}

/// A disk that is full: whatever was there stays.
#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_and_its_error_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.s"), SOURCE).unwrap();
    let said = complaint(folder.path(), &["--block", "FF00", "-o", "/dev/full", "x.s"]);
    assert!(said.contains("cannot write /dev/full: "), "{said}");
    assert!(rv45(folder.path(), &["--block", "FF00", "-o", "/dev/null", "x.s"]).status.success());
}
