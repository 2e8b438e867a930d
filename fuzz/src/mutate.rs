//! A small mutator with a seed: the same mutations in every run, on every machine.

/// xorshift64*, enough to choose places and values.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; every seed gives another sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub const fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    /// Less than `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { self.word() as usize % n }
    }
}

/// Numbers at which lengths, addresses and counts turn: zero, signs, 16, 28 and 32 bits, the memory's own places.
const TURNS: [u32; 20] = [
    0,
    1,
    2,
    31,
    32,
    33,
    0x7F,
    0xFF,
    0xFFFF,
    0x1_0000,
    0x0800_0000,
    0x0800_1000,
    0x0800_5000,
    0x0FFF_FFFF,
    0x1000_0000,
    0x3FFF_FFFF,
    0x4000_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    u32::MAX,
];

/// Longest input that growing mutations make.
const LONGEST: usize = 1 << 20;

/// Changes `data` in one to four places; `other` lends pieces.
pub fn mutate(data: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(data.len());
        match random.below(10) {
            0 => flip(data, at, random),
            1 => put(data, at, &[random.word() as u8]),
            2 => put(data, at & !3, &TURNS[random.below(TURNS.len())].to_le_bytes()),
            3 => put(data, at, &random.word().to_le_bytes()),
            4 => add(data, at & !3, random),
            5 => put(
                data,
                at & !7,
                &(u64::from(TURNS[random.below(TURNS.len())]) << (8 * random.below(5))).to_le_bytes(),
            ),
            6 => data.truncate(at),
            7 => {
                let end = (at + 1 + random.below(24)).min(data.len());
                data.drain(at..end);
            }
            8 if data.len() < LONGEST => {
                let end = (at + 1 + random.below(64)).min(data.len());
                let piece = data[at..end].to_vec();
                data.splice(at..at, piece);
            }
            _ if !other.is_empty() => {
                let from = random.below(other.len());
                let end = (from + 1 + random.below(64)).min(other.len());
                put(data, at, &other[from..end]);
            }
            _ => flip(data, at, random),
        }
    }
}

fn flip(data: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = data.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn put(data: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in data.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

fn add(data: &mut [u8], at: usize, random: &mut Random) {
    if let Some(word) = data.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>) {
        *word = u32::from_le_bytes(*word).wrapping_add(random.word() % 9).wrapping_sub(4).to_le_bytes();
    }
}
