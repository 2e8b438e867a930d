//! SSNAIL.PRG on the emulated MEGA65.
