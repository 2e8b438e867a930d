//! The board: everything on the CPU's bus.
//!
//! Chip RAM is reached through two tables of 256 pages (one for reads, one for writes) that hold
//! the offset of each page of the 16-bit view; pages that are not plain RAM are negative and take
//! the slow path. The tables are rebuilt when the mapping, the CPU port or `$D030` change.

mod bus;
mod flat;
mod registers;
mod view;

use crate::cpu::Mapping;
use crate::diagnostics::{Diagnostics, Report};
use crate::expansion::Expansion;
use crate::io::cia::Cia;
use crate::io::dma::Dma;
use crate::io::i2c::I2c;
use crate::io::keyboard::Keyboard;
use crate::io::math::Math;
use crate::io::random::Random;
use crate::io::storage::Storage;
use crate::io::vic::Vic;
use crate::model::Model;

/// Bytes of chip RAM.
pub const CHIP_RAM: u32 = 0x6_0000;
/// First byte of the area that holds the ROMs.
pub const ROM_START: u32 = 0x2_0000;
/// End of that area.
pub const ROM_END: u32 = 0x4_0000;
/// Window in chip RAM whose writes also go to the colour RAM.
pub const COLOUR_WINDOW: u32 = 0x1_f800;
/// End of the window.
pub const COLOUR_WINDOW_END: u32 = 0x2_0000;
/// Character generator RAM.
pub const CHAR_RAM: u32 = 0x0ff7_e000;
/// Its length.
pub const CHAR_RAM_LEN: u32 = 0x1000;
/// Colour RAM.
pub const COLOUR_RAM: u32 = 0x0ff8_0000;
/// Its length.
pub const COLOUR_RAM_LEN: u32 = 0x8000;
/// `$Dxxx` of the C64 personality; those of the others follow each 4 KB further.
pub const IO: u32 = 0x0ffd_0000;
/// End of the four views of the I/O block.
pub const IO_END: u32 = 0x0ffd_4000;
/// Disk buffers.
pub const DISK_BUFFERS: u32 = 0x0ffd_6000;
/// I2C devices and the accelerator.
pub const I2C: u32 = 0x0ffd_7000;

/// RAM is indexed with this mask, so that no access needs a bounds check.
const RAM_MASK: usize = 0x7_ffff;
/// A few bytes more, for four-byte accesses at the last address.
const RAM_ARRAY: usize = RAM_MASK + 1 + 256;

/// Which registers `$D000-$DFFF` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Personality {
    /// C64 with VIC-II.
    C64,
    /// C65 with VIC-III.
    C65,
    /// MEGA65 with the ethernet buffers at `$D800`.
    Ethernet,
    /// MEGA65 with VIC-IV.
    Mega65,
}

impl Personality {
    /// The personality that the 28-bit view of `address` shows.
    fn of_address(address: u32) -> Self {
        match address >> 12 & 3 {
            0 => Self::C64,
            1 => Self::C65,
            2 => Self::Ethernet,
            _ => Self::Mega65,
        }
    }

    /// True for both MEGA65 modes.
    pub fn is_mega65(self) -> bool {
        self >= Self::Ethernet
    }
}

/// Everything but the CPU.
pub struct Board {
    ram: Box<[u8; RAM_ARRAY]>,
    read_page: [i32; 256],
    write_page: [i32; 256],
    /// Cycles at 40.5 MHz since the start.
    pub cycles: u64,
    deadline: u64,
    /// Address of the last instruction word fetched, for reports.
    pc: u16,
    mapping: Mapping,
    /// CPU port: data direction and output latch of addresses 0 and 1.
    port: [u8; 2],
    /// The RAM cells under the CPU port.
    under_port: [u8; 2],
    /// Personality of the 16-bit view.
    pub personality: Personality,
    knock: u8,
    /// Writes to banks 2 and 3 are dropped.
    pub rom_write_protected: bool,
    /// Executing in the page of the KERNAL's jump table is reported.
    pub kernal_missing: bool,
    colour_ram: Box<[u8]>,
    char_ram: Box<[u8]>,
    /// Video registers and time base.
    pub vic: Vic,
    /// CIA 1 (keyboard, IRQ) and CIA 2 (NMI).
    pub cia: [Cia; 2],
    /// Keyboard queue.
    pub keyboard: Keyboard,
    math: Math,
    random: Random,
    pub(crate) dma: Dma,
    /// Real-time clock, unique id, NVRAM.
    pub i2c: I2c,
    /// Sector buffers and the registers of the SD controller and the floppy controller.
    pub storage: Storage,
    /// Attic RAM, SDRAM and the accelerator.
    pub expansion: Expansion,
    model: Model,
    sid: [u8; 0x100],
    memory_control: u8,
    /// A hypervisor trap waits: its number (0-63).
    pub trap: Option<u8>,
    /// An inline DMA job waits behind the current instruction.
    pub(crate) inline_dma: bool,
    exit_code: u8,
    /// Set when the program ended the run through `$D6CF`, or returned to BASIC.
    pub ended: Option<Ended>,
    /// Characters sent through the hypervisor's serial port.
    pub serial: Vec<u8>,
    /// What the program did that it should not.
    pub diagnostics: Diagnostics,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It wrote this code and then $42 to `$D6CF`.
    Exit(u8),
    /// It returned to the BASIC that started it.
    Returned,
}

/// Address that a program returns to when it leaves `SYS`.
pub const RETURN_ADDRESS: u16 = 0xff00;

impl Board {
    /// A board as it is when `SYS` starts a program: MEGA65 personality, 80x25 text, KERNAL area
    /// mapped at $E000.
    pub fn new(model: Model) -> Self {
        let mut board = Self {
            ram: vec![0; RAM_ARRAY].try_into().unwrap_or_else(|_| Box::new([0; RAM_ARRAY])),
            read_page: [-1; 256],
            write_page: [-1; 256],
            cycles: 0,
            deadline: 0,
            pc: 0,
            mapping: Mapping::default(),
            port: [0x2f, 0x3f],
            under_port: [0; 2],
            personality: Personality::Mega65,
            knock: 0,
            rom_write_protected: true,
            kernal_missing: true,
            colour_ram: vec![0; COLOUR_RAM_LEN as usize].into(),
            char_ram: crate::font::char_ram().into(),
            vic: Vic::new(),
            cia: [Cia::new(), Cia::new()],
            keyboard: Keyboard::default(),
            math: Math::default(),
            random: Random::default(),
            dma: Dma::default(),
            i2c: I2c::default(),
            storage: Storage::default(),
            expansion: Expansion::new(model),
            model,
            sid: [0; 0x100],
            memory_control: 0x64,
            trap: None,
            inline_dma: false,
            exit_code: 0,
            ended: None,
            serial: Vec::new(),
            diagnostics: Diagnostics::default(),
        };
        // KERNAL stubs: interrupts return, calls return, a return from SYS stays where it is.
        board.ram[0x3_e000..0x4_0000].fill(0x60);
        board.ram[0x3_ff00..0x3_ff02].copy_from_slice(&[0x80, 0xfe]);
        board.ram[0x3_ff10] = 0x40;
        board.ram[0x3_fffa..0x4_0000].copy_from_slice(&[0x10, 0xff, 0x10, 0xff, 0x10, 0xff]);
        board.mapping.apply(0x00, 0x00, 0x00, 0x83);
        board.update_port();
        board.rebuild_view();
        board.clear_screen();
        board
    }

    /// The model of this board.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Current MAP state.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// Chip RAM, 384 KB.
    ///
    /// Addresses 0 and 1 hold what the CPU port reads as.
    pub fn chip_ram(&self) -> &[u8] {
        &self.ram[..CHIP_RAM as usize]
    }

    /// Chip RAM for the loader and tests; no write protection, no colour RAM window.
    pub fn chip_ram_mut(&mut self) -> &mut [u8] {
        &mut self.ram[..CHIP_RAM as usize]
    }

    /// Colour RAM, 32 KB.
    pub fn colour_ram(&self) -> &[u8] {
        &self.colour_ram
    }

    /// Character generator RAM, 4 KB.
    pub fn char_ram(&self) -> &[u8] {
        &self.char_ram
    }

    /// Replaces the stubs by a ROM file (at most 128 KB at $20000); its fonts go to the character RAM.
    pub fn load_rom(&mut self, rom: &[u8]) {
        let n = rom.len().min((ROM_END - ROM_START) as usize);
        self.ram[ROM_START as usize..][..n].copy_from_slice(&rom[..n]);
        self.char_ram.copy_from_slice(&self.ram[0x2_d000..0x2_e000]);
        self.kernal_missing = false;
        self.rebuild_view();
    }

    fn clear_screen(&mut self) {
        let start = self.vic.screen_address() as usize;
        if let Some(screen) = self.ram.get_mut(start..start + 2000) {
            screen.fill(0x20);
        }
        self.colour_ram[..2000].fill(1);
        let (window, colours) = (COLOUR_WINDOW as usize, &self.colour_ram[..0x800]);
        self.ram[window..window + 0x800].copy_from_slice(colours);
    }

    /// Sets the cycle count at which the CPU returns; 0 asks for it at once.
    pub(crate) fn set_deadline(&mut self, cycles: u64) {
        self.deadline = cycles;
    }

    pub(crate) fn attention(&mut self) {
        self.deadline = 0;
    }

    pub(crate) fn report(&mut self, report: Report, address: u32) {
        self.diagnostics.add(report, address, self.pc, self.cycles);
    }

    /// Reads a byte of the flat memory without side effects or waiting; I/O reads as its decoder filler.
    pub fn peek(&self, address: u32) -> u8 {
        match address {
            0..=1 => self.under_port[address as usize],
            2..CHIP_RAM => self.ram[address as usize],
            CHAR_RAM..0x0ff7_f000 => self.char_ram[(address - CHAR_RAM) as usize],
            COLOUR_RAM..0x0ff8_8000 => self.colour_ram[(address - COLOUR_RAM) as usize],
            _ => self.expansion.peek(address).unwrap_or(flat::FILLER),
        }
    }
}
