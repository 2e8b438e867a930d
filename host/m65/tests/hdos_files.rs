//! Files through HDOS: opening, reading, loading.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/card.rs"]
mod card;

use card::{Dos, blank, card_with, content, put};
use ssnail_disk::fat::Layout;
use ssnail_m65::hdos::{EndOfFile, Options, error, function};

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
