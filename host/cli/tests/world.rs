//! Faults of the world around the command: full and read-only disks, files that shrink, signals, rivals, odd names, odd
//! environments. An output is whole or absent, nothing is left behind, and what went wrong is said in a sentence.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use support::{Test, ssnail};
use tempfile::TempDir;
use tiny::{DIM, Tiny};

/// Rows of a large embedding: its model has some 10 MB, more than the command reads ahead.
const ROWS: u32 = 40_000;

fn large() -> Vec<u8> {
    let mut model = Tiny::llama();
    model.random("token_embd.weight", &[DIM, ROWS], 0.0).random("output.weight", &[DIM, ROWS], 0.0);
    model.file()
}

/// A folder with this model as `m.gguf`.
fn folder_with(model: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.gguf"), model).unwrap();
    folder
}

fn convert(folder: &Path) -> Command {
    let mut command = Command::new(ssnail());
    command.args(["convert", "m.gguf", "-o", "m.ssnail", "--mem-mb", "64"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a script of the shell in name spaces of its own, where it may mount; `None` where that is not allowed here.
fn unshared(folder: &Path, script: &str) -> Option<Output> {
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c"])
        .arg(format!("mkdir -p here && {script}"))
        .env("SSNAIL", ssnail())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.code() != Some(77) && !text(&output.stderr).contains("unshare:") => Some(output),
        Ok(output) => {
            println!("skipped: nothing can be mounted here: {}", text(&output.stderr).trim());
            None
        }
        Err(error) => {
            println!("skipped: no unshare: {error}");
            None
        }
    }
}

#[test]
fn a_full_disk_leaves_nothing_and_is_an_error_of_the_machine() {
    let folder = folder_with(&Tiny::llama().file());
    let mount = "mount -t tmpfs -o size=32k none here || exit 77";
    let script = format!("{mount}; \"$SSNAIL\" convert m.gguf -o here/m.ssnail; echo status $?; ls -A here");
    let Some(output) = unshared(folder.path(), &script) else { return };
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(stdout, "status 2\n", "nothing is in the folder\n{stderr}");
    assert!(stderr.contains("cannot write") && stderr.contains("No space left"), "{stderr}");
}

#[test]
fn a_card_image_that_does_not_fit_its_disk_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.bin"), vec![7; 200_000]).unwrap();
    let mount = "mount -t tmpfs -o size=100k none here || exit 77";
    let script = format!("{mount}; \"$SSNAIL\" card create here/c.img --size 64M a.bin; echo status $?; ls -A here");
    let Some(output) = unshared(folder.path(), &script) else { return };
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(stdout, "status 2\n", "nothing is in the folder\n{stderr}");
    assert!(stderr.contains("here/c.img: ") && stderr.contains("No space left"), "{stderr}");
}

#[test]
fn a_disk_that_fills_up_keeps_the_old_image() {
    // A limit of the shell's: 40 blocks of 512 bytes; where the signal is ignored, a write fails.
    let folder = folder_with(&Tiny::llama().file());
    fs::write(folder.path().join("m.ssnail"), b"old").unwrap();
    let script = "trap '' XFSZ; ulimit -f 40; exec \"$SSNAIL\" convert m.gguf -o m.ssnail";
    let output = Command::new("sh")
        .args(["-c", script])
        .env("SSNAIL", ssnail())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("cannot write"), "{}", text(&output.stderr));
    assert_eq!(names(folder.path()), ["m.gguf", "m.ssnail"]);
    assert_eq!(fs::read(folder.path().join("m.ssnail")).unwrap(), b"old");
}

#[test]
fn a_read_only_folder_is_named() {
    let folder = folder_with(&Tiny::llama().file());
    let mount = "mount -t tmpfs -o ro none here || exit 77";
    let script = format!("{mount}; \"$SSNAIL\" convert m.gguf -o here/m.ssnail; echo status $?");
    let Some(output) = unshared(folder.path(), &script) else { return };
    let stderr = text(&output.stderr);
    assert_eq!(text(&output.stdout), "status 2\n", "{stderr}");
    assert!(stderr.contains("cannot write here/m.ssnail: Read-only file system"), "{stderr}");
}

#[test]
fn a_model_that_shrinks_while_it_is_read_ends_with_a_sentence() {
    let folder = folder_with(&large());
    let pipe = folder.path().join("m.ssnail");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let child = convert(folder.path()).spawn().unwrap();
    // Nobody reads on, so the command stands still with most of the model before it.
    let mut reader = fs::File::open(&pipe).unwrap();
    reader.read_exact(&mut [0; 1000]).unwrap();
    fs::File::options().write(true).open(folder.path().join("m.gguf")).unwrap().set_len(5000).unwrap();
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{:?}\n{stderr}", output.status);
    assert!(stderr.contains("a file became shorter while it was read"), "{stderr}");
    assert_eq!(names(folder.path()), ["m.gguf", "m.ssnail"]);
}

#[test]
fn an_image_that_is_cut_or_grows_between_two_looks_is_refused() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let path = test.path("m.ssnail");
    let whole = fs::read(&path).unwrap();
    for length in [0, 3, 255, 256, whole.len() - 1, whole.len() + 1] {
        let mut file = whole.clone();
        file.resize(length, 0);
        fs::write(&path, file).unwrap();
        let output = test.command().args(["run", "m.ssnail", "--tokens", "1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{length} bytes: {}", text(&output.stderr));
    }
}

/// What is left after a signal: the model, and an image only if it is whole.
fn whole_or_absent(folder: &Path, whole: &[u8], what: &str) -> bool {
    let names = names(folder);
    let there = names.iter().any(|n| n == "m.ssnail");
    let known = |n: &String| n == "m.gguf" || n == "m.ssnail";
    assert!(names.iter().all(known), "{what}: {names:?}");
    if there {
        assert!(fs::read(folder.join("m.ssnail")).unwrap() == whole, "{what}: half an image");
        fs::remove_file(folder.join("m.ssnail")).unwrap();
    }
    there
}

#[test]
fn a_signal_at_any_moment_of_a_conversion_leaves_a_whole_image_or_none() {
    let folder = folder_with(&large());
    assert!(convert(folder.path()).output().unwrap().status.success());
    let whole = fs::read(folder.path().join("m.ssnail")).unwrap();
    fs::remove_file(folder.path().join("m.ssnail")).unwrap();
    let mut finished = 0;
    for n in 0..40u64 {
        let signal = if n % 2 == 0 { Signal::SIGINT } else { Signal::SIGTERM };
        let mut child: Child = convert(folder.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(1500 * n));
        let _ = kill(Pid::from_raw(child.id() as i32), signal);
        let status = child.wait().unwrap();
        let there = whole_or_absent(folder.path(), &whole, &format!("{signal} after {} us: {status}", 1500 * n));
        finished += u32::from(there);
        assert!(!status.success() || there, "{signal}: success without an image");
    }
    println!("{finished} of 40 conversions were faster than their signal");
}

#[test]
fn rivals_for_one_output_leave_the_image_of_one_of_them() {
    let folder = folder_with(&Tiny::llama().file());
    let kinds: Vec<String> = (0..4).map(|n| format!("rival {n}")).collect();
    let of = |kind: &str| {
        let mut command = convert(folder.path());
        command.args(["--type", kind]);
        command
    };
    let wanted: Vec<Vec<u8>> = kinds
        .iter()
        .map(|kind| {
            assert!(of(kind).output().unwrap().status.success());
            fs::read(folder.path().join("m.ssnail")).unwrap()
        })
        .collect();
    for _ in 0..5 {
        let children: Vec<Child> = kinds.iter().map(|kind| of(kind).spawn().unwrap()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        let image = fs::read(folder.path().join("m.ssnail")).unwrap();
        assert!(wanted.contains(&image), "a mixture of images");
        assert_eq!(names(folder.path()), ["m.gguf", "m.ssnail"]);
    }
}

#[test]
fn names_with_blanks_and_bytes_that_are_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let name = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let (model, image) = (name(b"a b\xFF'\"$x.gguf"), name(b"-c \xFE\n;d.ssnail"));
    fs::write(folder.path().join(&model), Tiny::llama().file()).unwrap();
    let here = |file: &OsString| Path::new(".").join(file);
    let ssnail = |args: &[&str], file: &OsString| {
        let mut command = Command::new(ssnail());
        command.args(args).arg(here(file)).current_dir(folder.path()).stdin(Stdio::null());
        command
    };
    let output = ssnail(&["convert"], &model).arg("-o").arg(here(&image)).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (args, file) in [
        (&["info"][..], &model),
        (&["info"], &image),
        (&["disasm"], &image),
        (&["chat"], &image),
        (&["run", "--tokens", "1", "-n", "2"], &image),
    ] {
        let output = ssnail(args, file).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    }
    // A name that is not there is shown, with something for what is no text.
    let output = ssnail(&["info"], &name(b"gone\xFF")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("gone\u{FFFD}"), "{}", text(&output.stderr));
}

#[test]
fn neither_language_nor_home_matter() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let run = |environment: &[(&str, &str)], args: &[&str]| {
        let mut command = test.command();
        command.env_clear().envs(environment.iter().copied()).args(args).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{environment:?} {args:?}: {}", text(&output.stderr));
        (output.stdout, output.stderr)
    };
    for args in [
        &["info", "m.gguf"][..],
        &["info", "m.ssnail"],
        &["run", "m.ssnail", "--tokens", "1", "-n", "3"],
        &["convert", "m.gguf", "-o", "n.ssnail", "--mem-mb", "8.5"],
        &["chat", "m.ssnail", "--seed", "1"],
        &["--help"],
    ] {
        let plain = run(&[("HOME", "/nonexistent"), ("LC_ALL", "C")], args);
        for environment in [&[("LC_ALL", "de_DE.UTF-8"), ("LANG", "de_DE")][..], &[], &[("HOME", "")]] {
            let other = run(environment, args);
            let shown = |o: &(Vec<u8>, Vec<u8>)| format!("{}\n{}", text(&o.0), text(&o.1));
            assert_eq!(shown(&plain), shown(&other), "{environment:?} {args:?}");
        }
    }
}
