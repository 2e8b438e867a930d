//! The hardware: the only place with `unsafe`, all of it access to fixed addresses or calls of the runtime's routines.

pub mod board;
pub mod clock;
pub mod core;
pub mod disk;
pub mod far;
pub mod hdos;
pub mod keys;
pub mod mailbox;
pub mod part;
pub mod vic;

/// Registers in the MEGA65 personality, at their 28-bit addresses, whatever $D02F says.
pub const IO: u32 = 0x0FFD_3000;

/// Puts back what was found and returns to BASIC.
#[allow(unsafe_code)]
pub fn leave() -> ! {
    board::restore_ram_select();
    vic::restore();
    keys::flush();
    // SAFETY: the runtime has kept what BASIC needs, and nothing of this program runs afterwards.
    unsafe { rv45_rt::machine::rv45_basic() }
}
