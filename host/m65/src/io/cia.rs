//! CIA timers, interrupt register and time of day, computed when looked at.

/// Rate of the timers: the PAL phi clock.
pub const PHI_HZ: u64 = 985_248;
/// CPU cycles per second.
pub const CPU_HZ: u64 = 40_500_000;
const CYCLES_PER_TENTH: u64 = CPU_HZ / 10;

const ICR_A: u8 = 1;
const ICR_B: u8 = 2;
const ICR_ALARM: u8 = 4;
const START: u8 = 0x01;
const ONE_SHOT: u8 = 0x08;
const LOAD: u8 = 0x10;
/// Control B: counts underflows of timer A.
const CASCADE: u8 = 0x40;

/// Phi ticks until `cycles`.
fn ticks(cycles: u64) -> u64 {
    (u128::from(cycles) * u128::from(PHI_HZ) / u128::from(CPU_HZ)) as u64
}

#[derive(Clone, Debug)]
struct Timer {
    latch: u16,
    counter: u16,
    control: u8,
}

impl Timer {
    fn new() -> Self {
        Self { latch: 0xffff, counter: 0xffff, control: 0 }
    }

    /// Lets `n` ticks pass and returns the underflows.
    fn advance(&mut self, n: u64) -> u64 {
        let counter = u64::from(self.counter);
        if self.control & START == 0 || n <= counter {
            if self.control & START != 0 {
                self.counter = (counter - n) as u16;
            }
            return 0;
        }
        let period = u64::from(self.latch) + 1;
        let after = n - counter - 1;
        if self.control & ONE_SHOT != 0 {
            self.control &= !START;
            self.counter = self.latch;
            return 1;
        }
        self.counter = (u64::from(self.latch) - after % period) as u16;
        1 + after / period
    }

    fn write_control(&mut self, value: u8) {
        if value & LOAD != 0 {
            self.counter = self.latch;
        }
        self.control = value & !LOAD;
    }

    fn write_latch(&mut self, high: bool, value: u8) {
        let [low, top] = self.latch.to_le_bytes();
        self.latch = if high { u16::from_le_bytes([low, value]) } else { u16::from_le_bytes([value, top]) };
        if high && self.control & START == 0 {
            self.counter = self.latch;
        }
    }
}

/// One CIA. Time of day runs from the start.
#[derive(Clone, Debug)]
pub struct Cia {
    a: Timer,
    b: Timer,
    synced: u64,
    flags: u8,
    mask: u8,
    ports: [u8; 4],
    /// Tenths of a second at cycle 0, and while stopped the tenths shown.
    tod_offset: i64,
    tod_stopped: Option<u64>,
    tod_latched: Option<u64>,
    tod_written: [u8; 4],
    alarm: u64,
    tod_seen: u64,
    serial: u8,
}

/// Tenths in a day.
const DAY: u64 = 24 * 36_000;

impl Default for Cia {
    fn default() -> Self {
        Self::new()
    }
}

impl Cia {
    /// A CIA with stopped timers.
    pub fn new() -> Self {
        Self {
            a: Timer::new(),
            b: Timer::new(),
            synced: 0,
            flags: 0,
            mask: 0,
            ports: [0xff, 0xff, 0, 0],
            tod_offset: 0,
            tod_stopped: None,
            tod_latched: None,
            tod_written: [0; 4],
            alarm: u64::MAX,
            tod_seen: 0,
            serial: 0,
        }
    }

    /// Brings timers and flags up to `cycles`.
    pub fn sync(&mut self, cycles: u64) {
        let now = ticks(cycles);
        let elapsed = now.saturating_sub(self.synced);
        self.synced = now;
        let under_a = self.a.advance(elapsed);
        let under_b = if self.b.control & CASCADE != 0 { self.b.advance(under_a) } else { self.b.advance(elapsed) };
        if under_a > 0 {
            self.flags |= ICR_A;
        }
        if under_b > 0 {
            self.flags |= ICR_B;
        }
        let tod = self.tod(cycles);
        if tod != self.tod_seen {
            self.tod_seen = tod;
            if tod == self.alarm {
                self.flags |= ICR_ALARM;
            }
        }
    }

    /// True while the interrupt line is active.
    pub fn interrupt(&self) -> bool {
        self.flags & self.mask != 0
    }

    /// Cycle at which the next enabled timer interrupt may come.
    pub fn next_event(&self) -> Option<u64> {
        if self.interrupt() {
            return None;
        }
        let wanted_b = self.mask & ICR_B != 0 && self.b.control & START != 0;
        let cascade = wanted_b && self.b.control & CASCADE != 0;
        let a = (self.mask & ICR_A != 0 || cascade) && self.a.control & START != 0;
        let of = |t: &Timer| {
            let at = self.synced + u64::from(t.counter) + 1;
            (u128::from(at) * u128::from(CPU_HZ)).div_ceil(u128::from(PHI_HZ)) as u64
        };
        let a = a.then(|| of(&self.a));
        let b = (wanted_b && !cascade).then(|| of(&self.b));
        [a, b].into_iter().flatten().min()
    }

    /// The low two bits of port A: the video bank on CIA 2.
    pub fn port_a(&self) -> u8 {
        self.ports[0] | !self.ports[2]
    }

    fn tod(&self, cycles: u64) -> u64 {
        match self.tod_stopped {
            Some(value) => value,
            None => ((cycles / CYCLES_PER_TENTH) as i64 + self.tod_offset).rem_euclid(DAY as i64) as u64,
        }
    }

    /// Reads register 0-15; `$D`'s flags are cleared by it.
    pub fn read(&mut self, register: u8, cycles: u64) -> u8 {
        self.sync(cycles);
        match register & 15 {
            n @ 0..=3 => self.ports[usize::from(n)],
            4 => self.a.counter as u8,
            5 => (self.a.counter >> 8) as u8,
            6 => self.b.counter as u8,
            7 => (self.b.counter >> 8) as u8,
            n @ 8..=11 => self.read_tod(n - 8, cycles),
            12 => self.serial,
            13 => {
                let value = self.flags | if self.interrupt() { 0x80 } else { 0 };
                self.flags = 0;
                value
            }
            14 => self.a.control,
            _ => self.b.control,
        }
    }

    fn read_tod(&mut self, part: u8, cycles: u64) -> u8 {
        let now = self.tod(cycles);
        if part == 3 {
            self.tod_latched = Some(now);
        }
        let value = self.tod_latched.unwrap_or(now);
        if part == 0 {
            self.tod_latched = None;
        }
        tod_bytes(value)[usize::from(part)]
    }

    /// Writes register 0-15.
    pub fn write(&mut self, register: u8, value: u8, cycles: u64) {
        self.sync(cycles);
        match register & 15 {
            n @ 0..=3 => self.ports[usize::from(n)] = value,
            4 => self.a.write_latch(false, value),
            5 => self.a.write_latch(true, value),
            6 => self.b.write_latch(false, value),
            7 => self.b.write_latch(true, value),
            n @ 8..=11 => self.write_tod(n - 8, value, cycles),
            12 => self.serial = value,
            13 if value & 0x80 != 0 => self.mask |= value & 0x1f,
            13 => self.mask &= !value,
            14 => self.a.write_control(value),
            _ => self.b.write_control(value),
        }
    }

    /// Writing the hours stops the clock, writing the tenths starts it.
    fn write_tod(&mut self, part: u8, value: u8, cycles: u64) {
        let alarm = self.b.control & 0x80 != 0;
        if !alarm && part != 0 && self.tod_stopped.is_none() {
            self.tod_written = tod_bytes(self.tod(cycles));
        }
        self.tod_written[usize::from(part)] = value;
        let written = tod_value(self.tod_written);
        if alarm {
            self.alarm = written;
        } else if part == 0 {
            self.tod_offset = written as i64 - (cycles / CYCLES_PER_TENTH) as i64;
            self.tod_stopped = None;
        } else {
            let stop = part == 3 || self.tod_stopped.is_some();
            self.tod_offset = written as i64 - (cycles / CYCLES_PER_TENTH) as i64;
            self.tod_stopped = stop.then_some(written);
        }
    }
}

fn bcd(n: u64) -> u8 {
    (n / 10 * 16 + n % 10) as u8
}

fn from_bcd(n: u8) -> u64 {
    u64::from(n >> 4) * 10 + u64::from(n & 15)
}

/// Tenths, seconds, minutes, hours (1-12, bit 7 = afternoon).
fn tod_bytes(tenths: u64) -> [u8; 4] {
    let hours = tenths / 36_000;
    let twelve = match hours % 12 {
        0 => 12,
        h => h,
    };
    let pm = if hours >= 12 { 0x80 } else { 0 };
    [bcd(tenths % 10), bcd(tenths / 10 % 60), bcd(tenths / 600 % 60), bcd(twelve) | pm]
}

fn tod_value(bytes: [u8; 4]) -> u64 {
    let hours = from_bcd(bytes[3] & 0x1f) % 12 + if bytes[3] & 0x80 != 0 { 12 } else { 0 };
    (hours * 36_000 + from_bcd(bytes[2]) * 600 + from_bcd(bytes[1]) * 10 + from_bcd(bytes[0] & 15)) % DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_count_phi_and_cascade() {
        let mut cia = Cia::new();
        cia.write(4, 0xe7, 0);
        cia.write(5, 0x03, 0); // 1000 ticks
        cia.write(6, 0xff, 0);
        cia.write(7, 0xff, 0);
        cia.write(15, 0x51, 0);
        cia.write(14, 0x11, 0);
        // One second: 985 whole periods of 1000 ticks and 248 ticks.
        let b = u16::from(cia.read(6, CPU_HZ)) | u16::from(cia.read(7, CPU_HZ)) << 8;
        assert_eq!(b, 0xffff - 985);
        let a = u16::from(cia.read(4, CPU_HZ)) | u16::from(cia.read(5, CPU_HZ)) << 8;
        assert_eq!(a, 999 - 248);
        assert_eq!(cia.read(13, CPU_HZ), 1);
        assert_eq!(cia.read(13, CPU_HZ), 0);
    }

    #[test]
    fn one_shot_stops_and_interrupts_once() {
        let mut cia = Cia::new();
        cia.write(13, 0x81, 0);
        cia.write(4, 99, 0);
        cia.write(5, 0, 0);
        cia.write(14, 0x19, 0);
        let due = cia.next_event().unwrap();
        cia.sync(due - 1);
        assert!(!cia.interrupt());
        cia.sync(due);
        assert!(cia.interrupt());
        assert_eq!(cia.read(13, due), 0x81);
        cia.sync(due * 50);
        assert!(!cia.interrupt());
        assert_eq!(cia.read(14, due) & 1, 0);
    }

    #[test]
    fn time_of_day_latches_from_hours_to_tenths() {
        let mut cia = Cia::new();
        for (part, value) in [(11, 0x91), (10, 0x59), (9, 0x59), (8, 0x09)] {
            cia.write(part, value, 1000);
        }
        // 11:59:59.9 pm; one tenth later it is midnight.
        let later = CYCLES_PER_TENTH + 1000;
        assert_eq!(cia.read(11, 1000), 0x91);
        assert_eq!(cia.read(9, later), 0x59, "latched");
        assert_eq!(cia.read(8, later), 0x09);
        assert_eq!(cia.read(11, later), 0x12);
        assert_eq!(cia.read(8, later), 0x00);
    }
}
