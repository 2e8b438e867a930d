//! HDOS 1.2: the disk functions of the hypervisor, traps at `$D640`.
//!
//! Works on the sectors of the card the way the hypervisor's code does, one by one through its
//! sector buffer, so that what a program sees of the order and number of reads, of stale buffers,
//! shared state and damaged file systems is what it would see. Reads are the only thing that takes
//! longer than a program would notice; each takes the card's time.

mod attach;
mod descriptor;
mod directory;
mod file;
mod options;
mod volume;

pub use options::{EndOfFile, LongNames, Options};

use crate::board::Board;
use crate::cpu::{Bus, Cpu, FLAG_I};
use crate::diagnostics::Report;
use crate::hypervisor::{ERROR_NO_SUCH_TRAP, Hypervisor, finish};
use crate::io::storage::Silent;
use attach::Process;
use descriptor::Descriptor;
use directory::Entry;
use ssnail_disk::fat::Fat32;

/// Error codes, returned in A with C clear.
pub mod error {
    /// The card did not answer.
    pub const TIMEOUT: u8 = 0x07;
    /// A page above $7E.
    pub const BAD_ADDRESS: u8 = 0x10;
    /// No such drive.
    pub const NO_DRIVE: u8 = 0x80;
    /// A name of more than 63 characters.
    pub const NAME_TOO_LONG: u8 = 0x81;
    /// More sectors than loadfile counts.
    pub const FILE_TOO_LONG: u8 = 0x83;
    /// All four descriptors are in use.
    pub const TOO_MANY_OPEN: u8 = 0x84;
    /// End of a chain of clusters, and so of a directory.
    pub const BAD_CLUSTER: u8 = 0x85;
    /// A folder where a file is needed.
    pub const IS_DIRECTORY: u8 = 0x86;
    /// A file where a folder is needed.
    pub const NOT_DIRECTORY: u8 = 0x87;
    /// No such file.
    pub const NOT_FOUND: u8 = 0x88;
    /// A descriptor above 3.
    pub const BAD_DESCRIPTOR: u8 = 0x89;
    /// Not the size of a disk image.
    pub const IMAGE_LENGTH: u8 = 0x8a;
    /// The image is not in one piece.
    pub const IMAGE_FRAGMENTED: u8 = 0x8b;
    /// End of a directory whose last entry was the last that its clusters hold.
    pub const END: u8 = 0xff;
}

/// Functions by the value of A.
pub mod function {
    #![allow(missing_docs, reason = "the names are the documentation's")]
    pub const GETVERSION: u8 = 0x00;
    pub const GETDEFAULTDRIVE: u8 = 0x02;
    pub const GETCURRENTDRIVE: u8 = 0x04;
    pub const SELECTDRIVE: u8 = 0x06;
    pub const CHDIR: u8 = 0x0c;
    pub const OPENDIR: u8 = 0x12;
    pub const READDIR: u8 = 0x14;
    pub const CLOSEDIR: u8 = 0x16;
    pub const OPENFILE: u8 = 0x18;
    pub const READFILE: u8 = 0x1a;
    pub const CLOSEFILE: u8 = 0x20;
    pub const CLOSEALL: u8 = 0x22;
    pub const SETNAME: u8 = 0x2e;
    pub const FINDFIRST: u8 = 0x30;
    pub const FINDNEXT: u8 = 0x32;
    pub const FINDFILE: u8 = 0x34;
    pub const LOADFILE: u8 = 0x36;
    pub const GETERRORCODE: u8 = 0x38;
    pub const SETUP_TRANSFER_AREA: u8 = 0x3a;
    pub const CDROOTDIR: u8 = 0x3c;
    pub const LOADFILE_ATTIC: u8 = 0x3e;
    pub const D81ATTACH0: u8 = 0x40;
    pub const D81DETACH: u8 = 0x42;
    pub const D81WRITE_EN: u8 = 0x44;
    pub const D81ATTACH1: u8 = 0x46;
    pub const GET_PROC_DESC: u8 = 0x48;
    /// Functions from here on are not about disks.
    pub const FIRST_OF_TASKS: u8 = 0x70;
}

/// Version of hypervisor and DOS.
const VERSION: [u8; 2] = [1, 2];
/// Last page that may be handed over.
const LAST_PAGE: u8 = 0x7e;
/// Most characters of a name.
const NAME_MAX: usize = 63;

/// The state of HDOS between traps.
pub struct Hdos {
    /// What differs between versions, settings and cards.
    pub options: Options,
    disks: Vec<Fat32>,
    /// Partitions have been looked for.
    looked: bool,
    default_disk: u8,
    current_disk: u8,
    /// First cluster of the current directory.
    directory: u32,
    descriptors: [Descriptor; 4],
    /// Descriptor that reads and searches work with.
    current: u8,
    /// Of the file opened last, whichever descriptor is read.
    bytes_remaining: u32,
    entry: Entry,
    name: Vec<u8>,
    error: u8,
    process: Process,
    /// Cycles that the trap has taken so far.
    time: u64,
    /// Places of directories that the trap has looked at.
    places: u32,
}

impl Default for Hdos {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl Hdos {
    /// HDOS as it is after booting, in the root of the default drive.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            disks: Vec::new(),
            looked: false,
            default_disk: 0,
            current_disk: 0,
            directory: 0,
            descriptors: Default::default(),
            current: 0,
            bytes_remaining: 0,
            entry: Entry::default(),
            name: Vec::new(),
            error: 0,
            process: Process::default(),
            time: 0,
            places: 0,
        }
    }

    /// Reads a sector into the sector buffer, which stays as it was where the card reports an error: that nobody looks
    /// at here.
    fn read_sector(&mut self, lba: u32, board: &mut Board) -> Result<(), u8> {
        let now = board.cycles + self.time;
        let (time, result) = board.storage.hypervisor_read(lba, now);
        self.time += time + u64::from(self.options.read_cycles);
        result.map_err(|Silent| error::TIMEOUT)
    }

    fn dispatch(&mut self, function: u8, cpu: &mut Cpu, board: &mut Board) -> Result<(), u8> {
        match function {
            function::GETVERSION => {
                [cpu.a, cpu.x] = VERSION;
                [cpu.y, cpu.z] = VERSION;
            }
            function::GETDEFAULTDRIVE => cpu.a = self.default_disk,
            function::GETCURRENTDRIVE => cpu.a = self.current_disk,
            function::SELECTDRIVE => self.select_drive(cpu.x)?,
            function::CHDIR => self.change_directory()?,
            function::OPENDIR => {
                self.open_directory(board)?;
                cpu.a = self.current;
            }
            function::READDIR => self.read_directory(cpu, board)?,
            function::OPENFILE => {
                self.open_file()?;
                cpu.a = self.current;
            }
            function::READFILE => self.read_file(cpu, board)?,
            function::CLOSEDIR | function::CLOSEFILE => {
                self.current = cpu.x;
                self.close()?;
            }
            function::CLOSEALL => self.descriptors.iter_mut().for_each(Descriptor::free),
            function::SETNAME => self.set_name(cpu.y, board)?,
            function::FINDFIRST => {
                self.find_first(board)?;
                cpu.a = self.current;
            }
            function::FINDNEXT => self.find_next(board)?,
            function::FINDFILE => self.find_file(board)?,
            function::LOADFILE => self.load_file(0, cpu, board)?,
            function::LOADFILE_ATTIC => self.load_file(ssnail_shared::map::MEMORY_BASE, cpu, board)?,
            function::GETERRORCODE => cpu.a = self.error,
            function::SETUP_TRANSFER_AREA => page(cpu.y).map(|_| ())?,
            function::CDROOTDIR => self.change_to_root(cpu.x)?,
            function::D81ATTACH0 => self.attach(0, board)?,
            function::D81ATTACH1 => self.attach(1, board)?,
            function::D81DETACH => self.detach(board),
            function::D81WRITE_EN => self.allow_writing(board)?,
            function::GET_PROC_DESC => self.describe_process(cpu.y, board)?,
            _ => {
                board.report(Report::UnknownTrap, u32::from(function));
                return Err(ERROR_NO_SUCH_TRAP);
            }
        }
        Ok(())
    }

    /// Takes the name that is looked for.
    fn set_name(&mut self, y: u8, board: &mut Board) -> Result<(), u8> {
        let start = page(y)?;
        self.name.clear();
        for at in 0..=NAME_MAX as u16 {
            match board.read(start + at) {
                0 => return Ok(()),
                byte => self.name.push(byte),
            }
        }
        self.name.clear();
        Err(error::NAME_TOO_LONG)
    }
}

/// Address of a page that is handed over.
fn page(y: u8) -> Result<u16, u8> {
    if y > LAST_PAGE { Err(error::BAD_ADDRESS) } else { Ok(u16::from(y) << 8) }
}

/// Whether a function can only work when interrupts are off.
fn needs_quiet(function: u8) -> bool {
    matches!(function, function::OPENDIR | function::READDIR)
}

impl Hypervisor for Hdos {
    fn trap(&mut self, number: u8, cpu: &mut Cpu, board: &mut Board) -> bool {
        let function = cpu.a & 0x7e;
        if number != 0 || function >= function::FIRST_OF_TASKS {
            return false;
        }
        self.time = u64::from(self.options.trap_cycles);
        self.places = 0;
        self.look_for_disks(board);
        let hidden = !board.io_visible();
        let disturbed = needs_quiet(function) && cpu.p() & FLAG_I == 0;
        let result = if (hidden || disturbed) && self.options.strict {
            board.report(if hidden { Report::TrapWithoutIo } else { Report::TrapWithInterrupts }, function.into());
            Err(error::BAD_CLUSTER)
        } else {
            self.dispatch(function, cpu, board)
        };
        board.storage.missed |= board.storage.card.is_none() && result.is_err_and(|code| code != ERROR_NO_SUCH_TRAP);
        if let Err(code) = result
            && code != 0
        {
            self.error = code;
        }
        finish(cpu, result);
        board.cycles += self.time;
        true
    }
}
