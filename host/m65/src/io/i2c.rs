//! The I2C area at $FFD7100: unique id, real-time clock, NVRAM.

use super::cia::CPU_HZ;
use crate::model::Model;

/// State behind the area.
#[derive(Clone, Debug)]
pub struct I2c {
    /// Seconds since 2000-01-01 00:00:00 at cycle 0.
    pub clock_start: u64,
    /// Unique id of the board.
    pub uuid: [u8; 8],
    nvram: [u8; 64],
}

impl Default for I2c {
    fn default() -> Self {
        // 2026-11-30 12:00:00, so that runs are reproducible.
        Self { clock_start: 849_355_200, uuid: *b"M65EMU01", nvram: [0; 64] }
    }
}

const UUID: u32 = 0x100;
const RTC: u32 = 0x110;
const RTC_END: u32 = 0x117;
const NVRAM: u32 = 0x140;
const NVRAM_END: u32 = 0x180;

impl I2c {
    /// Reads `offset` from $FFD7000; `None` where nothing answers.
    pub fn read(&self, offset: u32, cycles: u64, model: Model) -> Option<u8> {
        if model == Model::Nexys4Ddr {
            return None;
        }
        match offset {
            UUID..0x108 => Some(self.uuid[(offset - UUID) as usize]),
            RTC..RTC_END => {
                let parts = clock(self.clock_start + cycles / CPU_HZ);
                Some(parts[(offset - RTC) as usize])
            }
            0x117..NVRAM => Some(0),
            NVRAM..NVRAM_END => Some(self.nvram[(offset - NVRAM) as usize]),
            _ => None,
        }
    }

    /// Writes; false where nothing is. Setting the clock is accepted and ignored.
    pub fn write(&mut self, offset: u32, value: u8, _cycles: u64) -> bool {
        if let NVRAM..NVRAM_END = offset {
            self.nvram[(offset - NVRAM) as usize] = value;
        }
        (UUID..NVRAM_END).contains(&offset)
    }
}

fn bcd(n: u64) -> u8 {
    (n / 10 % 10 * 16 + n % 10) as u8
}

/// Seconds, minutes, hours (bit 7: 24 h), day, month, year, weekday (0 = Sunday) in BCD.
fn clock(seconds: u64) -> [u8; 7] {
    let days = seconds / 86_400;
    let (mut year, mut rest) = (0, days);
    loop {
        let length = if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 366 } else { 365 };
        if rest < length {
            break;
        }
        rest -= length;
        year += 1;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while month < 11 && rest >= lengths[month] {
        rest -= lengths[month];
        month += 1;
    }
    // 2000-01-01 was a Saturday.
    let weekday = (days + 6) % 7;
    [
        bcd(seconds % 60),
        bcd(seconds / 60 % 60),
        bcd(seconds / 3600 % 24) | 0x80,
        bcd(rest + 1),
        bcd(month as u64 + 1),
        bcd(year),
        bcd(weekday),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar() {
        assert_eq!(clock(0), [0, 0, 0x80, 1, 1, 0, 6]);
        // Day 59 of 2000 is 29 February, a Tuesday.
        assert_eq!(clock(59 * 86_400 + 3661), [1, 1, 0x81, 0x29, 2, 0, 2]);
        assert_eq!(clock(366 * 86_400 - 1), [0x59, 0x59, 0xa3, 0x31, 0x12, 0, 0]);
        let now = I2c::default();
        assert_eq!(clock(now.clock_start), [0, 0, 0x92, 0x30, 0x11, 0x26, 1]);
    }
}
