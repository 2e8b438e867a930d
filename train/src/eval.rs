//! Measuring a model by its stories: the figures of the model card.

use crate::story::words::{FRIENDS, HEROES};
use crate::story::{Split, story};
use crate::teller::Teller;
use crate::vocab::{BOS, Vocab};
use anyhow::Result;
use rayon::prelude::*;
use ssnail_shared::sampler::Settings;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest run of words of the training text that does not count as copied.
pub const RUN: usize = 20;

/// What is known of the training text: its words and its runs of [`RUN`] + 1 words.
#[derive(Debug)]
pub struct Known {
    words: HashSet<String>,
    /// Sorted hashes.
    runs: Vec<u64>,
}

/// Letters of a word, in lower case: "Don't," gives "don't".
fn form(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase()
}

fn hash_run(run: &[&str]) -> u64 {
    let mut h = DefaultHasher::new();
    run.hash(&mut h);
    h.finish()
}

impl Known {
    /// Regenerates the training text.
    ///
    /// # Errors
    /// When the grammar is wrong.
    pub fn of(seed: u64, stories: u64) -> Result<Self> {
        let starts: Vec<u64> = (0..stories).step_by(2000).collect();
        let parts: Vec<(HashSet<String>, Vec<u64>)> = starts
            .into_par_iter()
            .map(|start| {
                let (mut words, mut runs) = (HashSet::new(), Vec::new());
                for i in start..stories.min(start + 2000) {
                    let line = story(seed, Split::Train, i)?.line();
                    let list: Vec<&str> = line.split(' ').collect();
                    for w in &list {
                        words.insert(form(w));
                    }
                    runs.extend(list.windows(RUN + 1).map(hash_run));
                }
                Ok((words, runs))
            })
            .collect::<Result<_>>()?;
        let mut known = Known { words: HashSet::new(), runs: Vec::new() };
        for (words, runs) in parts {
            known.words.extend(words);
            known.runs.extend(runs);
        }
        known.runs.sort_unstable();
        known.runs.dedup();
        Ok(known)
    }

    /// Number of different word forms.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Words of a text that the training text does not have.
    pub fn unknown<'a>(&self, text: &'a str) -> Vec<&'a str> {
        text.split_whitespace().filter(|w| !form(w).is_empty() && !self.words.contains(&form(w))).collect()
    }

    /// Whether more than [`RUN`] words in a row stand in the training text.
    pub fn copied(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(RUN + 1).any(|r| self.runs.binary_search(&hash_run(r)).is_ok())
    }
}

fn sentences(text: &str) -> Vec<&str> {
    text.split_inclusive(['.', '!', '?'])
        .map(|s| s.trim_matches([' ', '"']))
        .filter(|s| s.split(' ').count() >= 4)
        .collect()
}

/// Whether a sentence of four or more words occurs twice.
pub fn repeats(text: &str) -> bool {
    let all = sentences(text);
    all.iter().collect::<HashSet<_>>().len() < all.len()
}

/// Those of `names` that occur in a text, in order of first appearance.
fn names_in(text: &str, names: &[(&'static str, bool)]) -> Vec<&'static str> {
    let words: Vec<String> = text.split_whitespace().map(form).collect();
    let at = |name: &str| {
        let name = name.to_ascii_lowercase();
        words.iter().position(|w| w.strip_suffix("'s").unwrap_or(w) == name)
    };
    let mut found: Vec<(usize, &str)> = names.iter().filter_map(|n| Some((at(n.0)?, n.0))).collect();
    found.sort_unstable();
    found.into_iter().map(|f| f.1).collect()
}

/// Whether no more than two friends have names: the grammar tells of two at most, so a third is a slip.
pub fn keeps_friends(text: &str) -> bool {
    names_in(text, &FRIENDS).len() <= 2
}

/// Whether the story has exactly one hero from its first to its last third.
pub fn keeps_hero(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let last = words.get(words.len() * 2 / 3..).unwrap_or(&[]).join(" ");
    let all = names_in(text, &HEROES);
    all.len() == 1 && names_in(&last, &HEROES) == all
}

/// Shares of stories, each 0 to 1.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Stories told.
    pub count: usize,
    /// Ended by themselves within the context.
    pub ended: f64,
    /// Kept the hero's name.
    pub kept: f64,
    /// Name no more than two friends.
    pub friends: f64,
    /// Contain a word the training text does not have.
    pub unknown: f64,
    /// Repeat a sentence.
    pub repeated: f64,
    /// Contain a run of more than [`RUN`] words of the training text.
    pub copied: f64,
    /// Greedy stories that do not end or repeat a sentence.
    pub loops: f64,
    /// Some stories, to read.
    pub examples: Vec<String>,
    /// All unknown words.
    pub strange: Vec<String>,
}

/// The beginning of story `i`: nothing, "Tell me about …", a first sentence, or "Once upon a time", all from
/// held-out combinations; without `empty` never nothing, so that greedy stories differ.
pub fn prompt(seed: u64, i: u64, empty: bool) -> Result<String> {
    let s = story(seed, Split::HeldOut, 1_000_000 + i)?;
    let first = s.text.split_inclusive(". ").next().unwrap_or("").trim_end().to_owned();
    Ok(match i % 4 {
        0 if empty => String::new(),
        1 if !s.prompt.is_empty() => s.prompt,
        1 => format!("Tell me about {}.", s.hero),
        2 if empty => "Once upon a time".to_owned(),
        _ => first,
    })
}

/// How many stories to tell.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// With the chat's first settings.
    pub sampled: usize,
    /// Greedily.
    pub greedy: usize,
}

/// Makes one teller per story, so that stories can be told side by side.
pub type MakeTeller<'a> = dyn Fn() -> Result<Box<dyn Teller + 'a>> + Sync + 'a;

/// Tells stories from the prompts of [`prompt`] and looks at them.
///
/// # Errors
/// What the tellers report.
pub fn measure(make: &MakeTeller<'_>, vocab: &Vocab, known: &Known, seed: u64, amount: Amount) -> Result<Report> {
    let tell = |i: usize, how: Settings| -> Result<(String, bool)> {
        let text = prompt(seed, i as u64, !how.is_greedy())?;
        let mut ids = vec![BOS];
        if !text.is_empty() {
            ids.extend(vocab.encode(&text));
        }
        let (new, ended) = make()?.tell(&ids, &how, i as u32)?;
        ids.extend(new);
        Ok((vocab.decode(&ids), ended))
    };
    let tell_all = |n: usize, how| (0..n).into_par_iter().map(|i| tell(i, how)).collect::<Result<Vec<_>>>();
    let stories = tell_all(amount.sampled, Settings::CHAT)?;
    let flat = tell_all(amount.greedy, Settings::GREEDY)?;
    let share = |f: &dyn Fn(&(String, bool)) -> bool, of: &[(String, bool)]| {
        of.iter().filter(|s| f(s)).count() as f64 / of.len().max(1) as f64
    };
    Ok(Report {
        count: amount.sampled,
        ended: share(&|s| s.1, &stories),
        kept: share(&|s| keeps_hero(&s.0), &stories),
        friends: share(&|s| keeps_friends(&s.0), &stories),
        unknown: share(&|s| !known.unknown(&s.0).is_empty(), &stories),
        repeated: share(&|s| repeats(&s.0), &stories),
        copied: share(&|s| known.copied(&s.0), &stories),
        loops: share(&|s| !s.1 || repeats(&s.0), &flat),
        examples: stories.iter().chain(&flat).map(|s| s.0.clone()).collect(),
        strange: stories.iter().flat_map(|s| known.unknown(&s.0)).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measures_see_what_they_should() {
        assert!(keeps_hero("Tilly was a snail. She met a bee. Then Tilly went home."));
        assert!(!keeps_hero("Tilly was a snail. She met a bee. Then Molly went home."));
        assert!(!keeps_hero("Tilly was a snail. She met a bee and a worm. Then he went home."));
        assert!(keeps_friends("Lulu met Pip. Pip met Lulu.") && !keeps_friends("Lulu met Pip. Gus met Lulu."));
        assert!(repeats("The bee was sad. Oh no! The bee was sad."));
        assert!(!repeats("The bee was sad. Oh no! Oh no! The bee was glad."));
        let known = Known::of(11, 50).unwrap();
        let text = story(11, Split::Train, 49).unwrap().line();
        assert!(known.copied(&text));
        assert!(!known.copied(&story(11, Split::HeldOut, 0).unwrap().line()));
        assert_eq!(known.unknown(&format!("{text} Blorp!")), ["Blorp!"]);
    }

    #[test]
    fn stories_of_the_generator_pass_their_own_measures() {
        for i in 0..300 {
            let s = story(12, Split::Train, i).unwrap().line();
            assert!(keeps_hero(&s) && keeps_friends(&s), "{s}");
        }
    }
}
