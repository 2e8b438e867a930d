//! What a program translated by rv45 can ask of its machine.
//!
//! Two groups: [`host`] talks to whoever runs the program (`qemu-riscv32`, the interpreter of rv45, a test
//! bench around the emulated MEGA65) through `ecall`; [`machine`] names the hand-written 45GS02
//! routines that the translator links, which exist on the MEGA65 only.

#![no_std]

pub mod part;
#[cfg(target_arch = "riscv32")]
mod save;

/// Requests to whoever runs the program, by the numbers of Linux.
pub mod host {
    #[cfg(target_arch = "riscv32")]
    fn ecall(number: u32, a: u32, b: u32, c: u32) -> u32 {
        let result;
        // SAFETY: the two requests below read at most the bytes they are given.
        unsafe {
            core::arch::asm!("ecall", in("a7") number, inlateout("a0") a => result, in("a1") b, in("a2") c, options(nostack));
        }
        result
    }

    #[cfg(not(target_arch = "riscv32"))]
    fn ecall(_: u32, _: u32, _: u32, _: u32) -> u32 {
        0
    }

    /// Writes bytes to standard output.
    pub fn write(bytes: &[u8]) {
        ecall(64, 1, bytes.as_ptr() as usize as u32, bytes.len() as u32);
    }

    /// Ends the program.
    pub fn exit(code: u32) -> ! {
        loop {
            ecall(93, code, 0, 0);
        }
    }

    /// Standard output for `core::fmt`.
    pub struct Out;

    impl core::fmt::Write for Out {
        fn write_str(&mut self, s: &str) -> core::fmt::Result {
            write(s.as_bytes());
            Ok(())
        }
    }
}

/// Hand-written routines of the 45GS02 side.
pub mod machine {
    extern "C" {
        /// Calls the hypervisor: `function` goes to A and `STA $D640` follows with X, Y, Z loaded.
        /// Result: A, X, Y, Z from the low byte up. [`rv45_carry`] tells whether C was set (success).
        pub fn rv45_hdos(function: u32, x: u32, y: u32, z: u32) -> u32;
        /// The same through any trap register: `port` is $D640 to $D67F.
        pub fn rv45_trap(port: u32, function: u32, x: u32, y: u32, z: u32) -> u32;
        /// Returns to BASIC; does not come back.
        pub fn rv45_basic() -> !;
        /// 1 if C was set after the last trap or KERNAL call, else 0.
        pub fn rv45_carry() -> u32;
        /// Starts the enhanced DMA list at a 28-bit address in chip RAM and waits for its end.
        pub fn rv45_dma(list: u32);
        /// Copies `len` bytes (28-bit addresses, may be 0, not across a megabyte) by DMA.
        pub fn rv45_dma_copy(dst: u32, src: u32, len: u32);
        /// Fills `len` bytes with `value` by DMA.
        pub fn rv45_dma_fill(dst: u32, value: u32, len: u32);
        /// Writes the decimal digits of a number, which end with the 10 bytes at `field`; returns the place of
        /// the first digit. `core::fmt` comes here by itself.
        pub fn rv45_decimal(number: u32, field: *mut u8) -> u32;
        /// Reads a byte at a 28-bit address.
        pub fn far_read8(addr: u32) -> u8;
        /// Reads a 16-bit word.
        pub fn far_read16(addr: u32) -> u16;
        /// Reads a 32-bit word.
        pub fn far_read32(addr: u32) -> u32;
        /// Writes a byte.
        pub fn far_write8(addr: u32, value: u8);
        /// Writes a 16-bit word.
        pub fn far_write16(addr: u32, value: u16);
        /// Writes a 32-bit word.
        pub fn far_write32(addr: u32, value: u32);
    }
}
