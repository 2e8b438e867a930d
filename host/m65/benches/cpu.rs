//! Emulated seconds (40.5 MHz) per second of host time for plain code.

use ssnail_m65::cpu::{Cpu, FlatBus};
use ssnail_m65::{Machine, Model};
use std::time::Instant;

const CLOCK_HZ: f64 = 40_500_000.0;

/// Time that this process has computed, in seconds; wall-clock time where the system does not say.
fn cpu_seconds(since: Instant) -> f64 {
    let spent = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = spent.and_then(|s| s.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |n| n / 1e9)
}

/// Runs `code` at $2001 for `cycles` on both buses and prints the speed.
fn measure(name: &str, code: &[u8], cycles: u64) {
    let epoch = Instant::now();
    let mut bus = FlatBus::new(0x6_0000);
    bus.ram[0x2001..0x2001 + code.len()].copy_from_slice(code);
    bus.deadline = cycles;
    let mut cpu = Cpu::new();
    cpu.pc = 0x2001;
    let start = cpu_seconds(epoch);
    cpu.run(&mut bus);
    let flat = bus.cycles as f64 / (cpu_seconds(epoch) - start);

    let mut machine = Machine::new(Model::R3);
    machine.board.chip_ram_mut()[0x2001..0x2001 + code.len()].copy_from_slice(code);
    machine.sys(0x2001);
    let start = cpu_seconds(epoch);
    while machine.board.cycles < cycles {
        machine.run_frame();
    }
    let whole = machine.board.cycles as f64 / (cpu_seconds(epoch) - start);
    println!(
        "{name:12} whole machine {:5.1} emulated s/CPU s ({:4.0} Mcycles/s), flat bus {:5.1} ({:4.0})",
        whole / CLOCK_HZ,
        whole / 1e6,
        flat / CLOCK_HZ,
        flat / 1e6
    );
}

fn main() {
    let cycles = 500_000_000;
    // Copy 256 bytes with abs,X, over and over.
    let copy = [0xa2, 0x00, 0xbd, 0x00, 0x30, 0x9d, 0x00, 0x31, 0xe8, 0xd0, 0xf7, 0x4c, 0x01, 0x20];
    measure("copy abs,X", &copy, cycles);
    // 16-bit sums through a pointer: LDA (bp),Y / ADC bp / STA bp / INY / BNE / INC bp / JSR-RTS.
    let sum = [
        0xa0, 0x00, 0x18, 0xb1, 0x10, 0x65, 0x12, 0x85, 0x12, 0x90, 0x02, 0xe6, 0x13, 0xc8, 0xd0, 0xf2, 0x20, 0x16,
        0x20, 0x80, 0xeb, 0xea, 0x60,
    ];
    measure("sum (bp),Y", &sum, cycles);
    // 32-bit code as a compiler emits it: LDQ / CLC / ADCQ / STQ / flat LDQ and STQ.
    let quad = [
        0x42, 0x42, 0xa5, 0x10, 0x18, 0x42, 0x42, 0x65, 0x14, 0x42, 0x42, 0x85, 0x18, 0xa3, 0x00, 0x42, 0x42, 0xea,
        0xb2, 0x20, 0x42, 0x42, 0xea, 0x92, 0x24, 0x42, 0x42, 0xe6, 0x10, 0xd0, 0xe2, 0x80, 0xe0,
    ];
    measure("Q forms", &quad, cycles);
}
