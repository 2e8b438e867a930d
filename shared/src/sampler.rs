//! Choosing a token from logits: repetition penalty, temperature, top-k (specification, section 9).
//!
//! Weights are exponentials in fixed point, so that the MEGA65 and the PC choose the same token from the same logits,
//! settings and random number. The probabilities agree with those of the specification (computed in F64) to 1e-6.

use core::fmt;

use crate::mem::{Fault, ReadMemory};
use crate::recent::Recent;
use crate::rng::Rng;

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

/// A token that may be chosen. The caller lends the room for them: `top_k` candidates, at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    token: u32,
    key: u32,
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

fn high(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// 2^(-i/16) as fractions of 2^32.
const POWERS: [u32; 16] = [
    0xFFFF_FFFF,
    0xF525_7D15,
    0xEAC0_C6E8,
    0xE0CC_DEEC,
    0xD744_FCCB,
    0xCE24_8C15,
    0xC567_2A11,
    0xBD08_A39F,
    0xB504_F334,
    0xAD58_3EEA,
    0xA5FE_D6AA,
    0x9EF5_3260,
    0x9837_F052,
    0x91C3_D373,
    0x8B95_C1E4,
    0x85AA_C368,
];

/// 2^-t as a fraction of 2^32, `t` with 27 fractional bits.
fn power(t: u32) -> u32 {
    const LN2: u32 = 0xB172_17F8;
    const THIRD: u32 = 0x5555_5555;
    let whole = t >> 27;
    let step = (t >> 23) & 15;
    // The rest is below 1/16: four terms of the exponential series leave an error below 2e-9.
    let y = high((t & 0x007F_FFFF) << 5, LN2);
    let s = u32::MAX - (y >> 2);
    let s = u32::MAX - high(high(y, s), THIRD);
    let s = u32::MAX - (high(y, s) >> 1);
    let s = u32::MAX - high(y, s);
    high(POWERS[step as usize], s) >> whole
}

/// A non-negative F32 with 27 fractional bits; `None` from 32 on (and for infinity).
fn fixed(value: f32) -> Option<u32> {
    let bits = value.to_bits();
    let exponent = bits >> 23;
    let mantissa = (bits & 0x007F_FFFF) | 0x0080_0000;
    if exponent >= 127 + 5 {
        return None;
    }
    // Value = mantissa * 2^(exponent - 150); 27 fractional bits shift it by exponent - 123.
    if exponent >= 123 {
        Some(mantissa << (exponent - 123))
    } else if exponent > 123 - 24 {
        Some(mantissa >> (123 - exponent))
    } else {
        Some(0)
    }
}

/// Weight of a logit relative to the largest one.
fn weight(largest: f32, key: u32, scale: f32) -> u32 {
    match fixed((largest - f32::from_bits(bits_of(key))) * scale) {
        Some(t) => power(t),
        None => 0,
    }
}

/// The logits with the penalty applied, as keys in order of their tokens.
struct Keys<'a, M> {
    memory: &'a M,
    logits: u32,
    penalty: f32,
    inverse: f32,
    recent: &'a [u32],
}

impl<M: ReadMemory> Keys<'_, M> {
    /// Calls `visit` with each token and its key; what it returns is the least key that it wants to see from then on.
    fn each(&self, n: u32, mut visit: impl FnMut(u32, u32) -> u32) -> Result<(), SampleError> {
        let mut least = 0;
        let mut recent = self.recent.iter().copied();
        let mut next = recent.next().unwrap_or(u32::MAX);
        let mut address = self.logits;
        let mut token = 0;
        while token < n {
            if least != 0 && token != next {
                let most = if next < n { next } else { n };
                let below = self.memory.below(address, most - token, least);
                token += below;
                address = address.wrapping_add(4 * below);
                if token >= n {
                    break;
                }
            }
            let bits = self.memory.read_u32(address)?;
            let mut key = key_of(bits);
            // Minus infinity rules a token out.
            if !is_finite(bits) && bits != MINUS_INFINITY {
                return Err(SampleError::NotFinite { token });
            }
            if token == next {
                let z = f32::from_bits(bits);
                let z = if z > 0.0 { z * self.inverse } else { z * self.penalty };
                key = key_of(z.to_bits());
                next = recent.next().unwrap_or(u32::MAX);
            }
            least = visit(token, key);
            address = address.wrapping_add(4);
            token += 1;
        }
        Ok(())
    }
}

/// The `k` largest keys, smallest first in the heap's root.
struct Heap<'a> {
    items: &'a mut [Candidate],
    len: usize,
    /// Key of the last candidate left out that equalled the smallest kept one.
    tie: Option<u32>,
}

/// Order of a heap: what stands above what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The smallest key at the root.
    SmallKey,
    /// The largest token at the root.
    LargeToken,
}

fn above(a: Candidate, b: Candidate, order: Order) -> bool {
    match order {
        Order::SmallKey => a.key < b.key,
        Order::LargeToken => a.token > b.token,
    }
}

/// Puts `c` at place `i` of a heap, or below it.
fn sift_down(items: &mut [Candidate], mut i: usize, c: Candidate, order: Order) {
    loop {
        let mut child = 2 * i + 1;
        if child >= items.len() {
            break;
        }
        if child + 1 < items.len() && above(items[child + 1], items[child], order) {
            child += 1;
        }
        if !above(items[child], c, order) {
            break;
        }
        items[i] = items[child];
        i = child;
    }
    items[i] = c;
}

/// Sorts by token. A heap sort: small, and the order is right in whatever order the keys left the candidates.
fn sort_by_token(items: &mut [Candidate]) {
    let mut i = items.len() / 2;
    while i > 0 {
        i -= 1;
        sift_down(items, i, items[i], Order::LargeToken);
    }
    let mut len = items.len();
    while len > 1 {
        len -= 1;
        let last = items[len];
        items[len] = items[0];
        sift_down(&mut items[..len], 0, last, Order::LargeToken);
    }
}

impl Heap<'_> {
    /// Takes a token; returns the least key that still matters.
    fn push(&mut self, token: u32, key: u32) -> u32 {
        self.put(token, key);
        if self.len < self.items.len() { 0 } else { self.items[0].key }
    }

    fn put(&mut self, token: u32, key: u32) {
        let c = Candidate { token, key };
        if self.len < self.items.len() {
            let mut i = self.len;
            self.len += 1;
            while i > 0 {
                let parent = (i - 1) / 2;
                if self.items[parent].key <= key {
                    break;
                }
                self.items[i] = self.items[parent];
                i = parent;
            }
            self.items[i] = c;
            return;
        }
        let smallest = self.items[0].key;
        if key <= smallest {
            if key == smallest {
                self.tie = Some(key);
            }
            return;
        }
        self.tie = Some(smallest);
        sift_down(self.items, 0, c, Order::SmallKey);
    }
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
    largest: f32,
}

fn keep<M: ReadMemory>(keys: &Keys<'_, M>, n: u32, top_k: u32, room: &mut [Candidate]) -> Result<Chosen, SampleError> {
    if n == 0 || room.is_empty() {
        return Err(SampleError::Empty);
    }
    let k = if top_k == 0 || top_k >= n { n } else { top_k };
    let fits = usize::try_from(k).is_ok_and(|k| k <= room.len());
    if !fits && k == n {
        let mut largest = 0;
        keys.each(n, |_, key| {
            largest = if key > largest { key } else { largest };
            largest
        })?;
        return Ok(Chosen { kept: Kept::From { key: 0 }, largest: f32::from_bits(bits_of(largest)) });
    }
    let k = if fits { k as usize } else { room.len() };
    let mut heap = Heap { items: &mut room[..k], len: 0, tie: None };
    keys.each(n, |token, key| heap.push(token, key))?;
    let smallest = heap.items[0].key;
    let tie = heap.tie == Some(smallest);
    let len = heap.len;
    let items = &mut heap.items[..len];
    let mut largest = 0;
    for c in items.iter() {
        largest = if c.key > largest { c.key } else { largest };
    }
    sort_by_token(items);
    let kept = if tie { Kept::From { key: smallest } } else { Kept::Few { len } };
    Ok(Chosen { kept, largest: f32::from_bits(bits_of(largest)) })
}

/// Calls `visit` with each kept token and its weight, in order of the tokens, until it returns `false`.
fn weights<M: ReadMemory>(
    keys: &Keys<'_, M>,
    n: u32,
    chosen: &Chosen,
    scale: f32,
    room: &[Candidate],
    mut visit: impl FnMut(u32, u32) -> bool,
) -> Result<(), SampleError> {
    match chosen.kept {
        Kept::Few { len } => {
            for c in &room[..len] {
                if !visit(c.token, weight(chosen.largest, c.key, scale)) {
                    break;
                }
            }
            Ok(())
        }
        Kept::From { key: from } => {
            let mut on = true;
            keys.each(n, |token, key| {
                if on && key >= from {
                    on = visit(token, weight(chosen.largest, key, scale));
                }
                from
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
/// `room` holds the candidates while choosing; with fewer than `top_k` places the choice is among as many as there are.
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
    if settings.is_greedy() {
        return argmax(memory, logits, n);
    }
    let keys = Keys {
        memory,
        logits,
        penalty: settings.penalty,
        inverse: 1.0 / settings.penalty,
        recent: if settings.penalty == 1.0 { &[] } else { recent.distinct() },
    };
    let chosen = keep(&keys, n, settings.top_k, room)?;
    let scale = scale_of(settings);
    let mut total = 0u64;
    weights(&keys, n, &chosen, scale, room, |_, w| {
        total += u64::from(w);
        true
    })?;
    let r = rng.next_u32();
    let upper = (total >> 32) as u32;
    let target = u64::from(upper) * u64::from(r) + u64::from(high(total as u32, r));
    let mut sum = 0u64;
    let mut result = 0;
    weights(&keys, n, &chosen, scale, room, |token, w| {
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
    let keys = Keys { memory, logits, penalty: 1.0, inverse: 1.0, recent: &[] };
    let (mut best, mut best_key) = (None, 0);
    keys.each(n, |token, key| {
        if best.is_none() || key > best_key {
            best = Some(token);
            best_key = key;
        }
        best_key
    })?;
    best.ok_or(SampleError::Empty)
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
    let keys = Keys { memory, logits, penalty: 1.0, inverse: 1.0, recent: &[] };
    let chosen = keep(&keys, n, settings.top_k, room)?;
    let (mut total, mut own) = (0u64, 0u64);
    weights(&keys, n, &chosen, scale_of(settings), room, |t, w| {
        total += u64::from(w);
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
