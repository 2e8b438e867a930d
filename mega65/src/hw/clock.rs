//! Time: CIA 2's timers as one 32-bit counter of phi cycles, about a microsecond each. The frame counter will not do: every
//! HDOS call sets it back.

use super::far::{peek, poke};
use super::IO;

const CIA2: u32 = IO + 0xD00;
const TIMER_A: u32 = CIA2 + 4;
const TIMER_B: u32 = CIA2 + 6;
const CONTROL_A: u32 = CIA2 + 14;
const CONTROL_B: u32 = CIA2 + 15;
const NTSC: u32 = IO + 0x06F;

/// Starts the counter.
pub fn start() {
    poke(CONTROL_A, 0);
    poke(CONTROL_B, 0);
    for at in [TIMER_A, TIMER_B] {
        poke(at, 0xFF);
        poke(at + 1, 0xFF);
    }
    // B counts A's underflows; both load and run. B first, so that it misses none.
    poke(CONTROL_B, 0x51);
    poke(CONTROL_A, 0x11);
}

/// Cycles since the start, modulo 2^32 (71 minutes).
pub fn ticks() -> u32 {
    loop {
        let high = peek16(TIMER_B);
        let low = peek16(TIMER_A);
        if peek16(TIMER_B) == high && peek16(TIMER_A) <= low {
            return !(u32::from(high) << 16 | u32::from(low));
        }
    }
}

fn peek16(at: u32) -> u16 {
    loop {
        let high = peek(at + 1);
        let low = peek(at);
        if peek(at + 1) == high {
            return u16::from_le_bytes([low, high]);
        }
    }
}

/// Cycles in a millisecond.
pub fn per_millisecond() -> u32 {
    if peek(NTSC) & 0x80 == 0 {
        985
    } else {
        1023
    }
}

/// A moment from which time is measured.
#[derive(Clone, Copy)]
pub struct Stopwatch(u32);

impl Stopwatch {
    /// Now.
    pub fn start() -> Self {
        Self(ticks())
    }

    /// Milliseconds since then; right up to 71 minutes.
    pub fn milliseconds(self) -> u32 {
        ticks().wrapping_sub(self.0) / per_millisecond()
    }
}

/// Longest time that a controller may be busy, in milliseconds.
const PATIENCE: u32 = 1000;

/// Waits until the bits of a controller's status are clear; false where it takes too long.
#[inline(never)]
pub fn wait_until_clear(status: u32, bits: u8) -> bool {
    let watch = Stopwatch::start();
    while peek(status) & bits != 0 {
        if watch.milliseconds() > PATIENCE {
            return false;
        }
    }
    true
}
