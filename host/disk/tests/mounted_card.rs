//! Copying onto a FAT32 file system that something else manages: the kernel's, or that of fusefat where it is
//! installed. What is then on the card is read by mtools.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{content, run, tool};
use ssnail_disk::install::{InstallError, Installer, Pieces};
use ssnail_disk::spec::CardItem;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Megabytes of the card.
const SIZE: u64 = 64;

/// A card that is mounted as long as this lives.
struct Mounted {
    dir: tempfile::TempDir,
    /// Takes the card away again.
    unmount: Option<Command>,
    /// Whether the kernel manages it.
    kernel: bool,
}

impl Mounted {
    /// `None` where nothing here can or may mount a FAT32 file system; the reason is printed.
    fn new() -> Option<Self> {
        let mut mkfs = tool("mkfs.vfat")?;
        let dir = tempfile::tempdir().unwrap();
        let (image, folder) = (dir.path().join("card.img"), dir.path().join("card"));
        fs::create_dir(&folder).unwrap();
        fs::File::create(&image).unwrap().set_len(SIZE << 20).unwrap();
        run(mkfs.args(["-F", "32"]).arg(&image));
        let mounted = tool("mount")?.args(["-t", "vfat", "-o", "loop"]).arg(&image).arg(&folder).output().unwrap();
        if mounted.status.success() {
            let mut unmount = tool("umount")?;
            unmount.arg(&folder);
            return Some(Self { dir, unmount: Some(unmount), kernel: true });
        }
        println!("the kernel does not mount a card: {}", String::from_utf8_lossy(&mounted.stderr).trim());
        let (mut fusefat, mut unmount) = (tool("fusefat")?, tool("fusermount")?);
        let mounted = fusefat.args(["-s", "-o", "rw+"]).arg(&image).arg(&folder).output().unwrap();
        if !mounted.status.success() {
            println!("skipped: fusefat: {}", String::from_utf8_lossy(&mounted.stderr).trim());
            return None;
        }
        unmount.arg("-u").arg(&folder);
        Some(Self { dir, unmount: Some(unmount), kernel: false })
    }

    fn card(&self) -> PathBuf {
        self.dir.path().join("card")
    }

    fn image(&self) -> PathBuf {
        self.dir.path().join("card.img")
    }

    fn item(&self, name: &str, data: &[u8]) -> CardItem {
        let path = self.dir.path().join(name);
        fs::write(&path, data).unwrap();
        CardItem::parse(path.as_os_str()).unwrap()
    }

    fn unmount(&mut self) {
        if let Some(mut unmount) = self.unmount.take() {
            run(&mut unmount);
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(mut unmount) = self.unmount.take() {
            // Whatever the test has failed at, the folder can be removed then.
            let _ = unmount.output();
        }
    }
}

fn model(seed: u64, bytes: usize) -> Vec<u8> {
    [b"SSNL".to_vec(), content(seed, bytes)].concat()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap().to_uppercase()).collect();
    names.sort();
    names
}

#[test]
fn files_are_copied_onto_a_mounted_card() {
    let Some(mut place) = Mounted::new() else { return };
    let card = place.card();
    let (first, second, disk) = (model(1, 700_001), model(2, 512), content(3, 819_200));
    let items = [
        place.item("ssnail.d81", &disk),
        place.item("stories15M.q8_0.ssnail", &first),
        place.item("stories15M.q4_0.ssnail", &second),
    ];
    let mut installer = Installer::new(&card, false).unwrap();
    for item in &items {
        let done = installer.install(item, &mut |_| {}).unwrap();
        assert!(!done.unchanged);
        // Nothing else is on the card that could be in the way.
        assert!(matches!(done.pieces, Pieces::Known(1) | Pieces::Unknown), "{:?}", done.pieces);
    }
    let mut again = Installer::new(&card, false).unwrap();
    assert!(again.install(&items[1], &mut |_| {}).unwrap().unchanged);
    let other = place.item("storie_2.ssnail", &model(4, 512));
    let refused = Installer::new(&card, false).unwrap().install(&other, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, InstallError::Exists { .. }), "{refused}");
    if place.kernel {
        let large = place.item("large.ssnail", &model(5, (SIZE << 20) as usize));
        let refused = Installer::new(&card, false).unwrap().install(&large, &mut |_| {}).unwrap_err();
        assert!(matches!(refused, InstallError::Full { .. }), "{refused}");
    }
    let folder = ["STORIES1.SSN", "STORIE_2.SSN"];
    let mut expected = folder.map(str::to_owned);
    expected.sort();
    assert_eq!(
        (names(&card), names(&card.join("SSNAIL"))),
        (vec!["SSNAIL".into(), "SSNAIL.D81".into()], expected.into())
    );
    place.unmount();
    assert_eq!(names(&card), [""; 0], "the card is away");
    for (path, data) in [("SSNAIL.D81", &disk), ("SSNAIL/STORIES1.SSN", &first), ("SSNAIL/STORIE_2.SSN", &second)] {
        let Some(mut mcopy) = tool("mcopy") else { return };
        let back = place.dir.path().join("back");
        run(mcopy.args(["-n", "-o", "-i"]).arg(place.image()).arg(format!("::/{path}")).arg(&back));
        assert!(fs::read(&back).unwrap() == *data, "{path}");
    }
}
