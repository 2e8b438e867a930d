//! Enhanced DMA: registers, option lists, list formats and the jobs.

use crate::board::Board;
use crate::cpu::{Bus, FLAT_MASK};
use crate::diagnostics::Report;

const MEGABYTE: u32 = 1 << 20;
const IO_FLAG: u8 = 0x80;
const IO_BASE: u32 = 0x0ffd_0000;
/// Cycles of a byte filled and of a byte copied in chip RAM.
const FILL_CYCLES: u32 = 1;
const COPY_CYCLES: u32 = 2;
/// Jobs of one chain, options of one list, bytes of one chain: more is a list gone wrong.
const MAX_JOBS: u32 = 4096;
const MAX_OPTIONS: u32 = 1024;
const MAX_BYTES: u64 = 1 << 28;

/// Registers `$D700-$D70E`.
#[derive(Clone, Debug, Default)]
pub struct Dma {
    /// Address of the next list, 28 bits.
    list: u32,
    /// `$D703`: bit 0 F018B lists, bit 1 no wrap at megabytes.
    control: u8,
    running: bool,
}

impl Dma {
    /// Reads `$D700 + register`.
    pub fn read(&self, register: u8) -> u8 {
        match register {
            0 => self.list as u8,
            1 => (self.list >> 8) as u8,
            2 => (self.list >> 16) as u8 & 0x7f,
            3 => self.control,
            4 => (self.list >> 20) as u8,
            _ => 0,
        }
    }
}

/// Where list bytes come from.
#[derive(Clone, Copy)]
enum Source {
    Flat,
    /// Through the CPU's current map.
    Mapped,
}

/// Options that stay in force until the end of a chain.
#[derive(Clone, Debug)]
struct Options {
    f018b: bool,
    cross_megabytes: bool,
    transparent: Option<u8>,
    transparent_value: u8,
    source_mb: u8,
    destination_mb: u8,
    source_step: u16,
    destination_step: u16,
    count_high: u8,
    source_fraction: u8,
    destination_fraction: u8,
}

impl Options {
    fn new(control: u8) -> Self {
        Self {
            f018b: control & 1 != 0,
            cross_megabytes: control & 2 != 0,
            transparent: None,
            transparent_value: 0,
            source_mb: 0,
            destination_mb: 0,
            source_step: 0x100,
            destination_step: 0x100,
            count_high: 0,
            source_fraction: 0,
            destination_fraction: 0,
        }
    }
}

/// One end of a job.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Address with an 8-bit fraction.
    at: u64,
    step: i64,
    io: bool,
    cross: bool,
}

impl End {
    fn address(&self) -> u32 {
        (self.at >> 8) as u32 & FLAT_MASK
    }

    fn advance(&mut self) {
        let next = self.at.wrapping_add_signed(self.step);
        self.at = if self.cross {
            next
        } else {
            let mask = u64::from(MEGABYTE) * 256 - 1;
            self.at & !mask | next & mask
        };
    }
}

struct Job {
    command: u8,
    count: u32,
    fill: u8,
    source: End,
    destination: End,
    unsupported: bool,
}

impl Board {
    /// Writes `$D700 + register`; some start a job.
    pub(crate) fn write_dma(&mut self, register: u8, value: u8) {
        let set_low = |list: u32| list & !0xff | u32::from(value);
        match register {
            0 => {
                self.dma.list = set_low(self.dma.list) & 0xf_ffff;
                self.plain_chain();
            }
            1 => self.dma.list = self.dma.list & !0xff00 | u32::from(value) << 8,
            2 => self.dma.list = self.dma.list & 0xffff | u32::from(value & 0x7f) << 16,
            3 => self.dma.control = value & 3,
            4 => self.dma.list = self.dma.list & 0xf_ffff | u32::from(value) << 20,
            5 => {
                self.dma.list = set_low(self.dma.list);
                self.dma.list = self.enhanced_chain(Source::Flat, self.dma.list);
            }
            6 => {
                self.dma.list = set_low(self.dma.list);
                let end = self.enhanced_chain(Source::Mapped, self.dma.list & 0xffff);
                self.dma.list = self.dma.list & !0xffff | end & 0xffff;
            }
            7 => {
                self.inline_dma = true;
                self.attention();
            }
            0x0e => self.dma.list = set_low(self.dma.list),
            _ => {}
        }
    }

    /// Runs the job whose list begins at `pc` of the CPU's view; returns the address behind it.
    pub(crate) fn run_inline_dma(&mut self, pc: u16) -> u16 {
        self.enhanced_chain(Source::Mapped, u32::from(pc)) as u16
    }

    fn list_byte(&mut self, source: Source, at: &mut u32) -> u8 {
        let value = match source {
            Source::Flat => self.read_flat(*at & FLAT_MASK),
            Source::Mapped => self.read(*at as u16),
        };
        *at = at.wrapping_add(1);
        value
    }

    fn plain_chain(&mut self) {
        let options = Options::new(self.dma.control);
        let mut at = self.dma.list;
        self.chain(Source::Flat, &mut at, options, false);
        self.dma.list = at;
    }

    fn enhanced_chain(&mut self, source: Source, list: u32) -> u32 {
        let mut at = list;
        self.chain(source, &mut at, Options::new(self.dma.control), true);
        at
    }

    fn chain(&mut self, source: Source, at: &mut u32, options: Options, enhanced: bool) {
        if self.dma.running {
            // A job that writes the registers which start jobs.
            self.report(Report::DmaUnsupported, *at & FLAT_MASK);
            return;
        }
        self.dma.running = true;
        if !self.jobs(source, at, options, enhanced) {
            self.report(Report::DmaEndless, *at & FLAT_MASK);
        }
        self.dma.running = false;
    }

    /// Runs the jobs of a list; false where it does not end.
    fn jobs(&mut self, source: Source, at: &mut u32, mut options: Options, enhanced: bool) -> bool {
        let mut bytes = 0;
        for _ in 0..MAX_JOBS {
            if enhanced && !self.read_options(source, at, &mut options) {
                return false;
            }
            let job = self.read_job(source, at, &options);
            bytes += u64::from(job.count);
            if bytes > MAX_BYTES {
                return false;
            }
            self.run_job(&job, *at, options.transparent);
            if job.command & 4 == 0 {
                return true;
            }
        }
        false
    }

    /// False where the options do not end.
    fn read_options(&mut self, source: Source, at: &mut u32, options: &mut Options) -> bool {
        for _ in 0..MAX_OPTIONS {
            let option = self.list_byte(source, at);
            // From $80 on an argument follows.
            let argument = if option & 0x80 != 0 { self.list_byte(source, at) } else { 0 };
            let low = |old: u16| old & 0xff00 | u16::from(argument);
            let high = |old: u16| old & 0xff | u16::from(argument) << 8;
            match option {
                0x00 => return true,
                0x01 => options.cross_megabytes = true,
                0x06 => options.transparent = None,
                0x07 => options.transparent = Some(options.transparent_value),
                0x0a => options.f018b = false,
                0x0b => options.f018b = true,
                0x80 => options.source_mb = argument,
                0x81 => options.destination_mb = argument,
                0x82 => options.source_step = low(options.source_step),
                0x83 => options.source_step = high(options.source_step),
                0x84 => options.destination_step = low(options.destination_step),
                0x85 => options.destination_step = high(options.destination_step),
                0x86 => {
                    options.transparent_value = argument;
                    options.transparent = options.transparent.map(|_| argument);
                }
                0x90 => options.count_high = argument,
                0x91 => options.source_fraction = argument,
                0x92 => options.destination_fraction = argument,
                _ => self.report(Report::DmaUnsupported, u32::from(option)),
            }
        }
        false
    }

    fn run_job(&mut self, job: &Job, list_end: u32, transparent: Option<u8>) {
        if job.unsupported {
            self.report(Report::DmaUnsupported, list_end & FLAT_MASK);
        }
        match job.command & 3 {
            0 => self.copy(job.source, job.destination, job.count, transparent),
            3 => self.fill(job.fill, job.destination, job.count, transparent),
            // Mix and swap do nothing on hardware.
            _ => self.report(Report::DmaUnsupported, list_end & FLAT_MASK),
        }
    }

    fn read_job(&mut self, list: Source, at: &mut u32, options: &Options) -> Job {
        let mut byte = || self.list_byte(list, at);
        let command = byte();
        let count = u32::from_le_bytes([byte(), byte(), options.count_high, 0]);
        let (source_low, source_high, source_bank) = (byte(), byte(), byte());
        let (low, high, bank) = (byte(), byte(), byte());
        let subcommand = if options.f018b { byte() } else { 0 };
        let modulo = [byte(), byte()];
        let (source_hold, source_back, source_modulo, hold, back, modulo_used);
        if options.f018b {
            source_hold = subcommand & 2 != 0;
            hold = subcommand & 8 != 0;
            source_back = command & 0x10 != 0;
            back = command & 0x20 != 0;
            source_modulo = subcommand & 1 != 0;
            modulo_used = subcommand & 4 != 0;
        } else {
            let flags = |bank: u8| (bank & 0x10 != 0, bank & 0x40 != 0, bank & 0x20 != 0);
            (source_hold, source_back, source_modulo) = flags(source_bank);
            (hold, back, modulo_used) = flags(bank);
        }
        let bank_mask = if options.f018b { 0x7f } else { 0x0f };
        let end = |low, high, bank: u8, mb: u8, fraction: u8, step: u16, held: bool, backward: bool| {
            let address = u32::from_le_bytes([low, high, bank & bank_mask, 0]).wrapping_add(u32::from(mb) << 20);
            let step = if held { 0 } else { i64::from(step) };
            End {
                at: u64::from(address & FLAT_MASK) << 8 | u64::from(fraction),
                step: if backward { -step } else { step },
                io: bank & IO_FLAG != 0,
                cross: options.cross_megabytes,
            }
        };
        Job {
            command,
            count: if count == 0 { 0x1_0000 } else { count },
            fill: source_low,
            source: end(
                source_low,
                source_high,
                source_bank,
                options.source_mb,
                options.source_fraction,
                options.source_step,
                source_hold,
                source_back,
            ),
            destination: end(
                low,
                high,
                bank,
                options.destination_mb,
                options.destination_fraction,
                options.destination_step,
                hold,
                back,
            ),
            unsupported: (source_modulo || modulo_used) && modulo != [0, 0],
        }
    }

    /// The I/O flag redirects addresses with $D in bits 15-12 to the current personality.
    fn redirect(&self, end: &End) -> u32 {
        let address = end.address();
        if end.io && address & 0xf000 == 0xd000 {
            IO_BASE + ((self.personality as u32) << 12) + (address & 0xfff)
        } else {
            address
        }
    }

    fn copy(&mut self, mut from: End, mut to: End, count: u32, transparent: Option<u8>) {
        for _ in 0..count {
            let value = self.read_flat(self.redirect(&from));
            from.advance();
            self.put(&mut to, value, transparent);
            self.advance(COPY_CYCLES);
        }
        // Hardware has fetched one more byte by the time the last one is written.
        if from.step == 0 {
            self.read_flat(self.redirect(&from));
        }
    }

    fn fill(&mut self, value: u8, mut to: End, count: u32, transparent: Option<u8>) {
        for _ in 0..count {
            self.put(&mut to, value, transparent);
            self.advance(FILL_CYCLES);
        }
    }

    fn put(&mut self, to: &mut End, value: u8, transparent: Option<u8>) {
        if transparent != Some(value) {
            self.write_flat(self.redirect(to), value);
        }
        to.advance();
    }
}
