//! The smallest program with output.
#![no_std]
#![no_main]

use rv45_programs::{exit, write};

#[no_mangle]
extern "C" fn main() -> ! {
    write(b"hello, world\n");
    exit(0)
}
