//! A second reader of D81 images, written from the format's description and sharing nothing with the library.
#![allow(dead_code, clippy::unwrap_used)]

/// A file as this reader sees it.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    pub name: Vec<u8>,
    pub kind: u8,
    pub blocks: usize,
    pub data: Vec<u8>,
}

fn at(image: &[u8], track: u8, sector: u8) -> &[u8] {
    assert!((1..=80).contains(&track) && sector < 40, "block {track}/{sector} does not exist");
    let offset = ((usize::from(track) - 1) * 40 + usize::from(sector)) * 256;
    &image[offset..offset + 256]
}

/// All files; fails on anything unusual, on blocks used twice, and when the map differs from what is in use.
pub fn read_disk(image: &[u8]) -> (Vec<Seen>, usize) {
    assert_eq!(image.len(), 819_200);
    let mut used = vec![false; 3200];
    let mut take = |t: u8, s: u8| {
        let n = (usize::from(t) - 1) * 40 + usize::from(s);
        assert!(!used[n], "block {t}/{s} is used twice");
        used[n] = true;
    };
    for sector in 0..3 {
        take(40, sector);
    }
    let head = at(image, 40, 0);
    assert_eq!((head[0], head[1], head[2], head[3]), (40, 3, 0x44, 0));
    assert_eq!(&head[0x14..0x16], [0xA0; 2]);
    assert_eq!(&head[0x18..0x1D], b"\xA03D\xA0\xA0");
    let mut files = Vec::new();
    let (mut t, mut s) = (40, 3);
    while t != 0 {
        take(t, s);
        let dir = at(image, t, s);
        for e in dir.chunks(32) {
            if e[2] == 0 {
                continue;
            }
            let end = e[5..21].iter().position(|&b| b == 0xA0).unwrap_or(16);
            assert!(e[5 + end..21].iter().all(|&b| b == 0xA0), "padding of names is $A0");
            let (mut data, mut blocks) = (Vec::new(), 0);
            let (mut ft, mut fs) = (e[3], e[4]);
            while ft != 0 {
                take(ft, fs);
                assert_ne!(ft, 40, "no file data on the directory track");
                let b = at(image, ft, fs);
                blocks += 1;
                if b[0] == 0 {
                    data.extend_from_slice(&b[2..=usize::from(b[1]).max(1)]);
                } else {
                    data.extend_from_slice(&b[2..]);
                }
                (ft, fs) = (b[0], b[1]);
            }
            assert_eq!(blocks, usize::from(e[0x1E]) + 256 * usize::from(e[0x1F]));
            files.push(Seen { name: e[5..5 + end].to_vec(), kind: e[2], blocks, data });
        }
        (t, s) = (dir[0], dir[1]);
    }
    let mut free = 0;
    for track in 1..=80usize {
        let map = at(image, 40, if track <= 40 { 1 } else { 2 });
        let row = &map[16 + (track - 1) % 40 * 6..][..6];
        let mut count = 0;
        for sector in 0..40 {
            let marked = row[1 + sector / 8] & 1 << (sector % 8) != 0;
            assert_eq!(marked, !used[(track - 1) * 40 + sector], "map of {track}/{sector}");
            count += usize::from(marked);
        }
        assert_eq!(usize::from(row[0]), count, "count of track {track}");
        if track != 40 {
            free += count;
        }
    }
    (files, free)
}
