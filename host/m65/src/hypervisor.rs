//! Hypervisor traps: writes to `$D640-$D67F`.

use crate::board::Board;
use crate::cpu::{Cpu, FLAG_C};
use crate::diagnostics::Report;

/// Error code of a function that does not exist.
pub const ERROR_NO_SUCH_TRAP: u8 = 0xff;

/// What handles the traps of disk functions.
///
/// The handler sees the CPU as it is after the trapping instruction and sets the registers that
/// the trap returns. Interrupts are off during a trap; the time it takes is added with
/// [`crate::cpu::Bus::advance`].
pub trait Hypervisor {
    /// Handles trap `number` (0 for `$D640`); false if it knows nothing of it.
    fn trap(&mut self, number: u8, cpu: &mut Cpu, board: &mut Board) -> bool;
}

/// Sets C and, on errors, the code in A.
pub fn finish(cpu: &mut Cpu, result: Result<(), u8>) {
    let p = cpu.p() & !FLAG_C;
    match result {
        Ok(()) => cpu.set_p(p | FLAG_C),
        Err(code) => {
            cpu.a = code;
            cpu.set_p(p);
        }
    }
}

/// Traps that need no disk. False for unknown ones.
fn basic_trap(number: u8, cpu: &mut Cpu, board: &mut Board) -> bool {
    let protect = match (number, cpu.a) {
        (0x00, 0x70) => !board.rom_write_protected,
        (0x01, 0x00) => true,
        (0x01, 0x02) => false,
        (0x00, 0x7c) => {
            board.serial.push(cpu.y);
            return true;
        }
        (0x03, _) => {
            board.serial.push(cpu.a);
            return true;
        }
        _ => return false,
    };
    board.rom_write_protected = protect;
    board.rebuild_view();
    if number == 0 {
        cpu.a = if protect { 0x04 } else { 0x00 };
    }
    true
}

/// Runs a trap and what every return from one does: the byte behind the STA is skipped, the frame
/// counter starts again, the sector buffer leaves `$DE00`.
pub(crate) fn run(handler: &mut dyn Hypervisor, number: u8, cpu: &mut Cpu, board: &mut Board) {
    const CLV: u8 = 0xb8;
    let filler = board.peek_view(cpu.pc);
    if filler != CLV {
        board.report(Report::TrapFiller, u32::from(cpu.pc));
    }
    if !handler.trap(number, cpu, board) {
        if basic_trap(number, cpu, board) {
            finish(cpu, Ok(()));
        } else {
            board.report(Report::UnknownTrap, u32::from(number) << 8 | u32::from(cpu.a));
            finish(cpu, Err(ERROR_NO_SUCH_TRAP));
        }
    }
    cpu.pc = cpu.pc.wrapping_add(1);
    board.storage.unmap();
    board.vic.zero_frame_counter(board.cycles);
}
