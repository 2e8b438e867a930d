//! Several prompt positions at once.
//!
//! Where a loop has been proven fit for it (see [`plan`]), the positions go through its instructions side by side, each
//! with a scratch memory of its own laid over the real one, so that a matrix is read once for all of them. What the
//! host can see is the same as without: memory, registers and statistics at every SYNC, HALT and fault.

mod plan;
mod reader;
mod region;

use std::sync::Arc;

use ssnail_shared::isa::{GEMV_ACCUMULATE, GEMV_F16, INSTRUCTION_LEN, Instruction};

use super::{Machine, Registers, Scratch};
use crate::fault::Fault;
use crate::kernel::batch::{Batch, GROUP, MOST};
use crate::kernel::engine::Product;
use crate::kernel::{Format, Numerics};
use crate::memory::Memory;
use crate::num::hw;
use plan::{Control, Kind, Plan};

/// Instructions around the body in a turn of the loop: the head, ADDI and BLT, and ADDI, STR and the jump back.
const AROUND: u64 = 6;
/// Instructions that may follow the last position of a prompt before the host looks, generously.
const EPILOGUE: u64 = 64;

/// What is known about the script that runs.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    /// Head of a loop that may be fit.
    head: Option<u32>,
    plan: Option<Plan>,
    /// The registers of the last plan: whether it is worth to make another.
    control: Option<Control>,
    batch: Arc<Batch>,
    registers: Vec<Registers>,
    /// Positions that were run side by side so far.
    positions: u64,
}

impl Lookout {
    /// A job starts.
    pub(super) fn start(&mut self, memory: &Memory, pc: u32) {
        self.head = plan::find_head(memory, pc);
        self.plan = None;
        self.control = None;
    }

    /// The host may have changed memory.
    pub(super) fn forget(&mut self) {
        self.plan = None;
    }

    /// Whether [`Machine::run_batch`] has something to try at `pc`.
    pub(super) fn waits_at(&self, pc: u32) -> bool {
        self.head == Some(pc)
    }
}

/// Positions that may be run side by side: the last one of the prompt, or of the context, is left to plain execution.
fn left(control: &Control, r: &[u32; 16]) -> usize {
    let of = |register: u8| r[usize::from(register)];
    of(control.prompt).min(of(control.context)).saturating_sub(1).saturating_sub(of(control.pos)) as usize
}

impl Machine {
    /// Positions that were run side by side since the machine was made.
    #[must_use]
    pub fn positions_batched(&self) -> u64 {
        self.lookout.positions
    }

    /// At the head of a loop: runs several positions if it may, at most `limit` instructions' worth; gives the
    /// instructions that plain execution would have taken, 0 where nothing was done.
    ///
    /// # Errors
    /// None that plain execution would not meet: what could fault is not tried.
    pub(super) fn run_batch(&mut self, limit: u64) -> Result<u64, Fault> {
        let mut lookout = std::mem::take(&mut self.lookout);
        let done = self.try_batch(&mut lookout, limit);
        self.lookout = lookout;
        done
    }

    fn try_batch(&mut self, lookout: &mut Lookout, limit: u64) -> Result<u64, Fault> {
        let r = self.registers.r;
        if lookout.plan.is_none() && lookout.control.is_some_and(|control| left(&control, &r) < 2) {
            return Ok(0);
        }
        if lookout.plan.as_ref().is_none_or(|p| p.context != r[usize::from(p.control.context)]) {
            lookout.plan = lookout.head.and_then(|head| Plan::recognise(&self.memory, head, &r));
        }
        let Some(plan) = &lookout.plan else {
            lookout.head = None;
            return Ok(0);
        };
        lookout.control = Some(plan.control);
        let pos = r[usize::from(plan.control.pos)];
        let left = left(&plan.control, &r);
        let turn = plan.body.len() as u64 + AROUND;
        let affordable = limit.saturating_sub(turn + EPILOGUE) / turn;
        let count = left.min(MOST).min(usize::try_from(affordable).unwrap_or(MOST));
        if count < 2 || !self.tokens_are_harmless(plan, pos, count as u32) {
            return Ok(0);
        }
        self.positions(plan, pos, count, &mut lookout.registers, &mut lookout.batch)?;
        lookout.positions += count as u64;
        Ok(turn * count as u64)
    }

    /// Whether the tokens of the batch, and the one behind it, can be looked up.
    fn tokens_are_harmless(&self, plan: &Plan, pos: u32, count: u32) -> bool {
        (pos..=pos + count).all(|p| {
            let slot = self.memory.slice(plan.tokens + 4 * p, 4).and_then(|b| b.first_chunk());
            slot.is_some_and(|b| plan.token_is_harmless(&self.memory, u32::from_le_bytes(*b)))
        })
    }

    /// Runs `count` positions from `pos` on.
    fn positions(
        &mut self,
        plan: &Plan,
        pos: u32,
        count: usize,
        states: &mut Vec<Registers>,
        batch: &mut Arc<Batch>,
    ) -> Result<(), Fault> {
        let before = self.registers.clone();
        states.clear();
        for p in (pos..).take(count) {
            let mut state = before.clone();
            state.r[usize::from(plan.control.pos)] = p;
            states.push(state);
        }
        self.memory_mut().lay_over(plan.scratch.start(), plan.scratch.len() as usize, count);
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = plan.body.iter().try_for_each(|(i, kind)| match *kind {
            Kind::Unseen { read, written } => {
                self.stats.bytes_read += read * count as u64;
                self.stats.bytes_written += written * count as u64;
                Ok(())
            }
            Kind::Gemv { format, row_bytes } => self.gemv_batch(i, (format, row_bytes), states, batch, &mut scratch),
            Kind::Attention => self.attn_batch(i, states, &mut scratch),
            Kind::Norm if self.numerics == Numerics::Hardware => self.rmsnorm_batch(i, states, &mut scratch),
            Kind::Norm | Kind::Each => states.iter_mut().enumerate().try_for_each(|(p, state)| {
                self.memory.use_overlay(p);
                std::mem::swap(&mut self.registers, state);
                let done = self.execute(i, &mut scratch, &mut ());
                std::mem::swap(&mut self.registers, state);
                done.map(drop)
            }),
        });
        self.scratch = scratch;
        self.memory.take_overlay_away();
        result?;
        let next = pos + count as u32;
        self.registers = states.pop().unwrap_or(before.clone());
        self.registers.r[usize::from(plan.control.next)] = next;
        self.registers.r[usize::from(plan.control.pos)] = next;
        self.registers.pc = before.pc;
        let turns = count as u64 * (plan.body.len() as u64 + AROUND);
        self.stats.instructions += turns;
        self.stats.bytes_read += turns * u64::from(INSTRUCTION_LEN);
        // Every turn stores the position; the last one stays.
        self.stats.bytes_written += 4 * (count as u64 - 1);
        let store =
            Instruction { a: plan.control.pos, x: plan.store, ..Instruction::new(ssnail_shared::isa::Opcode::Str) };
        self.write(&store, plan.store, 4)?.copy_from_slice(&next.to_le_bytes());
        Ok(())
    }

    /// RMSNORM for every position.
    fn rmsnorm_batch(&mut self, i: &Instruction, states: &[Registers], s: &mut Scratch) -> Result<(), Fault> {
        let Some([n, _, eps]) = states.first().map(|state| state.n) else { return Ok(()) };
        let length = 4 * u64::from(n);
        s.a.clear();
        for (p, state) in states.iter().enumerate() {
            self.memory.use_overlay(p);
            let bytes = self.read(i, state.address(i.x), length)?;
            s.a.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)));
        }
        let n = n as usize;
        let mut sums = [0.0; MOST];
        hw::sums_of_squares(&s.a, n, &mut sums);
        for (p, ((state, x), sum)) in states.iter().zip(s.a.chunks(n.max(1))).zip(sums).enumerate() {
            self.memory.use_overlay(p);
            self.read_floats(i, state.address(i.y), u64::from(n as u32), &mut s.b)?;
            let r = hw::rms_factor(sum, n, f32::from_bits(eps));
            let target = self.write(i, state.address(i.z), length)?.as_chunks_mut().0;
            for ((b, v), g) in target.iter_mut().zip(x).zip(&s.b) {
                *b = ((v * r) * g).to_le_bytes();
            }
        }
        Ok(())
    }

    /// GEMV for every position: one pass over the weights.
    fn gemv_batch(
        &mut self,
        i: &Instruction,
        (format, row_bytes): (Format, u32),
        states: &[Registers],
        batch: &mut Arc<Batch>,
        s: &mut Scratch,
    ) -> Result<(), Fault> {
        let Some(first) = states.first() else { return Ok(()) };
        let [columns, rows, _] = first.n;
        let count = states.len();
        let inputs = Arc::make_mut(batch);
        inputs.resize(count);
        for (p, state) in states.iter().enumerate() {
            self.memory.use_overlay(p);
            inputs.load(p, self.read(i, state.address(i.y), 4 * u64::from(columns))?);
        }
        inputs.prepare(self.engine.level(), format, self.numerics);
        let weights = first.address(i.x);
        self.read(i, weights, u64::from(row_bytes) * u64::from(rows))?;
        self.stats.bytes_read += u64::from(row_bytes) * u64::from(rows) * (count as u64 - 1);
        let (numerics, row_bytes, rows) = (self.numerics, row_bytes as usize, rows as usize);
        let product = Product { format, numerics, weights, row_bytes, rows };
        let more = i.b & GEMV_ACCUMULATE != 0;
        let length = 4 * rows as u64;
        let mut places = [const { 0..0 }; MOST];
        let inside = states.iter().zip(&mut places).enumerate().all(|(p, (state, place))| {
            let found = self.memory.overlay_place(p, state.address(i.z), length);
            found.is_some_and(|found| {
                *place = found;
                true
            })
        });
        if inside && i.b & GEMV_F16 == 0 {
            self.stats.bytes_read += if more { length * count as u64 } else { 0 };
            self.stats.bytes_written += length * count as u64;
            // Straight to where they belong, while the weights are read from the memory that all threads share.
            let mut copies = std::mem::take(&mut s.bytes);
            self.memory_mut().swap_overlay(&mut copies);
            self.engine.multiply_batch(&product, &self.memory, batch, |first, results| {
                for (at, results) in results.chunks_exact(GROUP * count).enumerate() {
                    let row = first + at * GROUP;
                    for (place, results) in places.iter().zip(results.as_chunks::<GROUP>().0) {
                        let target = copies.get_mut(place.start + 4 * row..place.end).unwrap_or_default();
                        put(more, target, results);
                    }
                }
            });
            self.memory_mut().swap_overlay(&mut copies);
            s.bytes = copies;
            return Ok(());
        }
        let mut all = std::mem::take(&mut s.a);
        // All that is read below is written.
        all.resize(rows.next_multiple_of(GROUP) * count, 0.0);
        self.engine.multiply_batch(&product, &self.memory, batch, |first, results| {
            if let Some(place) = all.get_mut(first * count..first * count + results.len()) {
                place.copy_from_slice(results);
            }
        });
        let written = states.iter().enumerate().try_for_each(|(p, state)| {
            self.memory.use_overlay(p);
            let to = state.address(i.z);
            s.y.clear();
            s.y.extend(all.as_chunks::<GROUP>().0.iter().skip(p).step_by(count).flatten());
            s.y.truncate(rows);
            if more {
                self.read_floats(i, to, rows as u64, &mut s.b)?;
                for (y, old) in s.y.iter_mut().zip(&s.b) {
                    *y += old;
                }
            }
            if i.b & GEMV_F16 != 0 { self.write_halves(i, to, &s.y) } else { self.write_floats(i, to, &s.y) }
        });
        s.a = all;
        written
    }
}

/// Writes the results of a group of rows, or what the target holds more of them; the last group may have fewer rows.
fn put(more: bool, target: &mut [u8], results: &[f32; GROUP]) {
    let target = target.as_chunks_mut::<4>().0;
    match (target.first_chunk_mut::<GROUP>(), more) {
        (Some(target), false) => *target = results.map(f32::to_le_bytes),
        (Some(target), true) => {
            for (old, y) in target.iter_mut().zip(results) {
                *old = (y + f32::from_le_bytes(*old)).to_le_bytes();
            }
        }
        (None, _) => {
            for (old, y) in target.iter_mut().zip(results) {
                *old = if more { y + f32::from_le_bytes(*old) } else { *y }.to_le_bytes();
            }
        }
    }
}
