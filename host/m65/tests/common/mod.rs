//! Programs in assembly, run on a whole machine.

use ssnail_m65::{Machine, Model, Stop};

/// Assembles at $2001 and loads; the program starts at its first instruction.
pub fn program(model: Model, source: &str) -> Machine {
    let assembled = rv45::asm::assemble(source, 0x2001).unwrap_or_else(|e| panic!("{e}"));
    let mut machine = Machine::new(model);
    machine.board.chip_ram_mut()[0x2001..0x2001 + assembled.bytes.len()].copy_from_slice(&assembled.bytes);
    machine.sys(0x2001);
    machine
}

/// Runs at most `frames` frames; the program must end by RTS.
#[allow(dead_code)]
pub fn run(machine: &mut Machine, frames: u64) {
    for _ in 0..frames {
        if let Some(stop) = machine.run_frame() {
            assert_eq!(stop, Stop::Returned);
            return;
        }
    }
    panic!("still running at ${:04X}", machine.cpu.pc);
}

/// Assembles, runs to RTS.
#[allow(dead_code)]
pub fn ran(source: &str) -> Machine {
    let mut machine = program(Model::R3, source);
    run(&mut machine, 100);
    machine
}
