//! Directories through HDOS.

use crate::card::{Dos, Found, blank, card_with, content, put};
use crate::common::{program, run};
use ssnail_disk::block::{BlockDevice, MemDevice, read_sector};
use ssnail_disk::fat::{Fat32, Layout, attribute, lookup};
use ssnail_m65::Model;
use ssnail_m65::diagnostics::Report;
use ssnail_m65::hdos::{LongNames, Options, error, function};
use ssnail_m65::io::card::Card;

fn long(entries: &[Found]) -> Vec<String> {
    entries.iter().map(|e| String::from_utf8_lossy(&e.long).into_owned()).collect()
}

/// Sets attribute bits of a file.
fn mark(card: &mut MemDevice, path: &str, bits: u8) {
    let fat = Fat32::find(card).unwrap();
    let (lba, at) = lookup(card, fat, path).unwrap().location;
    let mut sector = read_sector(card, lba).unwrap();
    sector[usize::from(at) + 11] |= bits;
    card.write(lba, &sector).unwrap();
}

#[test]
fn a_folder_of_128_files_on_every_cluster_size() {
    for cluster in [1, 2, 4, 8, 16, 32, 64] {
        let mut card = blank(cluster);
        let files: Vec<(String, usize)> = (0..128).map(|i| (format!("M{i:03}.SSN"), i * 37 % 1500)).collect();
        for (name, size) in &files {
            put(&mut card, &format!("/SSNAIL/{name}"), &content(*size as u64, *size), Layout::Contiguous);
        }
        let mut dos = Dos::new(card.finish().unwrap());
        dos.enter("SSNAIL");
        let (entries, code) = dos.entries();
        assert_eq!(code, error::BAD_CLUSTER, "{cluster} sectors per cluster");
        assert_eq!(long(&entries[..2]), [".", ".."]);
        let found: Vec<(String, usize)> =
            long(&entries[2..]).into_iter().zip(entries[2..].iter().map(|e| e.size as usize)).collect();
        assert_eq!(found, files);
        assert_eq!(entries[2].short, *b"M000    SSN");
        assert_eq!((entries[1].attributes, entries[2].attributes), (attribute::DIRECTORY, attribute::ARCHIVE));
        assert_eq!(dos.file("/SSNAIL/M127.SSN"), Ok(content(files[127].1 as u64, files[127].1)));
    }
}

#[test]
fn a_directory_without_a_free_place_ends_with_another_code() {
    // 16 places in a cluster: the label and 15 files fill it.
    for (files, code) in [(14, error::BAD_CLUSTER), (15, error::END)] {
        let mut card = blank(1);
        for i in 0..files {
            put(&mut card, &format!("/F{i}"), &[], Layout::Contiguous);
        }
        let mut dos = Dos::new(card.finish().unwrap());
        let (entries, end) = dos.entries();
        assert_eq!((entries.len(), end), (files, code));
        // Searching does not tell the difference.
        assert_eq!(dos.find("GONE").error(), Some(error::NOT_FOUND));
    }
}

#[test]
fn an_empty_directory_is_read_to_its_last_place() {
    let mut dos = Dos::new(card_with(8, &[]));
    let reads = dos.card().reads;
    let (entries, end) = dos.entries();
    assert_eq!((entries.len(), end), (0, error::BAD_CLUSTER));
    // Twice for each of the 128 places, once at the end of each sector but the last, FAT and sector at the end.
    assert_eq!(dos.card().reads - reads, 128 * 2 + 7 + 2);
}

#[test]
fn hidden_and_system_entries_and_labels_are_passed_over() {
    let mut image = card_with(2, &[("/A", &[1]), ("/HID", &[2]), ("/SYS", &[3]), ("/RO", &[4]), ("/D/X", &[5])]);
    mark(&mut image, "/HID", attribute::HIDDEN);
    mark(&mut image, "/SYS", attribute::SYSTEM);
    mark(&mut image, "/RO", attribute::READ_ONLY);
    // As macOS does it.
    let fat = Fat32::find(&mut image).unwrap();
    let folder = lookup(&mut image, fat, "/D").unwrap().first_cluster;
    let lba = fat.cluster_lba(folder).unwrap();
    let mut sector = read_sector(&mut image, lba).unwrap();
    sector[11] |= attribute::HIDDEN;
    sector[32 + 11] |= attribute::HIDDEN;
    image.write(lba, &sector).unwrap();
    let mut dos = Dos::new(image);
    assert_eq!(long(&dos.entries().0), ["A", "RO", "D"]);
    assert_eq!(dos.find("HID").error(), Some(error::NOT_FOUND));
    dos.enter("D");
    assert_eq!(long(&dos.entries().0), ["..", "X"]);
    dos.find("..").ok();
    dos.call(function::CHDIR, 0, 0, 0).ok();
    assert_eq!(long(&dos.entries().0), ["A", "RO", "D"]);
}

#[test]
fn folders_one_step_at_a_time_and_back() {
    let mut dos = Dos::new(card_with(1, &[("/A/B/C/DEEP.BIN", b"deep"), ("/A/TOP.BIN", b"top")]));
    assert_eq!(dos.file("/A/B/C/DEEP.BIN"), Ok(b"deep".to_vec()));
    for _ in 0..2 {
        dos.find("..").ok();
        dos.call(function::CHDIR, 0, 0, 0).ok();
    }
    assert_eq!(long(&dos.entries().0), [".", "..", "B", "TOP.BIN"]);
    // "." is the folder itself, ".." of a folder in the root says cluster 0.
    dos.find(".").ok();
    dos.call(function::CHDIR, 0, 0, 0).ok();
    dos.find("..").ok();
    dos.call(function::CHDIR, 0, 0, 0).ok();
    assert_eq!(long(&dos.entries().0), ["A"]);
}

#[test]
fn an_entry_that_was_read_can_be_opened() {
    let mut dos = Dos::new(card_with(1, &[("/ONE", b"one"), ("/TWO", b"two"), ("/THREE", b"three")]));
    dos.root();
    let directory = dos.call(function::OPENDIR, 0, 0, 0).ok().a;
    dos.entry(directory).unwrap();
    assert_eq!(dos.entry(directory).unwrap().long, b"TWO");
    let file = dos.call(function::OPENFILE, 0, 0, 0).ok().a;
    assert_ne!(file, directory);
    assert_eq!(dos.read_all(), Ok(b"two".to_vec()));
    assert_eq!(dos.entry(directory).unwrap().long, b"THREE");
    assert_eq!(dos.entry(file), Err(error::NOT_DIRECTORY));
}

#[test]
fn findnext_goes_on_with_the_directory_that_was_used_last() {
    let mut dos = Dos::new(card_with(1, &[("/A", &[1]), ("/B", &[2])]));
    dos.root();
    dos.set_name("A").ok();
    assert_eq!(dos.call(function::FINDFIRST, 0, 0, 0).ok().a, 0);
    dos.set_name("B").ok();
    dos.call(function::FINDNEXT, 0, 0, 0).ok();
    assert_eq!(dos.call(function::FINDNEXT, 0, 0, 0).error(), Some(error::NOT_FOUND));
    // It was closed then.
    assert_eq!(dos.call(function::OPENDIR, 0, 0, 0).ok().a, 0);
}

#[test]
fn long_names_by_option() {
    let names =
        ["stories15M.q8_0.ssnail", "ALL CAPITALS LONG.SSN", "SHORT.SSN", &("L".repeat(70) + ".SSN"), "żółw.ssnail"];
    let mut card = blank(2);
    for (i, name) in names.iter().enumerate() {
        put(&mut card, &format!("/{name}"), &[i as u8], Layout::Contiguous);
    }
    let image = card.finish().unwrap();
    let with = |long_names| Dos::with(image.clone(), Options { long_names, ..Options::default() });

    let mut dos = with(LongNames::Off);
    let entries = dos.entries().0;
    assert_eq!(long(&entries)[..3], ["STORIES1.SSN", "ALLCAPIT.SSN", "SHORT.SSN"]);
    assert_eq!(dos.file("STORIES1.SSN"), Ok(vec![0]));
    assert_eq!(dos.find("stories15M.q8_0.ssnail").error(), Some(error::NOT_FOUND));

    let mut dos = with(LongNames::Capitals);
    let entries = dos.entries().0;
    assert_eq!(long(&entries)[..3], ["STORIES15M.Q8_0.SSNAIL", "ALL CAPITALS LONG.SSN", "SHORT.SSN"]);
    assert_eq!(entries[0].short, *b"STORIES1SSN");
    // Too long a name is as if there were none; of others the low byte is left.
    assert_eq!(long(&entries)[3], "LLLLLLLL.SSN");
    assert_eq!(entries[4].long, b"|\xf3BW.SSNAIL");
    assert_eq!(dos.file("stories15M.q8_0.ssnail"), Ok(vec![0]));
    assert_eq!(dos.find("STORIES1.SSN").error(), Some(error::NOT_FOUND), "not by the 8.3 name");
    assert_eq!(dos.file("LLLLLLLL.SSN"), Ok(vec![3]));

    let mut dos = with(LongNames::AsStored);
    assert_eq!(long(&dos.entries().0)[0], "stories15M.q8_0.ssnail");
    assert_eq!(dos.find("stories15M.q8_0.ssnail").error(), Some(error::NOT_FOUND));
    assert_eq!(dos.file("all capitals long.ssn"), Ok(vec![1]));
    assert_eq!(dos.file("short.ssn"), Ok(vec![2]));
}

#[test]
fn directories_need_interrupts_off() {
    let image = card_with(1, &[("/A", &[1])]);
    for strict in [true, false] {
        let mut dos = Dos::with(image.clone(), Options { strict, ..Options::default() });
        let p = dos.machine.cpu.p();
        dos.machine.cpu.set_p(p & !4);
        let opened = dos.call(function::OPENDIR, 0, 0, 0);
        assert_eq!(opened.error(), strict.then_some(error::BAD_CLUSTER));
        assert_eq!(dos.machine.board.diagnostics.count(Report::TrapWithInterrupts), u64::from(strict));
        // Searching does not mind.
        dos.find("A").ok();
    }
}

#[test]
fn traps_fail_where_io_is_not_visible() {
    let source = "
        SEI
        LDA #$40
        STA $10
        LDA #$36
        STA $11
        LDA #$FD
        STA $12
        LDA #$0F
        STA $13            ; $FFD3640
        LDA #$34
        STA $01            ; RAM at $D000
        LDZ #0
        LDA #$12
        STA [$10],Z
        CLV
        STA $4000
        LDA #0
        ROL A
        STA $4001
        LDA #$35
        STA $01
        LDA #$12
        STA $D640
        CLV
        STA $4002
        RTS";
    let mut machine = program(Model::R3, source);
    machine.insert_card(Card::new(card_with(1, &[])), Options::default());
    run(&mut machine, 10);
    assert_eq!([0x4000, 0x4001, 0x4002].map(|a| machine.board.peek(a)), [error::BAD_CLUSTER, 0, 0]);
    assert_eq!(machine.board.diagnostics.count(Report::TrapWithoutIo), 1);
}

/// As the hypervisor was seen to do: the name as long as it is, a zero, and behind that the blank
/// of the extension that is not there.
#[test]
fn a_name_without_extension_leaves_a_blank_behind_its_end() {
    let mut card = blank(1);
    put(&mut card, "/ONE.BIN", &[1], Layout::Contiguous);
    put(&mut card, "/NOEXT", &[2], Layout::Contiguous);
    let mut dos = Dos::new(card.finish().unwrap());
    dos.root();
    let descriptor = dos.call(function::OPENDIR, 0, 0, 0).ok().a;
    let mut name = || {
        dos.entry(descriptor).unwrap();
        dos.machine.board.chip_ram()[0x1700..0x170a].to_vec()
    };
    assert_eq!(name(), b"ONE.BIN\0\0\0");
    assert_eq!(name(), b"NOEXT\0 \0\0\0");
}
