//! Date and time from the real-time clock, time since the start from the CIA.

use crate::hw::{peek, poke, IO};
use crate::screen::Screen;

/// Second, minute, hour (bit 7: 24 hours), day, month, year, weekday, all BCD.
const RTC: u32 = 0x0FFD_7110;
const RTC_PARTS: usize = 6;
/// Tries until two readings agree: the registers are a copy that is refreshed now and then.
const TRIES: u8 = 10;

/// Time of day of CIA 2: tenths, seconds, minutes, hours.
const TOD: u32 = IO + 0xD08;
/// Twelve at night; the CIA knows no hour 0.
const MIDNIGHT: u8 = 0x12;

/// What the top line shows.
pub struct Clock {
    shown: [u8; 2],
}

impl Clock {
    /// Sets the CIA to 0:00:00.
    pub fn start() -> Self {
        // Hours stop the clock, tenths let it go on.
        for (part, value) in [(3, MIDNIGHT), (2, 0), (1, 0), (0, 0)] {
            poke(TOD + part, value);
        }
        Self { shown: [0xFF; 2] }
    }

    /// Writes the top line when a second of either clock has passed.
    pub fn show(&mut self, screen: &Screen) {
        // Reading the hours holds the other parts until the tenths are read.
        let [hours, minutes, seconds, _] = [3, 2, 1, 0].map(|part| peek(TOD + part));
        let now = [peek(RTC), seconds];
        if now == self.shown {
            return;
        }
        self.shown = now;
        let mut text = *b"20yy-mm-dd hh:mm:ss (RTC)   hh:mm:ss since the start (CIA)";
        let [rtc_seconds, rtc_minutes, rtc_hours, day, month, year] = read_rtc();
        // The first twelve hours are told apart, which is long for a demonstration.
        let hours = if hours & 0x1F == MIDNIGHT { 0 } else { hours & 0x1F };
        for (at, bcd) in [
            (2, year),
            (5, month),
            (8, day),
            (11, rtc_hours & 0x3F),
            (14, rtc_minutes),
            (17, rtc_seconds),
            (28, hours),
            (31, minutes),
            (34, seconds),
        ] {
            if let Some([tens, ones]) = text.get_mut(at..at + 2) {
                (*tens, *ones) = (b'0' + (bcd >> 4), b'0' + (bcd & 15));
            }
        }
        screen.title(1, &text);
    }
}

fn read_rtc() -> [u8; RTC_PARTS] {
    let read = || core::array::from_fn(|part| peek(RTC + part as u32));
    let mut before: [u8; RTC_PARTS] = read();
    for _ in 0..TRIES {
        let now = read();
        if now == before {
            break;
        }
        before = now;
    }
    before
}
