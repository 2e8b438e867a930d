//! Cards of ours read by other programs, and cards of other programs read by us.
#![allow(clippy::unwrap_used)]

mod common;

use common::{SplitCard, content, files, megabytes, put, run, tool};
use ssnail_disk::block::{BlockDevice, FileDevice};
use ssnail_disk::fat::{CardWriter, Fat32, FormatOptions, Layout, Stamp, check};
use std::fs;
use std::path::Path;

#[track_caller]
fn fsck(partition: &Path) {
    let Some(mut fsck) = tool("fsck.vfat") else {
        return;
    };
    let text = run(fsck.args(["-n", "-v"]).arg(partition));
    let complaints: Vec<&str> = text
        .lines()
        .filter(|l| ["differ", "wrong", "Wrong", "Reclaim", "orphan", "invalid"].iter().any(|w| l.contains(w)))
        .collect();
    assert!(complaints.is_empty(), "fsck.vfat: {text}");
}

fn split_card(dir: &Path, mb: u32, cluster_sectors: Option<u32>) -> CardWriter<SplitCard> {
    let options = FormatOptions { cluster_sectors, label: "SSNAIL".into(), serial: 7, stamp: None };
    CardWriter::format(SplitCard::create(&dir.join("part.img"), megabytes(mb)), &options).unwrap()
}

#[test]
fn fsck_finds_nothing_in_an_empty_card_of_any_size() {
    for (mb, cluster) in [
        (64, None),
        (65, None),
        (128, None),
        (256, None),
        (257, None),
        (258, None),
        (1024, None),
        (4096, None),
        (32 * 1024, None),
        (1024, Some(1)),
        (1024, Some(2)),
        (4096, Some(64)),
        (8192, Some(128)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let w = split_card(dir.path(), mb, cluster);
        assert!(w.fat().is_large_enough());
        assert_eq!(w.fat().data_start() % 8, 0, "clusters are aligned to 4 KB");
        drop(w.finish().unwrap());
        fsck(&dir.path().join("part.img"));
    }
}

#[test]
fn fsck_and_mtools_agree_with_a_card_of_many_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut w = split_card(dir.path(), 128, None);
    let mut expected = Vec::new();
    for (i, bytes) in [0usize, 1, 511, 512, 513, 4095, 4096, 4097, 100_000].into_iter().enumerate() {
        expected.push((format!("/SSNAIL/model {i} of some name.ssnail"), content(i as u64, bytes)));
    }
    for i in 0..60 {
        expected.push((format!("/many/ünïcode Привет {i}.txt"), content(100 + i, 300)));
    }
    expected.push(("/SSNAIL/CONFIG.TXT".into(), b"MODEL0.SSN\r\n".to_vec()));
    expected.push(("/deep/er/and/deeper/x.prg".into(), content(9, 5000)));
    for (path, data) in &expected {
        put(&mut w, path, data, Layout::Contiguous);
    }
    let mut card = w.finish().unwrap();
    let report = check(&mut card).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.files as usize, expected.len());
    drop(card);
    let part = dir.path().join("part.img");
    fsck(&part);

    let Some(mut mdir) = tool("mdir") else { return };
    let listing = run(mdir.arg("-i").arg(&part).args(["-/", "-b", "::"]));
    for (path, data) in &expected {
        let on_card = if path == "/deep/er/and/deeper/x.prg" { "/deep/er/and/deeper/X.PRG" } else { path };
        let upper = |s: &str| s.to_uppercase();
        assert!(upper(&listing).contains(&upper(&format!("::{on_card}"))), "{on_card} not in\n{listing}");
        let Some(mut mcopy) = tool("mcopy") else {
            return;
        };
        let out = dir.path().join("copy");
        run(mcopy.arg("-n").arg("-o").arg("-i").arg(&part).arg(format!("::{path}")).arg(&out));
        assert_eq!(&fs::read(&out).unwrap(), data, "{path}");
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn fsck_accepts_fragmented_files_and_grown_folders() {
    for cluster in [1, 2] {
        let dir = tempfile::tempdir().unwrap();
        let mut w = split_card(dir.path(), 128, Some(cluster));
        for i in 0..40 {
            let layout = if i % 3 == 0 { Layout::Contiguous } else { Layout::Scattered(i % 5 + 1) };
            put(&mut w, &format!("/A long folder name/file number {i}.bin"), &content(u64::from(i), 7000), layout);
        }
        let mut card = w.finish().unwrap();
        assert_eq!(check(&mut card).unwrap().findings, []);
        drop(card);
        fsck(&dir.path().join("part.img"));
    }
}

/// A card of mkfs.vfat and mcopy; `None` where they are not installed.
fn foreign_card(image: &Path, mb: u32, cluster_sectors: u32, sources: &[(&str, Vec<u8>)]) -> Option<()> {
    let (mut mkfs, _) = (tool("mkfs.vfat")?, tool("mcopy")?);
    // The table is ours: it is made by formatting, and then everything behind it is made by mkfs.
    let blank = FileDevice::create_new(image, megabytes(mb)).unwrap();
    CardWriter::format(blank, &FormatOptions::default()).unwrap().finish().unwrap();
    let blocks = (megabytes(mb) - 2048) / 2;
    run(mkfs
        .args(["-F", "32", "-s", &cluster_sectors.to_string(), "--offset", "2048"])
        .arg(image)
        .arg(blocks.to_string()));
    let at = format!("{}@@1M", image.display());
    for (path, data) in sources {
        let local = image.with_extension("tmp");
        fs::write(&local, data).unwrap();
        if let Some((folder, _)) = path.rsplit_once('/').filter(|(f, _)| !f.is_empty()) {
            let mut mmd = tool("mmd")?;
            // Fails when the folder exists, which is no matter.
            mmd.args(["-D", "s", "-i", &at, &format!("::{folder}")]).output().unwrap();
        }
        run(tool("mcopy")?.args(["-i", &at]).arg(&local).arg(format!("::{path}")));
    }
    Some(())
}

#[test]
fn cards_of_mtools_are_read_and_extended_for_every_cluster_size() {
    for (mb, cluster) in [(64, 1), (128, 2), (200, 4), (300, 8), (2200, 64)] {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("card.img");
        let sources: Vec<(&str, Vec<u8>)> = vec![
            ("/EMPTY.BIN", Vec::new()),
            ("/SSNAIL/FOO.SSN", content(1, 70_001)),
            ("/SSNAIL/a long name with ä.ssnail", content(2, 513)),
            ("/MEGA65.D81", content(3, 819_200)),
            ("/lower.txt", b"x".to_vec()),
        ];
        if foreign_card(&image, mb, cluster, &sources).is_none() {
            return;
        }
        let mut dev = FileDevice::open_writable(&image).unwrap();
        let fat = Fat32::find(&mut dev).unwrap();
        assert_eq!(fat.cluster_sectors(), cluster);
        assert_eq!(check(&mut dev).unwrap().findings, []);
        let found = files(&mut dev);
        assert_eq!(found.len(), sources.len());
        for (path, data) in &sources {
            let (_, _, read) = found.iter().find(|(p, ..)| p == path).unwrap();
            assert_eq!(read, data, "{path}");
        }
        let mut w = CardWriter::open(dev).unwrap();
        let data = content(5, 123_456);
        let added =
            w.add("/ssnail/new model.ssnail", 123_456, Stamp::EPOCH, &mut &data[..], Layout::Contiguous).unwrap();
        assert_eq!(added.short_name, "NEWMODEL.SSN");
        drop(w.finish().unwrap());

        let at = format!("{}@@1M", image.display());
        let out = dir.path().join("out");
        let Some(mut mcopy) = tool("mcopy") else {
            return;
        };
        run(mcopy.args(["-n", "-i", &at, "::/SSNAIL/new model.ssnail"]).arg(&out));
        assert_eq!(fs::read(out).unwrap(), data);
        // fsck wants the partition alone.
        if mb <= 300 {
            let part = dir.path().join("part.img");
            fs::write(&part, &fs::read(&image).unwrap()[1 << 20..]).unwrap();
            fsck(&part);
        }
        assert!(FileDevice::open(&image).unwrap().sectors() == megabytes(mb));
    }
}

#[test]
fn sfdisk_reads_the_partition_table() {
    let Some(mut sfdisk) = tool("sfdisk") else { return };
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().join("card.img");
    let blank = FileDevice::create_new(&image, megabytes(512)).unwrap();
    CardWriter::format(blank, &FormatOptions::default()).unwrap().finish().unwrap();
    let text = run(sfdisk.arg("--dump").arg(&image));
    let words: Vec<&str> = text.split([' ', ',', '\n']).filter(|w| !w.is_empty()).collect();
    let after = |key: &str| words.iter().position(|w| *w == key).and_then(|i| words.get(i + 1)).copied();
    assert_eq!(after("label:"), Some("dos"));
    assert_eq!(after("start="), Some("2048"));
    assert_eq!(after("size="), Some((megabytes(512) - 2048).to_string().as_str()));
    assert!(words.contains(&"type=c"), "{text}");
}

#[test]
fn damage_that_fsck_sees_is_seen_here_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut w = split_card(dir.path(), 64, None);
    put(&mut w, "/A.SSN", &content(1, 5000), Layout::Contiguous);
    put(&mut w, "/B.SSN", &content(2, 5000), Layout::Contiguous);
    let mut card = w.finish().unwrap();
    let fat = check(&mut card).unwrap().fat;
    let part = dir.path().join("part.img");
    let mut sector = [0; 512];
    let first = fat.fat_start(0);
    card.read(first, &mut sector).unwrap();
    // The second cluster of A leads into B.
    sector[4 * 4..4 * 4 + 4].copy_from_slice(&14u32.to_le_bytes());
    for copy in 0..2 {
        card.write(fat.fat_start(copy), &sector).unwrap();
    }
    let report = check(&mut card).unwrap();
    assert!(report.errors().any(|f| f.to_string().contains("cross-link")), "{:?}", report.findings);
    drop(card);
    if let Some(mut fsck) = tool("fsck.vfat") {
        assert!(!fsck.arg("-n").arg(&part).output().unwrap().status.success());
    }
}
