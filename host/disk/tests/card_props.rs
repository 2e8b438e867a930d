//! Properties of cards: any files, any damage.
#![allow(clippy::unwrap_used)]

mod common;

use common::{card, content, files, put};
use proptest::prelude::*;
use ssnail_disk::block::{BlockDevice, FaultDevice, MemDevice};
use ssnail_disk::fat::{
    CardWriter, Chain, ChainFault, Fat32, FatError, Layout, Runs, Stamp, card_name_from_host, check, copy_file,
    dir_entries, lookup, upper, walk,
};
use std::collections::HashSet;

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![3 => Just(Layout::Contiguous), 1 => (1u32..6).prop_map(Layout::Scattered)]
}

/// Sizes around the borders of sectors and clusters, and others.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        Just(0usize),
        (1usize..40, -1isize..=1).prop_map(|(n, d)| (n * 512).checked_add_signed(d).unwrap()),
        0usize..60_000
    ]
}

fn host_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}\\.(ssn|prg|d81|txt)",
        "[a-zA-Z0-9 ._+-]{1,40}",
        any::<String>(),
        "[äöüß日本語Ж\\PC]{1,30}\\.ssnail",
        "[a-c]{1,3}(\"|,|:|\\*|\\?)[a-c]{0,3}\\.ssnail",
        "x{200,300}\\.ssnail",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(
        cluster in prop_oneof![Just(1u32), Just(2)],
        plan in prop::collection::vec((host_name(), 0usize..4, size(), layout()), 0..40),
        reopen in any::<bool>(),
    ) {
        let mut w = card(128, Some(cluster));
        let mut expected: Vec<(String, Vec<u8>, Layout)> = Vec::new();
        for (i, (host, folder, bytes, layout)) in plan.iter().enumerate() {
            if reopen && i == plan.len() / 2 {
                w = CardWriter::open(w.finish().unwrap()).unwrap();
            }
            let folder = ["", "/SSNAIL", "/a longer folder", "/a longer folder/inner"][*folder];
            let path = format!("{folder}/{}", card_name_from_host(host));
            let data = content(i as u64, *bytes);
            match w.add(&path, *bytes as u64, Stamp::EPOCH, &mut &data[..], *layout) {
                Ok(added) => {
                    prop_assert!(added.short_name.chars().all(|c| c.is_ascii() && !c.is_ascii_lowercase()));
                    expected.push((path, data, *layout));
                }
                // The alias of an earlier name can be taken as well.
                Err(FatError::Exists { .. }) => {}
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            }
        }
        let mut dev = w.finish().unwrap();
        let report = check(&mut dev).unwrap();
        prop_assert!(report.findings.iter().all(|f| f.to_string().contains("MOUNT")), "{:?}", report.findings);
        let fat = report.fat;
        let found = files(&mut dev);
        prop_assert_eq!(found.len(), expected.len());
        let (mut shorts, mut used) = (HashSet::new(), 0);
        for (path, data, layout) in &expected {
            let entry = lookup(&mut dev, fat, path).unwrap();
            prop_assert_eq!(upper(&entry.name()), upper(path.rsplit('/').next().unwrap()));
            let mut read = Vec::new();
            copy_file(&mut dev, fat, &entry, &mut read).unwrap();
            prop_assert!(read == *data, "{} differs", path);
            let folder = path.rsplit_once('/').unwrap().0;
            prop_assert!(shorts.insert((folder.to_owned(), entry.short)));
            let mut runs = Runs::new(fat, entry.first_cluster);
            let mut pieces = 0;
            while let Some(run) = runs.next(&mut dev, u32::MAX).unwrap() {
                pieces += 1;
                used += run.count;
            }
            if *layout == Layout::Contiguous {
                prop_assert!(pieces <= 1, "{} has {} pieces", path, pieces);
            }
        }
        prop_assert_eq!(u64::from(used) * u64::from(cluster) * 512,
            expected.iter().map(|(_, d, _)| d.len().next_multiple_of(cluster as usize * 512) as u64).sum::<u64>());
    }
}

/// A card with everything on it that can be damaged.
fn sample() -> MemDevice {
    let mut w = card(64, None);
    for i in 0..12u64 {
        let layout = if i % 3 == 0 { Layout::Scattered(2) } else { Layout::Contiguous };
        put(&mut w, &format!("/SSNAIL/model number {i}.ssnail"), &content(i, 3000 + i as usize * 700), layout);
    }
    put(&mut w, "/SSNAIL/CONFIG.TXT", b"MODELNUM.SSN", Layout::Contiguous);
    put(&mut w, "/a/b/c/d.bin", &content(77, 2000), Layout::Contiguous);
    w.finish().unwrap()
}

/// Everything that can be read, as far as it can be read.
fn readable(dev: &mut MemDevice) -> Vec<(String, Option<Vec<u8>>)> {
    let Ok(fat) = Fat32::find(dev) else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let _ = walk(dev, fat, &mut |path, entry| {
        seen.push((path.to_owned(), entry.clone()));
        Ok(())
    });
    seen.into_iter()
        .map(|(path, entry)| {
            let mut data = Vec::new();
            let whole = entry.size < 1 << 22 && copy_file(dev, fat, &entry, &mut data).is_ok();
            (path, whole.then_some(data))
        })
        .collect()
}

#[derive(Debug, Clone)]
enum Damage {
    Boot(usize, u8),
    Fat(u8, u32, u32),
    Directory(usize, usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let cluster = prop_oneof![0u32..200, Just(0x0FFF_FFF7), Just(0x0FFF_FFFF), any::<u32>()];
    prop_oneof![
        1 => (0usize..512, any::<u8>()).prop_map(|(at, v)| Damage::Boot(at, v)),
        1 => (0u8..2, 0u32..200, cluster.clone()).prop_map(|(copy, at, v)| Damage::Fat(copy, at, v)),
        4 => (0u32..200, cluster).prop_map(|(at, v)| Damage::Fat(2, at, v)),
        3 => (0usize..8, 0usize..512, any::<u8>()).prop_map(|(s, at, v)| Damage::Directory(s, at, v)),
        1 => (0usize..200, 0usize..512, any::<u8>()).prop_map(|(s, at, v)| Damage::Directory(s, at, v)),
    ]
}

fn apply(dev: &mut MemDevice, fat: Fat32, damage: &Damage) {
    let (lba, at, bytes): (u32, usize, Vec<u8>) = match *damage {
        Damage::Boot(at, v) => (fat.start(), at, vec![v]),
        Damage::Fat(copy, cluster, v) => {
            let offset = cluster / 128;
            let at = (cluster % 128) as usize * 4;
            if copy == 2 {
                // Both copies, so that comparing them does not tell.
                apply(dev, fat, &Damage::Fat(1, cluster, v));
            }
            (fat.fat_start(u32::from(copy % 2)) + offset, at, v.to_le_bytes().to_vec())
        }
        Damage::Directory(s, at, v) => (fat.data_start() + s as u32, at, vec![v]),
    };
    let mut sector = [0; 512];
    dev.read(lba, &mut sector).unwrap();
    sector[at..at + bytes.len()].copy_from_slice(&bytes);
    dev.write(lba, &sector).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn a_damaged_card_never_panics_and_never_gets_worse(
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let mut dev = sample();
        let fat = Fat32::find(&mut dev).unwrap();
        for d in &damages {
            apply(&mut dev, fat, d);
        }
        let before = readable(&mut dev);
        let image = dev.to_bytes_of_tables();
        let report = check(&mut dev);
        match CardWriter::open(&mut dev) {
            Err(_) => prop_assert_eq!(&dev.to_bytes_of_tables(), &image, "a refusal changes nothing"),
            Ok(mut w) => {
                let data = content(5, 5555);
                let added = w.add("/SSNAIL/one more.ssnail", 5555, Stamp::EPOCH, &mut &data[..], Layout::Contiguous);
                let finished = w.finish().map(|_| ());
                let after = readable(&mut dev);
                for (path, data) in &before {
                    prop_assert!(after.iter().any(|(p, d)| p == path && d == data), "{} is lost", path);
                }
                let then = check(&mut dev).unwrap();
                prop_assert_eq!(then.errors().count(), 0);
                prop_assert!(then.findings.len() <= report.unwrap().findings.len());
                if added.is_ok() && finished.is_ok() {
                    let new = after.iter().find(|(p, _)| p == "/SSNAIL/one more.ssnail");
                    prop_assert!(new.is_some_and(|(_, d)| d.as_ref() == Some(&data)));
                }
            }
        }
    }
}

/// A small volume whose FATs and clusters are noise, with numbers small enough to lead somewhere.
fn noise(seed: u64, cluster_sectors: u8, fats: u8, same: bool) -> MemDevice {
    let mut dev = MemDevice::new(1200);
    let mut boot = [0u8; 512];
    boot[510..].copy_from_slice(&[0x55, 0xAA]);
    dev.write(0, &{
        let mut table = boot;
        table[0x1C2] = 0x0C;
        table[0x1C6] = 1;
        table[0x1CA..0x1CE].copy_from_slice(&1199u32.to_le_bytes());
        table
    })
    .unwrap();
    boot[0x0C] = 2;
    boot[0x0D] = cluster_sectors;
    boot[0x0E] = 2;
    boot[0x10] = fats;
    boot[0x20..0x24].copy_from_slice(&1199u32.to_le_bytes());
    boot[0x24] = 4;
    boot[0x2C] = 2;
    boot[0x30] = 1;
    dev.write(1, &boot).unwrap();
    for (i, sector) in content(seed, 1190 * 512).chunks(512).enumerate() {
        let mut sector = sector.to_vec();
        if i < 8 {
            let source = if same { i % 4 } else { i };
            for (j, entry) in sector.chunks_mut(4).enumerate() {
                let n = content(seed + source as u64, 1024);
                let small = u32::from(n[j * 2]) | (u32::from(n[j * 2 + 1]) & 3) << 8;
                let value = if small < 200 { 0x0FFF_FFFF } else { small };
                entry.copy_from_slice(&value.to_le_bytes());
            }
        } else {
            // Attributes that make many folders, files and pieces of long names, and small cluster numbers.
            for entry in sector.chunks_mut(32) {
                entry[11] = [0x10, 0x20, 0x0F, 0x08, 0x00, 0x10, 0x20, 0x3F][usize::from(entry[11] % 8)];
                entry[20] = 0;
                entry[21] = 0;
                entry[27] &= 3;
                entry[29] &= 7;
                entry[30] = 0;
                entry[31] = 0;
                if entry[11] == 0x0F {
                    entry[0] &= 0x45;
                }
            }
        }
        dev.write(3 + i as u32, &sector).unwrap();
    }
    dev
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn noise_is_read_checked_and_refused_without_a_panic(
        seed in any::<u32>(), cluster in 0u32..4, fats in 1u8..3, same in any::<bool>(),
    ) {
        let mut dev = noise(u64::from(seed), 1 << cluster, fats, same);
        let before = dev.to_bytes();
        let report = check(&mut dev).unwrap();
        let _ = readable(&mut dev);
        let fat = report.fat;
        for cluster in 0..fat.last_cluster() + 3 {
            let _ = dir_entries(&mut dev, fat, cluster);
            let mut runs = Runs::new(fat, cluster);
            while let Ok(Some(_)) = runs.next(&mut dev, 7) {}
        }
        prop_assert!(report.errors().count() > 0);
        prop_assert!(CardWriter::open(&mut dev).is_err());
        prop_assert!(dev.to_bytes() == before);
    }
}

trait Tables {
    fn to_bytes_of_tables(&mut self) -> Vec<u8>;
}

impl Tables for MemDevice {
    /// The first 2 MB: everything but the data of untouched clusters.
    fn to_bytes_of_tables(&mut self) -> Vec<u8> {
        let mut out = vec![0; 4400 * 512];
        self.read(0, &mut out).unwrap();
        out
    }
}

#[test]
fn a_chain_that_bites_its_tail_ends_with_an_error() {
    let mut dev = sample();
    let fat = Fat32::find(&mut dev).unwrap();
    let entry = lookup(&mut dev, fat, "/SSNAIL/model number 1.ssnail").unwrap();
    for back in 0..5 {
        let mut broken = dev.clone();
        apply(&mut broken, fat, &Damage::Fat(2, entry.first_cluster + 5, entry.first_cluster + back));
        let mut chain = Chain::new(fat, entry.first_cluster);
        let mut steps = 0;
        let end = loop {
            match chain.next(&mut broken) {
                Ok(Some(_)) => steps += 1,
                other => break other,
            }
        };
        assert!(matches!(end, Err(FatError::Chain { .. })), "{end:?}");
        assert!(steps < 40, "{steps} steps through a loop of at most 6");
        assert!(matches!(chain.next(&mut broken), Ok(None)), "a chain has ended after its error");
    }
}

#[test]
fn folders_inside_themselves_are_found() {
    let mut dev = sample();
    let fat = Fat32::find(&mut dev).unwrap();
    let a = lookup(&mut dev, fat, "/a").unwrap();
    let b = lookup(&mut dev, fat, "/a/b").unwrap();
    let (lba, at) = b.location;
    let mut sector = [0; 512];
    dev.read(lba, &mut sector).unwrap();
    sector[usize::from(at) + 26..usize::from(at) + 28].copy_from_slice(&a.first_cluster.to_le_bytes()[..2]);
    dev.write(lba, &sector).unwrap();
    assert!(matches!(walk(&mut dev, fat, &mut |_, _| Ok(())), Err(FatError::Chain { .. })));
    assert!(check(&mut dev).unwrap().errors().count() > 0);
    assert!(matches!(CardWriter::open(dev), Err(FatError::Damaged { .. })));
}

#[test]
fn an_entry_that_damage_deleted_can_still_be_repaired_after_an_add() {
    for (at, value) in [(0, 0u8), (32, 0), (32, 0xE5)] {
        let mut dev = sample();
        let fat = Fat32::find(&mut dev).unwrap();
        apply(&mut dev, fat, &Damage::Directory(0, at, value));
        let before = dev.to_bytes_of_tables();
        let e = CardWriter::open(&mut dev).err();
        // The volume's name comes first; without it the directory is empty.
        assert!(matches!(&e, Some(FatError::Damaged { first, .. }) if first.contains("lost")), "{at} {value}: {e:?}");
        assert!(dev.to_bytes_of_tables() == before);
    }
}

#[test]
fn a_folder_longer_than_fat_allows_ends_with_an_error() {
    let mut w = card(64, None);
    put(&mut w, "/X", &vec![0xE5; (2 << 20) + 1], Layout::Contiguous);
    let mut dev = w.finish().unwrap();
    let fat = Fat32::find(&mut dev).unwrap();
    let file = lookup(&mut dev, fat, "/X").unwrap();
    // The file's entry is the second of the root, after the volume's name: it becomes a folder.
    apply(&mut dev, fat, &Damage::Directory(0, 32 + 11, 0x10));
    let e = dir_entries(&mut dev, fat, file.first_cluster).unwrap_err();
    assert!(matches!(e, FatError::Chain { fault: ChainFault::DirectoryTooLong, .. }), "{e}");
    assert!(check(&mut dev).unwrap().errors().any(|f| f.to_string().contains("65536")));
}

#[test]
fn a_card_pulled_out_half_way_keeps_what_it_had() {
    let mut succeeded = 0;
    for writes in 0..40 {
        let mut faulty = FaultDevice::new(sample());
        let before = files(&mut faulty);
        faulty.fail_after_writes(writes);
        let data = content(1, 40_000);
        let done = (|| {
            let mut w = CardWriter::open(&mut faulty)?;
            w.add("/SSNAIL/new one.ssnail", 40_000, Stamp::EPOCH, &mut &data[..], Layout::Contiguous)?;
            w.finish().map(|_| ())
        })();
        faulty.heal();
        let mut dev = faulty.into_inner();
        let after = files(&mut dev);
        assert!(before.iter().all(|b| after.contains(b)), "after {writes} writes");
        // The count of free clusters is written last, so the file can be there although that failed.
        let new: Vec<_> = after.iter().filter(|f| !before.contains(f)).collect();
        assert!(new.len() <= 1 && new.iter().all(|(_, _, d)| *d == data), "after {writes} writes");
        assert!(done.is_err() || new.len() == 1, "after {writes} writes: {done:?}");
        succeeded += usize::from(done.is_ok());
        // A tear between the FATs and clusters without a file are all that may remain, and they are found.
        let report = check(&mut dev).unwrap();
        let harmless = |f: &str| f.contains("differ") || f.contains("lost") || f.contains("FSInfo");
        assert!(report.findings.iter().all(|f| harmless(&f.to_string())), "{:?}", report.findings);
    }
    assert!((1..40).contains(&succeeded), "the faults have to come before and after the end");
}

#[test]
fn a_source_that_ends_early_or_grows_is_an_error_and_the_writer_goes_on() {
    let mut w = card(64, None);
    for wrong in [999u64, 1001] {
        let data = content(1, 1000);
        let e = w.add("/X.SSN", wrong, Stamp::EPOCH, &mut &data[..], Layout::Contiguous).unwrap_err();
        assert!(matches!(e, FatError::Source { .. }), "{e}");
    }
    put(&mut w, "/X.SSN", &content(1, 1000), Layout::Contiguous);
    let mut dev = w.finish().unwrap();
    assert_eq!(check(&mut dev).unwrap().findings, []);
    assert_eq!(files(&mut dev).len(), 1);
}

#[test]
fn a_full_card_says_how_much_is_missing() {
    let mut w = card(64, None);
    let free = w.free_clusters();
    let bytes = u64::from(free) * 512;
    let mut zeros = std::io::Read::take(std::io::repeat(0), bytes + 1);
    let e = w.add("/BIG.SSN", bytes + 1, Stamp::EPOCH, &mut zeros, Layout::Contiguous).unwrap_err();
    assert!(matches!(e, FatError::Full { needed, free: f, .. } if needed == free + 1 && f == free), "{e}");
    let mut zeros = std::io::Read::take(std::io::repeat(1), bytes);
    w.add("/BIG.SSN", bytes, Stamp::EPOCH, &mut zeros, Layout::Contiguous).unwrap();
    assert_eq!(w.free_clusters(), 0);
    put(&mut w, "/EMPTY.SSN", b"", Layout::Contiguous);
    let e = w.add("/ONE.SSN", 1, Stamp::EPOCH, &mut &b"x"[..], Layout::Contiguous).unwrap_err();
    assert!(matches!(e, FatError::Full { .. }), "{e}");
    let mut dev = w.finish().unwrap();
    assert_eq!(check(&mut dev).unwrap().findings, []);
}

#[test]
fn free_space_in_pieces_is_refused_with_the_largest_piece() {
    let mut w = card(64, None);
    let free = w.free_clusters();
    let bytes = free / 2 * 512 - 512;
    let data = vec![1; bytes as usize];
    put(&mut w, "/HALF.BIN", &data, Layout::Scattered(1));
    let e = w.add("/MEGA65.D81", 819_200, Stamp::EPOCH, &mut &data[..819_200], Layout::Contiguous).unwrap_err();
    assert!(matches!(e, FatError::NoRun { needed: 1600, .. }), "{e}");
    put(&mut w, "/MEGA65.D81", &data[..819_200], Layout::Scattered(1));
    let mut dev = w.finish().unwrap();
    let report = check(&mut dev).unwrap();
    assert_eq!(report.errors().count(), 0);
    assert!(report.findings.iter().any(|f| f.to_string().contains("$8B")), "{:?}", report.findings);
}

#[test]
fn a_card_of_32_gb_in_memory_costs_what_is_on_it() {
    let mut w = card(32 * 1024, None);
    put(&mut w, "/SSNAIL/FOO.SSN", &content(1, 100_000), Layout::Contiguous);
    let mut dev = w.finish().unwrap();
    assert!(dev.resident_sectors() < 400);
    assert_eq!(check(&mut dev).unwrap().findings, []);
    let fat = Fat32::find(&mut dev).unwrap();
    assert_eq!(dir_entries(&mut dev, fat, 0).unwrap().len(), 1);
}
