//! Emulator of the MEGA65 that SSNAIL.PRG needs.

pub mod cpu;
