//! The last tokens of the context, for the repetition penalty.

/// Tokens that the penalty looks back over.
pub const WINDOW: usize = 64;

/// The last [`WINDOW`] tokens, and the distinct ones among them in ascending order.
#[derive(Clone, Debug)]
pub struct Recent {
    ring: [u32; WINDOW],
    head: u8,
    len: u8,
    distinct: [u32; WINDOW],
    counts: [u8; WINDOW],
    distinct_len: u8,
}

impl Default for Recent {
    fn default() -> Self {
        Self::new()
    }
}

impl Recent {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { ring: [0; WINDOW], head: 0, len: 0, distinct: [0; WINDOW], counts: [0; WINDOW], distinct_len: 0 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
        self.distinct_len = 0;
    }

    /// Adds the next token of the context; the oldest leaves a full window.
    pub fn push(&mut self, token: u32) {
        let at = usize::from(self.head);
        if usize::from(self.len) == WINDOW {
            self.forget(self.ring[at]);
        } else {
            self.len += 1;
        }
        self.ring[at] = token;
        self.head = ((at + 1) % WINDOW) as u8;
        let n = usize::from(self.distinct_len);
        match self.distinct[..n].binary_search(&token) {
            Ok(i) => self.counts[i] += 1,
            Err(i) => {
                self.distinct.copy_within(i..n, i + 1);
                self.counts.copy_within(i..n, i + 1);
                self.distinct[i] = token;
                self.counts[i] = 1;
                self.distinct_len += 1;
            }
        }
    }

    fn forget(&mut self, token: u32) {
        let n = usize::from(self.distinct_len);
        if let Ok(i) = self.distinct[..n].binary_search(&token) {
            self.counts[i] -= 1;
            if self.counts[i] == 0 {
                self.distinct.copy_within(i + 1..n, i);
                self.counts.copy_within(i + 1..n, i);
                self.distinct_len -= 1;
            }
        }
    }

    /// The distinct tokens of the window, ascending.
    #[must_use]
    pub fn distinct(&self) -> &[u32] {
        &self.distinct[..usize::from(self.distinct_len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::rng::Rng;

    #[test]
    fn distinct_tokens_are_those_of_the_last_64() {
        let mut rng = Rng::new(5);
        let (mut all, mut recent) = (Vec::new(), Recent::new());
        for _ in 0..WINDOW + cases(1000) as usize {
            let token = rng.next_u32() % 50;
            all.push(token);
            recent.push(token);
            let mut want = all[all.len().saturating_sub(WINDOW)..].to_vec();
            want.sort_unstable();
            want.dedup();
            assert_eq!(recent.distinct(), want);
        }
    }
}
