//! The same input gives the same bytes, in whatever folder and however often.
#![allow(clippy::unwrap_used)]

mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use std::fs::{self, File};
use std::time::{Duration, SystemTime};
use support::{Test, ssnail};
use tiny::Tiny;

/// Runs commands in a folder of its own and gives what they made.
fn made(inner: &str) -> Vec<(&'static str, Vec<u8>)> {
    let test = Test::new();
    let folder = test.path(inner);
    fs::create_dir_all(&folder).unwrap();
    let models = [("l", Tiny::llama()), ("g", Tiny::gpt2()), ("b", Tiny::bert())];
    for (name, model) in &models {
        fs::write(folder.join(format!("{name}.gguf")), model.file()).unwrap();
    }
    fs::write(folder.join("p.prg"), b"\x01\x20program").unwrap();
    fs::write(folder.join("r.txt"), b"Read me.\n").unwrap();
    // A card keeps the times of its files.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let run = |line: &str| {
        let output = std::process::Command::new(ssnail()).args(line.split(' ')).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    for (name, _) in &models {
        run(&format!("convert {name}.gguf -o {name}.ssn --wtype q8_0"));
        File::options().write(true).open(folder.join(format!("{name}.ssn"))).unwrap().set_modified(time).unwrap();
    }
    run("disk demo d.d81 --prg p.prg --model l.ssn --readme r.txt");
    run("card create c.img --size 64M l.ssn=/SSNAIL/L.SSN g.ssn b.ssn");
    ["l.ssn", "g.ssn", "b.ssn", "d.d81", "c.img"].map(|name| (name, fs::read(folder.join(name)).unwrap())).into()
}

#[test]
fn images_disks_and_cards_are_the_same_twice_in_two_folders() {
    for ((name, first), (_, second)) in made("a").iter().zip(&made("another folder/of some depth")) {
        assert!(first == second, "{name} differs");
    }
}
