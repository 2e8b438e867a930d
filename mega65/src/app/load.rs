//! From the card through the load port into the core's memory, and the proof that it arrived.

use super::menu::refusal;
use super::{App, Machine, TITLE};
use crate::card;
use crate::hw::clock::Stopwatch;
use crate::hw::core::{Accelerator, Found, Target};
use crate::hw::far::{self, Far};
use crate::hw::part::Part;
use crate::hw::vic::{self, Screen};
use crate::hw::{board, hdos, keys};
use crate::out::Line;
use ssnail_shared::header::Header;
use ssnail_shared::loader::{LoadError, Loader, Ready};
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, OUTPUT, PAYLOAD, REGION_BOUNDARY};
use ssnail_shared::mem::{Memory, ReadMemory};
use ssnail_shared::ui::{Style, Surface};

/// Sectors whose content is compared after loading.
const SAMPLES: usize = 24;
/// The last signature word of a model that was loaded and compared: "SNOK".
const LOADED: u32 = 0x4B4F_4E53;
/// Header words that no image uses, where the signature lies.
const SIGNATURE: u32 = MEMORY_BASE + 0x68;
const SIGNATURE_MARK: u32 = MEMORY_BASE + 0x60;
const BAR_ROW: u8 = 8;
const BAR_WIDTH: u32 = 64;

/// Why a load ended without a model.
enum Failure {
    Cancelled,
    Card(hdos::Error),
    Port(LoadError),
    /// READY did not come.
    NotReady,
    /// The copy in memory differs at this address.
    Differs(u32),
}

/// Which memory shows what the load port writes: two patterns through the port, each looked for in both.
#[inline(never)]
pub fn probe() -> Option<bool> {
    for sdram in [false, true] {
        board::select_sdram(sdram);
        if [0x5A17_C3E1u32, 0xA5E8_3C1E]
            .iter()
            .all(|pattern| write_word(None, OUTPUT, *pattern) && far::peek32(OUTPUT) == *pattern)
        {
            return Some(sdram);
        }
    }
    board::restore_ram_select();
    None
}

/// Writes a word as models are loaded.
#[inline(never)]
fn write_word(part: Option<Part>, address: u32, value: u32) -> bool {
    Accelerator::new(u32::MAX, part).write_u32(address, value).is_ok()
}

/// What is in memory is not to be offered.
#[inline(never)]
pub fn forget(part: Option<Part>) {
    write_word(part, SIGNATURE_MARK, 0);
}

/// The model that an earlier run of the program left in memory, if it is still whole.
#[inline(never)]
pub fn resident(machine: &Machine) -> Option<Header> {
    machine.ram?;
    if far::peek32(SIGNATURE_MARK) != LOADED {
        return None;
    }
    let mut bytes = [0; HEADER_LEN as usize];
    Far.read(MEMORY_BASE, &mut bytes).ok()?;
    // The signature's own words are zero in an image.
    for at in [0x60, 0x68] {
        bytes[at..at + 4].fill(0);
    }
    let header = Header::parse(&bytes).ok()?;
    let fits = header.memory_needed <= machine.memory_len;
    (fits && far::peek32(SIGNATURE) == signature(&header)).then_some(header)
}

/// A sum over pieces of the payload, spread evenly.
#[inline(never)]
fn signature(header: &Header) -> u32 {
    let readable = header.payload_len.min(REGION_BOUNDARY - PAYLOAD);
    let step = (readable / 64) & !31;
    let mut sum = header.payload_len;
    let mut at = PAYLOAD;
    let mut i = 0;
    while i < 64 {
        sum = mix(sum, at, 64);
        at += step;
        i += 1;
    }
    sum
}

/// Folds `length` bytes (a multiple of 4) at `address` into a sum.
#[inline(never)]
fn mix(sum: u32, address: u32, length: u32) -> u32 {
    let mut sum = sum;
    let mut at = address;
    while at < address + length {
        sum = (sum ^ far::peek32(at)).rotate_left(5).wrapping_add(at);
        at += 4;
    }
    sum
}

impl App {
    /// Loads a model of the list; `None` where it did not work, and `message` says why.
    #[inline(never)]
    pub(super) fn load(&mut self, index: u16) -> Option<Header> {
        self.message = Line::new();
        let Ok(entry) = self.list.get(&Far, index) else { return None };
        if let Some(why) = refusal(&entry, self.machine.memory_len) {
            self.message = why;
            return None;
        }
        let part = self.machine.computer();
        if part.is_none() && (self.machine.part.is_some() || !matches!(self.machine.core, Found::Core(_))) {
            self.message.text(b"This needs the SSNAIL core, or SSNAIL.CPU on the disk or in the card's /SSNAIL/");
            return None;
        }
        let Some(sdram) = self.machine.ram else {
            self.message.text(b"The core's memory does not answer: switch the MEGA65 off and on");
            return None;
        };
        board::select_sdram(sdram);
        vic::clear();
        Screen.text(0, 0, TITLE, Style::Title);
        let mut line = Line::new();
        line.put(b"Loading %s", &[], &[entry.name()]);
        Screen.text(4, 0, line.bytes(), Style::Text);
        Screen.text(BAR_ROW + 3, 0, b"RUN/STOP cancels", Style::Note);
        let header = card::read_header(&entry).map_err(Failure::Card).and_then(|bytes| {
            // The list has checked this header; a card that changed since then is a card fault.
            Header::parse(&bytes).map_err(|_| Failure::Card(hdos::Error(0x20)))
        });
        let result = header.and_then(|header| stream(&header, part).map(|()| header));
        hdos::close();
        match result {
            Ok(header) => Some(header),
            Err(failure) => {
                // Nothing half loaded is ever offered.
                forget(part);
                write_word(part, MEMORY_BASE, 0);
                self.explain(&failure);
                None
            }
        }
    }

    #[inline(never)]
    fn explain(&mut self, failure: &Failure) {
        let mut why: &[u8] = b"";
        let (template, number): (&[u8], u32) = match *failure {
            Failure::Cancelled => (b"Loading was cancelled", 0),
            Failure::Card(error) => {
                why = error.text();
                (b"Loading failed: %s (error %h)", u32::from(error.0))
            }
            Failure::Port(LoadError::Port { offset }) => {
                (b"Loading failed: the core reports ERROR after %n bytes", offset)
            }
            Failure::Port(LoadError::TooLong { expected } | LoadError::Truncated { expected, .. }) => {
                (b"Loading failed: the file does not have the %n bytes of its header; copy it again", expected)
            }
            Failure::NotReady => (b"Loading failed: the core is not READY; switch the MEGA65 off and on", 0),
            Failure::Differs(address) => (b"Loading failed: memory differs from the card at %x; load again", address),
        };
        self.message.put(template, &[number], &[why]);
    }
}

/// Sectors whose sums are kept while they pass, and compared afterwards.
struct Samples {
    sums: [(u32, u32); SAMPLES],
    len: usize,
}

impl Samples {
    /// Keeps the sum of the sector in the buffer, which went to `address`.
    fn keep(&mut self, address: u32) {
        if self.len < SAMPLES {
            self.sums[self.len] = (address, sector_sum(hdos::BUFFER));
            self.len += 1;
        }
    }

    fn compare(&self) -> Result<(), Failure> {
        for (address, sum) in &self.sums[..self.len] {
            // An attic read that has not settled is read once more before it counts.
            if sector_sum(*address) != *sum && sector_sum(*address) != *sum {
                return Err(Failure::Differs(*address));
            }
        }
        Ok(())
    }
}

/// Sum over a word of each 16 bytes of a sector.
#[inline(never)]
fn sector_sum(at: u32) -> u32 {
    let mut sum = 0u32;
    let mut a = at;
    while a < at + 508 {
        sum = (sum ^ far::peek32(a)).rotate_left(5).wrapping_add(1);
        a += 16;
    }
    sum
}

/// Sectors from one look at the keyboard, and of the bar, to the next.
const LOOK: u32 = 256;

/// Sends the file, whose first sector is in the buffer.
#[inline(never)]
fn stream(header: &Header, part: Option<Part>) -> Result<(), Failure> {
    let mut port = if part.is_some() { Target::Memory(MEMORY_BASE) } else { Target::Port };
    let watch = Stopwatch::start();
    let mut loader = Loader::begin(header, &mut port);
    let sectors = header.file_len().div_ceil(u32::from(hdos::SECTOR));
    let every = sectors / (SAMPLES as u32 - 2) + 1;
    let mut samples = Samples { sums: [(0, 0); SAMPLES], len: 0 };
    let mut count = u32::from(hdos::SECTOR).min(header.file_len());
    // The sector that is looked at next: one after the other the first, those of the bar, samples, and the last two.
    let mut sector = 0u32;
    let mut next_sample = 1;
    let mut first = 0;
    let last = sectors.saturating_sub(2);
    let mut drawn = 0;
    loop {
        pass(&mut loader, &mut port, &mut count, sector - first + 1)?;
        if count == 0 {
            break;
        }
        if sector >= next_sample || sector >= last {
            let at = PAYLOAD + loader.sent() - count - HEADER_LEN;
            // Only whole sectors of the payload that the processor can read back.
            if sector > 0 && count == u32::from(hdos::SECTOR) && at + 512 <= REGION_BOUNDARY {
                next_sample = sector + every;
                samples.keep(at);
            }
        }
        if sector % LOOK == 0 {
            progress(&loader, watch, &mut drawn);
            if keys::stop_pressed() {
                return Err(Failure::Cancelled);
            }
        }
        if loader.complete() {
            break;
        }
        hdos::goes_on().map_err(Failure::Card)?;
        count = u32::from(hdos::read().map_err(Failure::Card)?);
        if count == 0 {
            break;
        }
        first = sector + 1;
        sector = (sector / LOOK + 1) * LOOK;
        for look in [next_sample, last] {
            if look >= first && look < sector {
                sector = look;
            }
        }
        if first > last {
            sector = first;
        }
    }
    loader.finish(&mut port).map_err(Failure::Port)?;
    if !port.wait_ready() {
        return Err(Failure::NotReady);
    }
    loader.ready(&mut port).map_err(Failure::Port)?;
    progress(&loader, watch, &mut drawn);
    samples.compare()?;
    write_word(part, SIGNATURE, signature(header));
    write_word(part, SIGNATURE_MARK, LOADED);
    Ok(())
}

/// Sends so many sectors, of which the first is in the buffer and has `count` bytes; the last one stays there. Ends
/// early at the end of the file or of the image.
#[inline(never)]
fn pass(loader: &mut Loader, port: &mut Target, count: &mut u32, sectors: u32) -> Result<(), Failure> {
    let mut left = sectors as u16;
    loop {
        if let Ready::NotYet = loader.ready(port).map_err(Failure::Port)? {
            if !port.wait_ready() {
                return Err(Failure::NotReady);
            }
        }
        loader.sector(port, *count).map_err(Failure::Port)?;
        left -= 1;
        if left == 0 || loader.complete() {
            return Ok(());
        }
        *count = u32::from(hdos::read_here().map_err(Failure::Card)?);
        if *count == 0 {
            return Ok(());
        }
    }
}

/// Draws the bar and the figures.
#[inline(never)]
fn progress(loader: &Loader, watch: Stopwatch, drawn: &mut u8) {
    let (sent, total) = (loader.sent(), loader.total());
    let filled = (sent >> 8) * BAR_WIDTH / (total >> 8);
    let mut column = *drawn;
    while column < BAR_WIDTH as u8 && (*drawn == 0 || u32::from(column) < filled) {
        let done = u32::from(column) < filled;
        Screen.put(BAR_ROW, column, if done { b' ' } else { b'.' }, if done { Style::Marked } else { Style::Note });
        column += 1;
    }
    *drawn = filled.max(1) as u8;
    let time = watch.milliseconds() + 1;
    // Bytes per millisecond are thousands of bytes per second.
    let rate = sent / time;
    let mut line = Line::new();
    let left = if rate > 0 { (total - sent) / rate / 1000 } else { 0 };
    line.put(b"%n%%  %m of %m  %n KB/s  %n s left", &[(sent >> 8) * 100 / (total >> 8), sent, total, rate, left], &[]);
    Screen.clear(BAR_ROW + 1, 0);
    Screen.text(BAR_ROW + 1, 0, line.bytes(), Style::Text);
}
