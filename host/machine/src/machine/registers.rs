//! The registers of the core.

use ssnail_shared::isa::Address;
use ssnail_shared::map::PAYLOAD;

/// Registers of the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// R0-R15; R15 can be written but reads as zero.
    pub r: [u32; 16],
    /// A0-A15: addresses of 28 bits.
    pub a: [u32; 16],
    /// N0-N2: lengths, and the epsilon of the norms as F32 bits.
    pub n: [u32; 3],
    /// Address of the next instruction; of the faulting one after a fault.
    pub pc: u32,
}

impl Default for Registers {
    fn default() -> Self {
        Self { r: [0; 16], a: [0; 16], n: [0; 3], pc: PAYLOAD }
    }
}

impl Registers {
    /// R[field], as an instruction reads it.
    #[must_use]
    pub fn read(&self, field: u8) -> u32 {
        match field {
            0..=14 => self.r[usize::from(field)],
            _ => 0,
        }
    }

    /// The address that an operand means.
    #[must_use]
    pub fn address(&self, operand: u32) -> u32 {
        match Address::decode(operand) {
            Address::Absolute(address) => address,
            Address::Indirect { register, offset } => self.a[usize::from(register & 15)].wrapping_add(offset),
        }
    }
}
