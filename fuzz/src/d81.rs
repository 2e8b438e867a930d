//! Disks: a good one with damage in its tables and chains, or any bytes.

use crate::patch::patches;
use ssnail_disk::d81::{D81, FileType, IMAGE_BYTES, NameUse, PetsciiName, Source, demo_disk};
use std::sync::LazyLock;

/// First byte of the track with header, map and directory.
const DIRECTORY: usize = 39 * 40 * 256;

static DISK: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let model = vec![7; 3000];
    let demo = demo_disk(&[1; 2000], &[], "Read me.\n", Some(Source { name: "STORY.SSN", data: &model }));
    let mut bytes = demo.map(|d| d.disk.to_bytes()).unwrap_or_default();
    bytes.resize(IMAGE_BYTES, 0);
    bytes
});

pub fn run(data: &[u8]) {
    let mut image = DISK.clone();
    // The directory's track, and the links at the front of the blocks around it, where files begin.
    let regions = [
        DIRECTORY..DIRECTORY + 8 * 256,
        DIRECTORY - 20 * 256..DIRECTORY,
        DIRECTORY + 40 * 256..DIRECTORY + 60 * 256,
        0..IMAGE_BYTES,
    ];
    for patch in patches(data, &regions) {
        let end = (patch.at + patch.bytes.len()).min(image.len());
        image[patch.at..end].copy_from_slice(&patch.bytes[..end - patch.at]);
    }
    let _ = D81::from_bytes(data);
    let Ok(mut disk) = D81::from_bytes(&image) else { panic!("a disk of the right length is one") };
    let intact = disk.check().errors().next().is_none();
    let mut names = Vec::new();
    // Lines across the listing and partitions have no content.
    for entry in disk.entries().into_iter().filter(|e| !e.is_divider() && e.kind != FileType::Cbm) {
        match disk.read(&entry) {
            Ok(content) => assert!(content.len() <= IMAGE_BYTES),
            Err(error) => assert!(!intact, "the check found nothing, and {entry:?} cannot be read: {error}"),
        }
        names.push(entry);
    }
    let _ = (disk.name(), disk.id(), disk.find("ssnail"), disk.find("*"));
    if let Ok(name) = PetsciiName::new("new", NameUse::File)
        && disk.add(&name, FileType::Seq, &data[..data.len().min(2000)]).is_ok()
    {
        let found = disk.find("new").and_then(|e| disk.read(&e));
        if intact && !names.iter().any(|e| e.name.is_named("new")) {
            assert_eq!(found.ok().as_deref(), Some(&data[..data.len().min(2000)]), "what was added is not there");
            assert!(disk.check().errors().next().is_none(), "adding damaged a disk that was whole");
        }
    }
    let _ = disk.remove("story.ssn");
    let _ = disk.check();
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![], vec![0; 64]];
    // A file whose chain is a circle, one that leaves the disk, a directory that goes on in itself, a map without blocks.
    for (region, at, bytes) in [
        (0u8, 3 * 256 + 3u16, [40, 3]),
        (0, 3 * 256, [40, 3]),
        (0, 256, [81, 200]),
        (1, 0, [40, 1]),
        (2, 0, [41, 0]),
        (0, 3 * 256 + 3, [99, 99]),
    ] {
        let [low, high] = at.to_le_bytes();
        seeds.push(vec![region, low, high, 1, bytes[0], bytes[1]]);
    }
    seeds
}
