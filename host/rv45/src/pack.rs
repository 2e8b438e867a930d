//! Compression of PRG files that are too large for BASIC to load.
//!
//! The stream alternates runs of literal bytes and copies of earlier output. Numbers are Elias-gamma
//! codes (for each bit below the leading one: 0, bit; then 1). After literals a bit chooses a copy
//! from the last offset (0) or a new one (1); after a copy, literals (0) or a copy from a new offset
//! (1). A new offset is a number (its upper byte plus 1; 256 ends the stream), a byte (its lower
//! byte), and the copy's length less 1; the offset counts from 1. Bits come from bytes that are
//! fetched when needed, most significant first, so bits and bytes are interleaved.

use std::collections::HashMap;

/// Farthest copy.
const WINDOW: usize = 0xFE00;
/// Earlier places that are tried for each position.
const TRIES: usize = 1000;
/// Longest copy that is considered at every length.
const LONGEST: usize = 2000;

fn gamma_bits(n: usize) -> u32 {
    2 * n.max(1).ilog2() + 1
}

#[derive(Clone, Copy)]
enum Step {
    Literals { count: usize },
    Repeat { count: usize },
    Copy { count: usize, offset: usize },
}

/// The cheapest known way to have encoded everything before a position.
#[derive(Clone, Copy)]
struct Path {
    bits: u32,
    offset: usize,
    /// The last step.
    step: Step,
    /// True when the path before the last step ended with literals.
    from_literals: bool,
}

/// Finds, for each length, the nearest earlier occurrence of what follows a position.
struct Finder {
    heads: HashMap<[u8; 2], usize>,
    previous: Vec<usize>,
}

impl Finder {
    fn new(len: usize) -> Finder {
        Finder { heads: HashMap::new(), previous: vec![usize::MAX; len] }
    }

    fn add(&mut self, data: &[u8], at: usize) {
        if let Some(&[a, b]) = data.get(at..at + 2) {
            self.previous[at] = self.heads.insert([a, b], at).unwrap_or(usize::MAX);
        }
    }

    /// Pairs of length and offset: each offset is the nearest for its lengths.
    fn matches(&self, data: &[u8], at: usize) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let Some(&[a, b]) = data.get(at..at + 2) else { return out };
        let mut candidate = self.heads.get(&[a, b]).copied().unwrap_or(usize::MAX);
        let mut best = 1;
        for _ in 0..TRIES {
            if candidate == usize::MAX || at - candidate > WINDOW {
                break;
            }
            let len = common(data, candidate, at);
            if len > best {
                out.push((len, at - candidate));
                best = len;
                if len >= LONGEST {
                    break;
                }
            }
            candidate = self.previous[candidate];
        }
        out
    }
}

fn common(data: &[u8], a: usize, b: usize) -> usize {
    data[a..].iter().zip(&data[b..]).take(LONGEST).take_while(|(x, y)| x == y).count()
}

/// Compresses `data`.
pub fn compress(data: &[u8]) -> Vec<u8> {
    if data.is_empty() {
        return Vec::new();
    }
    let (literal, matched) = search(data);
    encode(data, &trace(data.len(), &literal, &matched))
}

type Paths = Vec<Option<Path>>;

/// Cheapest paths that end with literals, and with a copy, at each position.
fn search(data: &[u8]) -> (Paths, Paths) {
    let n = data.len();
    let mut literal: Paths = vec![None; n + 1];
    let mut matched: Paths = vec![None; n + 1];
    let mut finder = Finder::new(n);
    // The stream begins with literals, without a choosing bit.
    literal[1] = Some(Path { bits: 9, offset: 1, step: Step::Literals { count: 1 }, from_literals: false });
    finder.add(data, 0);
    for at in 1..n {
        relax_literals(&mut literal, &matched, at);
        if let Some(path) = literal[at] {
            let len = if path.offset <= at { common(data, at - path.offset, at) } else { 0 };
            for count in 1..=len {
                let bits = path.bits + 1 + gamma_bits(count);
                let new = Path { bits, offset: path.offset, step: Step::Repeat { count }, from_literals: true };
                improve(&mut matched[at + count], new);
            }
        }
        let base = [(literal[at], true), (matched[at], false)];
        let best = base.into_iter().filter_map(|(p, l)| Some((p?.bits, l))).min();
        if let Some((bits, from_literals)) = best {
            let mut shorter = 1;
            for (len, offset) in finder.matches(data, at) {
                let head = bits + 1 + gamma_bits(((offset - 1) >> 8) + 1) + 8;
                for count in shorter + 1..=len {
                    let step = Step::Copy { count, offset };
                    let new = Path { bits: head + gamma_bits(count - 1), offset, step, from_literals };
                    improve(&mut matched[at + count], new);
                }
                shorter = len;
            }
        }
        finder.add(data, at);
    }
    (literal, matched)
}

fn relax_literals(literal: &mut Paths, matched: &Paths, at: usize) {
    if let Some(path) = literal[at]
        && let Step::Literals { count } = path.step
    {
        let bits = path.bits + 8 + gamma_bits(count + 1) - gamma_bits(count);
        let step = Step::Literals { count: count + 1 };
        improve(&mut literal[at + 1], Path { bits, step, ..path });
    }
    if let Some(path) = matched[at] {
        let step = Step::Literals { count: 1 };
        let new = Path { bits: path.bits + 1 + 1 + 8, offset: path.offset, step, from_literals: false };
        improve(&mut literal[at + 1], new);
    }
}

fn improve(slot: &mut Option<Path>, new: Path) {
    if slot.is_none_or(|old| new.bits < old.bits) {
        *slot = Some(new);
    }
}

/// The steps of the cheapest path, from the start.
fn trace(len: usize, literal: &Paths, matched: &Paths) -> Vec<Step> {
    let bits = |p: &Option<Path>| p.map_or(u32::MAX, |p| p.bits);
    let mut in_literals = bits(&literal[len]) <= bits(&matched[len]);
    let mut at = len;
    let mut steps = Vec::new();
    while at > 0 {
        let Some(path) = (if in_literals { literal[at] } else { matched[at] }) else { break };
        steps.push(path.step);
        let count = match path.step {
            Step::Literals { count } | Step::Repeat { count } | Step::Copy { count, .. } => count,
        };
        at -= count;
        // Before literals there is always a copy (or the start).
        in_literals = path.from_literals && !matches!(path.step, Step::Literals { .. });
    }
    steps.reverse();
    steps
}

/// Output with bits that fill bytes which were reserved when their first bit came.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    place: usize,
    mask: u8,
}

impl Writer {
    fn bit(&mut self, bit: bool) {
        if self.mask == 0 {
            self.place = self.bytes.len();
            self.bytes.push(0);
            self.mask = 0x80;
        }
        if bit {
            self.bytes[self.place] |= self.mask;
        }
        self.mask >>= 1;
    }

    fn gamma(&mut self, n: usize) {
        for shift in (0..n.ilog2()).rev() {
            self.bit(false);
            self.bit(n >> shift & 1 != 0);
        }
        self.bit(true);
    }
}

fn encode(data: &[u8], steps: &[Step]) -> Vec<u8> {
    let mut out = Writer::default();
    let mut at = 0;
    for step in steps {
        match *step {
            Step::Literals { count } => {
                if at > 0 {
                    out.bit(false);
                }
                out.gamma(count);
                out.bytes.extend_from_slice(&data[at..at + count]);
                at += count;
            }
            Step::Repeat { count } => {
                out.bit(false);
                out.gamma(count);
                at += count;
            }
            Step::Copy { count, offset } => {
                out.bit(true);
                out.gamma(((offset - 1) >> 8) + 1);
                out.bytes.push((offset - 1) as u8);
                out.gamma(count - 1);
                at += count;
            }
        }
    }
    out.bit(true);
    out.gamma(256);
    out.bytes
}

/// The inverse of [`compress`]; `None` for a damaged stream.
pub fn expand(packed: &[u8]) -> Option<Vec<u8>> {
    struct Source<'a> {
        bytes: std::slice::Iter<'a, u8>,
        bits: u16,
    }
    impl Source<'_> {
        fn byte(&mut self) -> Option<u8> {
            self.bytes.next().copied()
        }
        fn bit(&mut self) -> Option<bool> {
            // The lowest bit set marks the end of the byte.
            if self.bits & 0xFF == 0 {
                self.bits = u16::from(self.byte()?) << 1 | 1;
            } else {
                self.bits <<= 1;
            }
            let bit = self.bits & 0x100 != 0;
            self.bits &= 0xFF;
            if self.bits == 0 {
                return self.bit();
            }
            Some(bit)
        }
        fn gamma(&mut self) -> Option<usize> {
            let mut n = 1usize;
            while !self.bit()? {
                n = n << 1 | usize::from(self.bit()?);
                if n > 0xFF_FFFF {
                    return None;
                }
            }
            Some(n)
        }
    }
    let mut source = Source { bytes: packed.iter(), bits: 0 };
    let mut out: Vec<u8> = Vec::new();
    let mut offset = 1;
    let copy = |out: &mut Vec<u8>, offset: usize, count: usize| -> Option<()> {
        for _ in 0..count {
            out.push(*out.get(out.len().checked_sub(offset)?)?);
        }
        Some(())
    };
    loop {
        for _ in 0..source.gamma()? {
            out.push(source.byte()?);
        }
        let mut new = source.bit()?;
        if !new {
            let count = source.gamma()?;
            copy(&mut out, offset, count)?;
            new = source.bit()?;
        }
        while new {
            let upper = source.gamma()?;
            if upper == 256 {
                return Some(out);
            }
            offset = ((upper - 1) << 8 | usize::from(source.byte()?)) + 1;
            let count = source.gamma()? + 1;
            copy(&mut out, offset, count)?;
            new = source.bit()?;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_out_again(
            parts in prop::collection::vec((prop::collection::vec(0u8..6, 1..20), 1usize..40), 1..40)
        ) {
            let data: Vec<u8> = parts.iter().flat_map(|(p, n)| p.repeat(*n)).collect();
            prop_assert_eq!(expand(&compress(&data)).unwrap(), data);
        }

        #[test]
        fn random_bytes_too(data in prop::collection::vec(any::<u8>(), 1..600)) {
            prop_assert_eq!(expand(&compress(&data)).unwrap(), data);
        }

        #[test]
        fn damaged_streams_do_not_panic(data in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = expand(&data);
        }
    }
}
