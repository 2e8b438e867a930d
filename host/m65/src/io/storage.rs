//! Sector buffers, and what the two controllers in front of the card share.
//!
//! The floppy controller (`$D080`, [`super::f011`]) and the SD controller (`$D680`, [`super::sd`])
//! share the area at $FFD6000: in user mode all of it shows one 512-byte buffer, chosen by `$D689`
//! bit 7. They also share the state machine that moves sectors, so only one transfer is under way.

use super::card::{Card, CardError};
use super::f011::Floppy;
use super::sd::Sd;

pub use ssnail_disk::block::SECTOR;

/// Cycles after which the hypervisor gives a silent card up: its counter of $0D0000 polls.
pub(crate) const TIMEOUT_CYCLES: u64 = 17_000_000;

/// How often the hypervisor asks a silent card; without end on a MEGA65.
const ATTEMPTS: u32 = 2;

/// The card does not answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silent;

/// A transfer under way.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    /// When it ends; never, when the card does not answer.
    pub until: u64,
    pub end: End,
}

/// What happens at its end.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// The SD buffer gets this content.
    SdBuffer(Box<[u8; SECTOR]>),
    /// The floppy buffer gets this content.
    FloppyBuffer(Box<[u8; SECTOR]>),
    /// A sector of a mounted image has been written.
    FloppyWritten,
    /// A head has moved or a motor started.
    FloppyIdle,
    /// The floppy controller did not find its sector.
    FloppyError,
    /// Likewise, because the card with the image reported an error.
    FloppyCardError,
    /// Nothing: a sector has been written.
    Written,
    /// Nothing: the card has been initialised.
    Ready,
    /// The card reported an error.
    Error,
}

/// State of both controllers, and the card.
pub struct Storage {
    /// The card in the internal slot; the external one is empty.
    pub card: Option<Card>,
    /// A program wanted something of a card while there was none.
    pub missed: bool,
    /// Buffer of the SD controller.
    pub sd_buffer: [u8; SECTOR],
    /// Buffer of the floppy controller.
    pub floppy_buffer: [u8; SECTOR],
    /// `$D689` bit 7: the SD buffer is the visible one.
    pub sd_selected: bool,
    /// The buffer is mapped at `$DE00` (unmapped by every trap).
    pub mapped: bool,
    /// Floppy controller and mounted images.
    pub floppy: Floppy,
    pub(super) sd: Sd,
    pub(super) transfer: Option<Transfer>,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            card: None,
            missed: false,
            sd_buffer: [0; SECTOR],
            floppy_buffer: [0; SECTOR],
            sd_selected: false,
            mapped: false,
            floppy: Floppy::default(),
            sd: Sd::default(),
            transfer: None,
        }
    }
}

impl Storage {
    /// Ends the transfer if it is time.
    #[inline]
    pub(super) fn sync(&mut self, cycles: u64) {
        if self.transfer.as_ref().is_some_and(|t| t.until <= cycles) {
            self.finish();
        }
    }

    #[cold]
    fn finish(&mut self) {
        let Some(transfer) = self.transfer.take() else {
            return;
        };
        match transfer.end {
            End::SdBuffer(data) => self.sd_buffer = *data,
            End::FloppyBuffer(data) => {
                self.floppy_buffer = *data;
                self.floppy.read_done();
            }
            End::FloppyWritten => self.floppy.write_done(),
            End::FloppyError => self.floppy.not_found(),
            End::FloppyCardError => {
                self.floppy.not_found();
                self.sd.fail();
            }
            End::FloppyIdle | End::Written | End::Ready => {}
            End::Error => self.sd.fail(),
        }
    }

    /// Starts a transfer of one sector that takes the card's time.
    pub(super) fn start(&mut self, result: Result<End, CardError>, error: End, cycles: u64) {
        let time = self.card.as_ref().map_or(super::card::SECTOR_CYCLES, |c| c.sector_cycles);
        let (until, end) = match result {
            Ok(end) => (cycles + u64::from(time), end),
            Err(CardError::Failed | CardError::Beyond) => (cycles + u64::from(time), error),
            Err(CardError::Silent) => (u64::MAX, error),
        };
        self.transfer = Some(Transfer { until, end });
    }

    /// Reads a sector of the card at once; the caller accounts for the time. After an error, also that of a sector which
    /// the card does not have, nothing is read until a reset.
    pub(super) fn card_read(&mut self, lba: u32, buffer: &mut [u8; SECTOR]) -> Result<(), CardError> {
        if self.sd.is_stalled() {
            return Err(CardError::Failed);
        }
        self.slot()?.read_sector(lba, buffer)
    }

    /// Writes a sector of the card at once.
    pub(super) fn card_write(&mut self, lba: u32, buffer: &[u8; SECTOR]) -> Result<(), CardError> {
        self.slot()?.write_sector(lba, buffer)
    }

    fn slot(&mut self) -> Result<&mut Card, CardError> {
        self.missed |= self.card.is_none();
        self.card.as_mut().ok_or(CardError::Silent)
    }

    /// What the hypervisor does to read a sector: waits for what is under way, reads into the SD buffer, waits until the
    /// controller is not busy. That is all it looks at: after an error the buffer is as it was, and only the error bit
    /// tells. A card that does not answer is reset and asked again. Returns the cycles it takes.
    ///
    /// # Errors
    /// The card does not answer to that either. There a MEGA65 asks for ever.
    pub(crate) fn hypervisor_read(&mut self, lba: u32, cycles: u64) -> (u64, Result<(), Silent>) {
        let mut time = 0;
        if let Some(transfer) = &self.transfer {
            // A card that hangs is reset in the end.
            time = transfer.until.saturating_sub(cycles).min(TIMEOUT_CYCLES);
            self.finish();
        }
        self.sd.sector = lba;
        let mut buffer = self.sd_buffer;
        for _ in 0..ATTEMPTS {
            self.sd.begin();
            match self.card_read(lba, &mut buffer) {
                Err(CardError::Silent) => {
                    time += TIMEOUT_CYCLES;
                    self.sd.reset();
                    continue;
                }
                Err(CardError::Failed | CardError::Beyond) => self.sd.fail(),
                Ok(()) => self.sd_buffer = buffer,
            }
            time += u64::from(self.card.as_ref().map_or(0, |c| c.sector_cycles));
            return (time, Ok(()));
        }
        (time, Err(Silent))
    }

    /// Sector that was transferred last.
    pub(crate) fn sd_sector(&self) -> u32 {
        self.sd.sector
    }

    fn visible(&mut self) -> &mut [u8; SECTOR] {
        if self.sd_selected { &mut self.sd_buffer } else { &mut self.floppy_buffer }
    }

    /// Reads the buffer area; `offset` within 4 KB.
    pub fn read_buffer(&mut self, offset: u16, cycles: u64) -> u8 {
        self.sync(cycles);
        self.visible()[usize::from(offset) % SECTOR]
    }

    /// Writes the buffer area.
    pub fn write_buffer(&mut self, offset: u16, value: u8, cycles: u64) {
        self.sync(cycles);
        self.visible()[usize::from(offset) % SECTOR] = value;
    }
}
