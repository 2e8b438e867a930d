//! Files through HDOS: opening, reading, loading.

use crate::card::{Dos, blank, card_with, content, put};
use ssnail_disk::fat::Layout;
use ssnail_m65::hdos::{EndOfFile, Options, error, function};
use ssnail_m65::io::card::SECTOR_CYCLES;

#[test]
fn sizes_around_sectors_on_every_cluster_size() {
    for cluster in [1, 2, 4, 8, 16, 32, 64] {
        let bytes = cluster as usize * 512;
        let sizes = [0, 1, 511, 512, 513, bytes - 1, bytes, bytes + 1, 3 * bytes + 700];
        let files: Vec<(String, Vec<u8>)> =
            sizes.iter().enumerate().map(|(i, &n)| (format!("/F{i}.BIN"), content(i as u64, n))).collect();
        for layout in [Layout::Contiguous, Layout::Scattered(1)] {
            let mut card = blank(cluster);
            for (path, data) in &files {
                put(&mut card, path, data, layout);
            }
            let mut dos = Dos::new(card.finish().unwrap());
            for (path, data) in &files {
                assert!(dos.file(path).as_ref() == Ok(data), "{path} with {cluster} sectors per cluster, {layout:?}");
            }
        }
    }
}

#[test]
fn the_end_is_told_by_a_count_of_0_and_carry_by_option() {
    let data = content(1, 700);
    let image = card_with(8, &[("/A.SSN", &data)]);
    for (end_of_file, ok, a) in [(EndOfFile::CarryClear, false, 0), (EndOfFile::CarrySet, true, function::READFILE)] {
        let mut dos = Dos::with(image.clone(), Options { end_of_file, ..Options::default() });
        dos.open("/A.SSN").ok();
        assert_eq!(dos.read().ok().count(), 512);
        let last = dos.read().ok();
        assert_eq!(last.count(), 188);
        assert_eq!(last.a, function::READFILE, "A stays");
        assert_eq!(dos.buffer()[..188], data[512..]);
        for _ in 0..2 {
            let end = dos.read();
            assert_eq!((end.ok, end.a, end.count()), (ok, a, 0));
        }
    }
}

#[test]
fn version_drives_and_unknown_functions() {
    let mut dos = Dos::new(card_with(1, &[]));
    let version = dos.call(function::GETVERSION, 9, 9, 9).ok();
    assert_eq!([version.a, version.x, version.y, version.z], [1, 2, 1, 2]);
    assert_eq!(dos.call(function::GETDEFAULTDRIVE, 0, 0, 0).ok().a, 0);
    assert_eq!(dos.call(function::CDROOTDIR, 1, 0, 0).error(), Some(error::NO_DRIVE));
    assert_eq!(dos.call(function::SELECTDRIVE, 4, 0, 0).error(), Some(error::NO_DRIVE));
    for missing in [0x08, 0x0a, 0x0e, 0x10, 0x1c, 0x24, 0x26, 0x28, 0x2a, 0x2c, 0x4c] {
        assert_eq!(dos.call(missing, 0, 0, 0).error(), Some(0xff), "${missing:02X}");
    }
    assert_eq!(dos.call(function::GETERRORCODE, 0, 0, 0).ok().a, 0xff);
}

#[test]
fn names_are_looked_for_in_capitals() {
    let data = content(2, 40);
    let mut dos = Dos::new(card_with(1, &[("/FOO.SSN", &data), ("/A", &[7]), ("/DIR/X.Y", &[8])]));
    for name in ["FOO.SSN", "foo.ssn", "Foo.ssn"] {
        dos.find(name).ok();
        dos.call(function::OPENFILE, 0, 0, 0).ok();
        assert_eq!(dos.read_all().as_ref(), Ok(&data), "{name}");
        dos.call(function::CLOSEALL, 0, 0, 0).ok();
    }
    for name in ["FOO", "FOO.SS", "FOO.SSNX", "NOPE", "*", "FOO*", "DIR/X.Y", "/FOO.SSN", "A."] {
        assert_eq!(dos.find(name).error(), Some(error::NOT_FOUND), "{name}");
    }
    assert_eq!(dos.file("/A"), Ok(vec![7]));
    assert_eq!(dos.file("/DIR/X.Y"), Ok(vec![8]));
}

#[test]
fn wrong_arguments_have_their_codes() {
    let mut dos = Dos::new(card_with(1, &[("/FILE", &[1]), ("/DIR/X", &[2])]));
    assert_eq!(dos.set_name(&"N".repeat(63)).error(), None);
    assert_eq!(dos.set_name(&"N".repeat(64)).error(), Some(error::NAME_TOO_LONG));
    for (page, expected) in [(0x7e, None), (0x7f, Some(error::BAD_ADDRESS)), (0x80, Some(error::BAD_ADDRESS))] {
        assert_eq!(dos.call(function::SETNAME, 0, page, 0).error(), expected);
        assert_eq!(dos.call(function::SETUP_TRANSFER_AREA, 0, page, 0).error(), expected);
    }
    assert_eq!(dos.call(function::GETERRORCODE, 0, 0, 0).ok().a, error::BAD_ADDRESS);
    dos.find("DIR").ok();
    assert_eq!(dos.call(function::OPENFILE, 0, 0, 0).error(), Some(error::IS_DIRECTORY));
    dos.find("FILE").ok();
    assert_eq!(dos.call(function::CHDIR, 0, 0, 0).error(), Some(error::NOT_DIRECTORY));
    for close in [function::CLOSEFILE, function::CLOSEDIR] {
        assert_eq!(dos.call(close, 4, 0, 0).error(), Some(error::BAD_DESCRIPTOR));
    }
    assert_eq!(dos.entry(9), Err(error::BAD_DESCRIPTOR));
    // A descriptor that was never opened is read all the same.
    assert_eq!(dos.entry(3), Err(error::NOT_DIRECTORY));
    assert_eq!(dos.call(function::GETERRORCODE, 0, 0, 0).ok().a, error::NOT_DIRECTORY);
}

#[test]
fn other_registers_and_flags_stay() {
    let mut dos = Dos::new(card_with(1, &[("/FILE", &[1])]));
    dos.set_name("FILE").ok();
    for (function, a) in [
        (function::SETNAME, function::SETNAME),
        (function::FINDFILE, function::FINDFILE),
        (function::OPENFILE, 0),
        (function::CLOSEALL, function::CLOSEALL),
        (function::GETDEFAULTDRIVE, 0),
        (function::GETCURRENTDRIVE, 0),
        (function::OPENDIR, 0),
        (function::CDROOTDIR, function::CDROOTDIR),
    ] {
        let cpu = &mut dos.machine.cpu;
        cpu.set_p(0xce);
        let page = crate::card::NAME_PAGE;
        let r = dos.call(function, 0, page, 0x77).ok();
        assert_eq!([r.a, r.x, r.y, r.z], [a, 0, page, 0x77], "${function:02X}");
        // N, V, D, I and Z as before, C set, E always.
        assert_eq!(dos.machine.cpu.p(), 0xef, "${function:02X}");
    }
}

#[test]
fn four_descriptors_directories_included() {
    let mut dos = Dos::new(card_with(1, &[("/FILE", &[1])]));
    dos.root();
    dos.find("FILE").ok();
    for expected in 0..4 {
        assert_eq!(dos.call(function::FINDFIRST, 0, 0, 0).ok().a, expected);
    }
    for function in [function::FINDFILE, function::FINDFIRST, function::OPENDIR, function::LOADFILE] {
        assert_eq!(dos.call(function, 0, 0, 0).error(), Some(error::TOO_MANY_OPEN));
    }
    dos.call(function::CLOSEFILE, 2, 0, 0).ok();
    assert_eq!(dos.call(function::OPENDIR, 0, 0, 0).ok().a, 2);
    dos.call(function::CLOSEALL, 0, 0, 0).ok();
    dos.find("FILE").ok();
    assert_eq!(dos.call(function::OPENFILE, 0, 0, 0).ok().a, 0);
}

#[test]
fn only_the_file_opened_last_can_be_read() {
    let (a, b) = (content(1, 2000), content(2, 600));
    let mut dos = Dos::new(card_with(2, &[("/A", &a), ("/B", &b)]));
    dos.open("/A").ok();
    assert_eq!(dos.read().ok().count(), 512);
    dos.find("B").ok();
    let second = dos.call(function::OPENFILE, 0, 0, 0).ok().a;
    assert_eq!(second, 1);
    assert_eq!(dos.read_all(), Ok(b));
    dos.call(function::CLOSEFILE, second, 0, 0).ok();
    assert_eq!(dos.read().count(), 0, "the rest of A is not reached any more");
}

#[test]
fn the_buffer_is_where_d689_says_and_not_at_de00() {
    let data = content(3, 512);
    let mut dos = Dos::new(card_with(1, &[("/A", &data)]));
    dos.machine.write_flat(0x0ffd_3680, 0x81);
    assert_eq!(dos.machine.read_flat(0x0ffd_3680) & 8, 8);
    dos.machine.write_flat(0x0ffd_3689, 0);
    dos.open("/A").ok();
    assert_eq!(dos.machine.read_flat(0x0ffd_3680) & 8, 0, "unmapped by every trap");
    assert_eq!(dos.machine.read_flat(0x0ffd_3689) & 0x80, 0x80, "searching chooses the card's buffer");
    dos.read().ok();
    assert_ne!(dos.machine.read_flat(0x0ffd_3e05), data[5]);
    dos.machine.write_flat(0x0ffd_3680, 0x81);
    assert_eq!(dos.machine.read_flat(0x0ffd_3e05), data[5]);
    // The user's view repeats one buffer, and is the floppy's without bit 7.
    assert_eq!(dos.machine.read_flat(0x0ffd_6005), data[5]);
    dos.machine.write_flat(0x0ffd_3689, 0);
    assert_eq!(dos.machine.read_flat(0x0ffd_6e05), 0);
    assert_eq!(dos.machine.read_flat(0x0ffd_37fa), 0, "the frame counter starts again");
}

#[test]
fn the_rest_of_the_last_sector_is_whatever_the_card_has() {
    let data = content(4, 1024);
    let mut dos = Dos::new(card_with(2, &[("/A", &data)]));
    dos.card().claim_size("/A", 600).unwrap();
    dos.open("/A").ok();
    dos.read().ok();
    assert_eq!(dos.read().ok().count(), 88);
    assert_eq!(dos.buffer(), data[512..]);
}

#[test]
fn loadfile_copies_to_chip_and_attic_ram() {
    let sizes = [0usize, 1, 255, 256, 511, 512, 513, 1024, 5000];
    let names: Vec<String> = sizes.iter().map(|n| format!("/F{n}")).collect();
    let files: Vec<Vec<u8>> = sizes.iter().map(|&n| content(n as u64, n)).collect();
    let pairs: Vec<(&str, &[u8])> = names.iter().map(String::as_str).zip(files.iter().map(Vec::as_slice)).collect();
    let mut dos = Dos::new(card_with(2, &pairs));
    dos.root();
    for (name, data) in &pairs {
        for (function, base) in [(function::LOADFILE, 0x4_0000), (function::LOADFILE_ATTIC, 0x804_0000)] {
            dos.set_name(&name[1..]).ok();
            let end = 0xff80 + data.len() as u32;
            dos.machine.write_flat(base + end, 0x5a);
            let r = dos.call(function, 0x80, 0xff, 4).ok();
            let read: Vec<u8> = (0xff80..end).map(|a| dos.machine.read_flat(base + a)).collect();
            assert!(read == *data, "{name}");
            assert_eq!(dos.machine.read_flat(base + end), 0x5a, "{name}: nothing behind it");
            assert!(r.cycles > data.len() as u64 * 23, "{name}: copied byte by byte");
        }
    }
    dos.set_name("F5000").ok();
    assert!(dos.machine.board.rom_write_protected);
    dos.call(function::LOADFILE, 0, 0, 3).ok();
    assert_eq!(dos.machine.read_flat(0x3_0000), files[8][0], "the hypervisor writes to the ROM area");
    assert!(dos.machine.board.rom_write_protected);
    dos.set_name("GONE").ok();
    assert_eq!(dos.call(function::LOADFILE, 0, 0, 4).error(), Some(error::NOT_FOUND));
    // None of them used up a descriptor.
    assert_eq!(dos.call(function::OPENDIR, 0, 0, 0).ok().a, 0);
}

#[test]
fn reading_takes_the_cards_time() {
    let data = content(5, 64 * 1024);
    let mut dos = Dos::new(card_with(8, &[("/A", &data)]));
    dos.open("/A").ok();
    let reads = dos.card().reads;
    let plain = dos.read().ok().cycles;
    let sector = u64::from(SECTOR_CYCLES);
    assert!((sector..sector + 4_100).contains(&plain), "{plain}: 50 to 100 us beside the card");
    let rest: Vec<u64> = (0..15).map(|_| dos.read().ok().cycles).collect();
    // The FAT and the sector again at the end of each cluster of eight.
    assert!(rest[6] > 3 * sector && rest[14] > 3 * sector, "{rest:?}");
    assert_eq!(rest[..6], [plain; 6]);
    assert_eq!(dos.card().reads - reads, 16 + 2 * 2);
    let seconds = (plain + rest.iter().sum::<u64>()) as f64 / 40.5e6;
    let rate = 16.0 * 512.0 / seconds / 1e6;
    assert!((0.6..0.8).contains(&rate), "{rate} MB/s of a card that reaches 1.0");
    dos.card().sector_cycles = 12_198;
    assert!(dos.read().ok().cycles < plain, "a good card");
}

#[test]
fn the_process_descriptor_tells_what_is_open() {
    let mut dos = Dos::new(card_with(1, &[("/FILE", &[1])]));
    dos.open("/FILE").ok();
    dos.call(function::GET_PROC_DESC, 0, 0x40, 0).ok();
    let block = &dos.machine.board.chip_ram()[0x4000..0x4100];
    assert_eq!([block[0x11], block[0x13]], [0, 0]);
    assert_eq!([0x80, 0xa0, 0xc0, 0xe0].map(|at| block[at]), [0, 0xff, 0xff, 0xff]);
    assert_eq!(dos.call(function::GET_PROC_DESC, 0, 0x7f, 0).error(), Some(error::BAD_ADDRESS));
}
