//! A thousand conversions in a row, from file to file, take no more memory and no more open files than the first ones.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Tiny;
use ssnail_convert::{Options, plan};
use ssnail_gguf::Gguf;
use std::fs::{self, File};
use std::io::BufWriter;

/// Kilobytes in memory, and open files.
fn usage() -> (u64, usize) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    let kilobytes = line.trim().trim_end_matches(" kB").parse().unwrap();
    (kilobytes, fs::read_dir("/proc/self/fd").unwrap().count())
}

#[test]
fn a_thousand_conversions_do_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("m.gguf"), folder.path().join("m.ssnail"));
    fs::write(&from, Tiny::llama().file()).unwrap();
    let mut first = (0, 0);
    for n in 0..1000 {
        let gguf = Gguf::open(&from).unwrap();
        let plan = plan(&gguf, &Options::default()).unwrap();
        plan.write(&mut BufWriter::new(File::create(&to).unwrap()), &mut |_, _| {}).unwrap();
        if n == 300 {
            first = usage();
        }
    }
    let last = usage();
    println!("after 300 and after 1000: {first:?} and {last:?} kilobytes and open files");
    assert_eq!(first.1, last.1, "open files");
    // An image has 150 KB: 700 leaked ones would be 100 MB.
    assert!(last.0 < first.0 + 8000, "{first:?} {last:?}");
}
