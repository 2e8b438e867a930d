//! Choosing a token from logits: repetition penalty, temperature, top-k (specification, section 9).
//!
//! Weights are exponentials in fixed point, so that the MEGA65 and the PC choose the same token from the same logits,
//! settings and random number. The probabilities agree with those of the specification (computed in F64) to 1e-6.

use core::fmt;

use crate::mem::{Fault, ReadMemory};
use crate::recent::Recent;
use crate::rng::Rng;

mod logits;
mod weight;

pub use logits::{Changed, Digit, Run, collect, digit};
use logits::{Cursor, Logits, Penalised, bits_at};
pub use weight::Weights;
use weight::high;

/// How tokens are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// 0 or less: the largest logit, nothing random.
    pub temperature: f32,
    /// How many of the largest logits stay in; 0: all.
    pub top_k: u32,
    /// Divides positive and multiplies negative logits of recent tokens; 1: off.
    pub penalty: f32,
}

impl Settings {
    /// What chat begins with.
    pub const CHAT: Self = Self { temperature: 0.8, top_k: 40, penalty: 1.15 };
    /// The largest logit, always.
    pub const GREEDY: Self = Self { temperature: 0.0, top_k: 40, penalty: 1.0 };

    /// Whether nothing random happens.
    #[must_use]
    pub fn is_greedy(&self) -> bool {
        // NaN must not reach the weights.
        self.temperature <= 0.0 || self.temperature.is_nan()
    }
}

/// A token that may be chosen. The caller lends the room for them: `top_k` candidates, better a few more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Candidate {
    /// The token.
    pub token: u32,
    /// Its logit as [`key_of`] gives it; once all are chosen, its weight.
    pub key: u32,
}

/// Why no token could be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleError {
    /// A logit that is infinite or not a number.
    NotFinite {
        /// The token whose logit it is.
        token: u32,
    },
    /// There are no logits, or no room for candidates.
    Empty,
    /// The logits lie outside the memory.
    Memory(Fault),
}

impl From<Fault> for SampleError {
    fn from(fault: Fault) -> Self {
        Self::Memory(fault)
    }
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { token } => write!(f, "the logit of token {token} is not a finite number"),
            Self::Empty => f.write_str("there are no logits to choose from"),
            Self::Memory(fault) => write!(f, "reading the logits: {fault}"),
        }
    }
}

impl core::error::Error for SampleError {}

/// Whether the bits are those of a finite F32.
#[must_use]
pub const fn is_finite(bits: u32) -> bool {
    bits & 0x7F80_0000 != 0x7F80_0000
}

const MINUS_INFINITY: u32 = 0xFF80_0000;

/// Maps F32 bits to words in the same order, so that logits compare as integers.
#[must_use]
pub const fn key_of(bits: u32) -> u32 {
    if bits & 0x8000_0000 != 0 { !bits } else { bits | 0x8000_0000 }
}

const fn bits_of(key: u32) -> u32 {
    if key & 0x8000_0000 != 0 { key & 0x7FFF_FFFF } else { !key }
}

/// What stays in after top-k.
enum Kept {
    /// The first `len` candidates, in order of their tokens.
    Few { len: usize },
    /// Every token whose key is at least this.
    From { key: u32 },
}

struct Chosen {
    kept: Kept,
    /// Bits of the largest logit.
    largest: u32,
}

/// So many candidates too many are quicker dropped than told apart beforehand, which takes longer the more logits there
/// are.
const fn spare(n: u32) -> u32 {
    let spare = 1 + n / 1024;
    if spare < 8 { spare } else { 8 }
}

fn keep<M: ReadMemory>(
    logits: &Logits<'_, M>,
    n: u32,
    top_k: u32,
    room: &mut [Candidate],
) -> Result<Chosen, SampleError> {
    if n == 0 {
        return Err(SampleError::Empty);
    }
    let k = if top_k == 0 || top_k >= n { n } else { top_k };
    let places = u32::try_from(room.len()).unwrap_or(u32::MAX);
    let room_left = places.saturating_sub(k);
    let spare = spare(n);
    let least = if k == n { 0 } else { logits.about_kth(k, if room_left < spare { room_left } else { spare }) };
    let mut at = Cursor::default();
    let len = logits.fill(least, &mut at, room)?;
    let mut largest = 0;
    for c in &room[..len] {
        largest = if c.key > largest { c.key } else { largest };
    }
    let mut fits = true;
    logits.each(least, at, |_, key| {
        fits = false;
        largest = if key > largest { key } else { largest };
        true
    })?;
    let kept = if fits {
        // No more than `places` were kept.
        Kept::Few { len: drop_smallest(&mut room[..len], k as usize) }
    } else {
        Kept::From { key: least }
    };
    Ok(Chosen { kept, largest: bits_of(largest) })
}

/// Drops the smallest candidates as long as `k` or more remain, equal ones together; returns how many do.
fn drop_smallest(room: &mut [Candidate], k: usize) -> usize {
    let mut len = room.len();
    while len > k {
        let (mut least, mut count) = (u32::MAX, 0);
        for c in &room[..len] {
            if c.key < least {
                least = c.key;
                count = 0;
            }
            count += usize::from(c.key == least);
        }
        if len - count < k {
            break;
        }
        let mut to = 0;
        for from in 0..len {
            if room[from].key != least {
                room[to] = room[from];
                to += 1;
            }
        }
        len = to;
    }
    len
}

/// Puts the weights of few candidates in the place of their keys; the sum of all weights.
fn weigh<M: ReadMemory>(
    logits: &Logits<'_, M>,
    chosen: &Chosen,
    scale: f32,
    room: &mut [Candidate],
) -> Result<u64, SampleError> {
    match chosen.kept {
        Kept::Few { len } => Ok(logits.memory().weigh(&Weights::new(chosen.largest, scale), &mut room[..len])),
        Kept::From { .. } => {
            let mut total = 0u64;
            weights(logits, chosen, scale, &[], |_, w| {
                total += u64::from(w);
                true
            })?;
            Ok(total)
        }
    }
}

/// Calls `visit` with each kept token and its weight, in order of the tokens, until it returns `false`; after [`weigh`].
fn weights<M: ReadMemory>(
    logits: &Logits<'_, M>,
    chosen: &Chosen,
    scale: f32,
    room: &[Candidate],
    mut visit: impl FnMut(u32, u32) -> bool,
) -> Result<(), SampleError> {
    match chosen.kept {
        Kept::Few { len } => {
            for c in &room[..len] {
                if !visit(c.token, c.key) {
                    break;
                }
            }
            Ok(())
        }
        Kept::From { key } => {
            let weights = Weights::new(chosen.largest, scale);
            logits.each(key, Cursor::default(), |token, key| {
                let mut one = [Candidate { token, key }];
                logits.memory().weigh(&weights, &mut one);
                visit(token, one[0].key)
            })
        }
    }
}

/// log2(e) / temperature: weights are powers of two.
fn scale_of(settings: &Settings) -> f32 {
    core::f32::consts::LOG2_E / settings.temperature
}

/// Chooses one of `n` tokens by the F32 logits at address `logits`; draws one random number.
///
/// `room` holds the candidates while choosing: with a few places more than `top_k` it is quickest, with fewer than that
/// the logits are read again instead.
/// With a greedy setting the largest logit wins, the lowest token among equals, and no number is drawn.
///
/// # Errors
/// [`SampleError`]: logits that are not finite, absent or unreadable.
pub fn sample<M: ReadMemory>(
    memory: &M,
    logits: u32,
    n: u32,
    settings: &Settings,
    recent: &Recent,
    rng: &mut Rng,
    room: &mut [Candidate],
) -> Result<u32, SampleError> {
    if settings.is_greedy() { argmax(memory, logits, n) } else { draw(memory, logits, n, settings, recent, rng, room) }
}

/// [`sample`] with settings that are not greedy.
///
/// # Errors
/// As [`sample`].
pub fn draw<M: ReadMemory>(
    memory: &M,
    logits: u32,
    n: u32,
    settings: &Settings,
    recent: &Recent,
    rng: &mut Rng,
    room: &mut [Candidate],
) -> Result<u32, SampleError> {
    let run = Run { address: logits, count: n };
    let staged = memory.stage(run);
    let run = staged.unwrap_or(run);
    let mut penalised = Penalised::new();
    let mut logits = Logits::new(memory, run);
    if settings.penalty != 1.0 {
        let changed = penalised.fill(memory, run, settings.penalty, recent.distinct())?;
        if staged.is_some() && changed.new.iter().all(|bits| is_finite(*bits)) {
            for (token, bits) in changed.tokens.iter().zip(changed.new) {
                memory.change(run.address + 4 * token, *bits);
            }
        } else {
            logits = logits.with(changed);
        }
    }
    let chosen = keep(&logits, n, settings.top_k, room)?;
    let scale = scale_of(settings);
    let total = weigh(&logits, &chosen, scale, room)?;
    let r = rng.next_u32();
    let upper = (total >> 32) as u32;
    let target = u64::from(upper) * u64::from(r) + u64::from(high(total as u32, r));
    let mut sum = 0u64;
    let mut result = 0;
    weights(&logits, &chosen, scale, room, |token, w| {
        sum += u64::from(w);
        result = token;
        sum <= target
    })?;
    Ok(result)
}

/// The token of the largest logit, the lowest among equals.
///
/// # Errors
/// As [`sample`].
pub fn argmax<M: ReadMemory>(memory: &M, logits: u32, n: u32) -> Result<u32, SampleError> {
    let (mut best, mut best_key, mut token) = (None, 0, 0);
    while token < n {
        let key = key_of(bits_at(memory, logits, token)?);
        if best.is_none() || key > best_key {
            best = Some(token);
            best_key = key;
        }
        token += 1;
    }
    best.ok_or(SampleError::Empty)
}

/// Whether all of `n` logits can be chosen from, as [`sample`] sees it: what the core's own choice does not show.
///
/// # Errors
/// The first that is not finite.
pub fn check<M: ReadMemory>(memory: &M, logits: u32, n: u32) -> Result<(), SampleError> {
    // No finite value is as large as infinity, so none is collected.
    let infinity = key_of(f32::INFINITY.to_bits());
    let (passed, _) = memory.collect(Run { address: logits, count: n }, 0, infinity, &mut [Candidate::default()]);
    if passed < n { Err(SampleError::NotFinite { token: passed }) } else { Ok(()) }
}

/// Probability of one token in percent, temperature and top-k applied but not the penalty.
///
/// # Errors
/// As [`sample`].
pub fn percent<M: ReadMemory>(
    memory: &M,
    logits: u32,
    n: u32,
    settings: &Settings,
    token: u32,
    room: &mut [Candidate],
) -> Result<u32, SampleError> {
    if settings.is_greedy() {
        return Ok(if argmax(memory, logits, n)? == token { 100 } else { 0 });
    }
    percent_drawn(memory, logits, n, settings, token, room)
}

/// [`percent`] with settings that are not greedy.
///
/// # Errors
/// As [`sample`].
pub fn percent_drawn<M: ReadMemory>(
    memory: &M,
    logits: u32,
    n: u32,
    settings: &Settings,
    token: u32,
    room: &mut [Candidate],
) -> Result<u32, SampleError> {
    let logits = Logits::new(memory, Run { address: logits, count: n });
    let chosen = keep(&logits, n, settings.top_k, room)?;
    let scale = scale_of(settings);
    let mut total = weigh(&logits, &chosen, scale, room)?;
    let mut own = 0u64;
    weights(&logits, &chosen, scale, room, |t, w| {
        if t == token {
            own = u64::from(w);
        }
        true
    })?;
    // Rounded to the nearest percent, with both sums brought below 2^25.
    while total >> 25 != 0 {
        total >>= 1;
        own >>= 1;
    }
    let (total, own) = (total as u32, own as u32);
    Ok((own * 100 + total / 2).checked_div(total).unwrap_or(0))
}

#[cfg(test)]
mod tests;
