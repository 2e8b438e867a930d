//! Integers of every type as `core::fmt` prints them.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, print, Random};

#[inline(never)]
fn show(n: u64) {
    let n = black_box(n);
    print(format_args!("{} {} {} {}\n", n, n as u32, n as u16, n as u8));
    print(format_args!("{} {} {} {}\n", n as i64, n as i32, n as i16, n as i8));
}

#[no_mangle]
extern "C" fn main() -> ! {
    let mut power = 1u64;
    for _ in 0..20 {
        show(power - 1);
        show(power);
        show(power.wrapping_neg());
        power = power.wrapping_mul(10);
    }
    for k in 0..64 {
        show(1 << k);
        show(!0 >> k);
    }
    let mut r = Random(5);
    for i in 0..60 {
        show((u64::from(r.next()) << 32 | u64::from(r.next())) >> i);
    }
    let n = black_box(1234u32);
    print(format_args!("{n:>9}|{n:<9}|{n:^9}|{n:+}|{n:08}|{:?}|{:+06}\n", n as usize, -(n as i16)));
    exit(0)
}
