//! Emulator of the SSNAIL accelerator: the golden model
