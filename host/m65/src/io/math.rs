//! Multiplier and divider.

/// First register (`$D768` as an offset in the `$D700` page).
pub const FIRST: u8 = 0x68;
/// Last register.
pub const LAST: u8 = 0x7f;

/// Inputs and results. Results are exact and valid at once; hardware may be one low in the
/// integer part where the divisor is 1, and a division by 0 keeps the old quotient there and here.
#[derive(Clone, Debug, Default)]
pub struct Math {
    a: u32,
    b: u32,
    product: u64,
    quotient: u64,
}

impl Math {
    /// Reads `$D700 + register`.
    pub fn read(&self, register: u8) -> u8 {
        let byte = usize::from(register & 7);
        match register {
            0x68..=0x6f => self.quotient.to_le_bytes()[byte],
            0x70..=0x73 => self.a.to_le_bytes()[byte],
            0x74..=0x77 => self.b.to_le_bytes()[byte - 4],
            _ => self.product.to_le_bytes()[byte],
        }
    }

    /// Writes `$D700 + register`; only the inputs can be written.
    pub fn write(&mut self, register: u8, value: u8) {
        let shift = 8 * u32::from(register & 3);
        let input = match register {
            0x70..=0x73 => &mut self.a,
            0x74..=0x77 => &mut self.b,
            _ => return,
        };
        *input = *input & !(0xff << shift) | u32::from(value) << shift;
        self.product = u64::from(self.a) * u64::from(self.b);
        if let Some(quotient) = (u64::from(self.a) << 32).checked_div(u64::from(self.b)) {
            self.quotient = quotient;
        }
    }
}
