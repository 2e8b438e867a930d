//! Disk images that lie on the card.

use crate::card::{Dos, blank, content, put};
use ssnail_disk::fat::Layout;
use ssnail_m65::hdos::{error, function};

const CONTROL: u32 = 0x0ffd_3080;
const D81: usize = 819_200;

fn dos(cluster: u32, files: &[(&str, &[u8], Layout)]) -> Dos {
    let mut card = blank(cluster);
    for (path, data, layout) in files {
        put(&mut card, path, data, *layout);
    }
    Dos::new(card.finish().unwrap())
}

fn read(dos: &mut Dos, drive: u8, track: u8, sector: u8) -> Vec<u8> {
    let m = &mut dos.machine;
    for (register, value) in [(0, 0x60 | drive), (4, track), (5, sector), (6, 0), (1, 0x40)] {
        m.write_flat(CONTROL + register, value);
    }
    m.board.cycles += 100_000;
    assert_eq!(m.read_flat(CONTROL + 2) & 0x90, 0);
    m.write_flat(0x0ffd_3689, 0);
    (0..512).map(|i| m.read_flat(0x0ffd_6c00 + i)).collect()
}

#[test]
fn an_image_in_one_piece_is_mounted() {
    for cluster in [1, 8, 64] {
        let (a, b) = (content(1, D81), content(2, D81));
        let mut dos = dos(cluster, &[("/D/A.D81", &a, Layout::Contiguous), ("/D/B.D81", &b, Layout::Contiguous)]);
        let start = dos.card().clusters_of("/D/A.D81").unwrap()[0];
        dos.enter("D");
        dos.set_name("a.d81").ok();
        dos.call(function::D81ATTACH0, 0, 0, 0).ok();
        let registers: Vec<u8> = (0x8a..=0x8f).map(|r| dos.machine.read_flat(0x0ffd_3600 + r)).collect();
        assert_eq!(registers[..2], [0, 7]);
        assert_eq!(registers[2..], start.to_le_bytes());
        dos.set_name("B.D81").ok();
        dos.call(function::D81ATTACH1, 0, 0, 0).ok();
        assert_eq!(dos.machine.read_flat(0x0ffd_368b), 0x3f);
        assert!(read(&mut dos, 0, 7, 3) == a[(7 * 20 + 2) * 512..][..512]);
        assert!(read(&mut dos, 1, 79, 10) == b[(79 * 20 + 9) * 512..][..512]);
        dos.call(function::GET_PROC_DESC, 0, 0x40, 0).ok();
        let block = &dos.machine.board.chip_ram()[0x4000..0x4100];
        assert_eq!((block[0x11], block[0x13], &block[0x15..0x1a]), (1, 5, &b"a.d81"[..]));
        dos.call(function::D81DETACH, 0, 0, 0).ok();
        assert_eq!(dos.machine.read_flat(0x0ffd_368b), 0);
        assert_eq!(dos.call(function::D81WRITE_EN, 0, 0, 0).error(), Some(error::NO_DRIVE));
    }
}

#[test]
fn writing_to_a_mounted_image_changes_the_file() {
    let a = content(1, D81);
    let mut dos = dos(8, &[("/A.D81", &a, Layout::Contiguous)]);
    dos.set_name("A.D81").ok();
    dos.call(function::D81ATTACH0, 0, 0, 0).ok();
    read(&mut dos, 0, 3, 4);
    dos.machine.write_flat(CONTROL + 5, 9);
    dos.machine.write_flat(CONTROL + 1, 0x80);
    dos.machine.board.cycles += 100_000;
    assert_eq!(dos.machine.read_flat(CONTROL + 3) & 0x40, 0x40);
    let changed = dos.file("A.D81").unwrap();
    let (from, to) = ((3 * 20 + 3) * 512, (3 * 20 + 8) * 512);
    assert!(changed[to..to + 512] == a[from..from + 512]);
    assert!(changed[..to] == a[..to] && changed[to + 512..] == a[to + 512..]);
}

#[test]
fn images_in_pieces_and_of_other_sizes_are_refused() {
    let data = content(1, D81 + 4096);
    let mut dos = dos(
        8,
        &[
            ("/PIECES.D81", &data[..D81], Layout::Scattered(50)),
            ("/LONG.D81", &data, Layout::Contiguous),
            ("/SHORT.D81", &data[..D81 - 4096], Layout::Contiguous),
            ("/A.D64", &data[..174_848], Layout::Contiguous),
            ("/DIR/X", &[1], Layout::Contiguous),
        ],
    );
    for (name, code) in [
        ("PIECES.D81", Some(error::IMAGE_FRAGMENTED)),
        ("LONG.D81", Some(error::IMAGE_LENGTH)),
        ("SHORT.D81", Some(error::IMAGE_LENGTH)),
        ("GONE.D81", Some(error::NOT_FOUND)),
        ("DIR", Some(error::IS_DIRECTORY)),
        ("A.D64", None),
    ] {
        dos.root();
        dos.set_name(name).ok();
        assert_eq!(dos.call(function::D81ATTACH0, 0, 0, 0).error(), code, "{name}");
    }
    assert_eq!(dos.machine.read_flat(0x0ffd_368a), 0x40, "shown as a D64");
}

#[test]
fn every_attach_uses_up_a_descriptor() {
    let mut dos = dos(8, &[("/A.D81", &content(1, D81), Layout::Contiguous)]);
    dos.root();
    dos.set_name("A.D81").ok();
    for _ in 0..3 {
        dos.call(function::D81ATTACH0, 0, 0, 0).ok();
    }
    let last = dos.call(function::OPENDIR, 0, 0, 0).ok().a;
    assert_eq!(last, 3);
    assert_eq!(dos.call(function::FINDFILE, 0, 0, 0).error(), Some(error::TOO_MANY_OPEN));
    dos.call(function::CLOSEALL, 0, 0, 0).ok();
    dos.call(function::D81ATTACH0, 0, 0, 0).ok();
}
