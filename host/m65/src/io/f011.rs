//! The floppy controller, `$D080-$D089`, with images mounted on its drives.
//!
//! An image lies in one piece on the card, or is held beside it. Both take the card's time.

use super::storage::{End, SECTOR, Storage};
use ssnail_disk::block::BlockDevice;

const CONTROL_MOTOR: u8 = 0x20;
const CONTROL_SWAP: u8 = 0x10;
const CONTROL_DRIVE: u8 = 0x07;

const STATUS_TRACK_0: u8 = 0x01;
const STATUS_PROTECTED: u8 = 0x02;
const STATUS_NOT_FOUND: u8 = 0x10;
const STATUS_EQUAL: u8 = 0x20;
const STATUS_REQUEST: u8 = 0x40;
const STATUS_BUSY: u8 = 0x80;

const STATUS_CHANGED: u8 = 0x01;
const STATUS_DISK: u8 = 0x08;
/// Status B: sector found while reading (with its synonym), while writing.
const STATUS_READ: u8 = 0xa0;
const STATUS_WRITE: u8 = 0x40;

/// Cycles of a unit of the step rate register: 62.5 µs.
const STEP_CYCLES: u64 = 2_531;
/// Cycles until a motor runs: one second.
const SPIN_CYCLES: u64 = 40_500_000;

/// What lies on a disk, by the size of its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskKind {
    /// 1581: 80 tracks of 20 sectors.
    D81,
    /// 1541, shown with the geometry of a D81 cut short.
    D64,
    /// 1571, likewise.
    D71,
    /// High density: 85 tracks of 64 sectors a side.
    D65,
}

impl DiskKind {
    /// First sector of a request in the image; requests outside the disk go to its first sector.
    fn offset(self, track: u8, side: u8, sector: u8) -> u32 {
        let physical = if side == 0 { sector.wrapping_sub(1) } else { sector.wrapping_add(9) };
        let (track, physical) = (u32::from(track & 0x7f), u32::from(physical));
        let (offset, outside) = match self {
            Self::D81 => (track * 20 + physical, track >= 80 || physical > 20),
            Self::D64 => (track * 20 + physical, track >= 18 || physical > 20 || track == 17 && physical > 1),
            Self::D71 => (track * 20 + physical, track >= 35 || physical > 20 || track == 34 && physical > 2),
            Self::D65 => (track * 128 + physical, track >= 84 || physical > 63),
        };
        if outside { 0 } else { offset }
    }
}

/// Where the sectors of an image are.
pub enum Image {
    /// On the card from this sector on.
    Card(u32),
    /// Anywhere else.
    Device(Box<dyn BlockDevice>),
}

struct Mounted {
    image: Image,
    kind: DiskKind,
    writable: bool,
}

/// Registers and drives.
pub struct Floppy {
    drives: [Option<Mounted>; 2],
    control: u8,
    command: u8,
    track: u8,
    sector: u8,
    side: u8,
    clock: u8,
    step: u8,
    head: u8,
    /// Place in the buffer of the next byte at `$D087`.
    pointer: u16,
    not_found: bool,
    request: bool,
    /// The buffer is full, not empty: equal pointers are not shown.
    full: bool,
    found: u8,
    changed: bool,
}

impl Default for Floppy {
    fn default() -> Self {
        Self {
            drives: [None, None],
            control: 0,
            command: 0,
            track: 0,
            sector: 1,
            side: 0,
            clock: 0xff,
            step: 0x80,
            head: 0,
            pointer: 0,
            not_found: false,
            request: false,
            full: false,
            found: 0,
            changed: false,
        }
    }
}

impl Floppy {
    /// Puts an image into drive 0 or 1.
    pub fn mount(&mut self, drive: usize, image: Image, kind: DiskKind, writable: bool) {
        if let Some(place) = self.drives.get_mut(drive) {
            *place = Some(Mounted { image, kind, writable });
            self.changed = true;
        }
    }

    /// Takes an image out of a drive.
    pub fn unmount(&mut self, drive: usize) {
        if let Some(place) = self.drives.get_mut(drive) {
            self.changed |= place.take().is_some();
        }
    }

    /// Whether an image is in a drive.
    pub fn is_mounted(&self, drive: usize) -> bool {
        self.drives.get(drive).is_some_and(Option::is_some)
    }

    /// Allows writing to the image in drive 0; false when none is there.
    pub fn allow_writing(&mut self) -> bool {
        if let Some(mounted) = &mut self.drives[0] {
            mounted.writable = true;
        }
        self.is_mounted(0)
    }

    /// `$D68A` and `$D68B`.
    pub(super) fn mount_flags(&self) -> [u8; 2] {
        let mut flags = [0, 0];
        for (drive, mounted) in self.drives.iter().enumerate() {
            let Some(mounted) = mounted else { continue };
            let kind = 0x40 << drive;
            flags[1] |= (0x03 | u8::from(mounted.writable) << 2) << (3 * drive);
            flags[0] |= if matches!(mounted.kind, DiskKind::D64 | DiskKind::D71) { kind } else { 0 };
            flags[1] |= if matches!(mounted.kind, DiskKind::D65 | DiskKind::D71) { kind } else { 0 };
        }
        flags
    }

    /// First sector of an image on the card.
    pub(super) fn start_sector(&self, drive: usize) -> u32 {
        match self.drives.get(drive) {
            Some(Some(Mounted { image: Image::Card(start), .. })) => *start,
            _ => 0,
        }
    }

    fn selected(&self) -> usize {
        usize::from(self.control & CONTROL_DRIVE)
    }

    fn swapped(&self) -> u16 {
        u16::from(self.control & CONTROL_SWAP != 0) << 8
    }

    pub(super) fn read_done(&mut self) {
        self.found = STATUS_READ;
        self.request = true;
        self.full = true;
    }

    pub(super) fn write_done(&mut self) {
        self.found = STATUS_WRITE;
    }

    pub(super) fn not_found(&mut self) {
        self.not_found = true;
    }
}

impl Storage {
    /// Reads `$D080 + register` of the floppy controller.
    pub fn read_floppy(&mut self, register: u8, cycles: u64) -> u8 {
        self.sync(cycles);
        let busy = self.transfer.is_some();
        let floppy = &mut self.floppy;
        let bit = |on: bool, bits: u8| if on { bits } else { 0 };
        match register {
            0x0 => floppy.control,
            0x1 => floppy.command,
            0x2 => {
                let protected = matches!(floppy.drives.get(floppy.selected()), Some(Some(m)) if !m.writable);
                bit(busy, STATUS_BUSY)
                    | bit(floppy.request, STATUS_REQUEST)
                    | bit(floppy.pointer == 0 && !floppy.full, STATUS_EQUAL)
                    | bit(floppy.not_found, STATUS_NOT_FOUND)
                    | bit(protected, STATUS_PROTECTED)
                    | bit(floppy.head == 0, STATUS_TRACK_0)
            }
            0x3 => {
                floppy.found
                    | bit(floppy.is_mounted(floppy.selected()), STATUS_DISK)
                    | bit(floppy.changed, STATUS_CHANGED)
            }
            0x4 => floppy.track,
            0x5 => floppy.sector,
            0x6 => floppy.side,
            0x7 => {
                let value = self.floppy_buffer[usize::from(floppy.pointer) % SECTOR];
                floppy.advance();
                value
            }
            0x8 => floppy.clock,
            0x9 => floppy.step,
            _ => 0,
        }
    }

    /// Writes `$D080 + register` of the floppy controller.
    pub fn write_floppy(&mut self, register: u8, value: u8, cycles: u64) {
        self.sync(cycles);
        let floppy = &mut self.floppy;
        match register {
            0x0 => {
                if (floppy.control ^ value) & CONTROL_SWAP != 0 {
                    floppy.pointer ^= 0x100;
                }
                if value & CONTROL_MOTOR == 0 {
                    floppy.changed = false;
                }
                floppy.control = value;
            }
            0x1 => self.floppy_command(value, cycles),
            0x4 => floppy.track = value,
            0x5 => floppy.sector = value,
            0x6 => floppy.side = value,
            0x7 => {
                self.floppy_buffer[usize::from(floppy.pointer) % SECTOR] = value;
                floppy.advance();
            }
            0x8 => floppy.clock = value,
            0x9 => floppy.step = value,
            _ => {}
        }
    }

    fn floppy_command(&mut self, command: u8, cycles: u64) {
        let floppy = &mut self.floppy;
        floppy.command = command;
        floppy.not_found = false;
        floppy.found = 0;
        if command & 1 != 0 {
            floppy.pointer = floppy.swapped();
        }
        match command & 0xfc {
            0x40 | 0x44 => self.floppy_read(cycles),
            0x80 | 0x84 => self.floppy_write(cycles),
            0x10 | 0x14 | 0x18 => {
                floppy.head = match command & 0xfc {
                    0x10 => floppy.head.saturating_sub(1),
                    0x18 => floppy.head.saturating_add(1),
                    _ => floppy.head,
                };
                let duration = u64::from(floppy.step) * STEP_CYCLES;
                self.floppy_busy(duration, cycles);
            }
            0x20 => {
                floppy.not_found = true;
                self.floppy_busy(SPIN_CYCLES, cycles);
            }
            0x00 => self.transfer = None,
            _ => {}
        }
    }

    /// The place that track, side and sector registers name on the selected drive.
    fn floppy_place(&mut self) -> Option<u32> {
        let floppy = &self.floppy;
        let mounted = floppy.drives.get(floppy.selected())?.as_ref()?;
        Some(mounted.kind.offset(floppy.track, floppy.side, floppy.sector))
    }

    fn floppy_read(&mut self, cycles: u64) {
        let (Some(offset), None) = (self.floppy_place(), &self.transfer) else {
            self.floppy.not_found();
            return;
        };
        let mut data = Box::new(self.floppy_buffer);
        let drive = self.floppy.selected();
        let (result, error) = match self.floppy.drives.get_mut(drive) {
            Some(Some(Mounted { image: Image::Device(device), .. })) => {
                let result = device.read(offset, data.as_mut_slice());
                (result.map_err(|_| super::card::CardError::Failed), End::FloppyError)
            }
            _ => {
                let lba = self.floppy.start_sector(drive).wrapping_add(offset);
                self.sd.sector = lba;
                (self.card_read(lba, &mut data), End::FloppyCardError)
            }
        };
        self.start(result.map(|()| End::FloppyBuffer(data)), error, cycles);
    }

    fn floppy_write(&mut self, cycles: u64) {
        self.floppy.pointer = self.floppy.swapped();
        let (Some(offset), None) = (self.floppy_place(), &self.transfer) else {
            self.floppy.not_found();
            return;
        };
        let data = self.floppy_buffer;
        let drive = self.floppy.selected();
        let result = match self.floppy.drives.get_mut(drive) {
            Some(Some(mounted)) if !mounted.writable => {
                self.floppy.not_found();
                return;
            }
            Some(Some(Mounted { image: Image::Device(device), .. })) => {
                device.write(offset, &data).map_err(|_| super::card::CardError::Failed)
            }
            _ => {
                let lba = self.floppy.start_sector(drive).wrapping_add(offset);
                self.sd.sector = lba;
                self.card_write(lba, &data)
            }
        };
        self.start(result.map(|()| End::FloppyWritten), End::FloppyError, cycles);
    }
}

impl Floppy {
    fn advance(&mut self) {
        self.pointer = (self.pointer + 1) % SECTOR as u16;
        self.request = false;
        self.full = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_a_d81() {
        let at = |track, side, sector| DiskKind::D81.offset(track, side, sector);
        assert_eq!(at(0, 0, 1), 0);
        assert_eq!(at(0, 0, 10), 9);
        assert_eq!(at(0, 1, 1), 10);
        assert_eq!(at(39, 0, 1), 780);
        assert_eq!(at(79, 1, 10), 1599);
        // Outside the disk: its first sector.
        assert_eq!(at(80, 0, 1), 0);
        assert_eq!(at(3, 0, 0), 0);
    }
}
