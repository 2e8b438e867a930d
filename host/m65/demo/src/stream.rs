//! A file through the load port into attic RAM, and back.

use crate::card::{self, BUFFER};
use crate::hw::{copy, feed, peek, poke, IO};
use crate::screen::{Colour, Screen};
use ssnail_shared::map::MEMORY_BASE;
use ssnail_shared::registers as reg;

/// Attic RAM that every board has.
const ROOM: u32 = 8 << 20;
/// $D7FE: reads of $8000000 come from SDRAM.
const RAM_CHOICE: u32 = IO + 0x7FE;
const SDRAM: u8 = 0x10;
/// READY is asked for this often: more than a second.
const PATIENCE: u32 = 500_000;

/// Where files go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Through the accelerator.
    Port,
    /// Straight into attic RAM.
    Attic,
}

/// What this machine has.
pub fn target() -> Target {
    if peek(reg::BASE + reg::ID) == reg::ID_VALUE {
        Target::Port
    } else {
        Target::Attic
    }
}

/// Why a file did not get there.
enum Fault {
    Card(u8),
    NotReady,
    Port,
    TooLong,
}

impl From<u8> for Fault {
    fn from(code: u8) -> Self {
        Self::Card(code)
    }
}

/// Streams a file to $8000000, reads it back, and says what came of it.
pub fn load(screen: &mut Screen, name: &[u8]) {
    match stream(name) {
        Ok((length, sum)) => {
            screen.number(length, 0, Colour::Text);
            screen.print(b" bytes, checksum ", Colour::Text);
            hex(screen, sum);
            let back = fnv(FNV_START, MEMORY_BASE, length);
            if back == sum {
                screen.print(b"; attic RAM holds the same", Colour::Note);
            } else {
                screen.print(b"; attic RAM holds other bytes: ", Colour::Fault);
                hex(screen, back);
            }
            screen.end_line();
        }
        Err(Fault::Card(code)) => card::fault(screen, code),
        Err(fault) => {
            let text: &[u8] = match fault {
                Fault::NotReady => b"The load port does not become ready.",
                Fault::Port => b"The load port reports an error.",
                _ => b"That file is longer than attic RAM.",
            };
            screen.print(text, Colour::Fault);
            screen.end_line();
        }
    }
    card::close();
}

/// Length and checksum of what came from the card.
fn stream(name: &[u8]) -> Result<(u32, u32), Fault> {
    card::open(name)?;
    let target = target();
    if target == Target::Port {
        ready()?;
        commit(true);
        select_memory();
    }
    let (mut length, mut sum) = (0u32, FNV_START);
    loop {
        let count = card::read()?;
        if count == 0 {
            break;
        }
        if length + u32::from(count) > ROOM {
            return Err(Fault::TooLong);
        }
        sum = fnv(sum, BUFFER, u32::from(count));
        match target {
            Target::Port => {
                ready()?;
                feed(reg::BASE + reg::LOAD_DATA, BUFFER, count);
            }
            Target::Attic => copy(MEMORY_BASE + length, BUFFER, u32::from(count)),
        }
        length += u32::from(count);
    }
    if target == Target::Port {
        // The last bytes leave the ring.
        commit(false);
        ready()?;
        if peek(reg::BASE + reg::LOAD_CONTROL) & reg::LOAD_ERROR != 0 {
            return Err(Fault::Port);
        }
    }
    Ok((length, sum))
}

fn ready() -> Result<(), Fault> {
    for _ in 0..PATIENCE {
        if peek(reg::BASE + reg::LOAD_CONTROL) & reg::LOAD_READY != 0 {
            return Ok(());
        }
    }
    Err(Fault::NotReady)
}

/// Sets the load pointer to the start of the memory.
fn commit(clear_error: bool) {
    let [a, b, c, d] = MEMORY_BASE.to_le_bytes();
    for (at, value) in [(0, a), (1, b), (2, c)] {
        poke(reg::BASE + reg::LOAD_POINTER + at, value);
    }
    poke(reg::BASE + reg::LOAD_CONTROL, if clear_error { d | reg::LOAD_CLEAR_ERROR } else { d });
}

/// The port fills SDRAM where there is some: so that is what the processor must see.
fn select_memory() {
    if peek(reg::BASE + reg::CAPABILITIES) & reg::CAP_SDRAM != 0 {
        poke(RAM_CHOICE, peek(RAM_CHOICE) | SDRAM);
    }
}

const FNV_START: u32 = 0x811C_9DC5;

/// FNV-1a over memory.
#[inline(never)]
#[allow(unsafe_code)]
#[link_section = ".text.hot.fnv"]
fn fnv(start: u32, from: u32, length: u32) -> u32 {
    let mut sum = start;
    for at in from..from + length {
        sum = (sum ^ u32::from(peek(at))).wrapping_mul(0x0100_0193);
    }
    sum
}

fn hex(screen: &mut Screen, number: u32) {
    for byte in number.to_be_bytes() {
        let digits = [byte >> 4, byte & 15].map(|d| if d < 10 { b'0' + d } else { b'A' - 10 + d });
        screen.print(&digits, Colour::Text);
    }
}
