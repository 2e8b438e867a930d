//! SSNAIL.CPU: runs a model's script on the 45GS02, where there is no core or it is not to be used.
//!
//! `SSNAIL.PRG` puts this in its own place, calls it, and has its own place back when this returns: after a token, after
//! a job, or when a key was pressed. What is to be done and how it ended stands in the mailbox (`hw/mailbox.rs`).

#![no_std]
#![no_main]

#[path = "../../src/hw/clock.rs"]
#[allow(dead_code)]
mod clock;
#[path = "../../src/hw/far.rs"]
#[allow(dead_code)]
mod far;
mod kernels;
mod life;
#[path = "../../src/hw/mailbox.rs"]
#[allow(dead_code)]
mod mailbox;
mod measure;
mod memory;

use far::{peek, peek32, poke32};
use memory::Attic;
use ssnail_shared::exec::{Executor, Fault, Step, Work, BLOCK};
use ssnail_shared::isa::Opcode;

/// Registers in the MEGA65 personality.
const IO: u32 = 0x0FFD_3000;
/// The oldest key that nobody has taken yet.
const KEY: u32 = IO + 0x610;

/// Longest vector.
const VECTOR: usize = ssnail_shared::work::VECTOR_MAX as usize;
/// Most rows of a cache.
const SCORES: usize = 3584;

static mut X: [f32; VECTOR] = [0.0; VECTOR];
static mut Q: [i8; VECTOR] = [0; VECTOR];
static mut SCALE: [f32; VECTOR / BLOCK as usize] = [0.0; VECTOR / BLOCK as usize];
static mut S: [f32; SCORES] = [0.0; SCORES];

/// The mailbox.
#[derive(Clone, Copy)]
struct Mailbox(u32);

impl Mailbox {
    fn get(self, offset: u32) -> u32 {
        peek32(self.0 + offset)
    }

    fn set(self, offset: u32, value: u32) {
        poke32(self.0 + offset, value);
    }

    /// Takes or leaves the executor's registers.
    fn registers(self, executor: &mut Executor, mut each: impl FnMut(u32, &mut u32)) {
        let mut at = self.0 + mailbox::REGISTERS;
        let Executor { r, a, n, .. } = executor;
        for value in r.iter_mut().chain(a).chain(n) {
            each(at, value);
            at += 4;
        }
    }
}

/// Where the start-up code goes on.
#[allow(unsafe_code)]
#[no_mangle]
extern "C" fn main() {
    let mailbox = Mailbox(peek32(mailbox::WHERE));
    let mut memory = Attic { end: mailbox.get(mailbox::END) };
    // SAFETY: one thread, and this is the only place that takes them.
    let mut work = unsafe {
        Work { x: &mut *(&raw mut X), q: &mut *(&raw mut Q), scale: &mut *(&raw mut SCALE), scores: &mut *(&raw mut S) }
    };
    match mailbox.get(mailbox::COMMAND) {
        mailbox::MEASURE => measure::run(mailbox, &mut work),
        mailbox::COUNT => measure::count(mailbox),
        mailbox::NOTHING => {
            kernels::Fast::new(false);
        }
        _ => run(mailbox, &mut memory, &mut work),
    }
}

/// Goes on with a job until there is something to tell.
fn run(mailbox: Mailbox, memory: &mut Attic, work: &mut Work<'_>) {
    let mut executor = Executor::new(mailbox.get(mailbox::PC));
    mailbox.registers(&mut executor, |at, value| *value = peek32(at));
    let mut layers = mailbox.get(mailbox::LIFE);
    let mut fast = kernels::Fast::new(true);
    let mut told = false;
    let status = loop {
        match executor.step_with(memory, work, &mut fast) {
            Ok(Step::Done(op)) => {
                if op == Opcode::Attn {
                    layers = layers.wrapping_add(1);
                    life::show(layers);
                }
                if told && op.number() >= Opcode::Gemv.number() {
                    break mailbox::SYNC;
                }
            }
            // A job may end a few steps behind a token: then the programs change places once, not twice.
            Ok(Step::Sync) => told = true,
            Ok(Step::Halt) => {
                life::clear();
                break mailbox::HALT;
            }
            // Nothing will be gone on with: the key ends the answer.
            Err(Fault::Stopped) => break mailbox::KEY,
            Err(fault) => {
                let detail = match fault {
                    Fault::Room { .. } => mailbox::TOO_WIDE,
                    other => other.job_error() as u32,
                };
                mailbox.set(mailbox::DETAIL, detail);
                life::clear();
                break mailbox::FAULT;
            }
        }
        if peek(KEY) != 0 {
            break mailbox::KEY;
        }
    };
    mailbox.registers(&mut executor, |at, value| poke32(at, *value));
    mailbox.set(mailbox::PC, executor.pc);
    mailbox.set(mailbox::LIFE, layers);
    mailbox.set(mailbox::STATUS, status);
}

/// What cannot be is told by not telling anything (`panic.s`).
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
