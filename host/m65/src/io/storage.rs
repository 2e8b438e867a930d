//! Sector buffers and the registers around them.
//!
//! The floppy controller (`$D080`) and the SD controller (`$D680`) share the area at $FFD6000: in
//! user mode all of it shows one 512-byte buffer, chosen by `$D689` bit 7.

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// `$D680` status: the buffer is mapped at `$DE00`.
const STATUS_MAPPED: u8 = 0x08;
/// `$D680` status: error and state machine error.
const STATUS_ERROR: u8 = 0x60;

/// State of both controllers. Without a card every command fails.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Buffer of the SD controller.
    pub sd_buffer: [u8; SECTOR],
    /// Buffer of the floppy controller.
    pub floppy_buffer: [u8; SECTOR],
    /// `$D689` bit 7: the SD buffer is the visible one.
    pub sd_selected: bool,
    /// The buffer is mapped at `$DE00` (unmapped by every trap).
    pub mapped: bool,
    status: u8,
    sector: [u8; 4],
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            sd_buffer: [0; SECTOR],
            floppy_buffer: [0; SECTOR],
            sd_selected: false,
            mapped: false,
            status: 0,
            sector: [0; 4],
        }
    }
}

impl Storage {
    fn visible(&mut self) -> &mut [u8; SECTOR] {
        if self.sd_selected { &mut self.sd_buffer } else { &mut self.floppy_buffer }
    }

    /// Reads the buffer area; `offset` within 4 KB.
    pub fn read_buffer(&mut self, offset: u16) -> u8 {
        self.visible()[usize::from(offset) % SECTOR]
    }

    /// Writes the buffer area.
    pub fn write_buffer(&mut self, offset: u16, value: u8) {
        self.visible()[usize::from(offset) % SECTOR] = value;
    }

    /// Reads `$D600 + register`, `$80..=$93`.
    pub fn read(&mut self, register: u8) -> u8 {
        match register {
            0x80 => self.status | if self.mapped { STATUS_MAPPED } else { 0 },
            0x81..=0x84 => self.sector[usize::from(register - 0x81)],
            0x89 => u8::from(self.sd_selected) << 7,
            _ => 0,
        }
    }

    /// Writes `$D600 + register`, `$80..=$93`.
    pub fn write(&mut self, register: u8, value: u8) {
        match register {
            0x80 => self.command(value),
            0x81..=0x84 => self.sector[usize::from(register - 0x81)] = value,
            0x89 => self.sd_selected = value & 0x80 != 0,
            _ => {}
        }
    }

    fn command(&mut self, command: u8) {
        match command {
            0x81 => self.mapped = true,
            0x82 => self.mapped = false,
            0x10 | 0x11 | 0x44 => self.status &= !STATUS_ERROR,
            0x02..=0x06 => self.status |= STATUS_ERROR,
            _ => {}
        }
    }

    /// Reads `$D080 + register` of the floppy controller.
    pub fn read_floppy(&mut self, _register: u8) -> u8 {
        0
    }

    /// Writes `$D080 + register` of the floppy controller.
    pub fn write_floppy(&mut self, _register: u8, _value: u8) {}
}
