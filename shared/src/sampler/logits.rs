//! Logits as keys that compare as integers, the penalty applied; which of them are the largest.

use super::{Candidate, MINUS_INFINITY, SampleError, is_finite, key_of};
use crate::mem::ReadMemory;
use crate::recent::WINDOW;

/// Recent tokens, ascending: their logits' bits, and those that the penalty makes of them.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    /// The tokens.
    pub tokens: &'a [u32],
    /// Bits of their logits, as many.
    pub bits: &'a [u32],
    /// Bits of what counts instead, as many.
    pub new: &'a [u32],
}

/// F32 from an address on.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Address of the first.
    pub address: u32,
    /// How many there are.
    pub count: u32,
}

/// A byte of the k-th largest key ([`ReadMemory::digit`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The byte of the key.
    pub key: u8,
    /// The byte of the F32's bits that it stands for.
    pub bits: u8,
    /// How many have it behind the same first bytes.
    pub inside: u32,
    /// How many of these are among the `k` largest.
    pub need: u32,
}

/// Whether the first `level` bytes of a word, the highest first, are those of `prefix`.
const fn has_prefix(word: u32, prefix: u32, level: u32) -> bool {
    level == 0 || (word ^ prefix) >> (32 - 8 * level) == 0
}

const fn byte_at(word: u32, level: u32) -> usize {
    word.to_be_bytes()[(level & 3) as usize] as usize
}

/// [`ReadMemory::digit`] as it is for memory that knows no faster way.
pub fn digit<M: ReadMemory + ?Sized>(
    memory: &M,
    run: Run,
    changed: &Changed<'_>,
    prefix: u32,
    level: u32,
    need: u32,
) -> Digit {
    let mut counts = [0u32; 256];
    let mut i = 0;
    while i < run.count {
        let word = memory.word(run.address.wrapping_add(4 * i));
        if let Some(bits) = word.filter(|&bits| has_prefix(bits, prefix, level)) {
            counts[byte_at(bits, level)] += 1;
        }
        i += 1;
    }
    for (&bits, &new) in changed.bits.iter().zip(changed.new) {
        if has_prefix(bits, prefix, level) {
            let count = &mut counts[byte_at(bits, level)];
            *count = count.wrapping_sub(1);
        }
        if has_prefix(new, prefix, level) {
            let count = &mut counts[byte_at(new, level)];
            *count = count.wrapping_add(1);
        }
    }
    // From the largest key down: bytes of positive values as they are, those of negative ones backwards.
    let (mut need, mut key) = (need, 255u8);
    loop {
        let negative = if level == 0 { key < 0x80 } else { prefix & 0x8000_0000 != 0 };
        let bits = match (negative, level) {
            (true, _) => !key,
            (false, 0) => key ^ 0x80,
            _ => key,
        };
        let inside = counts[usize::from(bits)];
        if inside >= need || key == 0 {
            return Digit { key, bits, inside, need };
        }
        need -= inside;
        key -= 1;
    }
}

/// [`ReadMemory::collect`] as it is for memory that knows no faster way.
pub fn collect<M: ReadMemory + ?Sized>(
    memory: &M,
    run: Run,
    first: u32,
    least: u32,
    room: &mut [Candidate],
) -> (u32, usize) {
    let (mut i, mut len) = (0, 0);
    while i < run.count && len < room.len() {
        let Some(bits) = memory.word(run.address.wrapping_add(4 * i)) else { break };
        if !is_finite(bits) && bits != MINUS_INFINITY {
            break;
        }
        let key = key_of(bits);
        if key >= least {
            room[len] = Candidate { token: first + i, key };
            len += 1;
        }
        i += 1;
    }
    (i, len)
}

/// Room for what the penalty changes.
pub(super) struct Penalised {
    bits: [u32; WINDOW],
    new: [u32; WINDOW],
}

impl Penalised {
    pub(super) const fn new() -> Self {
        Self { bits: [0; WINDOW], new: [0; WINDOW] }
    }

    /// Applies the penalty to the tokens of `recent`, which are distinct and ascending.
    pub(super) fn fill<'a, M: ReadMemory>(
        &'a mut self,
        memory: &M,
        run: Run,
        penalty: f32,
        recent: &'a [u32],
    ) -> Result<Changed<'a>, SampleError> {
        let inverse = 1.0 / penalty;
        let mut len = 0;
        for (&token, (bits, new)) in recent.iter().zip(self.bits.iter_mut().zip(&mut self.new)) {
            if token >= run.count {
                break;
            }
            *bits = bits_at(memory, run.address, token)?;
            let factor = if *bits & 0x8000_0000 == 0 { inverse } else { penalty };
            *new = (f32::from_bits(*bits) * factor).to_bits();
            len += 1;
        }
        Ok(Changed { tokens: &recent[..len], bits: &self.bits[..len], new: &self.new[..len] })
    }
}

/// The bits of a token's logit. Minus infinity rules a token out and is no fault.
pub(super) fn bits_at<M: ReadMemory>(memory: &M, address: u32, token: u32) -> Result<u32, SampleError> {
    let at = address.wrapping_add(token.wrapping_mul(4));
    let bits = match memory.word(at) {
        Some(bits) => bits,
        None => memory.read_u32(at)?,
    };
    if !is_finite(bits) && bits != MINUS_INFINITY {
        return Err(SampleError::NotFinite { token });
    }
    Ok(bits)
}

/// Where a walk over the logits stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    token: u32,
    /// Changed tokens that have been passed.
    changed: usize,
}

/// The logits that one token is chosen from.
pub(super) struct Logits<'a, M> {
    memory: &'a M,
    run: Run,
    changed: Changed<'a>,
}

impl<'a, M: ReadMemory> Logits<'a, M> {
    pub(super) const fn new(memory: &'a M, run: Run) -> Self {
        Self { memory, run, changed: Changed { tokens: &[], bits: &[], new: &[] } }
    }

    pub(super) const fn memory(&self) -> &'a M {
        self.memory
    }

    pub(super) const fn with(self, changed: Changed<'a>) -> Self {
        Self { changed, ..self }
    }

    /// Puts the next tokens with a key of at least `least` into `room`, in order; how many there were. Fewer than `room`
    /// holds: there are no more.
    pub(super) fn fill(&self, least: u32, at: &mut Cursor, room: &mut [Candidate]) -> Result<usize, SampleError> {
        let mut len = 0;
        while len < room.len() {
            // A changed token matters where it was or has become large enough.
            let (bits, new) = (self.changed.bits, self.changed.new);
            while at.changed < bits.len() && key_of(new[at.changed]) < least && key_of(bits[at.changed]) < least {
                at.changed += 1;
            }
            let next = self.changed.tokens.get(at.changed).copied();
            let end = next.unwrap_or(self.run.count);
            if at.token < end {
                let address = self.run.address.wrapping_add(at.token.wrapping_mul(4));
                let run = Run { address, count: end - at.token };
                let (passed, stored) = self.memory.collect(run, at.token, least, &mut room[len..]);
                at.token += passed;
                len += stored;
                if at.token < end {
                    if len < room.len() {
                        bits_at(self.memory, self.run.address, at.token)?;
                        return Err(SampleError::NotFinite { token: at.token });
                    }
                    break;
                }
            }
            let Some(token) = next else { break };
            if let Some(place) = room.get_mut(len) {
                let key = key_of(new[at.changed]);
                if key >= least {
                    *place = Candidate { token, key };
                    len += 1;
                }
                at.token = token + 1;
                at.changed += 1;
            }
        }
        Ok(len)
    }

    /// Calls `visit` with each token from `at` on whose key is at least `least`, in order, until it returns `false`.
    pub(super) fn each(
        &self,
        least: u32,
        mut at: Cursor,
        mut visit: impl FnMut(u32, u32) -> bool,
    ) -> Result<(), SampleError> {
        let mut few = [Candidate::default(); 8];
        while at.token < self.run.count {
            let len = self.fill(least, &mut at, &mut few)?;
            for c in &few[..len] {
                if !visit(c.token, c.key) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// A key that at least `k` tokens have or exceed, and at most `spare` more than `k`; where more are equal to the
    /// `k`-th, that key.
    pub(super) fn about_kth(&self, k: u32, spare: u32) -> u32 {
        let (mut prefix, mut key, mut need, mut level) = (0, 0, k, 0);
        while level < 4 {
            let digit = self.memory.digit(self.run, &self.changed, prefix, level, need);
            let shift = 24 - 8 * level;
            prefix |= u32::from(digit.bits) << shift;
            key |= u32::from(digit.key) << shift;
            need = digit.need;
            if digit.inside <= need + spare {
                break;
            }
            level += 1;
        }
        key
    }
}
