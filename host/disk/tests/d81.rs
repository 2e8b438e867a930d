//! Disks: every size and number of files, against a second reader and against c1541.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/d81_reader.rs"]
mod d81_reader;

use common::{content, run, tool};
use d81_reader::read_disk;
use proptest::prelude::*;
use ssnail_disk::d81::{
    D81, D81Error, D81Finding, FileType, IMAGE_BYTES, MAX_FILE_BYTES, NameUse, PetsciiName, Source, Ts, demo_disk,
    name_from_host,
};
use std::fs;

fn name(text: &str) -> PetsciiName {
    PetsciiName::new(text, NameUse::File).unwrap()
}

fn blank() -> D81 {
    D81::new(&PetsciiName::new("SSNAIL", NameUse::Decoration).unwrap(), *b"SN")
}

/// Makes the disk a file and lists it with c1541; `None` without c1541.
fn c1541_list(disk: &D81, dir: &std::path::Path) -> Option<String> {
    let path = dir.join("disk.d81");
    fs::write(&path, disk.to_bytes()).unwrap();
    Some(run(tool("c1541")?.arg(&path).arg("-list")))
}

#[test]
fn an_empty_disk_is_what_c1541_formats() {
    let disk = blank();
    assert_eq!(disk.free_blocks(), 3160);
    assert_eq!(disk.check().findings, []);
    assert_eq!(read_disk(&disk.to_bytes()), (Vec::new(), 3160));
    let Some(mut c1541) = tool("c1541") else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("theirs.d81");
    run(c1541.args(["-format", "ssnail,sn", "d81"]).arg(&path));
    assert!(fs::read(path).unwrap() == disk.to_bytes(), "byte for byte");
}

#[test]
fn files_of_every_length_around_a_block_are_read_by_c1541() {
    let sizes = [0usize, 1, 252, 253, 254, 255, 256, 507, 508, 509, 65_535, 65_536, 100_000];
    let mut disk = blank();
    for (i, &bytes) in sizes.iter().enumerate() {
        disk.add(&name(&format!("f{bytes}")), FileType::Prg, &content(i as u64, bytes)).unwrap();
    }
    let (seen, free) = read_disk(&disk.to_bytes());
    assert_eq!(free, usize::from(disk.free_blocks()));
    for ((i, &bytes), seen) in sizes.iter().enumerate().zip(&seen) {
        assert!(seen.data == content(i as u64, bytes), "{bytes} bytes");
        assert_eq!((seen.kind, seen.blocks), (0x82, bytes.div_ceil(254).max(1)));
        let entry = disk.find(&format!("F{bytes}")).unwrap();
        assert!(disk.read(&entry).unwrap() == seen.data);
    }
    let dir = tempfile::tempdir().unwrap();
    let Some(listing) = c1541_list(&disk, dir.path()) else { return };
    assert!(listing.contains(&format!("{free} blocks free")), "{listing}");
    let path = dir.path().join("disk.d81");
    for (i, &bytes) in sizes.iter().enumerate().skip(1) {
        let out = dir.path().join(format!("out{i}"));
        run(tool("c1541").unwrap().arg(&path).arg("-read").arg(format!("f{bytes}")).arg(&out));
        assert!(fs::read(out).unwrap() == content(i as u64, bytes), "{bytes} bytes by c1541");
    }
}

#[test]
fn c1541_finds_nothing_to_repair_and_reads_1_9_and_296_files() {
    for count in [1usize, 8, 9, 17, 296] {
        let mut disk = blank();
        for i in 0..count {
            let kind = [FileType::Prg, FileType::Seq, FileType::Usr][i % 3];
            disk.add(&name(&format!("file {i:03}")), kind, &content(i as u64, i * 9)).unwrap();
        }
        assert_eq!(disk.check().findings, [], "{count} files");
        let (seen, free) = read_disk(&disk.to_bytes());
        assert_eq!((seen.len(), free), (count, usize::from(disk.free_blocks())));
        for (i, s) in seen.iter().enumerate() {
            assert_eq!(s.name, format!("FILE {i:03}").as_bytes(), "order of the directory");
            assert!(s.data == content(i as u64, i * 9));
        }
        let dir = tempfile::tempdir().unwrap();
        let Some(listing) = c1541_list(&disk, dir.path()) else { continue };
        assert_eq!(listing.matches("file ").count(), count);
        let path = dir.path().join("disk.d81");
        let before = fs::read(&path).unwrap();
        run(tool("c1541").unwrap().arg(&path).arg("-validate"));
        assert!(fs::read(&path).unwrap() == before, "validating {count} files changes nothing");
    }
}

#[test]
fn the_297th_entry_is_refused() {
    let mut disk = blank();
    for i in 0..296 {
        disk.add(&name(&format!("f{i}")), FileType::Seq, b"x").unwrap();
    }
    let before = disk.clone();
    assert!(matches!(disk.add(&name("one"), FileType::Seq, b"x"), Err(D81Error::DirectoryFull { .. })));
    assert!(matches!(disk.add_divider(&name("--")), Err(D81Error::DirectoryFull { .. })));
    assert_eq!(disk, before);
    disk.remove("f100").unwrap();
    disk.add(&name("one"), FileType::Seq, b"x").unwrap();
    assert_eq!(read_disk(&disk.to_bytes()).0.len(), 296);
}

#[test]
fn a_full_disk_takes_exactly_3160_blocks() {
    let mut disk = blank();
    let most = content(1, MAX_FILE_BYTES);
    assert_eq!(most.len(), 802_640);
    disk.add(&name("all"), FileType::Seq, &most).unwrap();
    assert_eq!(disk.free_blocks(), 0);
    assert_eq!(disk.check().findings, []);
    assert!(read_disk(&disk.to_bytes()).0[0].data == most);
    let e = disk.add(&name("x"), FileType::Seq, b"").unwrap_err();
    assert!(matches!(e, D81Error::Full { needed: 1, free: 0, .. }), "{e}");

    let mut disk = blank();
    let e = disk.add(&name("all"), FileType::Seq, &content(1, MAX_FILE_BYTES + 1)).unwrap_err();
    assert!(e.to_string().contains("/SSNAIL on the SD card"), "{e}");
    disk.add(&name("x"), FileType::Seq, b"x").unwrap();
    let e = disk.add(&name("all"), FileType::Seq, &most).unwrap_err();
    assert!(matches!(e, D81Error::Full { needed: 3160, free: 3159, .. }), "one block too much: {e}");
    assert_eq!(disk.entries().len(), 1);
}

#[test]
fn names_that_are_equal_after_conversion_are_refused() {
    let mut disk = blank();
    disk.add(&name("Name"), FileType::Prg, b"1").unwrap();
    for same in ["name", "NAME", "namé"] {
        assert!(matches!(disk.add(&name(same), FileType::Seq, b"2"), Err(D81Error::Exists { .. })));
    }
    disk.add_divider(&PetsciiName::new("name", NameUse::Decoration).unwrap()).unwrap();
    disk.add_divider(&PetsciiName::new("name", NameUse::Decoration).unwrap()).unwrap();
    assert_eq!(disk.read(&disk.find("name").unwrap()).unwrap(), b"1");
    assert_eq!(disk.check().findings, []);
}

#[test]
fn dividers_are_lines_for_c1541_too() {
    let mut disk = blank();
    disk.add(&name("a"), FileType::Prg, b"1").unwrap();
    disk.add_divider(&PetsciiName::new("--------------", NameUse::Decoration).unwrap()).unwrap();
    disk.add(&name("b"), FileType::Prg, b"2").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let Some(listing) = c1541_list(&disk, dir.path()) else { return };
    assert!(listing.lines().any(|l| l.starts_with('0') && l.contains("\"--------------\"") && l.contains("del")));
    let path = dir.path().join("disk.d81");
    run(tool("c1541").unwrap().arg(&path).arg("-validate"));
    let after = D81::from_bytes(&fs::read(path).unwrap()).unwrap();
    assert_eq!(after.find("b").and_then(|e| after.read(&e)).unwrap(), b"2");
}

#[test]
fn disks_of_c1541_and_cc1541_are_read_and_extended() {
    let dir = tempfile::tempdir().unwrap();
    for (i, bytes) in [1usize, 254, 255, 30_000, 200_000].into_iter().enumerate() {
        fs::write(dir.path().join(format!("in{i}")), content(i as u64, bytes)).unwrap();
    }
    let input = |i: usize| dir.path().join(format!("in{i}"));
    let mut made = Vec::new();
    if let Some(mut c1541) = tool("c1541") {
        let path = dir.path().join("c1541.d81");
        c1541.args(["-format", "theirs,01", "d81"]).arg(&path);
        for i in 0..5 {
            c1541.arg("-write").arg(input(i)).arg(format!("file{i}"));
        }
        run(c1541.args(["-delete", "file1"]));
        made.push((path, vec![0, 2, 3, 4]));
    }
    if let Some(mut cc1541) = tool("cc1541") {
        let path = dir.path().join("cc1541.d81");
        cc1541.args(["-n", "theirs", "-i", "01"]);
        for i in 0..5 {
            cc1541.args(["-f", &format!("FILE{i}"), "-w"]).arg(input(i));
        }
        run(cc1541.args(["-f", "LINE", "-L"]).arg(&path));
        made.push((path, vec![0, 1, 2, 3, 4]));
    }
    for (path, files) in made {
        let mut disk = D81::from_bytes(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(disk.check().errors().count(), 0, "{:?}", disk.check().findings);
        assert_eq!(disk.name().to_string().trim(), "THEIRS");
        disk.add(&name("ours"), FileType::Seq, &content(9, 50_000)).unwrap();
        for i in files {
            let entry = disk.find(&format!("file{i}")).unwrap();
            assert!(disk.read(&entry).unwrap() == fs::read(input(i)).unwrap(), "{path:?} file{i}");
        }
        fs::write(&path, disk.to_bytes()).unwrap();
        if let Some(mut c1541) = tool("c1541") {
            let out = dir.path().join("ours.out");
            run(c1541.arg(&path).arg("-read").arg("ours,s").arg(&out));
            assert!(fs::read(out).unwrap() == content(9, 50_000));
        }
    }
}

#[test]
fn an_entry_that_damage_deleted_can_still_be_repaired_after_an_add() {
    let mut disk = blank();
    for i in 0..3u64 {
        disk.add(&name(&format!("f{i}")), FileType::Prg, &content(i, 1000)).unwrap();
    }
    let (slot, at) = disk.find("f1").unwrap().slot;
    disk.block_mut(slot)[at * 32 + 2] = 0;
    assert!(matches!(disk.check().findings[..], [D81Finding::Lost { count: 4, .. }]));
    disk.add(&name("more"), FileType::Prg, &content(9, 1000)).unwrap();
    disk.block_mut(slot)[at * 32 + 2] = 0x82;
    assert_eq!(disk.check().findings, []);
    assert!(disk.read(&disk.find("f1").unwrap()).unwrap() == content(1, 1000));
    // What was removed properly makes room.
    disk.remove("f1").unwrap();
    disk.add(&name("again"), FileType::Prg, b"x").unwrap();
    assert_eq!(disk.find("again").unwrap().slot, (slot, at));
}

#[test]
fn blocks_go_outwards_from_the_directory() {
    let mut disk = blank();
    let first = disk.add(&name("a"), FileType::Prg, &content(1, 254 * 41)).unwrap();
    assert_eq!(first.first, Ts::new(39, 0));
    let second = disk.add(&name("b"), FileType::Prg, b"x").unwrap();
    assert_eq!(second.first, Ts::new(41, 0));
    let third = disk.add(&name("c"), FileType::Prg, b"x").unwrap();
    assert_eq!(third.first, Ts::new(41, 1));
}

#[test]
fn an_image_with_status_bytes_keeps_them() {
    let mut bytes = blank().to_bytes();
    bytes.extend([1; 3200]);
    let mut disk = D81::from_bytes(&bytes).unwrap();
    assert_eq!(disk.check().findings, [D81Finding::Status]);
    disk.add(&name("a"), FileType::Prg, b"x").unwrap();
    assert_eq!(disk.to_bytes().len(), bytes.len());
    assert_eq!(disk.to_bytes()[IMAGE_BYTES..], [1; 3200]);
    assert!(matches!(D81::from_bytes(&bytes[1..]), Err(D81Error::Size { found: 822_399 })));
}

#[test]
fn the_demo_disk_has_the_program_first_and_the_model_if_it_fits() {
    let prg = content(1, 30_000);
    let overlays = [Source { name: "ssnail.ov1", data: &content(2, 4000) }];
    let model = content(3, 300_000);
    let source = Source { name: "stories260K.ssnail", data: &model };
    let made = demo_disk(&prg, &overlays, "Hello\nMEGA65\n", Some(source)).unwrap();
    assert_eq!(made.left_out, None);
    let names: Vec<String> = made.disk.entries().iter().map(|e| e.name.to_string()).collect();
    let line = "-".repeat(16);
    assert_eq!(names, ["SSNAIL", "SSNAIL.OV1", &line, "AUTOBOOT.C65", "README", &line, "STORIES260K.SSN"]);
    assert_eq!(made.disk.check().findings, []);
    let (seen, _) = read_disk(&made.disk.to_bytes());
    assert_eq!(seen[0].data, prg);
    assert_eq!(seen[3].data, b"\x01\x20\x10\x20\x0A\x00\x8A \"SSNAIL\"\x00\x00\x00");
    assert_eq!(seen[4].data, b"\xC8ELLO\x0D\xCD\xC5\xC7\xC165\x0D");
    let large = content(3, 800_000);
    let made = demo_disk(&prg, &[], "", Some(Source { data: &large, ..source })).unwrap();
    assert!(made.left_out.unwrap().contains("free"));
    assert_eq!(made.disk.entries().len(), 4);
    let again = demo_disk(&prg, &[], "", None).unwrap();
    assert_eq!(made.disk, again.disk, "the same input makes the same bytes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_files_are_read_back_by_the_second_reader(
        plan in prop::collection::vec((any::<String>(), 0usize..6000, 0u8..4), 0..60),
    ) {
        let mut disk = blank();
        let mut expected: Vec<(PetsciiName, u8, Vec<u8>)> = Vec::new();
        for (i, (host, bytes, action)) in plan.iter().enumerate() {
            let data = content(i as u64, *bytes);
            let file = name_from_host(&format!("{host}{i}"));
            if *action == 3 && !expected.is_empty() {
                let (gone, ..) = expected.remove(i % expected.len());
                disk.remove(&gone.to_string()).unwrap();
            }
            let kind = [FileType::Prg, FileType::Seq, FileType::Usr][i % 3];
            match disk.add(&file, kind, &data) {
                Ok(added) => expected.push((added.name, 0x80 | kind.to_byte(), data)),
                Err(D81Error::Exists { .. }) => {}
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            }
        }
        prop_assert_eq!(disk.check().findings, []);
        let (mut seen, free) = read_disk(&disk.to_bytes());
        prop_assert_eq!(free, usize::from(disk.free_blocks()));
        prop_assert_eq!(seen.len(), expected.len());
        seen.sort_by(|a, b| a.name.cmp(&b.name));
        expected.sort_by(|a, b| a.0.bytes().cmp(b.0.bytes()));
        for (s, (name, kind, data)) in seen.iter().zip(&expected) {
            prop_assert_eq!(&s.name[..], name.bytes());
            prop_assert_eq!(s.kind, *kind);
            prop_assert!(s.data == *data);
            prop_assert!(disk.read(&disk.find(&name.to_string()).unwrap()).unwrap() == *data);
        }
    }

    #[test]
    fn every_text_becomes_a_name_that_the_dos_can_load(text in any::<String>()) {
        let made = name_from_host(&text);
        prop_assert!((1..=16).contains(&made.bytes().len()));
        prop_assert!(!made.bytes().iter().any(|b| b"\",:*?=".contains(b)));
        if let Ok(given) = PetsciiName::new(&text, NameUse::File) {
            prop_assert!(given.is_named(&text));
            prop_assert_eq!(PetsciiName::new(&given.to_string(), NameUse::File), Ok(given));
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    /// A byte of header, map or directory.
    System(u8, usize, u8),
    /// The link of a block of a file.
    Link(u8, u8, u8, u8),
    Anywhere(usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (0u8..8, 0usize..256, any::<u8>()).prop_map(|(s, at, v)| Damage::System(s, at, v)),
        4 => (38u8..43, 0u8..40, 0u8..82, 0u8..42).prop_map(|(t, s, a, b)| Damage::Link(t, s, a, b)),
        1 => (0usize..IMAGE_BYTES, any::<u8>()).prop_map(|(at, v)| Damage::Anywhere(at, v)),
    ]
}

fn every_file(disk: &D81) -> Vec<(PetsciiName, Option<Vec<u8>>)> {
    disk.entries().iter().map(|e| (e.name, disk.read(e).ok())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_damaged_disk_never_panics_and_never_gets_worse(damages in prop::collection::vec(damage(), 1..5)) {
        let mut disk = blank();
        for i in 0..20usize {
            disk.add(&name(&format!("f{i}")), FileType::Prg, &content(i as u64, i * 517)).unwrap();
        }
        let mut bytes = disk.to_bytes();
        for d in damages {
            let offset = |t: u8, s: u8| ((usize::from(t) - 1) * 40 + usize::from(s)) * 256;
            match d {
                Damage::System(s, at, v) => bytes[offset(40, s) + at] = v,
                Damage::Link(t, s, a, b) => bytes[offset(t, s)..offset(t, s) + 2].copy_from_slice(&[a, b]),
                Damage::Anywhere(at, v) => bytes[at] = v,
            }
        }
        let mut disk = D81::from_bytes(&bytes).unwrap();
        let (report, before) = (disk.check(), every_file(&disk));
        match disk.add(&name("one more"), FileType::Seq, &content(99, 5000)) {
            Err(_) => prop_assert!(disk.to_bytes() == bytes, "a refusal changes nothing"),
            Ok(_) => {
                prop_assert_eq!(report.errors().count(), 0);
                let (then, after) = (disk.check(), every_file(&disk));
                prop_assert!(then.findings.len() <= report.findings.len(), "{:?}", then.findings);
                prop_assert!(before.iter().all(|f| after.contains(f)));
                prop_assert_eq!(after.len(), before.len() + 1);
            }
        }
        for entry in disk.entries() {
            let was = disk.to_bytes();
            if disk.remove(&entry.name.to_string()).is_err() {
                prop_assert!(disk.to_bytes() == was);
            } else {
                prop_assert_eq!(disk.check().errors().count(), 0);
            }
        }
    }
}
