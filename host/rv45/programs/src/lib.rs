//! What the programs share: panic handler, a pseudo-random generator, output.

#![no_std]

use core::fmt::Write;
pub use rv45_rt::host::{exit, write, Out};

#[cfg(target_arch = "riscv32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    write(b"panic\n");
    exit(101)
}

/// A xorshift generator: the same numbers on every machine.
pub struct Random(pub u32);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// Prints a name and a number without `core::fmt`, which would dwarf what is measured.
pub fn report(name: &str, value: u32) {
    write(name.as_bytes());
    let mut text = *b" 00000000\n";
    for i in 0..8 {
        let digit = (value >> (28 - 4 * i) & 15) as u8;
        text[i + 1] = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
    }
    write(&text);
}

/// Prints with `core::fmt`.
pub fn print(args: core::fmt::Arguments<'_>) {
    let _ = Out.write_fmt(args);
}
