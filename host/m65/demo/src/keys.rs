//! The keyboard queue at $D610.

use crate::hw::{peek, poke, IO};

/// Code of RETURN.
pub const RETURN: u8 = 0x0D;
/// Code of DEL.
pub const DELETE: u8 = 0x14;
/// Code of RUN/STOP.
pub const STOP: u8 = 0x03;

const ASCII: u32 = IO + 0x610;
const MODIFIERS: u32 = IO + 0x60A;

/// Takes the next key from the queue.
pub fn next() -> Option<u8> {
    let key = peek(ASCII);
    if key == 0 {
        return None;
    }
    poke(ASCII, 0);
    Some(key)
}

/// Empties the queue: the RETURN that started the program is still in it.
pub fn flush() {
    poke(MODIFIERS, 0);
    while peek(ASCII) != 0 {
        poke(ASCII, 0);
    }
}
