//! The accelerator's registers.

use super::clock::Stopwatch;
use super::far::{self, peek, poke, Far};
use super::hdos;
use super::part::Part;
use ssnail_shared::loader::LoadPort;
use ssnail_shared::mem::{Fault, Memory, ReadMemory};
use ssnail_shared::registers as reg;
use ssnail_shared::sampler::{Candidate, Changed, Digit, Run, Weights};
use ssnail_shared::session::{Core, CoreState};

fn at(register: u32) -> u32 {
    reg::BASE + register
}

/// What was found at $FFD7500.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    None,
    /// A core of another version.
    Other(u8),
    /// A core; its capabilities.
    Core(u8),
}

/// Looks for a core.
pub fn find() -> Found {
    if peek(at(reg::ID)) != reg::ID_VALUE {
        return Found::None;
    }
    match peek(at(reg::VERSION)) {
        reg::VERSION_VALUE => Found::Core(peek(at(reg::CAPABILITIES))),
        other => Found::Other(other),
    }
}

/// The core's load port, whose data come from the SD buffer by DMA with a held destination.
pub struct Port;

/// Where a model is loaded to: the core's load port, or memory that the processor writes itself.
pub enum Target {
    /// The load port.
    Port,
    /// Memory; where the next byte goes.
    Memory(u32),
}

impl LoadPort for Target {
    fn control(&mut self) -> u8 {
        match self {
            Self::Port => Port.control(),
            Self::Memory(_) => reg::LOAD_READY,
        }
    }

    fn commit(&mut self, address: u32, clear_error: bool) {
        match self {
            Self::Port => Port.commit(address, clear_error),
            Self::Memory(to) => *to = address,
        }
    }

    #[inline(always)]
    fn send(&mut self, offset: u32, length: u32) {
        match self {
            Self::Port => Port.send(offset, length),
            Self::Memory(to) => {
                far::copy(*to, hdos::BUFFER + offset, length);
                *to += length;
            }
        }
    }
}

impl Target {
    /// Waits until the next sector may be sent.
    pub fn wait_ready(&self) -> bool {
        match self {
            Self::Port => wait_ready(),
            Self::Memory(_) => true,
        }
    }
}

impl LoadPort for Port {
    fn control(&mut self) -> u8 {
        peek(at(reg::LOAD_CONTROL))
    }

    fn commit(&mut self, address: u32, clear_error: bool) {
        let [a, b, c, d] = address.to_le_bytes();
        poke(at(reg::LOAD_POINTER), a);
        poke(at(reg::LOAD_POINTER + 1), b);
        poke(at(reg::LOAD_POINTER + 2), c);
        poke(at(reg::LOAD_CONTROL), if clear_error { d | reg::LOAD_CLEAR_ERROR } else { d });
    }

    #[inline(always)]
    fn send(&mut self, offset: u32, length: u32) {
        far::stream(hdos::BUFFER + offset, at(reg::LOAD_DATA), length as u16);
    }
}

/// Longest time that READY may take, in milliseconds.
const READY_LIMIT: u32 = 500;

/// Waits for READY, which is there already almost always.
#[inline(always)]
pub fn wait_ready() -> bool {
    peek(at(reg::LOAD_CONTROL)) & reg::LOAD_READY != 0 || wait_longer()
}

#[inline(never)]
fn wait_longer() -> bool {
    let watch = Stopwatch::start();
    while watch.milliseconds() < READY_LIMIT {
        if peek(at(reg::LOAD_CONTROL)) & reg::LOAD_READY != 0 {
            return true;
        }
    }
    false
}

/// What computes, and its memory: the core, whose memory is read through $8000000 and written through the load port, or
/// the processor itself.
pub struct Accelerator {
    /// First address that the processor cannot read.
    pub readable_end: u32,
    /// What computes instead of the core.
    pub part: Option<Part>,
    /// How the part's job stands.
    job: CoreState,
}

impl Accelerator {
    /// With the core, or with a part instead.
    pub fn new(readable_end: u32, part: Option<Part>) -> Self {
        Self { readable_end, part, job: CoreState::Idle }
    }
}

impl ReadMemory for Accelerator {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        self.check(address, out.len() as u32)?;
        Far.read(address, out)
    }

    fn check(&self, address: u32, length: u32) -> Result<(), Fault> {
        if address < ssnail_shared::map::MEMORY_BASE
            || address > self.readable_end
            || length > self.readable_end - address
        {
            return Err(Fault { address, length });
        }
        Ok(())
    }

    fn read_u8(&self, address: u32) -> Result<u8, Fault> {
        self.check(address, 1)?;
        Ok(peek(address))
    }

    fn read_u16(&self, address: u32) -> Result<u16, Fault> {
        self.check(address, 2)?;
        Far.read_u16(address)
    }

    fn read_u32(&self, address: u32) -> Result<u32, Fault> {
        self.check(address, 4)?;
        Ok(far::peek32(address))
    }

    fn word(&self, address: u32) -> Option<u32> {
        // What asks for words has checked its tables' places (`Tables::open`), and reading elsewhere harms nothing.
        Some(far::peek32(address))
    }

    // A conversation whose logits cannot be read does not sample.
    fn digit(&self, run: Run, changed: &Changed<'_>, prefix: u32, level: u32, need: u32) -> Digit {
        far::digit(run, changed, prefix, level, need)
    }

    fn collect(&self, run: Run, first: u32, least: u32, room: &mut [Candidate]) -> (u32, usize) {
        far::collect(run, first, least, room)
    }

    fn stage(&self, run: Run) -> Option<Run> {
        far::stage(run)
    }

    fn change(&self, address: u32, word: u32) {
        far::poke32(address, word);
    }

    fn weigh(&self, weights: &Weights, room: &mut [Candidate]) -> u64 {
        far::weigh(weights, room)
    }
}

impl Memory for Accelerator {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        let fault = Fault { address, length: data.len() as u32 };
        if self.part.is_some() {
            self.check(address, fault.length)?;
            return Far.write(address, data);
        }
        if peek(at(reg::STATUS)) & reg::STATUS_BUSY != 0 {
            // The port rests while a job runs. A processor write below 16 MB reaches both memories.
            let mut to = address;
            for b in data {
                poke(to, *b);
                to += 1;
            }
            return Ok(());
        }
        if !wait_ready() {
            return Err(fault);
        }
        Port.commit(address, true);
        for b in data {
            poke(at(reg::LOAD_DATA), *b);
        }
        Port.commit(address, false);
        if !wait_ready() || peek(at(reg::LOAD_CONTROL)) & reg::LOAD_ERROR != 0 {
            return Err(fault);
        }
        Ok(())
    }
}

impl Core for Accelerator {
    fn go(&mut self, job: u32) {
        if let Some(part) = &self.part {
            part.go(job, self.readable_end);
            self.job = CoreState::Busy;
            return;
        }
        let mut to = at(reg::JOB);
        for b in job.to_le_bytes() {
            poke(to, b);
            to += 1;
        }
        poke(at(reg::GO), reg::GO_START);
    }

    fn state(&mut self) -> CoreState {
        if let Some(part) = &self.part {
            if self.job == CoreState::Busy {
                self.job = part.resume();
            }
            return self.job;
        }
        if peek(at(reg::STATUS)) & reg::STATUS_BUSY != 0 {
            return CoreState::Busy;
        }
        match peek(at(reg::ERROR)) {
            0 => CoreState::Idle,
            code => CoreState::Failed(code),
        }
    }
}
