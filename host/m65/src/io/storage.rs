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
    /// Nothing: a sector has been written.
    Written,
    /// The card reported an error.
    Error,
}

/// State of both controllers, and the card.
pub struct Storage {
    /// The card in the internal slot; the external one is empty.
    pub card: Option<Card>,
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
            End::FloppyIdle | End::Written => {}
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

    /// Reads a sector of the card at once; the caller accounts for the time.
    pub(super) fn card_read(&mut self, lba: u32, buffer: &mut [u8; SECTOR]) -> Result<(), CardError> {
        self.card.as_mut().ok_or(CardError::Silent)?.read_sector(lba, buffer)
    }

    /// Writes a sector of the card at once.
    pub(super) fn card_write(&mut self, lba: u32, buffer: &[u8; SECTOR]) -> Result<(), CardError> {
        self.card.as_mut().ok_or(CardError::Silent)?.write_sector(lba, buffer)
    }

    /// What the hypervisor does to read a sector: waits for what is under way, reads into the SD
    /// buffer, waits for that. Returns the cycles it takes.
    pub(crate) fn hypervisor_read(&mut self, lba: u32, cycles: u64) -> (u64, Result<(), CardError>) {
        let mut time = 0;
        if let Some(transfer) = &self.transfer {
            // A card that hangs is reset in the end.
            time = transfer.until.saturating_sub(cycles).min(TIMEOUT_CYCLES);
            self.finish();
        }
        self.sd.sector = lba;
        let mut buffer = self.sd_buffer;
        let result = self.card_read(lba, &mut buffer);
        // The bits stay as the last transfer left them, for whoever looks after the trap. Sectors that the card does not
        // have leave no trace: the hypervisor takes what is in the buffer, and unmapping it clears the bits.
        self.sd.end(matches!(result, Ok(()) | Err(CardError::Beyond)));
        time += match result {
            Err(CardError::Silent) => TIMEOUT_CYCLES,
            _ => u64::from(self.card.as_ref().map_or(0, |c| c.sector_cycles)),
        };
        self.sd_buffer = buffer;
        (time, result)
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
