//! Code in high memory and in overlays: calls in every direction, function pointers, recursion.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, report};

#[inline(never)]
#[link_section = ".text.ovl0.first"]
fn first(n: u32) -> u32 {
    // To another overlay, to main memory and to high memory, and back here.
    if n == 0 {
        1
    } else {
        second(n - 1) * 3 + common(n) + high(n)
    }
}

#[inline(never)]
#[link_section = ".text.ovl1.second"]
fn second(n: u32) -> u32 {
    match n % 7 {
        0 => n + 100,
        1 => first(n / 2) ^ 0x55,
        2 => common(first(n - 1)),
        3 => 17 * n,
        4 => high(n) + first(n - 1),
        5 => n << 3,
        _ => 9,
    }
}

#[inline(never)]
#[link_section = ".text.high.high"]
fn high(n: u32) -> u32 {
    if n > 40 {
        first(n - 40)
    } else {
        common(n + 3)
    }
}

#[inline(never)]
fn common(n: u32) -> u32 {
    n.rotate_left(5) ^ n.wrapping_mul(77)
}

static TABLE: [fn(u32) -> u32; 4] = [first, second, high, common];

#[no_mangle]
extern "C" fn main() -> ! {
    for i in 0..24 {
        report("first", first(black_box(i)));
        report("second", second(black_box(i)));
        report("high", high(black_box(i)));
    }
    let mut h = 0u32;
    for i in 0..40u32 {
        h = h.rotate_left(3) ^ black_box(&TABLE)[(i % 4) as usize](i);
    }
    report("table", h);
    exit(0)
}
