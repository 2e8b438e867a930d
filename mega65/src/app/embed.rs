//! A conversation with a model that writes no text: which earlier lines are like the new one.

use super::chat::{introduce, open_tables, tokenize};
use super::{After, App, TITLE};
use crate::hw::clock::Stopwatch;
use crate::hw::core::Accelerator;
use crate::hw::far::{self, Far};
use crate::hw::{keys, vic};
use crate::out::Line;
use ssnail_shared::command::{self, Command};
use ssnail_shared::exec::num::rsqrt;
use ssnail_shared::header::Header;
use ssnail_shared::map::{align_up, MEMORY_BASE, TOKENS};
use ssnail_shared::mem::{Memory, ReadMemory};
use ssnail_shared::runtime::{self, StopReason};
use ssnail_shared::sampler::is_finite;
use ssnail_shared::session::{Core, CoreState};
use ssnail_shared::tokenizer::{Place, SinkFull, Tables};
use ssnail_shared::ui::editor::{Key, LINE_MAX};
use ssnail_shared::ui::Style;

/// Lines shown.
const BEST: usize = 3;
/// Lines kept where memory allows; the oldest leave.
const LINES: u32 = 256;
/// A core that does not end is given up, in milliseconds.
const PATIENCE: u32 = 60_000;

/// The lines so far: records in attic RAM behind the model, each a line and its vector as 16-bit fractions.
struct Memories {
    base: u32,
    stride: u32,
    capacity: u32,
    count: u32,
    dim: u32,
}

const TEXT_LEN: u32 = 256;
const ONE: f32 = 32_767.0;

impl Memories {
    fn new(header: &Header, memory_len: u32) -> Self {
        let dim = header.output_len;
        let stride = TEXT_LEN + align_up(2 * dim, 256).unwrap_or(0);
        let base = align_up(MEMORY_BASE + header.memory_needed, 256).unwrap_or(MEMORY_BASE);
        // Processor writes reach memory below 16 MB from the start of attic RAM on every board.
        let end = MEMORY_BASE + memory_len.min(8 * ssnail_shared::map::MEGABYTE);
        let room = end.saturating_sub(base) / stride.max(1);
        Self { base, stride, capacity: room.min(LINES), count: 0, dim }
    }

    fn record(&self, n: u32) -> u32 {
        self.base + n % self.capacity.max(1) * self.stride
    }

    /// Cosine of two vectors.
    #[inline(never)]
    fn similarity(&self, a: u32, b: u32) -> f32 {
        let (mut a, mut b) = (a + TEXT_LEN, b + TEXT_LEN);
        let end = a + 2 * self.dim;
        let mut sum = 0i32;
        while a < end {
            let (x, y) = (far16(a), far16(b));
            // Products have 30 bits and the sum of a unit vector's stays below 31.
            sum += (i32::from(x) * i32::from(y)) >> 5;
            a += 2;
            b += 2;
        }
        sum as f32 / (ONE * ONE / 32.0)
    }
}

fn far16(at: u32) -> i16 {
    i16::from_le_bytes([far::peek(at), far::peek(at + 1)])
}

/// Nearest whole number of a value between -32768 and 32767.
fn to_i16(value: f32) -> i16 {
    let bits = value.to_bits();
    let exponent = (bits >> 23) & 0xFF;
    if exponent < 126 {
        return 0;
    }
    let significand = (bits & 0x007F_FFFF) | 0x0080_0000;
    let n = if exponent > 141 { 32_767 } else { (((significand >> (149 - exponent)) + 1) >> 1).min(32_767) };
    if bits >> 31 == 0 {
        n as i16
    } else {
        -(n as i16)
    }
}

/// Compares lines until the person leaves.
#[inline(never)]
pub fn run(app: &mut App, header: &Header) -> After {
    let reader = app.machine.accelerator();
    app.message = Line::new();
    let Some(mut tables) = open_tables(app, &reader, header) else { return After::Menu };
    vic::clear();
    app.console.redraw(TITLE);
    introduce(&mut app.console, header, b"encoder");
    app.console.note(b"Type a line; the most similar earlier lines are shown.");
    app.console.fresh_input();
    let mut memories = Memories::new(header, app.machine.memory_len);
    if memories.capacity == 0 {
        app.console.say(b"[this model leaves no memory for earlier lines]", Style::Error);
    }
    let mut core = app.machine.accelerator();
    loop {
        let Some(key) = keys::next() else { continue };
        if key == Key::Help {
            app.console.note(b"  /reset forgets the lines, /model chooses another model, /quit leaves");
            continue;
        }
        if !app.console.key(key) {
            continue;
        }
        let mut text = [0u8; LINE_MAX];
        let entered = app.console.editor.line();
        let len = entered.len();
        text[..len].copy_from_slice(entered);
        app.console.fresh_input();
        let text = text[..len].trim_ascii();
        match command::parse(text) {
            Some(Ok(Command::Quit)) => return After::Leave,
            Some(Ok(Command::Model(_))) => return After::Menu,
            Some(Ok(Command::Reset)) => {
                memories.count = 0;
                app.console.note(b"[the lines are forgotten]");
            }
            Some(Ok(Command::Stats)) => {
                app.console.tell(Style::Note, b"[%n lines]", &[memories.count.min(memories.capacity)], &[]);
            }
            Some(Ok(Command::Core(word))) => {
                app.choose_core(word, header);
                core = app.machine.accelerator();
            }
            Some(_) => {
                app.console.note(b"  /reset, /stats, /model, /quit");
            }
            None if text.is_empty() => {}
            None => compare(app, header, &mut tables, &mut core, &mut memories, text),
        }
    }
}

#[inline(never)]
fn compare(
    app: &mut App,
    header: &Header,
    tables: &mut Tables<'_, Accelerator>,
    core: &mut Accelerator,
    memories: &mut Memories,
    text: &[u8],
) {
    app.console.say(text, Style::Typed);
    let watch = Stopwatch::start();
    if let Err(why) = embed(header, tables, core, text) {
        app.console.say(why.bytes(), Style::Error);
        return;
    }
    if memories.capacity == 0 {
        return;
    }
    // The new record overwrites the oldest, so it is compared with one fewer where the store is full.
    let own = memories.record(memories.count);
    if !store(core, header, memories, own, text) {
        app.console.say(b"[the vector is no row of numbers: the image is damaged]", Style::Error);
        return;
    }
    let kept = memories.count.min(memories.capacity - 1);
    let mut best = [(0.0f32, 0u32); BEST];
    let mut found = 0;
    let mut n = memories.count - kept;
    while n < memories.count {
        let similarity = memories.similarity(own, memories.record(n));
        let mut at = found;
        while at > 0 && best[at - 1].0 < similarity {
            at -= 1;
        }
        if at < BEST {
            let last = if found < BEST { found } else { BEST - 1 };
            best.copy_within(at..last, at + 1);
            best[at] = (similarity, n);
            if found < BEST {
                found += 1;
            }
        }
        n += 1;
    }
    if found == 0 {
        app.console.note(b"[stored; the next line is compared with it]");
    }
    for (similarity, n) in &best[..found] {
        let record = memories.record(*n);
        let mut text = [0; LINE_MAX];
        let len = usize::from(far::peek(record)).min(LINE_MAX);
        let _ = Far.read(record + 1, &mut text[..len]);
        app.console.tell(Style::Text, b"%c  %s", &[similarity.to_bits()], &[&text[..len]]);
    }
    memories.count += 1;
    let mut line = Line::new();
    line.put(b"%n lines | %t s", &[memories.count.min(memories.capacity), watch.milliseconds() / 100], &[]);
    app.console.status(line.bytes());
}

/// Normalises the vector and writes the record.
#[inline(never)]
fn store(core: &Accelerator, header: &Header, memories: &Memories, record: u32, text: &[u8]) -> bool {
    let mut squares = 0.0f32;
    let mut i = 0;
    while i < memories.dim {
        let Ok(bits) = core.read_u32(header.output + 4 * i) else { return false };
        let v = f32::from_bits(bits);
        squares += v * v;
        i += 1;
    }
    if !is_finite(squares.to_bits()) {
        return false;
    }
    let scale = if squares > 0.0 { rsqrt(squares) * ONE } else { 0.0 };
    let mut far = Far;
    i = 0;
    while i < memories.dim {
        let Ok(bits) = core.read_u32(header.output + 4 * i) else { return false };
        let q = to_i16(f32::from_bits(bits) * scale);
        let _ = far.write(record + TEXT_LEN + 2 * i, &q.to_le_bytes());
        i += 1;
    }
    far::poke(record, text.len() as u8);
    let _ = far.write(record + 1, text);
    true
}

/// Runs the encoder over a line.
#[inline(never)]
fn embed(
    header: &Header,
    tables: &mut Tables<'_, Accelerator>,
    core: &mut Accelerator,
    text: &[u8],
) -> Result<(), Line> {
    let mut line = Line::new();
    let mut count = 0u32;
    let mut too_long = false;
    let encoded = tokenize(tables, text, Place::First, &mut |id| {
        if count >= header.context {
            too_long = true;
            return Err(SinkFull);
        }
        core.write_u32(TOKENS + 4 * count, id).map_err(|_| SinkFull)?;
        count += 1;
        Ok(())
    });
    if too_long {
        line.put(b"[the line is too long: this model reads %n tokens]", &[header.context], &[]);
        return Err(line);
    }
    if encoded.is_err() {
        line.text(b"[the line could not be tokenized: the image is damaged; /model loads it again]");
        return Err(line);
    }
    let written = core.write_u32(runtime::PROMPT_LEN, count).and_then(|()| core.write_u32(runtime::STOP_REASON, 0));
    if written.is_err() {
        line.text(b"[the core's memory does not answer; /model loads the model again]");
        return Err(line);
    }
    core.go(header.code);
    let watch = Stopwatch::start();
    loop {
        match core.state() {
            CoreState::Idle => break,
            CoreState::Failed(code) => {
                line.put(b"[the core stopped with error %n; /model loads it again]", &[u32::from(code)], &[]);
                return Err(line);
            }
            CoreState::Busy => {
                let stop = keys::stop_pressed();
                if stop && core.part.is_some() {
                    line.text(b"[stopped]");
                    return Err(line);
                }
                if stop || (core.part.is_none() && watch.milliseconds() > PATIENCE) {
                    line.text(b"[the core is still busy: /model loads the model again]");
                    return Err(line);
                }
            }
        }
    }
    let reason = core.read_u32(runtime::STOP_REASON).ok().and_then(StopReason::from_word);
    if reason == Some(StopReason::Count) {
        return Ok(());
    }
    line.text(b"[the line is too long for this model]");
    Err(line)
}
