//! Expansion RAM (HyperRAM, SDRAM) and the accelerator that shares it.
//!
//! The memory belongs to the accelerator's machine, so both sides see one buffer. As the
//! accelerator addresses it, R3 boards have HyperRAM at $8000000, R4 to R6 boards SDRAM at
//! $8000000 and HyperRAM at $C000000. The CPU reads $8000000 as HyperRAM unless SELSDRAM is set;
//! its writes reach both memories.

mod accelerator;

pub use accelerator::{Accelerator, BANDWIDTH, Defect, When};

use ssnail_shared::map::{MEMORY_BASE, REGION_BOUNDARY};
use ssnail_shared::registers as reg;

use crate::model::Model;

/// `$D7FE`: reads come from SDRAM.
pub const SELECT_SDRAM: u8 = 0x10;
/// `$D7FE` after power-on: the cache is on.
const CONTROL_RESET: u8 = 0x04;

/// Waiting of the CPU, estimates: a new 8-byte line, a byte of the same line, a write.
const WAIT_LINE: u32 = 24;
const WAIT_CACHED: u32 = 2;
const WAIT_WRITE: u32 = 6;

const REGISTERS_END: u32 = reg::BASE + reg::LEN;

/// Result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Something answered.
    Done {
        /// Byte read (0 for writes).
        value: u8,
        /// Extra cycles.
        wait: u32,
    },
    /// Nothing answered.
    Unmapped {
        /// What the slow bus puts there.
        filler: u8,
    },
}

/// Both memories, `$D7FE` and the accelerator.
#[derive(Debug)]
pub struct Expansion {
    /// The accelerator, which owns the memory.
    pub accelerator: Accelerator,
    hyperram: u32,
    sdram: u32,
    /// `$D7FE`.
    pub control: u8,
    line: u32,
}

impl Expansion {
    /// Memories of a model, with power-on content $FF in HyperRAM and 0 in SDRAM.
    pub fn new(model: Model) -> Self {
        Self {
            accelerator: Accelerator::new(model),
            hyperram: model.hyperram(),
            sdram: model.sdram(),
            control: CONTROL_RESET,
            line: u32::MAX,
        }
    }

    /// The memory as the accelerator addresses it, from $8000000.
    pub fn memory(&self) -> &[u8] {
        self.accelerator.device().memory().as_bytes()
    }

    /// Bytes as the accelerator addresses them, to be changed; `None` outside.
    pub fn slice_mut(&mut self, address: u32, length: u32) -> Option<&mut [u8]> {
        self.accelerator.device_mut().memory_mut().slice_mut(address, u64::from(length))
    }

    /// Index of what the CPU reads at `address`.
    fn readable(&self, address: u32) -> Option<usize> {
        let offset = address.checked_sub(MEMORY_BASE)?;
        if address >= REGION_BOUNDARY {
            None
        } else if self.control & SELECT_SDRAM != 0 && self.sdram > 0 {
            (offset < self.sdram).then_some(offset as usize)
        } else {
            (offset < self.hyperram).then_some((self.sdram + offset) as usize)
        }
    }

    /// What a CPU read would give, without waiting.
    pub fn peek(&self, address: u32) -> Option<u8> {
        self.memory().get(self.readable(address)?).copied()
    }

    /// A CPU read.
    pub fn read(&mut self, address: u32, cycles: u64) -> Access {
        self.accelerator.sync(cycles);
        let Some(value) = self.peek(address) else {
            return Access::Unmapped { filler: b"Unmapped"[(address & 7) as usize] };
        };
        let line = address >> 3;
        let wait = if line == self.line { WAIT_CACHED } else { WAIT_LINE };
        self.line = line;
        Access::Done { value, wait }
    }

    /// A CPU write: both memories take it.
    pub fn write(&mut self, address: u32, value: u8, cycles: u64) -> Access {
        self.accelerator.sync(cycles);
        let unmapped = Access::Unmapped { filler: 0 };
        let Some(offset) = address.checked_sub(MEMORY_BASE).filter(|_| address < REGION_BOUNDARY) else {
            return unmapped;
        };
        let (hyper, sdram) = (offset < self.hyperram, offset < self.sdram);
        if hyper {
            self.store(address + self.sdram, value);
        }
        if sdram {
            self.store(address, value);
        }
        if hyper || sdram { Access::Done { value: 0, wait: WAIT_WRITE } } else { unmapped }
    }

    fn store(&mut self, address: u32, value: u8) {
        if let Some([cell]) = self.slice_mut(address, 1) {
            *cell = value;
        }
    }

    /// Reads an accelerator register; `None` where no accelerator answers.
    pub fn read_register(&mut self, address: u32, cycles: u64) -> Option<u8> {
        match address {
            reg::BASE..REGISTERS_END => self.accelerator.read(address - reg::BASE, cycles),
            _ => None,
        }
    }

    /// Writes an accelerator register; false where no accelerator answers.
    pub fn write_register(&mut self, address: u32, value: u8, cycles: u64) -> bool {
        match address {
            reg::BASE..REGISTERS_END => self.accelerator.write(address - reg::BASE, value, cycles),
            _ => false,
        }
    }
}
