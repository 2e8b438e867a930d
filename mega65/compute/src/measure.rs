//! How long this machine takes for what scripts are made of.

use crate::clock;
use crate::far::{fill, peek32, poke32, Far};
use crate::mailbox::{HALT, MAILBOX, MILLISECONDS, PC, SCRIPT, SCRIPT_MAX, STATUS, TIMES, TRIAL, WIDEST};
use crate::Mailbox;
use ssnail_shared::exec::{Executor, Work};
use ssnail_shared::isa::{format, Instruction, Opcode, INSTRUCTION_LEN};
use ssnail_shared::mem::{Memory, ReadMemory};
use ssnail_shared::work::{Count, Times, TRIAL_COLUMNS, TRIAL_FORMATS, TRIAL_ROWS};

/// Measures a matrix of each format, the vector's part in it, and an operation on a vector.
pub fn run(mailbox: Mailbox, work: &mut Work<'_>) {
    let at = mailbox.0 - MAILBOX + TRIAL;
    let (script, from, to) = (at, at + 0x100, at + 0x400);
    let mut i = 0;
    while i < TRIAL_COLUMNS {
        // Ordinary numbers, positive and negative.
        poke32(from + 4 * i, 0x3F00_0000 + (i << 19) + ((i & 1) << 31));
        i += 1;
    }
    // An ordinary number in every format, and the scale of a block.
    let weights = at + 0x800;
    fill(weights, 0x3C, 4 * TRIAL_COLUMNS * (1 + TRIAL_ROWS));
    let mut fast = crate::kernels::Fast::new(false);
    let mut time = |op, a, rows| {
        let i = Instruction { op, a, b: 0, x: weights, y: from, z: to };
        let _ = Far.write(script, &i.encode());
        let mut executor = Executor::new(script);
        executor.n = [TRIAL_COLUMNS, rows, 0];
        let start = clock::ticks();
        let _ = executor.step_with(&mut Far, work, &mut fast);
        clock::ticks().wrapping_sub(start)
    };
    let mut times = mailbox.0 + TIMES;
    let mut base = 0;
    for number in TRIAL_FORMATS {
        let one = time(Opcode::Gemv, number, 1);
        let all = time(Opcode::Gemv, number, 1 + TRIAL_ROWS);
        let rows = all.wrapping_sub(one);
        if number == format::Q8_0 {
            base = one.saturating_sub(rows / TRIAL_ROWS);
        }
        poke32(times, rows);
        times += 4;
    }
    poke32(times, base);
    poke32(times + 4, time(Opcode::Silumul, 0, 0));
    mailbox.set(STATUS, HALT);
}

/// Estimates the time of a token from a script; 0 where its end is not there.
pub fn count(mailbox: Mailbox) {
    let end = mailbox.0 - MAILBOX + SCRIPT + SCRIPT_MAX;
    let mut at = mailbox.get(PC);
    let mut count = Count::default();
    let mut bytes = [0; INSTRUCTION_LEN as usize];
    while at < end {
        let _ = Far.read(at, &mut bytes);
        if !count.see(&bytes) {
            break;
        }
        at += INSTRUCTION_LEN;
    }
    let mut times = Times::default();
    let mut from = mailbox.0 + TIMES;
    let Times { rows, quantise, vector, call } = &mut times;
    for time in rows.iter_mut().chain([quantise, vector, call]) {
        *time = peek32(from);
        from += 4;
    }
    let whole = at < end && bytes[0] == Opcode::Halt.number();
    mailbox.set(MILLISECONDS, if whole { count.milliseconds(&times).max(1) } else { 0 });
    mailbox.set(WIDEST, count.widest);
    mailbox.set(STATUS, HALT);
}
