//! An image in a machine as the [`Core`] of a conversation.

use ssnail_shared::mem::{self, ReadMemory};
use ssnail_shared::registers::JobError;
use ssnail_shared::session::{Core, CoreState};

use super::{Accelerator, Job};
use crate::fault::Fault;
use crate::machine::Step;

impl ReadMemory for Accelerator {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), mem::Fault> {
        self.machine.memory().read(address, out)
    }
}

impl mem::Memory for Accelerator {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), mem::Fault> {
        self.machine.memory_mut().write(address, data)
    }
}

/// A job runs while its state is looked at: each look runs it to its next SYNC.
impl Core for Accelerator {
    fn go(&mut self, job: u32) {
        if !matches!(self.job, Job::Running { .. }) {
            self.machine.start(job);
            self.job = Job::Running { left: self.limit };
        }
    }

    fn state(&mut self) -> CoreState {
        if let Job::Running { mut left } = self.job {
            self.job = match self.machine.advance(&mut left, &mut ()) {
                Ok(Step::Halt) => Job::Idle,
                Ok(_) => Job::Running { left },
                Err(Fault::Limit { pc, .. }) => Job::Failed(Fault::Limit { limit: self.limit, pc }),
                Err(fault) => Job::Failed(fault),
            };
        }
        match self.job {
            Job::Failed(fault) => CoreState::Failed(fault.job_error().unwrap_or(JobError::Operand) as u8),
            Job::Running { .. } => CoreState::Busy,
            Job::Idle => CoreState::Idle,
        }
    }
}
