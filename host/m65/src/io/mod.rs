//! Devices behind `$D000-$DFFF` and the I2C area. Each keeps its own state; the board decodes the
//! addresses.

pub mod card;
mod card_damage;
pub mod cia;
pub mod dma;
pub mod f011;
pub mod i2c;
pub mod keyboard;
mod keymap;
pub mod math;
pub mod matrix;
pub mod random;
mod sd;
pub mod storage;
pub mod vic;
