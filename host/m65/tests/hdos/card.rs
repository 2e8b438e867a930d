//! Cards, and calling HDOS on them.
#![allow(dead_code)]

use ssnail_disk::block::MemDevice;
use ssnail_disk::fat::{CardWriter, FormatOptions, Layout, Stamp};
use ssnail_m65::hdos::{Options, function};
use ssnail_m65::io::card::Card;
use ssnail_m65::{Machine, Model};

/// Page of names and of directory entries.
pub const NAME_PAGE: u8 = 0x16;
pub const ENTRY_PAGE: u8 = 0x17;

/// Bytes that differ from file to file and have no period of a sector or cluster.
pub fn content(seed: u64, bytes: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..bytes)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x.to_le_bytes()[3]
        })
        .collect()
}

/// A blank card with clusters of so many sectors, as small as FAT32 allows.
pub fn blank(cluster_sectors: u32) -> CardWriter<MemDevice> {
    let options = FormatOptions {
        cluster_sectors: Some(cluster_sectors),
        label: "CARD".into(),
        serial: 0x1234_5678,
        stamp: None,
    };
    CardWriter::format(MemDevice::new(4096 + 2048 + 65_600 * cluster_sectors), &options).unwrap()
}

/// Adds a file.
pub fn put(card: &mut CardWriter<MemDevice>, path: &str, data: &[u8], layout: Layout) {
    card.add(path, data.len() as u64, Stamp::EPOCH, &mut &data[..], layout).unwrap();
}

/// A card with these files, in one piece each.
pub fn card_with(cluster_sectors: u32, files: &[(&str, &[u8])]) -> MemDevice {
    let mut card = blank(cluster_sectors);
    for (path, data) in files {
        put(&mut card, path, data, Layout::Contiguous);
    }
    card.finish().unwrap()
}

/// What a trap returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned {
    pub ok: bool,
    pub a: u8,
    pub x: u8,
    pub y: u8,
    pub z: u8,
    pub cycles: u64,
}

impl Returned {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(self.ok, "error ${:02X}", self.a);
        self
    }

    pub fn error(self) -> Option<u8> {
        (!self.ok).then_some(self.a)
    }

    pub fn count(self) -> usize {
        usize::from(self.x) | usize::from(self.y) << 8
    }
}

/// A directory entry as a program gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub long: Vec<u8>,
    pub short: [u8; 11],
    pub cluster: u32,
    pub size: u32,
    pub attributes: u8,
}

/// A machine that is told what to call.
pub struct Dos {
    pub machine: Machine,
}

impl Dos {
    pub fn new(card: MemDevice) -> Self {
        Self::with(card, Options::default())
    }

    pub fn with(card: MemDevice, options: Options) -> Self {
        let mut machine = Machine::new(Model::R3);
        machine.insert_card(Card::new(card), options);
        let p = machine.cpu.p();
        machine.cpu.set_p(p | 0x04);
        Self { machine }
    }

    pub fn card(&mut self) -> &mut Card {
        self.machine.board.storage.card.as_mut().unwrap()
    }

    pub fn call(&mut self, a: u8, x: u8, y: u8, z: u8) -> Returned {
        // What was loaded before may have covered it.
        self.machine.board.chip_ram_mut()[0x2001..0x2006].copy_from_slice(&[0x8d, 0x40, 0xd6, 0xb8, 0x60]);
        let cpu = &mut self.machine.cpu;
        (cpu.pc, cpu.a, cpu.x, cpu.y, cpu.z) = (0x2001, a, x, y, z);
        let before = self.machine.board.cycles;
        assert_eq!(self.machine.step(), None);
        let cpu = &self.machine.cpu;
        assert_eq!(cpu.pc, 0x2005, "the byte behind the trap is skipped");
        let ok = cpu.p() & 1 != 0;
        Returned { ok, a: cpu.a, x: cpu.x, y: cpu.y, z: cpu.z, cycles: self.machine.board.cycles - before }
    }

    pub fn set_name(&mut self, name: &str) -> Returned {
        let start = usize::from(NAME_PAGE) << 8;
        let ram = self.machine.board.chip_ram_mut();
        ram[start..start + name.len()].copy_from_slice(name.as_bytes());
        ram[start + name.len()] = 0;
        self.call(function::SETNAME, 0, NAME_PAGE, 0)
    }

    pub fn root(&mut self) {
        self.call(function::CLOSEALL, 0, 0, 0).ok();
        let drive = self.call(function::GETDEFAULTDRIVE, 0, 0, 0).ok().a;
        self.call(function::CDROOTDIR, drive, 0, 0).ok();
    }

    pub fn find(&mut self, name: &str) -> Returned {
        self.set_name(name).ok();
        self.call(function::FINDFILE, 0, 0, 0)
    }

    /// Goes to the folder of a path from the root on.
    pub fn enter(&mut self, folders: &str) {
        self.root();
        for part in folders.split('/').filter(|p| !p.is_empty()) {
            self.find(part).ok();
            self.call(function::CHDIR, 0, 0, 0).ok();
        }
    }

    /// Opens a file by its path.
    pub fn open(&mut self, path: &str) -> Returned {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.enter(folders);
        self.find(name).ok();
        self.call(function::OPENFILE, 0, 0, 0)
    }

    pub fn read(&mut self) -> Returned {
        self.call(function::READFILE, 0, 0, 0)
    }

    /// The buffer as a program sees it.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.machine.write_flat(0x0ffd_3689, 0x80);
        (0..512).map(|i| self.machine.read_flat(0x0ffd_6e00 + i)).collect()
    }

    /// Reads on to the end, or the first error.
    pub fn read_all(&mut self) -> Result<Vec<u8>, u8> {
        let mut data = Vec::new();
        loop {
            let r = self.read();
            match (r.ok, r.count()) {
                (_, 0) => return Ok(data),
                (false, _) => return Err(r.a),
                (true, n) => data.extend_from_slice(&self.buffer()[..n]),
            }
        }
    }

    /// A file by its path.
    pub fn file(&mut self, path: &str) -> Result<Vec<u8>, u8> {
        self.open(path).ok();
        self.read_all()
    }

    /// The next entry of a directory, or the error code.
    pub fn entry(&mut self, descriptor: u8) -> Result<Found, u8> {
        let r = self.call(function::READDIR, descriptor, ENTRY_PAGE, 0);
        if !r.ok {
            return Err(r.a);
        }
        let start = usize::from(ENTRY_PAGE) << 8;
        let bytes = self.machine.board.chip_ram()[start..start + 87].to_vec();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(bytes[0x4c..0x4e], [0, 0]);
        Ok(Found {
            long: bytes[..usize::from(bytes[0x40])].to_vec(),
            short: bytes[0x41..0x4c].try_into().unwrap(),
            cluster: word(0x4e),
            size: word(0x52),
            attributes: bytes[0x56],
        })
    }

    /// All entries of the current directory, and the code at its end.
    pub fn entries(&mut self) -> (Vec<Found>, u8) {
        let descriptor = self.call(function::OPENDIR, 0, 0, 0).ok().a;
        let mut all = Vec::new();
        let code = loop {
            match self.entry(descriptor) {
                Ok(entry) => all.push(entry),
                Err(code) => break code,
            }
        };
        self.call(function::CLOSEDIR, descriptor, 0, 0).ok();
        (all, code)
    }
}
