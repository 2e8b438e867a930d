//! `core::fmt` in many of its forms, and a hash of text.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, print, Random};

#[derive(Debug, Clone, Copy)]
#[allow(dead_code)]
struct Point {
    x: i16,
    y: Option<u8>,
}

#[no_mangle]
extern "C" fn main() -> ! {
    let mut r = Random(black_box(7));
    for i in 0..8u32 {
        let n = r.next();
        print(format_args!("{i}: {n} {} {:#x} {:08b} {:>6}|{:<6}|{:^7}\n", n as i32, n, n as u8, n % 1000, i, n as i8));
    }
    let big = u64::from(r.next()) << 31 | u64::from(r.next());
    print(format_args!("{big} {:?} {:#?}\n", Point { x: -5, y: Some(9) }, [Point { x: 1, y: None }; 2]));
    print(format_args!("{:?} {:?} {}\n", "tab\t quote\" \u{e9}", 'x', true));
    print(format_args!("{:.3} {:e} {}\n", 3.14159f32 * black_box(2.0), 12345.678f32, 0.1f64 + black_box(0.2)));
    exit(0)
}
