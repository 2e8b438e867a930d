//! What a program did that it should not, collected instead of printed.

use crate::cpu::Hazard;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Kinds of doubtful behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Report {
    /// Read where nothing is.
    UnmappedRead,
    /// Write where nothing is.
    UnmappedWrite,
    /// Write to the registers of the HyperRAM's controller, which lie at the end of what looks like memory.
    MemoryControl,
    /// Write to the protected ROM area; dropped.
    RomWrite,
    /// A KERNAL routine was called without a ROM; it did nothing.
    KernalCall,
    /// A trap's STA was followed by something other than CLV: hardware skips that byte.
    TrapFiller,
    /// A trap that nothing handles.
    UnknownTrap,
    /// A disk function was called while `$D000` did not show I/O; it failed.
    TrapWithoutIo,
    /// A directory was read with interrupts on; it failed.
    TrapWithInterrupts,
    /// A directory whose clusters go round in a circle: the hypervisor would read it for ever.
    EndlessDirectory,
    /// Something that machines do differently.
    Hazard(Hazard),
    /// The load port was written while it had no room; the byte was lost.
    LoadPortOverflow,
    /// A DMA list that does not end: hardware would hang, here it was cut off.
    DmaEndless,
    /// A DMA list asked for something that hardware does not do (mix, swap, modulo).
    DmaUnsupported,
}

impl Report {
    fn text(self) -> &'static str {
        match self {
            Self::UnmappedRead => "read of unmapped memory",
            Self::UnmappedWrite => "write to unmapped memory",
            Self::MemoryControl => "write to the registers of the HyperRAM's controller",
            Self::RomWrite => "write to the protected ROM area, dropped",
            Self::KernalCall => "KERNAL call without a ROM",
            Self::TrapFiller => "byte after the hypervisor trap is not CLV",
            Self::UnknownTrap => "unknown hypervisor trap",
            Self::Hazard(Hazard::Break) => "BRK executed",
            Self::TrapWithoutIo => "disk trap while I/O is not visible",
            Self::EndlessDirectory => "directory that goes round in a circle, at which hardware hangs",
            Self::TrapWithInterrupts => "directory trap while interrupts are on",
            Self::Hazard(Hazard::FlatQCrossesBank) => "flat Q access across a 64 KB boundary",
            Self::Hazard(Hazard::FlatQThenIndirectZ) => "(bp),Z directly after a flat Q load",
            Self::Hazard(Hazard::PointerAtPageEnd) => "pointer at the last byte of the base page",
            Self::LoadPortOverflow => "load port written while it had no room",
            Self::DmaEndless => "DMA list without end",
            Self::DmaUnsupported => "DMA feature that hardware does not have",
        }
    }
}

/// One kind at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Instruction that did it first.
    pub pc: u16,
    /// Cycle of the first time.
    pub cycles: u64,
    /// How often.
    pub count: u64,
}

/// The collection, bounded in size.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    entries: BTreeMap<(Report, u32), Occurrence>,
    looked: BTreeSet<u32>,
    /// Occurrences at further places, not kept singly.
    pub dropped: u64,
}

/// Places kept singly.
const LIMIT: usize = 64;
/// Cells at which a program may look for memory. It looks at a few; whoever comes by more believes that memory is there.
const LOOKS: usize = 64;

impl Diagnostics {
    /// Counts one occurrence at `address`.
    pub fn add(&mut self, report: Report, address: u32, pc: u16, cycles: u64) {
        if let Some(entry) = self.entries.get_mut(&(report, address)) {
            entry.count += 1;
        } else if self.entries.len() < LIMIT {
            self.entries.insert((report, address), Occurrence { pc, cycles, count: 1 });
        } else {
            self.dropped += 1;
        }
    }

    /// Counts a read or write of a cell where this board has no memory and others do. A program that looks for memory
    /// does both: nothing else tells it what is there. Neither is a fault then, unless there are too many such cells.
    pub(crate) fn add_absent(&mut self, report: Report, address: u32, pc: u16, cycles: u64) {
        if self.looked.contains(&address) {
            return;
        }
        let other = if report == Report::UnmappedRead { Report::UnmappedWrite } else { Report::UnmappedRead };
        if self.looked.len() < LOOKS && self.entries.remove(&(other, address)).is_some() {
            self.entries.remove(&(report, address));
            self.looked.insert(address);
        } else {
            self.add(report, address, pc, cycles);
        }
    }

    /// Everything seen, by kind and address.
    pub fn entries(&self) -> impl Iterator<Item = (Report, u32, Occurrence)> + '_ {
        self.entries.iter().map(|(&(report, address), &occurrence)| (report, address, occurrence))
    }

    /// Occurrences of one kind.
    pub fn count(&self, report: Report) -> u64 {
        self.entries().filter(|(r, _, _)| *r == report).map(|(_, _, o)| o.count).sum()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (report, address, o) in self.entries() {
            writeln!(f, "{} at ${address:07X}: {} times, first from ${:04X}", report.text(), o.count, o.pc)?;
        }
        if self.dropped > 0 {
            writeln!(f, "and {} more", self.dropped)?;
        }
        Ok(())
    }
}
