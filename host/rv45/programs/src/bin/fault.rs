//! A panic reaches the panic handler, with or without its message.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, report};

#[inline(never)]
fn pick(list: &[u32], i: usize) -> u32 {
    list[i]
}

#[no_mangle]
extern "C" fn main() -> ! {
    let list = black_box([3, 5, 8]);
    report("third", pick(&list, black_box(2)));
    report("tenth", pick(&list, black_box(9)));
    exit(0)
}
