//! Expansion RAM (HyperRAM, SDRAM) and the accelerator that shares it.
//!
//! The memory belongs to the accelerator's machine, so both sides see one buffer. As the
//! accelerator addresses it, R3 boards have HyperRAM at $8000000, R4 to R6 boards SDRAM at
//! $8000000 and HyperRAM at $C000000. The CPU reads $8000000 as HyperRAM unless SELSDRAM is set;
//! its writes reach both memories.

use crate::model::Model;

/// First address of the expansion RAM.
pub const ATTIC: u32 = 0x0800_0000;
/// End of what the slow bus decodes as RAM.
const ATTIC_END: u32 = 0x0c00_0000;
/// `$D7FE`: reads come from SDRAM.
pub const SELECT_SDRAM: u8 = 0x10;

/// Waiting of the CPU, estimates: a new 8-byte line, a byte of the same line, a write.
const WAIT_LINE: u32 = 24;
const WAIT_CACHED: u32 = 2;
const WAIT_WRITE: u32 = 6;

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

/// Both memories and `$D7FE`.
#[derive(Debug)]
pub struct Expansion {
    /// As the accelerator sees it: on R4-R6 SDRAM then HyperRAM, on R3 HyperRAM.
    memory: Vec<u8>,
    hyperram: u32,
    sdram: u32,
    /// `$D7FE`.
    pub control: u8,
    line: u32,
}

impl Expansion {
    /// Memories of a model, with power-on content $FF in HyperRAM.
    pub fn new(model: Model) -> Self {
        let (hyperram, sdram) = (model.hyperram(), model.sdram());
        let mut memory = vec![0; (hyperram + sdram) as usize];
        memory[sdram as usize..].fill(0xff);
        Self { memory, hyperram, sdram, control: 0x04, line: u32::MAX }
    }

    /// The memory as the accelerator addresses it, from $8000000.
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// The same, to be changed.
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Index of what the CPU reads at `address`.
    fn readable(&self, address: u32) -> Option<usize> {
        let offset = address.checked_sub(ATTIC)?;
        if address >= ATTIC_END {
            None
        } else if self.control & SELECT_SDRAM != 0 && self.sdram > 0 {
            (offset < self.sdram).then_some(offset as usize)
        } else {
            (offset < self.hyperram).then_some((self.sdram + offset) as usize)
        }
    }

    /// What a CPU read would give, without waiting.
    pub fn peek(&self, address: u32) -> Option<u8> {
        self.readable(address).map(|at| self.memory[at])
    }

    /// A CPU read.
    pub fn read(&mut self, address: u32, _cycles: u64) -> Access {
        let Some(at) = self.readable(address) else {
            return Access::Unmapped { filler: b"Unmapped"[(address & 7) as usize] };
        };
        let line = address >> 3;
        let wait = if line == self.line { WAIT_CACHED } else { WAIT_LINE };
        self.line = line;
        Access::Done { value: self.memory[at], wait }
    }

    /// A CPU write: both memories take it.
    pub fn write(&mut self, address: u32, value: u8, _cycles: u64) -> Access {
        let unmapped = Access::Unmapped { filler: 0 };
        let Some(offset) = address.checked_sub(ATTIC).filter(|_| address < ATTIC_END) else {
            return unmapped;
        };
        let (hyper, sdram) = (offset < self.hyperram, offset < self.sdram);
        if hyper {
            self.memory[(self.sdram + offset) as usize] = value;
        }
        if sdram {
            self.memory[offset as usize] = value;
        }
        if hyper || sdram { Access::Done { value: 0, wait: WAIT_WRITE } } else { unmapped }
    }

    /// Reads an accelerator register; `None` where no accelerator answers.
    pub fn read_register(&mut self, _address: u32, _cycles: u64) -> Option<u8> {
        None
    }

    /// Writes an accelerator register; false where no accelerator answers.
    pub fn write_register(&mut self, _address: u32, _value: u8, _cycles: u64) -> bool {
        false
    }
}
