//! Small programs on the flat bus.

#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_m65::cpu::{Cpu, Exit, FlatBus};

fn run(code: &[u8]) -> (Cpu, FlatBus) {
    let mut bus = FlatBus::new(0x6_0000);
    bus.ram[0x2000..0x2000 + code.len()].copy_from_slice(code);
    // STA $D6CF ends the program.
    bus.ram[0x2000 + code.len()..][..3].copy_from_slice(&[0x8d, 0xcf, 0xd6]);
    let mut cpu = Cpu::new();
    cpu.pc = 0x2000;
    bus.deadline = 100_000;
    assert_eq!(cpu.run(&mut bus), Exit::Due);
    assert!(bus.exit_code.is_some(), "did not end");
    (cpu, bus)
}

#[test]
fn ldq_adds_z_and_stq_does_not() {
    // [10] = $00040000; data at $40004; LDZ #4, LDQ [$10],Z; STQ [$14] with pointer $41000.
    let mut code = vec![];
    for (n, v) in [0, 0, 4, 0, 0, 0x10, 4, 0].into_iter().enumerate() {
        code.extend([0xa9, v, 0x85, 0x10 + n as u8]);
    }
    code.extend([0xa3, 4, 0xa9, 0x99, 0xea, 0x92, 0x10]);
    code.extend([0xa3, 4, 0x42, 0x42, 0xea, 0xb2, 0x10]);
    code.extend([0xa3, 7, 0x42, 0x42, 0xea, 0x92, 0x14]);
    let (_, bus) = run(&code);
    assert_eq!(bus.ram[0x4_0004], 0x99);
    assert_eq!(bus.ram[0x4_1000..0x4_1004], [0x99, 0, 0, 7]);
}
