//! Addresses that depend on the position, and ranges of memory.

/// An operand's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Always the same.
    Fixed(u32),
    /// `base + position * step`.
    Row { base: u32, step: u32 },
    /// `base + token * step`.
    Token { base: u32, step: u32 },
}

impl Place {
    /// The place `offset` bytes further on.
    pub(super) fn plus(self, offset: u32) -> Option<Self> {
        Some(match self {
            Self::Fixed(base) => Self::Fixed(base.checked_add(offset)?),
            Self::Row { base, step } => Self::Row { base: base.checked_add(offset)?, step },
            Self::Token { base, step } => Self::Token { base: base.checked_add(offset)?, step },
        })
    }
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    start: u32,
    len: u64,
}

impl Region {
    pub(super) const fn new(start: u32, len: u64) -> Self {
        Self { start, len }
    }

    pub(super) const fn start(&self) -> u32 {
        self.start
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// First address behind it.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.start).saturating_add(self.len)
    }

    /// Whether they share a byte.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.len > 0 && other.len > 0 && u64::from(self.start) < other.end() && u64::from(other.start) < self.end()
    }

    /// Whether every byte is in one of the others.
    pub(super) fn inside_union(&self, others: &[Self]) -> bool {
        let mut at = u64::from(self.start);
        // Each round moves on through the range that covers `at`, or fails.
        while at < self.end() {
            match others.iter().filter(|o| u64::from(o.start) <= at && at < o.end()).map(Self::end).max() {
                Some(end) => at = end,
                None => return false,
            }
        }
        true
    }

    /// The smallest range around all of them; `None` for nothing.
    pub(super) fn around<'a>(regions: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let (start, end) = regions.fold((u32::MAX, 0), |(s, e), r| (s.min(r.start), e.max(r.end())));
        (u64::from(start) < end).then(|| Self::new(start, end - u64::from(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_must_cover_every_byte() {
        let r = |start, len| Region::new(start, len);
        assert!(r(10, 10).inside_union(&[r(15, 5), r(8, 7)]));
        assert!(!r(10, 10).inside_union(&[r(15, 5), r(8, 6)]));
        assert!(!r(10, 10).inside_union(&[r(8, 11)]));
        assert!(r(10, 0).inside_union(&[]));
        assert!(r(10, 2).meets(&r(11, 1)) && !r(10, 2).meets(&r(12, 1)) && !r(10, 0).meets(&r(9, 3)));
        assert_eq!(Region::around([r(5, 1), r(1, 2)].iter()), Some(r(1, 5)));
    }
}
