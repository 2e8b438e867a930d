//! Recursion without end.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, report};

#[inline(never)]
fn deeper(n: u32, big: &mut [u32; 20]) -> u32 {
    let mut mine = [n; 20];
    mine[(n % 20) as usize] = big[3];
    if n == black_box(u32::MAX) {
        return 1;
    }
    deeper(n + 1, black_box(&mut mine)) + mine[5]
}

#[no_mangle]
extern "C" fn main() -> ! {
    report("never", deeper(0, &mut [0; 20]));
    exit(0)
}
