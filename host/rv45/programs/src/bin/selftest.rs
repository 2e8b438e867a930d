//! Arithmetic, control flow, data structures and soft float, each folded into one word.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, report, Random};

fn mix(h: u32, x: u32) -> u32 {
    (h ^ x).wrapping_mul(0x0100_0193)
}

#[inline(never)]
fn arithmetic(r: &mut Random) -> u32 {
    let mut h = 0x811C_9DC5;
    for i in 0..64 {
        let (a, b) = (r.next(), if i % 7 == 0 { i % 3 } else { r.next() >> (i % 29) });
        h = mix(h, a.wrapping_add(b));
        h = mix(h, a.checked_div(b).unwrap_or(77));
        h = mix(h, a.checked_rem(b).unwrap_or(78));
        h = mix(h, (a as i32).wrapping_div(black_box(b as i32 | 1)) as u32);
        h = mix(h, (a as i32).wrapping_rem(black_box(b as i32 | 1)) as u32);
        h = mix(h, a << (b & 31));
        h = mix(h, a >> (b & 31));
        h = mix(h, ((a as i32) >> (b & 31)) as u32);
        h = mix(h, a.rotate_left(b & 31));
        h = mix(h, u32::from((a as i32) < b as i32) + 2 * u32::from(a < b));
        h = mix(h, a.leading_zeros() + 64 * b.trailing_zeros() + 4096 * a.count_ones());
        h = mix(h, (a as i8 as i32 as u32) ^ (a as i16 as i32 as u32) ^ a.swap_bytes());
        h = mix(h, a.min(b) ^ (a as i32).max(b as i32) as u32);
        let (x, y) = (u64::from(a) << 17 | u64::from(b), u64::from(b) << 3 | 1);
        h = mix(h, (x.wrapping_mul(y) >> 20) as u32);
        h = mix(h, (x / y) as u32 ^ (x % y) as u32);
        h = mix(h, ((x as i64).wrapping_neg() / (y as i64 >> 2 | 1)) as u32);
        h = mix(h, (x << (b & 63) >> (a & 31)) as u32);
    }
    h = mix(h, black_box(i32::MIN).wrapping_div(black_box(-1)) as u32);
    mix(h, black_box(i32::MIN).wrapping_rem(black_box(-1)) as u32)
}

#[inline(never)]
fn crc32(data: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &b in data {
        crc ^= u32::from(b);
        for _ in 0..8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[inline(never)]
fn shell_sort(v: &mut [u32], less: fn(u32, u32) -> bool) {
    let mut gap = v.len() / 2;
    while gap > 0 {
        for i in gap..v.len() {
            let mut j = i;
            while j >= gap && less(v[j], v[j - gap]) {
                v.swap(j, j - gap);
                j -= gap;
            }
        }
        gap /= 2;
    }
}

fn up(a: u32, b: u32) -> bool {
    a < b
}
fn down(a: u32, b: u32) -> bool {
    (a as i32) > b as i32
}

trait Shape {
    fn area(&self) -> u32;
    fn name(&self) -> &'static str;
}
struct Square(u16);
struct Circle(u8, u32);
impl Shape for Square {
    fn area(&self) -> u32 {
        u32::from(self.0) * u32::from(self.0)
    }
    fn name(&self) -> &'static str {
        "square"
    }
}
impl Shape for Circle {
    fn area(&self) -> u32 {
        u32::from(self.0) * u32::from(self.0) * 355 / 113 + self.1
    }
    fn name(&self) -> &'static str {
        "circle"
    }
}

#[inline(never)]
fn fib(n: u32) -> u32 {
    if n < 2 {
        n
    } else {
        fib(n - 1) + fib(n - 2)
    }
}

#[inline(never)]
fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

/// A byte-code machine: one jump table.
#[inline(never)]
fn bytecode(code: &[u8], mut acc: u32) -> u32 {
    let mut pc = 0;
    let mut steps = 0;
    while let Some(&op) = code.get(pc) {
        steps += 1;
        if steps > 500 {
            break;
        }
        pc += 1;
        match op % 11 {
            0 => acc = acc.wrapping_add(1),
            1 => acc = acc.wrapping_mul(5),
            2 => acc ^= 0x5555,
            3 => acc = acc.rotate_left(7),
            4 => acc = !acc,
            5 => acc = acc.wrapping_sub(1000),
            6 if acc & 1 != 0 => pc = pc.saturating_sub(3),
            7 => acc = acc.swap_bytes(),
            8 => acc >>= 1,
            9 => acc |= 0x80,
            10 => acc = acc.reverse_bits(),
            _ => {}
        }
    }
    acc
}

#[inline(never)]
fn floats(r: &mut Random) -> u32 {
    let mut h = 1;
    let mut x = 1.5f32;
    for i in 0..24u32 {
        let y = (r.next() as i32 as f32) / (1 + (i * i * 977)) as f32;
        x = x * 0.75 + y / (x * x + 1.0) - (i as f32);
        h = mix(h, x.to_bits());
        h = mix(h, (x as i32) as u32);
        h = mix(h, u32::from(x < y) + 2 * u32::from(x >= 0.0) + 4 * u32::from(x == y));
        let d = f64::from(x) * 1.000_000_1 + f64::from(i) / 3.0;
        h = mix(h, (d.to_bits() >> 13) as u32);
        h = mix(h, (d as f32).to_bits());
    }
    h
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    key: u16,
    flag: u8,
    delta: i8,
    sum: i16,
}

#[inline(never)]
fn records(r: &mut Random) -> u32 {
    let mut v = [Record { key: 0, flag: 0, delta: 0, sum: 0 }; 40];
    for x in v.iter_mut() {
        let n = r.next();
        *x = Record { key: n as u16, flag: (n >> 16) as u8, delta: (n >> 24) as i8, sum: (n >> 8) as i16 };
    }
    let mut h = 7;
    for i in 1..v.len() {
        let before = v[i - 1];
        let x = &mut v[i];
        x.sum = x.sum.wrapping_add(before.sum).wrapping_sub(i16::from(x.delta));
        x.key = x.key.wrapping_mul(before.key | 1);
        x.flag = x.flag.wrapping_add(before.flag) >> 1;
        h = mix(h, u32::from(x.key) ^ (x.sum as u32) << 8 ^ u32::from(x.flag));
    }
    v.copy_within(3..30, 5);
    for x in &v {
        h = mix(h, x.delta as u32);
    }
    h
}

static mut COUNTER: u32 = 5;
static TABLE: [fn(u32, u32) -> bool; 2] = [up, down];

#[no_mangle]
extern "C" fn main() -> ! {
    let mut r = Random(0x1234_5678);
    report("arithmetic", arithmetic(&mut r));
    let mut bytes = [0u8; 300];
    for b in bytes.iter_mut() {
        *b = r.next() as u8;
    }
    report("crc32", crc32(&bytes));
    let mut words = [0u32; 60];
    for (i, less) in TABLE.iter().enumerate() {
        for w in words.iter_mut() {
            *w = r.next();
        }
        shell_sort(&mut words, *less);
        report("sort", words.iter().fold(i as u32, |h, &w| mix(h, w)));
    }
    let shapes: [&dyn Shape; 3] = [&Square(300), &Circle(9, 4), &Square(7)];
    let mut h = 0;
    for s in black_box(&shapes) {
        h = mix(h, s.area());
        h = mix(h, s.name().len() as u32 + u32::from(s.name().as_bytes()[2]));
    }
    report("shapes", h);
    report("fib", fib(12));
    report("ackermann", ackermann(2, 3));
    report("bytecode", bytecode(&bytes, 99));
    report("records", records(&mut r));
    // SAFETY: there is one thread.
    unsafe {
        COUNTER += fib(5);
        report("static", core::ptr::addr_of!(COUNTER).read_volatile());
    }
    report("floats", floats(&mut r));
    let text = "Größe: 12 µm — fertig";
    report("text", text.chars().fold(3, |h, c| mix(h, u32::from(c))));
    exit(0)
}
