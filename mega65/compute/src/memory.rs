//! The model's memory, up to where it ends.

use crate::far::{copy, peek, peek32, poke32, Far};
use ssnail_shared::map::MEMORY_BASE;
use ssnail_shared::mem::{Fault, Memory, ReadMemory};

/// Attic RAM from [`MEMORY_BASE`] to `end`.
pub struct Attic {
    /// First address behind it.
    pub end: u32,
}

impl ReadMemory for Attic {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        self.check(address, out.len() as u32)?;
        Far.read(address, out)
    }

    fn check(&self, address: u32, length: u32) -> Result<(), Fault> {
        if address < MEMORY_BASE || address > self.end || length > self.end - address {
            return Err(Fault { address, length });
        }
        Ok(())
    }

    // The executor has checked where it reads and writes single values.
    fn read_u16(&self, address: u32) -> Result<u16, Fault> {
        Ok(u16::from_le_bytes([peek(address), peek(address.wrapping_add(1))]))
    }

    fn read_floats(&self, address: u32, out: &mut [f32]) -> Result<(), Fault> {
        let length = 4 * out.len() as u32;
        self.check(address, length)?;
        copy(out.as_mut_ptr() as u32, address, length);
        Ok(())
    }

    fn read_u32(&self, address: u32) -> Result<u32, Fault> {
        self.check(address, 4)?;
        Ok(peek32(address))
    }
}

impl Memory for Attic {
    fn write_floats(&mut self, address: u32, values: &[f32]) -> Result<(), Fault> {
        let length = 4 * values.len() as u32;
        self.check(address, length)?;
        copy(address, values.as_ptr() as u32, length);
        Ok(())
    }

    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        self.check(address, data.len() as u32)?;
        Far.write(address, data)
    }

    fn write_u32(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        self.check(address, 4)?;
        poke32(address, value);
        Ok(())
    }
}
