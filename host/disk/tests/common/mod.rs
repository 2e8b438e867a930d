//! What the tests of cards and disks share.
#![allow(dead_code, clippy::unwrap_used)]

use ssnail_disk::block::{BlockDevice, DeviceError, FileDevice, MemDevice};
use ssnail_disk::fat::{CardWriter, Entry, Fat32, FormatOptions, Layout, Stamp, read_file, walk};
use std::path::Path;
use std::process::Command;

/// Sectors of a card of so many megabytes.
pub const fn megabytes(n: u32) -> u32 {
    n * 2048
}

/// An external program, or `None` with the reason printed.
pub fn tool(name: &str) -> Option<Command> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|d| d.join(name))
        .find(|p| p.is_file());
    if found.is_none() {
        println!("skipped: {name} is not installed");
    }
    found.map(|p| {
        let mut c = Command::new(p);
        c.env("LC_ALL", "C.UTF-8").env("MTOOLS_SKIP_CHECK", "0");
        c
    })
}

/// Runs a program and returns its output; fails the test when it fails.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let out = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?} failed:\n{text}");
    text
}

/// Bytes that differ from file to file and have no period of a sector or cluster.
pub fn content(seed: u64, bytes: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..bytes)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x.to_le_bytes()[3]
        })
        .collect()
}

/// A card whose partition is a file of its own, as fsck.vfat wants it; sector 0 to 2047 stay in memory.
pub struct SplitCard {
    head: MemDevice,
    partition: FileDevice,
}

impl SplitCard {
    pub const HEAD: u32 = 2048;

    pub fn create(path: &Path, sectors: u32) -> Self {
        let partition = FileDevice::create_new(path, sectors - Self::HEAD).unwrap();
        Self { head: MemDevice::new(Self::HEAD), partition }
    }
}

impl BlockDevice for SplitCard {
    fn sectors(&self) -> u32 {
        Self::HEAD + self.partition.sectors()
    }
    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        match lba.checked_sub(Self::HEAD) {
            None => self.head.read(lba, buf),
            Some(lba) => self.partition.read(lba, buf),
        }
    }
    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        match lba.checked_sub(Self::HEAD) {
            None => self.head.write(lba, buf),
            Some(lba) => self.partition.write(lba, buf),
        }
    }
}

/// A blank card in memory.
pub fn card(mb: u32, cluster_sectors: Option<u32>) -> CardWriter<MemDevice> {
    let options = FormatOptions { cluster_sectors, label: "SSNAIL".into(), serial: 0x1234_5678, stamp: None };
    CardWriter::format(MemDevice::new(megabytes(mb)), &options).unwrap()
}

/// Adds a file and returns nothing but success.
#[track_caller]
pub fn put<D: BlockDevice>(w: &mut CardWriter<D>, path: &str, data: &[u8], layout: Layout) {
    w.add(path, data.len() as u64, Stamp::new(2026, 11, 30, 1, 2, 4), &mut &data[..], layout).unwrap();
}

/// Path, entry and content of every file.
pub fn files(dev: &mut impl BlockDevice) -> Vec<(String, Entry, Vec<u8>)> {
    let fat = Fat32::find(dev).unwrap();
    let mut all = Vec::new();
    walk(dev, fat, &mut |path, entry| {
        all.push((path.to_owned(), entry.clone()));
        Ok(())
    })
    .unwrap();
    all.into_iter()
        .filter(|(_, e)| e.is_file())
        .map(|(path, e)| {
            let data = read_file(dev, fat, &e).unwrap();
            (path, e, data)
        })
        .collect()
}
