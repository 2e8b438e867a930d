//! Files of the card, through the hypervisor.

use crate::hw::{copy, hdos, peek, poke};
use crate::screen::{Colour, Screen};

const GET_DEFAULT_DRIVE: u32 = 0x02;
const OPEN_DIR: u32 = 0x12;
const READ_DIR: u32 = 0x14;
const CLOSE_DIR: u32 = 0x16;
const OPEN_FILE: u32 = 0x18;
const READ_FILE: u32 = 0x1A;
const CLOSE_ALL: u32 = 0x22;
const SET_NAME: u32 = 0x2E;
const FIND_FILE: u32 = 0x34;
const CD_ROOT: u32 = 0x3C;

/// The code at the end of a directory, and at the end of a file.
const DIRECTORY_ENDS: u8 = 0x85;
const FILE_ENDS: u8 = 0xFF;

/// Pages for the name asked for and for the entry that comes back: HDOS wants them below $7F00.
const NAME: u32 = 0x16;
const ENTRY: u32 = 0x17;
/// In an entry: 8.3 name padded with blanks, size, attributes.
const SHORT_NAME: u32 = 0x41;
const SIZE: u32 = 0x52;
const ATTRIBUTES: u32 = 0x56;
const IS_FOLDER: u8 = 0x10;
/// No directory is longer than this.
const ENTRIES: u16 = 4096;

/// The sector buffer, as a program sees it while $D689 bit 7 is set.
pub const BUFFER: u32 = 0x0FFD_6E00;
const BUFFER_CHOICE: u32 = crate::hw::IO + 0x689;

/// Closes everything and goes to the root.
fn to_root() -> Result<(), u8> {
    hdos(CLOSE_ALL, 0, 0)?;
    let drive = hdos(GET_DEFAULT_DRIVE, 0, 0)? & 0xFF;
    hdos(CD_ROOT, drive, 0).map(|_| ())
}

/// Prints the root directory.
pub fn directory(screen: &mut Screen) {
    if let Err(code) = list(screen) {
        fault(screen, code);
    }
}

fn list(screen: &mut Screen) -> Result<(), u8> {
    to_root()?;
    let handle = hdos(OPEN_DIR, 0, 0)? & 0xFF;
    let mut files = 0;
    for _ in 0..ENTRIES {
        match hdos(READ_DIR, handle, ENTRY) {
            Ok(_) => entry(screen),
            Err(DIRECTORY_ENDS) => break,
            Err(code) => return Err(code),
        }
        files += 1;
    }
    hdos(CLOSE_DIR, handle, 0)?;
    screen.number(files, 0, Colour::Note);
    screen.print(b" entries", Colour::Note);
    screen.end_line();
    Ok(())
}

fn entry(screen: &mut Screen) {
    let page = ENTRY << 8;
    let mut name = [0; 11];
    copy(name.as_mut_ptr() as u32, page + SHORT_NAME, 11);
    let (stem, extension) = name.split_at(8);
    screen.print(stem, Colour::Text);
    screen.print(b" ", Colour::Text);
    screen.print(extension, Colour::Text);
    if peek(page + ATTRIBUTES) & IS_FOLDER == 0 {
        let size = u32::from_le_bytes(core::array::from_fn(|n| peek(page + SIZE + n as u32)));
        screen.number(size, 10, Colour::Text);
    } else {
        screen.print(b"    folder", Colour::Note);
    }
    screen.end_line();
}

/// Opens a file of the root directory.
pub fn open(name: &[u8]) -> Result<(), u8> {
    to_root()?;
    let page = NAME << 8;
    let mut at = page;
    for &b in name {
        poke(at, b);
        at += 1;
    }
    poke(at, 0);
    hdos(SET_NAME, 0, NAME)?;
    hdos(FIND_FILE, 0, 0)?;
    hdos(OPEN_FILE, 0, 0).map(|_| ())
}

/// Reads the next sector into [`BUFFER`]; 0 bytes at the end of the file.
pub fn read() -> Result<u16, u8> {
    let count = match hdos(READ_FILE, 0, 0) {
        Ok(registers) => (registers >> 8) as u16,
        // Count 0 with an error code of either kind: hypervisors differ.
        Err(FILE_ENDS | 0) => 0,
        Err(code) => return Err(code),
    };
    poke(BUFFER_CHOICE, peek(BUFFER_CHOICE) | 0x80);
    Ok(count)
}

/// Closes the file.
pub fn close() {
    let _ = hdos(CLOSE_ALL, 0, 0);
}

/// Says an error.
pub fn fault(screen: &mut Screen, code: u8) {
    let text: &[u8] = match code {
        0x80 => b"There is no card.",
        0x86 => b"That is a folder.",
        0x88 => b"There is no such file on the card.",
        _ => b"The card's DOS reports an error.",
    };
    screen.print(text, Colour::Fault);
    screen.end_line();
}
