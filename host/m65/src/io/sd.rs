//! The SD controller, `$D680-$D693` and a few more: single sectors, no multi-block reads.

use super::storage::{End, SECTOR, Storage, Transfer};

/// Status: the controller is busy, the card is busy.
const STATUS_BUSY: u8 = 0x03;
const STATUS_RESET: u8 = 0x04;
const STATUS_MAPPED: u8 = 0x08;
const STATUS_SDHC: u8 = 0x10;
/// Status: error and state machine error.
const STATUS_ERROR: u8 = 0x60;
/// Status: the error that stays until a reset.
const STATUS_STALLED: u8 = 0x40;
const STATUS_EXTERNAL_SLOT: u8 = 0x80;

/// Cycles that a write gate stays open: about 1 ms.
const GATE_CYCLES: u64 = 40_000;
/// Cycles from the end of a reset until the card is ready: what ordinary cards take to initialise.
const INITIALISING_CYCLES: u64 = 2_000_000;
/// Code of `$D6DA` when the card reported an error.
const LAST_ERROR: u8 = 0x01;

/// Registers of the controller.
#[derive(Clone, Debug)]
pub(super) struct Sd {
    /// `$D681-$D684`.
    pub sector: u32,
    error: bool,
    last_error: u8,
    /// The card reported an error: nothing is read or written until a reset.
    stalled: bool,
    in_reset: bool,
    sdhc: bool,
    external_slot: bool,
    fill: Option<u8>,
    fill_value: u8,
    /// `$D689` apart from bit 7.
    control: u8,
    /// Until when sectors may be written: any but 0, and sector 0.
    gate: [u64; 2],
}

impl Default for Sd {
    fn default() -> Self {
        Self {
            sector: 0,
            error: false,
            last_error: 0,
            stalled: false,
            in_reset: false,
            sdhc: true,
            external_slot: false,
            fill: None,
            fill_value: 0,
            control: 0,
            gate: [0; 2],
        }
    }
}

impl Sd {
    /// A transfer failed. The card's controller reports errors until it is reset (`sdcard.vhdl`, state REPORT_ERROR).
    pub fn fail(&mut self) {
        self.error = true;
        self.stalled = true;
        self.last_error = LAST_ERROR;
    }

    /// A transfer of the hypervisor began: nothing of what was before shows but a stalled controller.
    pub fn begin(&mut self) {
        self.error = false;
    }

    /// The card reported an error and has not been reset since.
    pub fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Back to a card that answers.
    pub fn reset(&mut self) {
        self.error = false;
        self.stalled = false;
        self.last_error = 0;
    }
}

impl Storage {
    /// Reads `$D600 + register`.
    pub fn read(&mut self, register: u8, cycles: u64) -> u8 {
        self.sync(cycles);
        let sd = &self.sd;
        match register {
            0x80 => {
                let bit = |on: bool, bits: u8| if on { bits } else { 0 };
                bit(self.transfer.is_some(), STATUS_BUSY)
                    | bit(sd.in_reset, STATUS_RESET)
                    | bit(self.mapped, STATUS_MAPPED)
                    | bit(sd.sdhc, STATUS_SDHC)
                    | bit(sd.error, STATUS_ERROR)
                    | bit(sd.stalled, STATUS_STALLED)
                    | bit(sd.external_slot, STATUS_EXTERNAL_SLOT)
            }
            0x81..=0x84 => sd.sector.to_le_bytes()[usize::from(register - 0x81)],
            0x86 => sd.fill_value,
            0x89 => u8::from(self.sd_selected) << 7 | sd.control,
            0x8a | 0x8b => self.floppy.mount_flags()[usize::from(register - 0x8a)],
            0x8c..=0x8f => self.floppy.start_sector(0).to_le_bytes()[usize::from(register - 0x8c)],
            0x90..=0x93 => self.floppy.start_sector(1).to_le_bytes()[usize::from(register - 0x90)],
            // No real drive is in use.
            0xa1 => 0,
            0xda => sd.last_error,
            _ => 0,
        }
    }

    /// Writes `$D600 + register`. The registers of mounted images are the hypervisor's.
    pub fn write(&mut self, register: u8, value: u8, cycles: u64) {
        self.sync(cycles);
        match register {
            0x80 => self.command(value, cycles),
            0x81..=0x84 => {
                let shift = u32::from(register - 0x81) * 8;
                self.sd.sector = self.sd.sector & !(0xff << shift) | u32::from(value) << shift;
            }
            0x86 => self.sd.fill_value = value,
            0x89 => {
                self.sd_selected = value & 0x80 != 0;
                self.sd.control = value & 0x20;
            }
            _ => {}
        }
    }

    fn command(&mut self, command: u8, cycles: u64) {
        match command {
            0x00 | 0x10 => {
                self.sd.in_reset = true;
                self.sd.reset();
                self.transfer = None;
            }
            0x01 | 0x11 => {
                self.sd.in_reset = false;
                self.sd.reset();
                self.transfer = Some(Transfer { until: cycles + INITIALISING_CYCLES, end: End::Ready });
            }
            0x02 => self.read_command(cycles),
            0x03..=0x06 => self.write_command(cycles),
            0x40 | 0x41 => self.sd.sdhc = command & 1 != 0,
            0x44 | 0x45 => self.sd.error = false,
            0x4d => self.sd.gate[1] = cycles + GATE_CYCLES,
            0x57 => self.sd.gate[0] = cycles + GATE_CYCLES,
            0x81 => self.mapped = true,
            0x82 => self.unmap(),
            0x83 => self.sd.fill = Some(self.sd.fill_value),
            0x84 => self.sd.fill = None,
            0xc0 | 0xc1 => self.sd.external_slot = command & 1 != 0,
            _ => {}
        }
    }

    /// Takes the buffer from `$DE00`, and errors that are over with it.
    pub(crate) fn unmap(&mut self) {
        self.mapped = false;
        self.sd.error = false;
    }

    /// False, with the error bits set, while another transfer is under way.
    fn idle(&mut self) -> bool {
        let idle = self.transfer.is_none();
        self.sd.error = !idle;
        idle
    }

    fn read_command(&mut self, cycles: u64) {
        if !self.idle() {
            return;
        }
        let mut data = Box::new(self.sd_buffer);
        let result = if self.sd.external_slot {
            Err(super::card::CardError::Silent)
        } else {
            self.card_read(self.sd.sector, &mut data)
        };
        self.start(result.map(|()| End::SdBuffer(data)), End::Error, cycles);
    }

    fn write_command(&mut self, cycles: u64) {
        let gate = usize::from(self.sd.sector == 0);
        if self.sd.gate[gate] <= cycles {
            return;
        }
        self.sd.gate = [0; 2];
        if !self.idle() {
            return;
        }
        let data = self.sd.fill.map_or(self.sd_buffer, |value| [value; SECTOR]);
        let result = if self.sd.external_slot {
            Err(super::card::CardError::Silent)
        } else {
            self.card_write(self.sd.sector, &data)
        };
        self.start(result.map(|()| End::Written), End::Error, cycles);
    }

    pub(super) fn floppy_busy(&mut self, duration: u64, cycles: u64) {
        self.transfer = Some(Transfer { until: cycles + duration, end: End::FloppyIdle });
    }
}
