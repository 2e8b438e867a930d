//! What a run has moved.

/// Counters since the machine was made or [`Stats::default`] was assigned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instructions begun, the faulting one included.
    pub instructions: u64,
    /// Bytes read from memory, 16 per instruction fetched.
    pub bytes_read: u64,
    /// Bytes written to memory.
    pub bytes_written: u64,
}

impl Stats {
    /// Bytes moved in both directions.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    /// The counters of a later moment less these.
    #[must_use]
    pub const fn until(&self, later: &Self) -> Self {
        Self {
            instructions: later.instructions - self.instructions,
            bytes_read: later.bytes_read - self.bytes_read,
            bytes_written: later.bytes_written - self.bytes_written,
        }
    }

    /// Estimate of a decoder's speed on the core: `bandwidth` in 1e6 bytes per second over the bytes per token, where
    /// `tokens` counts prompt and generated ones (spec section 9). `None` before anything has moved.
    #[must_use]
    pub fn tokens_per_second(&self, bandwidth: f64, tokens: u64) -> Option<f64> {
        let per_token = self.bytes() as f64 / 1e6 / tokens as f64;
        (tokens > 0 && per_token > 0.0).then(|| bandwidth / per_token)
    }

    /// Estimate of an encoder's time on the core in milliseconds, `bandwidth` in 1e6 bytes per second.
    #[must_use]
    pub fn milliseconds(&self, bandwidth: f64) -> f64 {
        self.bytes() as f64 / 1e6 / bandwidth * 1000.0
    }
}
