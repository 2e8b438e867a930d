//! Any calls on any damaged card: codes, no panic, an end.

use crate::card::{Dos, blank, content, put};
use proptest::prelude::*;
use ssnail_disk::block::{BlockDevice, MemDevice, read_sector};
use ssnail_disk::fat::{Fat32, Layout, lookup};
use ssnail_m65::diagnostics::Report;
use ssnail_m65::hdos::{LongNames, Options, error, function};
use std::sync::LazyLock;

static SAMPLE: LazyLock<MemDevice> = LazyLock::new(|| {
    let mut card = blank(2);
    for i in 0..10u64 {
        let path = format!("/SSNAIL/a long name {i}.ssnail");
        put(&mut card, &path, &content(i, 900 * i as usize), Layout::Scattered(1));
    }
    put(&mut card, "/A", &content(1, 5000), Layout::Contiguous);
    put(&mut card, "/A.D81", &content(2, 819_200), Layout::Contiguous);
    card.finish().unwrap()
});

#[derive(Clone, Debug)]
enum Damage {
    /// A link of the FAT.
    Link(u32, u32),
    /// A byte of the first sectors that hold data: directories.
    Directory(u32, usize, u8),
    /// A byte of the boot sector or the partition table.
    Boot(bool, usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (2u32..40, prop_oneof![0u32..40, Just(0x0fff_ffff), any::<u32>()]).prop_map(|(a, b)| Damage::Link(a, b)),
        4 => (0u32..8, 0usize..512, any::<u8>()).prop_map(|(a, b, c)| Damage::Directory(a, b, c)),
        1 => (any::<bool>(), 0usize..512, any::<u8>()).prop_map(|(a, b, c)| Damage::Boot(a, b, c)),
    ]
}

fn apply(card: &mut MemDevice, damage: &Damage) {
    let fat = Fat32::find(&mut SAMPLE.clone()).unwrap();
    let (lba, at, bytes) = match *damage {
        Damage::Link(cluster, link) => {
            let (lba, at) = fat.fat_entry(cluster);
            (lba, at, link.to_le_bytes().to_vec())
        }
        Damage::Directory(sector, at, byte) => (fat.data_start() + sector, at, vec![byte]),
        Damage::Boot(table, at, byte) => (if table { 0 } else { fat.start() }, at, vec![byte]),
    };
    let mut sector = read_sector(card, lba).unwrap();
    sector[at..at + bytes.len()].copy_from_slice(&bytes);
    card.write(lba, &sector).unwrap();
}

#[test]
fn a_directory_in_a_circle_has_an_end() {
    let mut card = SAMPLE.clone();
    let fat = Fat32::find(&mut card).unwrap();
    let folder = lookup(&mut card, fat, "/SSNAIL").unwrap().first_cluster;
    apply(&mut card, &Damage::Link(folder, folder));
    for long_names in [LongNames::Off, LongNames::Capitals] {
        let mut dos = Dos::with(card.clone(), Options { long_names, ..Options::default() });
        dos.enter("SSNAIL");
        assert_eq!(dos.find("GONE").error(), Some(error::NOT_FOUND));
        assert_eq!(dos.machine.board.diagnostics.count(Report::EndlessDirectory), 1);
        // Reading on and on is the program's own affair.
        let directory = dos.call(function::OPENDIR, 0, 0, 0).ok().a;
        assert!((0..100).all(|_| dos.entry(directory).is_ok()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_calls_on_any_card_end(
        damages in prop::collection::vec(damage(), 0..6),
        calls in prop::collection::vec((0u8..0x38, 0u8..6, 0x22u8..0x80, 0u8..6), 1..30),
        on in any::<bool>(),
        name in prop_oneof![Just("A"), Just("A.D81"), Just("SSNAIL"), Just("ALONGNAM.SSN"), Just("..")],
    ) {
        let mut card = SAMPLE.clone();
        damages.iter().for_each(|d| apply(&mut card, d));
        let long_names = if on { LongNames::Capitals } else { LongNames::Off };
        let mut dos = Dos::with(card, Options { long_names, ..Options::default() });
        dos.set_name(name);
        for (function, x, y, z) in calls {
            let function = function * 2;
            // A name of noise comes from elsewhere.
            let y = if function == function::SETNAME { crate::card::NAME_PAGE } else { y };
            let r = dos.call(function, x, y, z);
            if function == function::READFILE {
                prop_assert!(r.count() <= 512);
            }
        }
    }
}
