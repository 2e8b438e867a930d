//! The SD card: its sectors, the time they take, and what can be made to go wrong with them.

use ssnail_disk::block::{BlockDevice, DeviceError, FileDevice, MemDevice, Overlay, SECTOR};
use std::io;
use std::path::Path;

/// Cycles from the command to the last byte of a sector: 512 bytes at 1.0 MB/s, what ordinary
/// cards reach (good ones about 1.7 MB/s).
pub const SECTOR_CYCLES: u32 = 20_736;

/// When a fault strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A read of this sector.
    Sector(u32),
    /// The n-th read from now on, the next one being 1.
    Read(u64),
}

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The card reports an error; the buffer keeps its content.
    Error,
    /// The card does not answer: the controller stays busy until it is reset.
    Silence,
    /// The read succeeds, but the buffer keeps its content: what becomes of a card error in a
    /// program that does not look at the error bits.
    Stale,
    /// The read succeeds with byte `offset` exclusive-or'd with `mask`.
    Flip {
        /// Byte in the sector, 0 to 511.
        offset: u16,
        /// Bits to invert.
        mask: u8,
    },
    /// The card is pulled out, and stays out.
    Remove,
}

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub trigger: Trigger,
    /// What.
    pub effect: Effect,
    /// How often it still happens; a fault that happens once is gone when the read is repeated.
    pub times: u32,
}

/// Why a sector could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardError {
    /// The card reported an error.
    Failed,
    /// The card has no such sector.
    Beyond,
    /// No answer: no card, or one that hangs.
    Silent,
}

/// A card in a slot.
pub struct Card {
    device: Box<dyn BlockDevice>,
    faults: Vec<Fault>,
    /// Pulled out: nothing answers.
    pub removed: bool,
    /// Cycles that a sector takes.
    pub sector_cycles: u32,
    /// Sectors read so far, failed reads included.
    pub reads: u64,
    /// Sectors written so far.
    pub writes: u64,
}

impl Card {
    /// A card whose content is any device.
    pub fn new(device: impl BlockDevice + 'static) -> Self {
        Self {
            device: Box::new(device),
            faults: Vec::new(),
            removed: false,
            sector_cycles: SECTOR_CYCLES,
            reads: 0,
            writes: 0,
        }
    }

    /// A card with the content of an image in memory.
    pub fn from_bytes(image: &[u8]) -> Self {
        Self::new(MemDevice::from_bytes(image))
    }

    /// A card from an image file, which stays as it is: what the machine writes is forgotten.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(Overlay::new(FileDevice::open(path)?)))
    }

    /// A card from an image file, to which the machine's writes go.
    ///
    /// # Errors
    /// What the system says.
    pub fn open_writable(path: &Path) -> io::Result<Self> {
        Ok(Self::new(FileDevice::open_writable(path)?))
    }

    /// Makes something go wrong.
    pub fn inject(&mut self, mut fault: Fault) {
        if let Trigger::Read(n) = &mut fault.trigger {
            *n += self.reads;
        }
        self.faults.push(fault);
    }

    /// Makes every read of a sector fail with an error.
    pub fn fail_sector(&mut self, lba: u32) {
        self.inject(Fault { trigger: Trigger::Sector(lba), effect: Effect::Error, times: u32::MAX });
    }

    /// Takes all faults away and puts the card back.
    pub fn heal(&mut self) {
        self.faults.clear();
        self.removed = false;
    }

    /// What is on the card, without its faults: what a machine reads before there are any. Nothing where it is pulled out.
    pub(crate) fn before_faults(&mut self) -> Option<&mut dyn BlockDevice> {
        if self.removed { None } else { Some(&mut *self.device) }
    }

    fn strike(&mut self, lba: u32) -> Option<Effect> {
        let reads = self.reads;
        let due = |f: &&mut Fault| {
            f.times > 0
                && match f.trigger {
                    Trigger::Sector(at) => at == lba,
                    Trigger::Read(n) => n == reads,
                }
        };
        let fault = self.faults.iter_mut().find(due)?;
        if fault.times != u32::MAX {
            fault.times -= 1;
        }
        Some(fault.effect)
    }

    /// Reads one sector.
    ///
    /// # Errors
    /// [`CardError`]; the buffer is then as it was.
    pub fn read_sector(&mut self, lba: u32, buffer: &mut [u8; SECTOR]) -> Result<(), CardError> {
        self.reads += 1;
        let effect = self.strike(lba);
        self.removed |= effect == Some(Effect::Remove);
        match effect {
            _ if self.removed => return Err(CardError::Silent),
            Some(Effect::Error) => return Err(CardError::Failed),
            Some(Effect::Silence) => return Err(CardError::Silent),
            Some(Effect::Stale) => return Ok(()),
            _ => {}
        }
        let mut sector = [0; SECTOR];
        self.device.read(lba, &mut sector).map_err(|e| match e {
            DeviceError::OutOfRange { .. } => CardError::Beyond,
            _ => CardError::Failed,
        })?;
        if let Some(Effect::Flip { offset, mask }) = effect {
            sector[usize::from(offset) % SECTOR] ^= mask;
        }
        *buffer = sector;
        Ok(())
    }

    /// Writes one sector.
    ///
    /// # Errors
    /// [`CardError`].
    pub fn write_sector(&mut self, lba: u32, buffer: &[u8; SECTOR]) -> Result<(), CardError> {
        if self.removed {
            return Err(CardError::Silent);
        }
        self.writes += 1;
        self.device.write(lba, buffer).map_err(|_| CardError::Failed)
    }
}

/// The card as a file system sees it, faults and all.
impl BlockDevice for Card {
    fn sectors(&self) -> u32 {
        self.device.sectors()
    }

    fn read(&mut self, lba: u32, buf: &mut [u8]) -> Result<(), DeviceError> {
        if buf.len() % SECTOR != 0 {
            return Err(DeviceError::Length { lba, bytes: buf.len() });
        }
        for (at, out) in (lba..).zip(buf.as_chunks_mut::<SECTOR>().0) {
            self.read_sector(at, out).map_err(|e| failed(at, e))?;
        }
        Ok(())
    }

    fn write(&mut self, lba: u32, buf: &[u8]) -> Result<(), DeviceError> {
        if buf.len() % SECTOR != 0 {
            return Err(DeviceError::Length { lba, bytes: buf.len() });
        }
        for (at, sector) in (lba..).zip(buf.as_chunks::<SECTOR>().0) {
            self.write_sector(at, sector).map_err(|e| failed(at, e))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.device.flush()
    }
}

fn failed(lba: u32, error: CardError) -> DeviceError {
    let text = match error {
        CardError::Failed => "the card reported an error",
        CardError::Beyond => "the card has no such sector",
        CardError::Silent => "the card does not answer",
    };
    DeviceError::Io { lba, source: io::Error::other(text) }
}
