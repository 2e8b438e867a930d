//! The accelerator's registers on the CPU's side: time, and the ways it can be wrong.

use ssnail_machine::{Device, Numerics};
use ssnail_shared::registers as reg;

use crate::io::cia::CPU_HZ;
use crate::model::Model;

/// Bytes per second that the accelerator's memory moves, as the PC tools assume.
pub const BANDWIDTH: u64 = 130_000_000;

/// What a job may do at once where there is no waiting: far more than an answer takes. A job that
/// never ends reaches the first within seconds of the host's time if it only loops, the second if it
/// multiplies.
const INSTRUCTIONS_AT_ONCE: u64 = 4_000_000;
const BYTES_AT_ONCE: u64 = 32 << 30;
/// Bytes between two looks at these limits.
const SLICE: u64 = 1 << 20;

/// What is wrong with the accelerator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defect {
    /// Nothing.
    #[default]
    None,
    /// No accelerator in this core: its registers are unmapped.
    Absent,
    /// The core says that it is of this version.
    Version(u8),
    /// READY of the load port is never set.
    NeverReady,
    /// ERROR of the load port is always set.
    LoadError,
    /// A job is BUSY for ever.
    Hangs,
    /// Every job ends with this error code.
    JobError(u8),
    /// READY of the load port goes away for good at this moment.
    LosesReady(When),
    /// ERROR of the load port is set for good at this moment.
    RaisesError(When),
}

/// A moment of a load, counted by [`Accelerator::commits`] and [`Accelerator::looks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After so many pointers were committed.
    Commits(u64),
    /// After the load port's control register was read so often.
    Looks(u64),
}

/// The accelerator and its memory.
#[derive(Debug)]
pub struct Accelerator {
    device: Device,
    /// What is wrong with it.
    pub defect: Defect,
    /// Pointers that the load port was given so far.
    pub commits: u64,
    /// Times that the load port's control register was read so far.
    pub looks: u64,
    /// Bytes per second; `None`: work is done at once. A job that seems not to end goes on at
    /// [`BANDWIDTH`], so that the emulation does.
    pub bandwidth: Option<u64>,
    synced: u64,
    /// Part of a byte that is still owed, in units of 1 / [`CPU_HZ`].
    remainder: u64,
    lost: u64,
    /// A job was started that [`Defect::JobError`] ended.
    failed: bool,
    /// Instructions and bytes before the current job.
    before_job: (u64, u64),
}

impl Accelerator {
    /// An accelerator with the memories of a model, HyperRAM filled with $FF as after power-on.
    pub fn new(model: Model) -> Self {
        let (hyperram, sdram) = (model.hyperram(), model.sdram());
        let mut device = Device::new(hyperram + sdram, sdram > 0, Numerics::Hardware, 1);
        let start = ssnail_shared::map::MEMORY_BASE + sdram;
        if let Some(bytes) = device.memory_mut().slice_mut(start, u64::from(hyperram)) {
            bytes.fill(0xff);
        }
        let defect = if hyperram == 0 { Defect::Absent } else { Defect::None };
        Self {
            device,
            defect,
            commits: 0,
            looks: 0,
            bandwidth: Some(BANDWIDTH),
            synced: 0,
            remainder: 0,
            lost: 0,
            failed: false,
            before_job: (0, 0),
        }
    }

    /// The device behind the registers.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The device, to be changed.
    pub fn device_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Lets the accelerator work up to `cycles`.
    pub fn sync(&mut self, cycles: u64) {
        let elapsed = cycles.saturating_sub(self.synced);
        self.synced = self.synced.max(cycles);
        let total = u128::from(elapsed) * u128::from(self.bandwidth.unwrap_or(BANDWIDTH)) + u128::from(self.remainder);
        self.remainder = (total % u128::from(CPU_HZ)) as u64;
        let bytes = u64::try_from(total / u128::from(CPU_HZ)).unwrap_or(u64::MAX);
        if self.defect == Defect::Hangs && self.device.busy() {
            return;
        }
        if self.bandwidth.is_none() {
            self.at_once();
        }
        if bytes > 0 {
            self.device.advance(bytes);
        }
    }

    /// Empties the ring and works until the job ends or a limit is reached.
    fn at_once(&mut self) {
        self.device.advance(SLICE);
        let (instructions, bytes) = self.before_job;
        while self.device.busy() {
            let stats = self.device.machine().stats;
            if stats.instructions - instructions > INSTRUCTIONS_AT_ONCE || stats.bytes() - bytes > BYTES_AT_ONCE {
                return;
            }
            self.device.advance(SLICE);
        }
    }

    /// Reads the register at `offset`; `None` where no accelerator is.
    pub fn read(&mut self, offset: u32, cycles: u64) -> Option<u8> {
        if self.defect == Defect::Absent {
            return None;
        }
        self.sync(cycles);
        let value = self.device.read(offset);
        self.looks += u64::from(offset == reg::LOAD_CONTROL);
        Some(match (self.defect, offset) {
            (Defect::Version(version), reg::VERSION) => version,
            (Defect::NeverReady, reg::LOAD_CONTROL) => value & !reg::LOAD_READY,
            (Defect::LoadError, reg::LOAD_CONTROL) => value | reg::LOAD_ERROR,
            (Defect::LosesReady(when), reg::LOAD_CONTROL) if self.is_past(when) => value & !reg::LOAD_READY,
            (Defect::RaisesError(when), reg::LOAD_CONTROL) if self.is_past(when) => value | reg::LOAD_ERROR,
            (Defect::JobError(code), reg::ERROR) if self.failed => code,
            _ => value,
        })
    }

    fn is_past(&self, when: When) -> bool {
        match when {
            When::Commits(n) => self.commits >= n,
            When::Looks(n) => self.looks > n,
        }
    }

    /// Writes the register at `offset`; false where no accelerator is.
    pub fn write(&mut self, offset: u32, value: u8, cycles: u64) -> bool {
        if self.defect == Defect::Absent {
            return false;
        }
        self.sync(cycles);
        self.commits += u64::from(offset == reg::LOAD_CONTROL);
        if matches!(self.defect, Defect::JobError(_)) && offset == reg::GO {
            self.failed = true;
        } else {
            let was_busy = self.device.busy();
            self.device.write(offset, value);
            if !was_busy && self.device.busy() {
                let stats = &self.device.machine().stats;
                self.before_job = (stats.instructions, stats.bytes());
            }
        }
        true
    }

    /// Data bytes lost in a full ring since the last call.
    pub fn take_lost(&mut self) -> u64 {
        let lost = self.device.lost();
        lost - std::mem::replace(&mut self.lost, lost)
    }
}
