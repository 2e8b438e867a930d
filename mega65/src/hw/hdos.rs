//! The hypervisor's disk services (platform facts, section 8). Errors are its codes.

#![allow(unsafe_code)]

use super::clock::wait_until_clear;
use super::far::{copy, peek, poke, SCRATCH};
use super::IO;
use rv45_rt::machine::{rv45_carry, rv45_hdos};

/// Page of the name that is asked for, and of the directory entry that comes back: HDOS copies names at once.
const PAGE: u32 = SCRATCH >> 8;
/// Sector buffer as a program sees it.
pub const BUFFER: u32 = 0x0FFD_6E00;
/// Bytes in a sector.
pub const SECTOR: u16 = 512;
/// Register that selects which buffer is seen there.
pub const BUFFER_SELECT: u32 = IO + 0x689;
/// Its bit: the card's.
pub const BUFFER_IS_SD: u8 = 0x80;
/// Status and command of the card's controller.
const SD: u32 = IO + 0x680;
/// Controller or card are busy.
const SD_BUSY: u8 = 0x03;
/// A transfer failed.
const SD_ERROR: u8 = 0x60;
/// HDOS's code for that.
const UNREADABLE: Error = Error(0x20);

const GET_DEFAULT_DRIVE: u32 = 0x02;
const CHDIR: u32 = 0x0C;
const OPEN_DIR: u32 = 0x12;
const READ_DIR: u32 = 0x14;
const CLOSE_DIR: u32 = 0x16;
const OPEN_FILE: u32 = 0x18;
const READ_FILE: u32 = 0x1A;
const CLOSE_FILE: u32 = 0x20;
const CLOSE_ALL: u32 = 0x22;
const SET_NAME: u32 = 0x2E;
const FIND_FILE: u32 = 0x34;
const GET_ERROR_CODE: u32 = 0x38;
const CD_ROOT: u32 = 0x3C;
/// End of a directory.
const END: u8 = 0x85;
/// The same, where the last entry was the last that the directory's clusters hold.
const END_OF_CLUSTERS: u8 = 0xFF;
const NOT_FOUND: Error = Error(0x88);

/// An HDOS error code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error(pub u8);

impl Error {
    /// What the code means.
    pub fn text(self) -> &'static [u8] {
        match self.0 {
            0x07 => b"the card did not answer",
            0x20 => b"the card could not be read",
            0x80 => b"there is no card",
            0x84 => b"too many files are open",
            0x85 => b"the card's FAT is damaged, repair it on a PC",
            0x86 => b"it is a folder",
            0x87 => b"it is not a folder",
            0x88 => b"the file is not there",
            _ => b"the card's DOS reports an error",
        }
    }
}

/// A call: the four registers, or the error code. HDOS does not look at the controller's error bits: it takes what was in
/// the buffer before for the folder or the FAT, and answers with that.
#[inline(never)]
fn call(function: u32, x: u32, y: u32, z: u32) -> Result<u32, Error> {
    let result = call_here(function, x, y, z);
    if peek(SD) & SD_ERROR != 0 {
        return Err(reset());
    }
    result
}

/// After an error the controller reads nothing until it is reset.
#[inline(never)]
fn reset() -> Error {
    poke(SD, 0);
    poke(SD, 1);
    wait_until_clear(SD, SD_BUSY);
    UNREADABLE
}

/// The same in a file: behind a chain that ended too early HDOS has the controller read what the card does not have, and
/// its code tells.
#[inline(never)]
fn failed() -> Error {
    let error = reset();
    goes_on().err().unwrap_or(error)
}

#[inline(always)]
fn call_here(function: u32, x: u32, y: u32, z: u32) -> Result<u32, Error> {
    // SAFETY: HDOS writes into the pages above and the sector buffer only.
    let (registers, ok) = unsafe { (rv45_hdos(function, x, y, z), rv45_carry()) };
    if ok != 0 {
        Ok(registers)
    } else {
        Err(Error(registers as u8))
    }
}

/// Closes everything and goes to the root of the card.
pub fn to_root() -> Result<(), Error> {
    // An error of a read before is over with this.
    close();
    root()
}

/// Goes to the root of the card, which makes the DOS forget its last error.
fn root() -> Result<(), Error> {
    let drive = call(GET_DEFAULT_DRIVE, 0, 0, 0)? & 0xFF;
    call(CD_ROOT, drive, 0, 0).map(|_| ())
}

/// Finds an entry of the current folder by its 8.3 name.
fn find(short: &[u8; 11]) -> Result<(), Error> {
    let page = PAGE << 8;
    let mut at = page;
    for (i, b) in short.iter().enumerate() {
        if i == 8 && short[8] != b' ' {
            poke(at, b'.');
            at += 1;
        }
        if *b != b' ' {
            poke(at, *b);
            at += 1;
        }
    }
    poke(at, 0);
    call(SET_NAME, 0, PAGE, 0)?;
    match call(FIND_FILE, 0, 0, 0) {
        // With long names switched on, a file that has one is not found by its short one.
        Err(NOT_FOUND) => find_in_listing(short),
        other => other.map(|_| ()),
    }
}

/// The entries of the current folder that are still to come, at most 4096.
struct Listing {
    handle: u32,
    left: u16,
}

impl Listing {
    fn open() -> Result<Self, Error> {
        Ok(Self { handle: call(OPEN_DIR, 0, 0, 0)? & 0xFF, left: 4096 })
    }

    /// Reads the next entry to the page; false behind the last one.
    #[inline(never)]
    fn next(&mut self) -> Result<bool, Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        match call(READ_DIR, self.handle, PAGE, 0) {
            Ok(_) => Ok(true),
            Err(Error(END | END_OF_CLUSTERS)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn close(&self) {
        let _ = call(CLOSE_DIR, self.handle, 0, 0);
    }
}

/// Reads the folder up to the entry; a file can be opened, a folder entered, as after finding it.
#[inline(never)]
fn find_in_listing(short: &[u8; 11]) -> Result<(), Error> {
    let mut listing = Listing::open()?;
    let result = loop {
        match listing.next() {
            Ok(true) => {}
            Ok(false) => break Err(NOT_FOUND),
            Err(error) => break Err(error),
        }
        let mut at = (PAGE << 8) + 0x41;
        if short.iter().all(|b| {
            at += 1;
            peek(at - 1) == *b
        }) {
            break Ok(());
        }
    };
    listing.close();
    result
}

/// Enters a folder of the current one.
pub fn enter(name: &[u8; 11]) -> Result<(), Error> {
    find(name)?;
    call(CHDIR, 0, 0, 0).map(|_| ())
}

/// A directory entry: long name and its length, 8.3 name, size, attributes.
pub struct Entry {
    /// Long name, NUL padded; empty where there is none.
    pub long: [u8; 64],
    /// Its length.
    pub long_len: u8,
    /// 8.3 name, padded with blanks.
    pub short: [u8; 11],
    /// Bytes in the file.
    pub size: u32,
    /// $10: a folder.
    pub attributes: u8,
}

/// Calls `visit` with each entry of the current folder, at most 4096. While it is called the entry's file can be opened
/// and read ([`open_entry`]).
pub fn each_entry(mut visit: impl FnMut(&Entry)) -> Result<(), Error> {
    let mut listing = Listing::open()?;
    let result = loop {
        match listing.next() {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
        let page = PAGE << 8;
        let mut e = Entry { long: [0; 64], long_len: 0, short: [0; 11], size: 0, attributes: 0 };
        copy(e.long.as_mut_ptr() as u32, page, 64);
        e.long_len = peek(page + 0x40).min(63);
        for (b, at) in e.short.iter_mut().zip(page + 0x41..) {
            *b = peek(at);
        }
        e.size = super::far::peek32(page + 0x52);
        e.attributes = peek(page + 0x56);
        visit(&e);
    };
    listing.close();
    result
}

/// Opens the file whose entry was read last, without looking for it; its handle.
pub fn open_entry() -> Result<u32, Error> {
    let handle = call(OPEN_FILE, 0, 0, 0)? & 0xFF;
    // No trap changes that, and nothing else selects a buffer while a file is read.
    poke(BUFFER_SELECT, peek(BUFFER_SELECT) | BUFFER_IS_SD);
    Ok(handle)
}

/// Closes one file.
pub fn close_file(handle: u32) {
    let _ = call(CLOSE_FILE, handle, 0, 0);
}

/// Opens a file of the current folder by its 8.3 name; it becomes the one that is read.
pub fn open(short: &[u8; 11]) -> Result<(), Error> {
    call(CLOSE_ALL, 0, 0, 0)?;
    find(short)?;
    open_entry()?;
    root()
}

/// Whether the file that is read goes on; to be asked before a sector that it has to have. Where its chain of clusters
/// ends too early, readfile succeeds nevertheless, with whatever is in the buffer: only the code of the last error tells.
#[inline(never)]
pub fn goes_on() -> Result<(), Error> {
    match call_here(GET_ERROR_CODE, 0, 0, 0)? as u8 {
        0 => Ok(()),
        code => Err(Error(code)),
    }
}

/// Reads the next sector into [`BUFFER`]; the count is 0 at the end of the file.
#[inline(never)]
pub fn read() -> Result<u16, Error> {
    read_here()
}

/// [`read`] where it is called for each sector of a model.
#[inline(always)]
pub fn read_here() -> Result<u16, Error> {
    let registers = match call_here(READ_FILE, 0, 0, 0) {
        Ok(registers) => registers,
        // The end of the file, as the code and as the documentation says it.
        Err(Error(0 | 0xFF)) => return Ok(0),
        Err(error) => return Err(error),
    };
    // With the last sector of a cluster HDOS reads the FAT, and then the sector again, and looks at neither's success:
    // the buffer may hold the FAT, or the next call give the same cluster once more.
    if peek(SD) & SD_ERROR != 0 {
        return Err(failed());
    }
    let count = (registers >> 8) as u16;
    Ok(if count > SECTOR { SECTOR } else { count })
}

/// Closes every file.
pub fn close() {
    let _ = call(CLOSE_ALL, 0, 0, 0);
}
