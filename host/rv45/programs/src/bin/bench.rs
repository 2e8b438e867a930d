//! Inner loops whose cycles are counted: each function is called once with data prepared before.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, report, Random};

#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    key: u32,
    value: u32,
    next: u32,
}

/// Binary search over 1024 records: 10 or 11 steps.
#[inline(never)]
#[no_mangle]
#[link_section = ".text.hot.search"]
fn bench_search(records: &[Record; 1024], key: u32) -> u32 {
    let (mut low, mut high) = (0u32, 1024u32);
    while low < high {
        let middle = (low + high) / 2;
        // SAFETY: middle is below 1024.
        let k = unsafe { records.get_unchecked(middle as usize) }.key;
        if k < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Dot product of 256 bytes.
#[inline(never)]
#[no_mangle]
#[link_section = ".text.hot.dot"]
fn bench_dot_i8(a: &[i8; 256], b: &[i8; 256]) -> i32 {
    let mut sum = 0i32;
    for (&x, &y) in a.iter().zip(b) {
        sum += i32::from(x) * i32::from(y);
    }
    sum
}

/// Dot product of 64 floats.
#[inline(never)]
#[no_mangle]
#[link_section = ".text.hot.fdot"]
fn bench_dot_f32(a: &[f32; 64], b: &[f32; 64]) -> f32 {
    let mut sum = 0.0;
    for (&x, &y) in a.iter().zip(b) {
        sum += x * y;
    }
    sum
}

/// FNV over 1 KB.
#[inline(never)]
#[no_mangle]
#[link_section = ".text.hot.fnv"]
fn bench_fnv(data: &[u8; 1024]) -> u32 {
    data.iter().fold(0x811C_9DC5, |h: u32, &b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

/// Bitwise CRC-32 over 64 bytes.
#[inline(never)]
#[no_mangle]
#[link_section = ".text.hot.crc"]
fn bench_crc(data: &[u8; 64]) -> u32 {
    let mut crc = !0u32;
    for &b in data {
        crc ^= u32::from(b);
        for _ in 0..8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Decimal digits of a number, least significant first.
#[inline(never)]
#[no_mangle]
#[link_section = ".text.hot.decimal"]
fn bench_decimal(mut n: u32, out: &mut [u8; 10]) -> usize {
    let mut len = 0;
    for d in out.iter_mut() {
        *d = b'0' + (n % 10) as u8;
        n /= 10;
        len += 1;
        if n == 0 {
            break;
        }
    }
    len
}

/// A number as text, by `core::fmt`: digits, and what else it takes to print one.
#[inline(never)]
#[no_mangle]
fn bench_format(n: &u32, out: &mut Text) -> bool {
    core::fmt::Write::write_fmt(out, format_args!("{n}")).is_ok()
}

struct Text([u8; 16], usize);

impl core::fmt::Write for Text {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        for (to, &from) in self.0[self.1..].iter_mut().zip(s.as_bytes()) {
            *to = from;
            self.1 += 1;
        }
        Ok(())
    }
}

static mut RECORDS: [Record; 1024] = [Record { key: 0, value: 0, next: 0 }; 1024];
static mut BYTES: [u8; 1024] = [0; 1024];

#[no_mangle]
extern "C" fn main() -> ! {
    let mut r = Random(99);
    // SAFETY: there is one thread.
    let (records, bytes) = unsafe { (&mut *core::ptr::addr_of_mut!(RECORDS), &mut *core::ptr::addr_of_mut!(BYTES)) };
    for (i, record) in records.iter_mut().enumerate() {
        *record = Record { key: i as u32 * 7, value: r.next(), next: 0 };
    }
    for b in bytes.iter_mut() {
        *b = r.next() as u8;
    }
    report("search", bench_search(black_box(records), black_box(4321)));
    let (mut a, mut b) = ([0i8; 256], [0i8; 256]);
    for (x, y) in a.iter_mut().zip(b.iter_mut()) {
        *x = r.next() as i8;
        *y = r.next() as i8;
    }
    report("dot_i8", bench_dot_i8(black_box(&a), black_box(&b)) as u32);
    let (mut a, mut b) = ([0f32; 64], [0f32; 64]);
    for (x, y) in a.iter_mut().zip(b.iter_mut()) {
        *x = (r.next() >> 12) as f32;
        *y = -((r.next() >> 15) as f32) / 77.0;
    }
    report("dot_f32", bench_dot_f32(black_box(&a), black_box(&b)).to_bits());
    report("fnv", bench_fnv(black_box(bytes)));
    let mut some = [0u8; 64];
    some.copy_from_slice(&bytes[5..69]);
    report("crc", bench_crc(black_box(&some)));
    let mut digits = [0u8; 10];
    report("decimal", bench_decimal(black_box(1_234_567_890), black_box(&mut digits)) as u32);
    report("digits", digits.iter().fold(0, |h, &d| h * 10 + u32::from(d - b'0')));
    let mut text = Text([0; 16], 0);
    report("format", bench_format(black_box(&3_123_456_789), black_box(&mut text)).into());
    report("text", text.0.iter().take(text.1).fold(0, |h, &d| h * 10 + u32::from(d - b'0')));
    exit(0)
}
