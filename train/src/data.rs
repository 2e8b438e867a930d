//! Stories as tokens.

use crate::net::Batch;
use crate::story::template::TemplateError;
use crate::story::{Split, story};
use crate::vocab::{BOS, EOS, Vocab};
use rayon::prelude::*;
use std::collections::HashMap;

/// Encoded stories, one after the other.
#[derive(Debug, Default)]
pub struct Stories {
    tokens: Vec<u16>,
    ends: Vec<usize>,
}

impl Stories {
    /// Encodes stories `0..count` of a seed; a story longer than `ctx − 1` tokens is left out.
    ///
    /// # Errors
    /// [`TemplateError`] when the grammar is wrong.
    pub fn encode(vocab: &Vocab, seed: u64, split: Split, count: u64, ctx: usize) -> Result<Self, TemplateError> {
        let starts: Vec<u64> = (0..count).step_by(2000).collect();
        let parts: Vec<Stories> = starts
            .into_par_iter()
            .map(|start| Stories::part(vocab, seed, split, start..count.min(start + 2000), ctx))
            .collect::<Result<_, _>>()?;
        let mut out = Stories::default();
        for part in parts {
            let base = out.tokens.len();
            out.tokens.extend(part.tokens);
            out.ends.extend(part.ends.iter().map(|e| e + base));
        }
        Ok(out)
    }

    fn part(
        vocab: &Vocab,
        seed: u64,
        split: Split,
        range: std::ops::Range<u64>,
        ctx: usize,
    ) -> Result<Self, TemplateError> {
        let mut known: HashMap<String, Vec<u32>> = HashMap::new();
        let mut out = Stories::default();
        for index in range {
            let line = story(seed, split, index)?.line();
            let start = out.tokens.len();
            out.tokens.push(BOS as u16);
            for word in line.split(' ') {
                if !known.contains_key(word) {
                    known.insert(word.to_owned(), vocab.encode(word));
                }
                if let Some(ids) = known.get(word) {
                    out.tokens.extend(ids.iter().map(|i| *i as u16));
                }
            }
            out.tokens.push(EOS as u16);
            if out.tokens.len() - start > ctx {
                out.tokens.truncate(start);
            } else {
                out.ends.push(out.tokens.len());
            }
        }
        Ok(out)
    }

    /// Number of stories.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no story.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All tokens together.
    pub fn total_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Tokens of story `i`, BOS and EOS included; empty past the end.
    pub fn get(&self, i: usize) -> &[u16] {
        let Some(end) = self.ends.get(i) else { return &[] };
        let start = i.checked_sub(1).and_then(|j| self.ends.get(j)).copied().unwrap_or(0);
        self.tokens.get(start..*end).unwrap_or(&[])
    }

    /// Puts stories into a batch.
    pub fn batch(&self, stories: impl Iterator<Item = usize>) -> Batch {
        let mut b = Batch::default();
        for i in stories {
            let s = self.get(i);
            if let ([head @ .., _], [_, tail @ ..]) = (s, s) {
                b.tokens.extend(head.iter().map(|t| u32::from(*t)));
                b.targets.extend(tail.iter().map(|t| u32::from(*t)));
                b.lengths.push(head.len());
            }
        }
        b
    }

    /// The story that is number `i` of the endless training order: every pass takes all of them in another order.
    pub fn nth(&self, i: u64) -> usize {
        let n = self.len().max(1) as u64;
        let (pass, at) = (i / n, i % n);
        let mut step = (n as f64 * 0.618) as u64 + pass * 2 + 1;
        while gcd(step, n) != 1 {
            step += 1;
        }
        ((u128::from(at) * u128::from(step) + u128::from(pass)) % u128::from(n)) as usize
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
