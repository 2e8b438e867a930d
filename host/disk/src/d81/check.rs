//! Checking a whole disk: every chain, and the map against the chains.

use super::bam::field;
use super::chain::{BlockFault, Chain};
use super::directory::place;
use super::finding::{D81Finding, D81Report};
use super::image::{D81, DOS_VERSION, Ts, header};
use super::{BLOCK, DIRECTORY_TRACK, DirEntry, FileType, IMAGE_BYTES, TRACKS};
use std::collections::HashSet;

/// Marks the block from which the side sectors of a REL file hang.
const SUPER_SIDE_SECTOR: u8 = 0xFE;

impl D81 {
    /// Follows every chain and compares the map with them.
    #[must_use]
    pub fn check(&self) -> D81Report {
        let mut checker = Checker {
            disk: self,
            owner: vec![0; IMAGE_BYTES / BLOCK],
            owners: Vec::new(),
            findings: Vec::new(),
            lost: Vec::new(),
        };
        checker.system_blocks();
        let entries = self.entries();
        let mut names = HashSet::new();
        for entry in &entries {
            checker.entry(entry, &mut names);
        }
        checker.map();
        if self.has_status() {
            checker.findings.push(D81Finding::Status);
        }
        let files = entries.iter().filter(|e| !e.is_divider()).count();
        D81Report {
            findings: checker.findings,
            files: u32::try_from(files).unwrap_or(u32::MAX),
            free_blocks: self.free_blocks(),
            lost: checker.lost,
        }
    }

    /// The blocks of a file, side sectors included, as far as its chains go; and what is wrong with them.
    pub(super) fn blocks_of(&self, entry: &DirEntry) -> (Vec<Ts>, Vec<(Option<Ts>, BlockFault)>) {
        let (mut blocks, mut faults) = (Vec::new(), Vec::new());
        if entry.is_divider() {
            return (blocks, faults);
        }
        if entry.kind == FileType::Cbm {
            return self.partition(entry);
        }
        let mut follow = |(track, sector): (u8, u8), again: bool| {
            for step in Chain::new(self, track, sector) {
                match step {
                    Ok(ts) if again && blocks.contains(&ts) => break,
                    Ok(ts) => blocks.push(ts),
                    Err(fault) => {
                        faults.push(fault);
                        break;
                    }
                }
            }
        };
        follow(entry.first, false);
        if entry.kind == FileType::Rel {
            match Ts::new(entry.side.0, entry.side.1).map(|ts| (ts, self.block(ts))) {
                // Groups of side sectors, each by its first one; they may be linked to one another as well.
                Some((_, block)) if block[2] == SUPER_SIDE_SECTOR => {
                    follow(entry.side, true);
                    for group in block[3..BLOCK - 1].as_chunks::<2>().0.iter().take_while(|g| g[0] != 0) {
                        follow((group[0], group[1]), true);
                    }
                }
                _ => follow(entry.side, true),
            }
        }
        (blocks, faults)
    }

    /// The blocks of a partition: so many in a row.
    fn partition(&self, entry: &DirEntry) -> (Vec<Ts>, Vec<(Option<Ts>, BlockFault)>) {
        let (track, sector) = entry.first;
        let fault = |track, sector| vec![(None, BlockFault::NoSuchBlock { track, sector })];
        let Some(first) = Ts::new(track, sector) else { return (Vec::new(), fault(track, sector)) };
        let blocks: Vec<Ts> = Ts::all().skip(first.index()).take(usize::from(entry.blocks)).collect();
        let faults = if blocks.len() < usize::from(entry.blocks) { fault(TRACKS + 1, 0) } else { Vec::new() };
        (blocks, faults)
    }
}

struct Checker<'a> {
    disk: &'a D81,
    /// Which of the owners each block belongs to, counted from 1; 0 for none.
    owner: Vec<usize>,
    owners: Vec<String>,
    findings: Vec<D81Finding>,
    lost: Vec<Ts>,
}

impl Checker<'_> {
    /// Makes `name` the owner of the blocks claimed next.
    fn begin(&mut self, name: &str) {
        self.owners.push(name.to_owned());
    }

    /// Notes the owner of a block; false when it has one.
    fn claim(&mut self, ts: Ts) -> bool {
        let this = self.owners.len();
        let before = std::mem::replace(&mut self.owner[ts.index()], this);
        if before == 0 {
            return true;
        }
        self.owner[ts.index()] = before;
        let text = |n: usize| self.owners.get(n - 1).map_or("", String::as_str);
        let other = if before == this { "itself".to_owned() } else { format!("\"{}\"", text(before)) };
        self.findings.push(D81Finding::CrossLink { name: text(this).to_owned(), ts, other });
        false
    }

    fn system_blocks(&mut self) {
        let link = |b: &[u8; BLOCK]| (b[0], b[1]);
        self.begin("the map");
        let expected_links = [
            (Ts::HEADER, (DIRECTORY_TRACK, Ts::DIRECTORY.sector())),
            (Ts::BAM_LOW, (DIRECTORY_TRACK, Ts::BAM_HIGH.sector())),
            (Ts::BAM_HIGH, (0, 0xFF)),
        ];
        for (ts, expected) in expected_links {
            let found = link(self.disk.block(ts));
            if found != expected {
                self.findings.push(D81Finding::Link { ts, found, expected });
            }
            self.claim(ts);
        }
        let version = self.disk.block(Ts::HEADER)[header::DOS_VERSION];
        if version != DOS_VERSION {
            self.findings.push(D81Finding::DosVersion { found: version });
        }
        for ts in [Ts::BAM_LOW, Ts::BAM_HIGH] {
            let b = self.disk.block(ts);
            let found = [b[field::VERSION], b[field::COMPLEMENT]];
            if found != [DOS_VERSION, !DOS_VERSION] {
                self.findings.push(D81Finding::MapVersion { ts, found });
            }
        }
        let name = "the directory";
        self.begin(name);
        for step in Chain::new(self.disk, Ts::DIRECTORY.track(), Ts::DIRECTORY.sector()) {
            match step {
                Ok(ts) => {
                    self.claim(ts);
                }
                Err((last, fault)) => {
                    self.findings.push(D81Finding::Chain { name: name.to_owned(), place: place(last), fault });
                }
            }
        }
    }

    fn entry(&mut self, entry: &DirEntry, names: &mut HashSet<Vec<u8>>) {
        if entry.is_divider() {
            return;
        }
        let name = entry.name.to_string();
        if !names.insert(entry.name.folded()) {
            self.findings.push(D81Finding::Duplicate { name: name.clone() });
        }
        if !entry.closed {
            self.findings.push(D81Finding::Unclosed { name: name.clone() });
        }
        if let FileType::Unknown(kind) = entry.kind {
            self.findings.push(D81Finding::UnknownType { name: name.clone(), kind });
        }
        let (blocks, faults) = self.disk.blocks_of(entry);
        let whole = faults.is_empty();
        for (last, fault) in faults {
            self.findings.push(D81Finding::Chain { name: name.clone(), place: place(last), fault });
        }
        self.begin(&name);
        let mut own = true;
        for &ts in &blocks {
            // One report per file: what follows a shared block is shared too.
            own = own && self.claim(ts);
        }
        let expected = u16::try_from(blocks.len()).unwrap_or(u16::MAX);
        if whole && own && expected != entry.blocks {
            self.findings.push(D81Finding::BlockCount { name: name.clone(), found: entry.blocks, expected });
        }
        let sequential = !matches!(entry.kind, FileType::Cbm | FileType::Rel);
        if let (true, true, Some(&ts)) = (whole, sequential, blocks.last())
            && self.disk.block(ts)[1] == 0
        {
            self.findings.push(D81Finding::LastByte { name, ts });
        }
    }

    fn map(&mut self) {
        for track in 1..=TRACKS {
            let found = self.disk.track_count(track);
            let bits = (0..super::SECTORS).filter_map(|s| Ts::new(track, s)).filter(|&ts| self.disk.is_free(ts));
            let expected = u8::try_from(bits.count()).unwrap_or(u8::MAX);
            if found != expected {
                self.findings.push(D81Finding::TrackCount { track, found, expected });
            }
        }
        let mut unsafe_ = None;
        for ts in Ts::all() {
            let note = |seen: Option<(Ts, u32)>| Some(seen.map_or((ts, 1), |(first, n)| (first, n + 1)));
            match (self.owner[ts.index()] != 0, self.disk.is_free(ts)) {
                (true, true) => unsafe_ = note(unsafe_),
                (false, false) => self.lost.push(ts),
                _ => {}
            }
        }
        if let Some((first, count)) = unsafe_ {
            self.findings.push(D81Finding::UsedButFree { first, count });
        }
        if let Some(&first) = self.lost.first() {
            let count = u32::try_from(self.lost.len()).unwrap_or(u32::MAX);
            self.findings.push(D81Finding::Lost { first, count });
        }
    }
}
