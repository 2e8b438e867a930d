//! The keyboard queue.

use super::far::{peek, poke};
use super::IO;
use ssnail_shared::ui::editor::Key;

const ASCII: u32 = IO + 0x610;
const MODIFIERS: u32 = IO + 0x60A;
const QUEUED: u8 = 0x80;

/// The next key; `None` where the queue is empty. Keys that mean nothing are taken and skipped.
pub fn next() -> Option<Key> {
    let mut tries = 8;
    while tries > 0 {
        let code = peek(ASCII);
        if code == 0 {
            return None;
        }
        poke(ASCII, 0);
        if let Some(key) = Key::from_ascii(code) {
            return Some(key);
        }
        tries -= 1;
    }
    None
}

/// Whether RUN/STOP or ESC is waiting; everything typed before it is dropped with it.
pub fn stop_pressed() -> bool {
    loop {
        match next() {
            Some(Key::Stop) => return true,
            Some(_) => {}
            None => return false,
        }
    }
}

/// Empties the queue.
pub fn flush() {
    poke(MODIFIERS, 0);
    let mut tries = 16;
    while tries > 0 && (peek(ASCII) != 0 || peek(MODIFIERS) & QUEUED != 0) {
        poke(ASCII, 0);
        tries -= 1;
    }
}
