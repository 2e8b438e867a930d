//! A Mandelbrot set in soft float, single and double, drawn as text.
#![no_std]
#![no_main]

use rv45_programs::{exit, write};

const SHADES: &[u8; 10] = b" .:-=+*#%@";

fn single(cx: f32, cy: f32) -> usize {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    for i in 0..27 {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return i;
        }
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
    }
    27
}

fn double(cx: f64, cy: f64) -> usize {
    let (mut x, mut y) = (0.0f64, 0.0f64);
    for i in 0..27 {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return i;
        }
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
    }
    27
}

#[no_mangle]
extern "C" fn main() -> ! {
    let mut line = [b'\n'; 33];
    for row in 0..5u8 {
        for (column, cell) in line[..32].iter_mut().enumerate() {
            *cell = SHADES[single(column as f32 * 0.09 - 2.0, f32::from(row) * 0.4 - 1.0) / 3];
        }
        write(&line);
    }
    for row in 0..2u8 {
        for (column, cell) in line[..32].iter_mut().enumerate() {
            *cell = SHADES[double(column as f64 * 0.02 - 0.9, f64::from(row) * 0.15) / 3];
        }
        write(&line);
    }
    exit(0)
}
