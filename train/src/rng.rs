//! The one random source of text, initial weights, order of training and sampling: SplitMix64.

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, so a run can be resumed by writing one number.
#[derive(Clone, Debug)]
pub struct Rng {
    /// The whole state; equal states give equal sequences.
    pub state: u64,
}

impl Rng {
    /// A generator for one purpose: `stream` keeps purposes with the same seed apart.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut r = Rng { state: seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95) };
        r.next_u64();
        r.state ^= stream.rotate_left(32);
        r.next_u64();
        r
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`; `n` = 0 gives 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Uniform in `[0, 1)` with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Standard normal (Box-Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let u = 1.0 - self.unit();
        let v = self.unit();
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// One element, uniformly; `None` of an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let i = self.below(items.len());
        items.get(i)
    }
}
