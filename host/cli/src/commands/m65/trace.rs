//! `--trace`: one line for each instruction.

use crate::out;
use ssnail_m65::board::Board;
use ssnail_m65::cpu::{Cpu, disassemble};

const FLAGS: [(u8, char); 8] =
    [(0x80, 'N'), (0x40, 'V'), (0x20, 'E'), (0x10, 'B'), (0x08, 'D'), (0x04, 'I'), (0x02, 'Z'), (0x01, 'C')];

/// Prints the instruction that comes next and the registers before it.
pub fn print(cpu: &Cpu, board: &Board) {
    let pc = cpu.pc;
    let (text, length) = disassemble(pc, |n| board.peek_view(pc.wrapping_add(n)));
    let bytes: Vec<String> = (0..length).map(|n| format!("{:02X}", board.peek_view(pc.wrapping_add(n)))).collect();
    let p = cpu.p();
    let flags: String = FLAGS.iter().map(|&(bit, letter)| if p & bit != 0 { letter } else { '-' }).collect();
    out::note(format_args!(
        "{:>12} {pc:04X}  {:<18} {text:<20} A={:02X} X={:02X} Y={:02X} Z={:02X} B={:02X} SP={:04X} {flags}",
        board.cycles,
        bytes.join(" "),
        cpu.a,
        cpu.x,
        cpu.y,
        cpu.z,
        cpu.b,
        cpu.sp,
    ));
}
