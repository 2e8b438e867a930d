//! Devices behind `$D000-$DFFF` and the I2C area. Each keeps its own state; the board decodes the
//! addresses.

pub mod cia;
pub mod dma;
pub mod i2c;
pub mod keyboard;
pub mod math;
pub mod random;
pub mod storage;
pub mod vic;
