//! What to do about a model that does not fit.

use std::fmt;

use ssnail_shared::map::{ADDRESS_END, MEMORY_BASE};

use crate::options::WeightPolicy;

/// Sizes that boards have, in binary megabytes.
pub const BOARD_MB: [u32; 3] = [8, 64, 72];

/// Binary megabytes up to the end of the address space.
const EMULATOR_MB: u32 = (ADDRESS_END - MEMORY_BASE) >> 20;

/// A model is too big for the memory, and what would fit.
#[derive(Clone, Debug, PartialEq)]
pub struct TooBig {
    /// Bytes needed with the policy that was asked for.
    pub needed: u64,
    /// Bytes there are.
    pub available: u64,
    /// The policy that was asked for.
    pub policy: WeightPolicy,
    /// Context of the attempt.
    pub ctx: u32,
    /// Bytes needed with each policy that auto tries, in that order.
    pub needs: Vec<(WeightPolicy, u64)>,
    /// Bytes needed with a context of 128 and Q4_0, where the context of the attempt is longer.
    pub short_context: Option<u64>,
}

impl TooBig {
    /// The policy that keeps most and fits into `mb` binary megabytes.
    pub fn fitting(&self, mb: u32) -> Option<WeightPolicy> {
        self.needs.iter().find(|(_, bytes)| *bytes <= u64::from(mb) << 20).map(|(policy, _)| *policy)
    }

    /// The smallest board that holds the model in some format, with the format that keeps most.
    pub fn board(&self) -> Option<(u32, WeightPolicy)> {
        BOARD_MB.iter().find_map(|&mb| Some((mb, self.fitting(mb)?)))
    }

    /// Instructions for the user; `stem` is the name of the model file without its ending.
    pub fn help(&self, stem: &str) -> String {
        let mut text = String::new();
        let here = self.needs.iter().find(|(_, bytes)| *bytes <= self.available);
        if let Some((policy, bytes)) = here {
            text.push_str(&format!("With --wtype {policy} (WTYPE={policy}) it fits: {} MB.\n", megabytes(*bytes)));
        }
        let mut larger = 0;
        for mb in BOARD_MB.into_iter().rev().filter(|&mb| u64::from(mb) << 20 > self.available) {
            if let Some(policy) = self.fitting(mb) {
                text.push_str(&format!(
                    "With {mb} MB and {policy}: make {stem}.{mb}mb.chat, ATTICRAM={mb}, or --mem-mb {mb} --wtype {policy}.\n"
                ));
                larger += 1;
            }
        }
        if here.is_none() && larger == 0 {
            text.push_str("It fits on no board in any format.\n");
            if let Some(policy) = self.fitting(EMULATOR_MB) {
                text.push_str(&format!(
                    "The emulator alone can run it: --emulator-only --mem-mb {EMULATOR_MB} --wtype {policy}.\n"
                ));
            }
        }
        match self.short_context {
            Some(bytes) => text.push_str(&format!(
                "A shorter context saves memory: CONTEXT_WINDOW=128, or --ctx 128 (q4_0 then needs {} MB).\n",
                megabytes(bytes)
            )),
            None => text.push_str("A shorter context saves memory: CONTEXT_WINDOW=N, or --ctx N.\n"),
        }
        text
    }
}

impl fmt::Display for TooBig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "too big: {} MB of memory are needed with {} and a context of {}, {} MB are there",
            megabytes(self.needed),
            self.policy,
            self.ctx,
            megabytes(self.available)
        )?;
        let smallest = self.needs.iter().min_by_key(|(_, bytes)| *bytes);
        if let Some((policy, bytes)) = smallest
            && *policy != self.policy
        {
            write!(f, "; with {policy} {} MB", megabytes(*bytes))?;
        }
        Ok(())
    }
}

/// Binary megabytes with one decimal, rounded up so that a printed need is never too small.
pub(crate) fn megabytes(bytes: u64) -> String {
    let tenths = (u128::from(bytes) * 10).div_ceil(1 << 20);
    format!("{}.{}", tenths / 10, tenths % 10)
}
