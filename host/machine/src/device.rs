//! The accelerator behind its registers at $FFD7500: what a MEGA65 sees of it.
//!
//! Time passes only in [`Device::advance`], measured in bytes that memory moves: a job is BUSY for as long as its traffic
//! takes, and the load port's ring drains at the same rate. A caller that wants an infinitely fast core passes
//! [`u64::MAX`].

use std::collections::VecDeque;

use ssnail_shared::registers as reg;

use crate::fault::Fault;
use crate::kernel::Numerics;
use crate::machine::{Machine, Step};
use crate::memory::Memory;
use crate::port::Port;

/// The registers, the ring and the machine behind them.
#[derive(Debug)]
pub struct Device {
    machine: Machine,
    port: Port,
    ring: VecDeque<u8>,
    /// Commits on their way: how many bytes of the ring go first, then address and whether ERROR is cleared.
    commits: VecDeque<(usize, u32, bool)>,
    staged: [u8; 3],
    job: [u8; 4],
    sdram: bool,
    busy: bool,
    error: u8,
    fault: Option<Fault>,
    /// Bytes that instructions have moved ahead of the time given.
    debt: u64,
    lost: u64,
}

impl Device {
    /// A device with `memory` bytes, all zero; `sdram` is what the capabilities say.
    #[must_use]
    pub fn new(memory: u32, sdram: bool, numerics: Numerics, threads: usize) -> Self {
        Self {
            machine: Machine::new(memory, numerics, threads),
            port: Port::default(),
            ring: VecDeque::with_capacity(reg::RING_LEN as usize),
            commits: VecDeque::new(),
            staged: [0; 3],
            job: [0; 4],
            sdram,
            busy: false,
            error: 0,
            fault: None,
            debt: 0,
            lost: 0,
        }
    }

    /// Reads the register at this offset from [`reg::BASE`]; write-only and absent registers read as zero.
    #[must_use]
    pub fn read(&self, offset: u32) -> u8 {
        match offset {
            reg::ID => reg::ID_VALUE,
            reg::VERSION => reg::VERSION_VALUE,
            reg::CAPABILITIES if self.sdram => reg::CAP_SDRAM,
            reg::STATUS if self.busy => reg::STATUS_BUSY,
            reg::ERROR => self.error,
            reg::LOAD_CONTROL => {
                let room = reg::RING_LEN as usize - self.ring.len() >= reg::READY_ROOM as usize;
                let ready = room && self.commits.is_empty() && !self.busy;
                (if ready { reg::LOAD_READY } else { 0 }) | if self.port.error() { reg::LOAD_ERROR } else { 0 }
            }
            _ => 0,
        }
    }

    /// Writes the register at this offset; read-only and absent registers ignore it.
    pub fn write(&mut self, offset: u32, value: u8) {
        match offset {
            reg::GO if value == reg::GO_START => self.go(),
            reg::LOAD_CONTROL => {
                let [low, middle, high] = self.staged;
                let address = u32::from_le_bytes([low, middle, high, value & 0x0f]);
                self.commits.push_back((self.ring.len(), address, value & reg::LOAD_CLEAR_ERROR != 0));
            }
            reg::LOAD_DATA if self.ring.len() < reg::RING_LEN as usize => self.ring.push_back(value),
            reg::LOAD_DATA => self.lost += 1,
            _ => {
                let (job, staged) = (offset.wrapping_sub(reg::JOB), offset.wrapping_sub(reg::LOAD_POINTER));
                if let Some(byte) = self.job.get_mut(job as usize) {
                    *byte = value;
                } else if let Some(byte) = self.staged.get_mut(staged as usize) {
                    *byte = value;
                }
            }
        }
    }

    fn go(&mut self) {
        if self.busy {
            return;
        }
        self.busy = true;
        self.error = 0;
        self.fault = None;
        self.debt = 0;
        self.machine.start(u32::from_le_bytes(self.job));
    }

    /// Lets memory move `bytes`: the ring drains, then the job goes on. An instruction that moves more than is left is
    /// finished, and the rest is owed.
    pub fn advance(&mut self, bytes: u64) {
        let mut left = self.drain(bytes);
        let owed = self.debt.min(left);
        self.debt -= owed;
        left -= owed;
        while self.busy && left > 0 {
            let before = self.machine.stats.bytes();
            match self.machine.step(&mut ()) {
                Ok(Step::Halt) => self.busy = false,
                Ok(_) => {}
                Err(fault) => {
                    self.busy = false;
                    self.error = fault.job_error().map_or(0, |e| e as u8);
                    self.fault = Some(fault);
                }
            }
            let moved = self.machine.stats.bytes() - before;
            self.debt = moved.saturating_sub(left);
            left = left.saturating_sub(moved);
        }
    }

    /// Moves at most `bytes` from the ring to memory and gives back what is left of them.
    fn drain(&mut self, bytes: u64) -> u64 {
        let mut left = bytes;
        if self.ring.is_empty() && self.commits.is_empty() {
            return left;
        }
        loop {
            let until = self.commits.front().map_or(self.ring.len(), |c| c.0);
            let now = until.min(usize::try_from(left).unwrap_or(usize::MAX));
            let moved: Vec<u8> = self.ring.drain(..now).collect();
            self.port.write(self.machine.memory_mut(), &moved);
            left -= now as u64;
            for commit in &mut self.commits {
                commit.0 -= now;
            }
            match self.commits.front() {
                Some(&(0, address, clear)) => {
                    self.port.commit(self.machine.memory_mut(), address, clear);
                    self.commits.pop_front();
                }
                _ => return left,
            }
        }
    }

    /// Whether a job is running.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.busy
    }

    /// What stopped the last job, if it was a fault.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Data bytes that found the ring full and were lost: a program that waits for READY loses none.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The memory, as the CPU reads it through $8000000.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        self.machine.memory()
    }

    /// The memory, to be changed.
    pub fn memory_mut(&mut self) -> &mut Memory {
        self.machine.memory_mut()
    }

    /// The machine behind the registers.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
}

#[cfg(test)]
mod tests {
    use ssnail_shared::isa::{INDIRECT, Instruction, Opcode};
    use ssnail_shared::map::{MEMORY_BASE, PAYLOAD};
    use ssnail_shared::registers::JobError;

    use super::*;

    fn device() -> Device {
        Device::new(1 << 20, true, Numerics::Hardware, 1)
    }

    fn commit(d: &mut Device, address: u32, clear: bool) {
        let [a, b, c, top] = address.to_le_bytes();
        for (offset, value) in [(0, a), (1, b), (2, c)] {
            d.write(reg::LOAD_POINTER + offset, value);
        }
        d.write(reg::LOAD_CONTROL, top | if clear { reg::LOAD_CLEAR_ERROR } else { 0 });
    }

    fn run(d: &mut Device, program: &[Instruction]) {
        commit(d, PAYLOAD, true);
        program.iter().flat_map(Instruction::encode).for_each(|b| d.write(reg::LOAD_DATA, b));
        commit(d, MEMORY_BASE, false);
        d.advance(u64::MAX);
        PAYLOAD.to_le_bytes().into_iter().zip(reg::JOB..).for_each(|(b, at)| d.write(at, b));
        d.write(reg::GO, reg::GO_START);
    }

    #[test]
    fn it_identifies_itself() {
        let d = device();
        assert_eq!([reg::ID, reg::VERSION, reg::CAPABILITIES].map(|o| d.read(o)), [0x53, 1, 1]);
        assert_eq!(d.read(reg::LOAD_CONTROL), reg::LOAD_READY);
        assert_eq!(Device::new(0, false, Numerics::Float, 1).read(reg::CAPABILITIES), 0);
    }

    #[test]
    fn busy_lasts_as_long_as_the_traffic() {
        let mut d = device();
        let copy = Instruction { x: MEMORY_BASE, y: PAYLOAD + 0x1000, z: 1000, ..Instruction::new(Opcode::Copy) };
        run(&mut d, &[copy, Instruction::new(Opcode::Halt)]);
        assert_eq!(d.read(reg::STATUS), reg::STATUS_BUSY);
        assert_eq!(d.read(reg::LOAD_CONTROL) & reg::LOAD_READY, 0);
        // 16 + 2000 bytes for the COPY, 16 for the HALT.
        for _ in 0..20 {
            assert_eq!(d.read(reg::STATUS), reg::STATUS_BUSY);
            d.advance(100);
        }
        d.write(reg::GO, reg::GO_START);
        d.advance(16);
        assert!(d.busy(), "the HALT has not been fetched");
        d.advance(1);
        assert_eq!((d.read(reg::STATUS), d.read(reg::ERROR)), (0, 0));
    }

    #[test]
    fn faults_show_as_error_codes() {
        let halt = Instruction::new(Opcode::Halt);
        let wild = Instruction { x: 0x0800_0000 - 1, ..Instruction::new(Opcode::Ldr) };
        let odd = Instruction { x: PAYLOAD + 8, ..Instruction::new(Opcode::Beq) };
        let register = Instruction { a: 16, ..Instruction::new(Opcode::Li) };
        let indirect = Instruction { x: INDIRECT, ..Instruction::new(Opcode::Str) };
        for (program, error) in [
            (wild, Some(JobError::Address)),
            (odd, Some(JobError::Misaligned)),
            (register, Some(JobError::Operand)),
            (indirect, Some(JobError::Address)),
            (halt, None),
        ] {
            let mut d = device();
            run(&mut d, &[program, halt]);
            d.advance(u64::MAX);
            assert_eq!(JobError::from_code(d.read(reg::ERROR)), error);
            assert!(!d.busy());
        }
        let mut d = device();
        run(&mut d, &[]);
        d.memory_mut().slice_mut(PAYLOAD, 1).unwrap()[0] = 4;
        d.advance(1);
        assert_eq!(JobError::from_code(d.read(reg::ERROR)), Some(JobError::IllegalOpcode));
    }

    #[test]
    fn the_ring_holds_1024_bytes_and_keeps_the_order_of_commits() {
        let mut d = device();
        commit(&mut d, MEMORY_BASE, true);
        assert_eq!(d.read(reg::LOAD_CONTROL) & reg::LOAD_READY, 0, "a commit is pending");
        d.advance(0);
        for i in 0..512u32 {
            d.write(reg::LOAD_DATA, i as u8);
        }
        assert_eq!(d.read(reg::LOAD_CONTROL), reg::LOAD_READY);
        d.write(reg::LOAD_DATA, 9);
        assert_eq!(d.read(reg::LOAD_CONTROL), 0, "room for 511 bytes only");
        commit(&mut d, MEMORY_BASE + 0x1000, false);
        d.write(reg::LOAD_DATA, 7);
        commit(&mut d, MEMORY_BASE, false);
        d.advance(513);
        assert_eq!(d.memory().as_bytes()[512], 9, "the commit flushed what came before it");
        assert_eq!(d.read(reg::LOAD_CONTROL), 0, "another commit is pending");
        d.advance(1);
        assert_eq!(d.read(reg::LOAD_CONTROL), reg::LOAD_READY);
        assert_eq!(d.memory().as_bytes()[0x1000], 7);
        assert_eq!(d.lost(), 0);
        (0..1030).for_each(|_| d.write(reg::LOAD_DATA, 0));
        assert_eq!(d.lost(), 6);
    }

    #[test]
    fn data_outside_the_memory_sets_error_until_it_is_cleared() {
        let mut d = device();
        commit(&mut d, MEMORY_BASE + (1 << 20), true);
        d.write(reg::LOAD_DATA, 1);
        commit(&mut d, MEMORY_BASE, false);
        d.advance(u64::MAX);
        assert_eq!(d.read(reg::LOAD_CONTROL), reg::LOAD_READY | reg::LOAD_ERROR);
        commit(&mut d, MEMORY_BASE, true);
        d.advance(0);
        assert_eq!(d.read(reg::LOAD_CONTROL), reg::LOAD_READY);
    }
}
