//! Any file on any card, read through HDOS, is its bytes.

use crate::card::{Dos, blank, content, put};
use proptest::prelude::*;
use ssnail_disk::fat::Layout;
use ssnail_m65::hdos::{LongNames, Options, function};
use std::collections::BTreeMap;

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        Just(0usize),
        (1usize..40, -1isize..=1).prop_map(|(n, d)| (n * 512).checked_add_signed(d).unwrap()),
        0usize..60_000
    ]
}

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::Contiguous), (1u32..6).prop_map(Layout::Scattered)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_file_on_any_card_is_its_bytes(
        cluster in (0u32..7).prop_map(|n| 1 << n),
        plan in prop::collection::vec(("[A-Z0-9]{1,8}(\\.[A-Z0-9]{1,3})?", 0usize..4, size(), layout()), 1..30),
        long_names in prop_oneof![Just(LongNames::Off), Just(LongNames::Capitals), Just(LongNames::AsStored)],
        whole in any::<bool>(),
    ) {
        let mut card = blank(cluster);
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (i, (name, folder, bytes, layout)) in plan.iter().enumerate() {
            let folder = ["", "/SSNAIL", "/A.B", "/A.B/INNER"][*folder];
            let path = format!("{folder}/{name}");
            if files.contains_key(&path) || ["/SSNAIL", "/A.B", "/A.B/INNER"].contains(&path.as_str()) {
                continue;
            }
            let data = content(i as u64, *bytes);
            put(&mut card, &path, &data, *layout);
            files.insert(path, data);
        }
        let mut dos = Dos::with(card.finish().unwrap(), Options { long_names, ..Options::default() });
        for (path, data) in &files {
            if whole {
                let (folder, name) = path.rsplit_once('/').unwrap();
                dos.enter(folder);
                dos.set_name(name).ok();
                dos.call(function::LOADFILE_ATTIC, 0x34, 0x12, 1).ok();
                let loaded: Vec<u8> =
                    (0..data.len() as u32).map(|i| dos.machine.board.peek(0x801_1234 + i)).collect();
                prop_assert!(loaded == *data, "{} loaded", path);
            } else {
                prop_assert!(dos.file(path).as_ref() == Ok(data), "{} read", path);
            }
        }
        for folder in ["", "/SSNAIL", "/A.B", "/A.B/INNER"] {
            let here = |path: &String| path.rsplit_once('/').is_some_and(|(f, _)| f == folder);
            let expected: BTreeMap<Vec<u8>, u32> = files
                .iter()
                .filter(|(path, _)| here(path))
                .map(|(path, data)| (path.rsplit('/').next().unwrap().into(), data.len() as u32))
                .collect();
            if expected.is_empty() {
                continue;
            }
            dos.enter(folder);
            let found: BTreeMap<Vec<u8>, u32> = dos
                .entries()
                .0
                .into_iter()
                .filter(|e| e.attributes & 0x10 == 0)
                .map(|e| (e.long, e.size))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
