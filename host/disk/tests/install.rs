//! Copying into a folder.
#![allow(clippy::unwrap_used)]

mod common;

use common::{content, run, tool};
use ssnail_disk::install::{InstallError, Installer, Pieces};
use ssnail_disk::source::SourceError;
use ssnail_disk::spec::CardItem;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("card")).unwrap();
        Self { dir }
    }
    fn card(&self) -> PathBuf {
        self.dir.path().join("card")
    }
    fn model(&self, name: &str, seed: u64, bytes: usize) -> CardItem {
        let mut data = b"SSNL".to_vec();
        data.extend(content(seed, bytes));
        self.item(name, &data)
    }
    fn item(&self, name: &str, data: &[u8]) -> CardItem {
        let path = self.dir.path().join(name);
        fs::write(&path, data).unwrap();
        CardItem::parse(path.as_os_str()).unwrap()
    }
    fn listing(&self) -> Vec<String> {
        fn collect(dir: &Path, root: &Path, out: &mut Vec<String>) {
            for e in fs::read_dir(dir).unwrap() {
                let path = e.unwrap().path();
                if path.is_dir() {
                    collect(&path, root, out);
                } else {
                    out.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        let mut out = Vec::new();
        collect(&self.card(), &self.card(), &mut out);
        out.sort();
        out
    }
}

#[test]
fn models_get_upper_case_names_that_hyppo_finds() {
    let place = Place::new();
    let mut installer = Installer::new(&place.card(), false).unwrap();
    let items = [
        place.model("stories15M.q8_0.ssnail", 1, 3_000_000),
        place.model("stories15M.q4_0.ssnail", 2, 513),
        place.item("config.txt", b"STORIES1.SSN\n"),
        place.item("ssnail.d81", &vec![0; 819_200]),
    ];
    let mut seen = 0;
    for item in &items {
        let done = installer.install(item, &mut |n| seen += n).unwrap();
        assert!(!done.unchanged);
        assert!(fs::read(&done.target).unwrap() == fs::read(&item.file).unwrap());
    }
    assert_eq!(seen, items.iter().map(|i| fs::metadata(&i.file).unwrap().len()).sum::<u64>());
    assert_eq!(place.listing(), ["SSNAIL.D81", "SSNAIL/CONFIG.TXT", "SSNAIL/STORIES1.SSN", "SSNAIL/STORIE_2.SSN"]);
}

#[test]
fn what_is_there_already_is_left_alone_and_other_files_are_not_replaced() {
    let place = Place::new();
    let install = |item: &CardItem, force| Installer::new(&place.card(), force).unwrap().install(item, &mut |_| {});
    let first = place.model("foo.ssnail", 1, 1000);
    install(&first, false).unwrap();
    let before = fs::metadata(place.card().join("SSNAIL/FOO.SSN")).unwrap().modified().unwrap();
    assert!(install(&first, false).unwrap().unchanged);
    assert_eq!(fs::metadata(place.card().join("SSNAIL/FOO.SSN")).unwrap().modified().unwrap(), before);
    let second = place.model("foo.ssnail", 2, 1000);
    let e = install(&second, false).unwrap_err();
    assert!(matches!(e, InstallError::Exists { .. }), "{e}");
    assert!(!install(&second, true).unwrap().unchanged);
    assert!(fs::read(place.card().join("SSNAIL/FOO.SSN")).unwrap() == fs::read(&second.file).unwrap());
    assert_eq!(place.listing(), ["SSNAIL/FOO.SSN"], "no temporary file is left");
}

#[test]
fn the_model_folder_itself_may_be_named_and_found_in_lower_case() {
    let place = Place::new();
    fs::create_dir(place.card().join("ssnail")).unwrap();
    let item = place.model("a.ssnail", 1, 10);
    Installer::new(&place.card(), false).unwrap().install(&item, &mut |_| {}).unwrap();
    let item = place.model("b.ssnail", 1, 10);
    Installer::new(&place.card().join("ssnail"), false).unwrap().install(&item, &mut |_| {}).unwrap();
    assert_eq!(place.listing(), ["ssnail/A.SSN", "ssnail/B.SSN"]);
}

#[test]
fn files_the_machine_cannot_use_are_refused() {
    let place = Place::new();
    let mut installer = Installer::new(&place.card(), false).unwrap();
    let mut fails = |item: &CardItem| match installer.install(item, &mut |_| {}) {
        Err(InstallError::Source(e)) => e,
        other => unreachable!("{other:?}"),
    };
    let e = fails(&place.item("model.gguf", b"GGUF\x03\0\0\0"));
    assert!(matches!(e, SourceError::Gguf { .. }) && e.to_string().contains("ssnail convert"), "{e}");
    assert!(matches!(fails(&place.item("x.ssnail", b"nonsense")), SourceError::NotAModel { .. }));
    assert!(matches!(fails(&place.item("x.ssnail", b"")), SourceError::NotAModel { .. }));
    let folder = CardItem::parse(place.dir.path().as_os_str()).unwrap();
    assert!(matches!(fails(&folder), SourceError::NotAFile { .. }));
    let missing = CardItem::parse(OsStr::new("/does/not/exist.prg")).unwrap();
    assert!(matches!(fails(&missing), SourceError::Io { .. }));
    let e = Installer::new(&place.card().join("nowhere"), false).err().unwrap();
    assert!(matches!(e, InstallError::NoFolder { .. }), "{e}");
    assert_eq!(place.listing(), [""; 0]);
    let warned = installer.install(&place.item("x.d81", b"short"), &mut |_| {}).unwrap();
    assert!(warned.warnings[0].contains("819200"));
}

#[test]
fn the_pieces_of_a_file_are_those_that_filefrag_counts() {
    let place = Place::new();
    let item = place.model("big.ssnail", 1, 5_000_000);
    let done = Installer::new(&place.card(), false).unwrap().install(&item, &mut |_| {}).unwrap();
    match done.pieces {
        Pieces::Known(n) => {
            let Some(mut filefrag) = tool("filefrag") else { return };
            let text = run(filefrag.arg(&done.target));
            assert!(text.contains(&format!(": {n} extent")), "{text}");
            assert_eq!(done.warnings.is_empty(), n <= 1);
        }
        Pieces::Unknown => println!("skipped: filefrag is not installed or cannot count on this file system"),
    }
}
