//! What can never come next: training weighs it more than other mistakes.
//!
//! A likelihood is content with a thousandth of probability on a letter that spells no word, or on the name of a second
//! hero; over a story of 190 tokens that is one story in six. So training may add `−ln` of the probability that all
//! possible tokens have together (a sharper form of unlikelihood training, Welleck et al. 2019). Possible is what
//! continues one of the words of the training text, and a name only as long as its part in the story is free.

use crate::data::Stories;
use crate::story::words::{FRIENDS, HEROES};
use crate::vocab::{EOS, SPACE, Vocab};
use std::collections::BTreeMap;

/// A set of tokens, one bit each.
type Set = Vec<u64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Only the space so far.
    None,
    Letter,
    Mark,
}

/// A place within a word: the tokens so far.
#[derive(Debug)]
struct Node {
    next: BTreeMap<u16, usize>,
    class: Class,
    /// Whether a word of the text ends here.
    ends: bool,
}

/// The words of a text as token sequences, and the names.
#[derive(Debug)]
pub struct Rules {
    nodes: Vec<Node>,
    /// The tokens that may follow each node.
    may: Vec<Set>,
    /// `(whether it begins with a space, class)` of each token.
    shapes: Vec<(bool, Class)>,
    heroes: Set,
    friends: Set,
}

fn has(set: &[u64], token: u16) -> bool {
    set.get(usize::from(token) / 64).is_some_and(|x| x >> (token % 64) & 1 == 1)
}

fn put(set: &mut [u64], token: u16) {
    if let Some(x) = set.get_mut(usize::from(token) / 64) {
        *x |= 1 << (token % 64);
    }
}

const SPACED: usize = 0;
const LETTERS: usize = 1;
const MARKS: usize = 2;

impl Rules {
    /// The rules that all `stories` keep.
    pub fn of(vocab: &Vocab, stories: &Stories) -> Self {
        let shape = |text: &str| {
            let spaced = text.starts_with(SPACE);
            let class = match text.trim_start_matches(SPACE).chars().next() {
                None => Class::None,
                Some(c) if c.is_alphanumeric() => Class::Letter,
                Some(_) => Class::Mark,
            };
            (spaced, class)
        };
        let names = |list: &[(&str, bool)]| {
            let mut set = vec![0; vocab.pieces.len().div_ceil(64)];
            for (name, _) in list {
                if let [token] = vocab.encode(name)[..] {
                    put(&mut set, token as u16);
                }
            }
            set
        };
        let root = || Node { next: BTreeMap::new(), class: Class::None, ends: false };
        let mut rules = Rules {
            nodes: vec![root(), root(), root()],
            may: Vec::new(),
            shapes: vocab.pieces.iter().map(|p| shape(&p.text)).collect(),
            heroes: names(&HEROES),
            friends: names(&FRIENDS),
        };
        for i in 0..stories.len() {
            let mut at = SPACED;
            for token in stories.get(i).iter().skip(1) {
                let begins = rules.begins(at, *token);
                if let (Some(node), true) = (rules.nodes.get_mut(at), begins.is_some()) {
                    node.ends = at > MARKS;
                }
                if *token == EOS as u16 {
                    break;
                }
                at = rules.grow(begins.unwrap_or(at), *token);
            }
        }
        rules.may = (0..rules.nodes.len()).map(|i| rules.followers(i)).collect();
        rules
    }

    /// The root of the word that `token` begins after node `at`; `None` when it continues the word of `at`.
    fn begins(&self, at: usize, token: u16) -> Option<usize> {
        let (spaced, class) = self.shapes.get(usize::from(token)).copied().unwrap_or((true, Class::None));
        let before = self.nodes.get(at).map_or(Class::None, |n| n.class);
        if spaced || token == EOS as u16 {
            Some(SPACED)
        } else if before == Class::None || before == class {
            None
        } else {
            Some(if class == Class::Letter { LETTERS } else { MARKS })
        }
    }

    fn grow(&mut self, at: usize, token: u16) -> usize {
        let new = self.nodes.len();
        let class = self.shapes.get(usize::from(token)).map_or(Class::None, |s| s.1);
        let Some(node) = self.nodes.get_mut(at) else { return SPACED };
        let found = *node.next.entry(token).or_insert(new);
        if found == new {
            self.nodes.push(Node { next: BTreeMap::new(), class, ends: false });
        }
        found
    }

    fn followers(&self, at: usize) -> Set {
        let mut set = vec![0; self.shapes.len().div_ceil(64)];
        let Some(node) = self.nodes.get(at) else { return set };
        let mut add = |root: usize| {
            for token in self.nodes.get(root).iter().flat_map(|n| n.next.keys()) {
                put(&mut set, *token);
            }
        };
        add(at);
        if node.ends {
            add(SPACED);
            add(if node.class == Class::Letter { MARKS } else { LETTERS });
            put(&mut set, EOS as u16);
        }
        set
    }

    /// For each token of a story but the last, which tokens are possible after it: `[tokens − 1]` rows of one bit per
    /// token of the vocabulary, in words of 64.
    pub fn possible(&self, story: &[u16]) -> Vec<u64> {
        let mut out = Vec::new();
        let (mut at, mut hero) = (SPACED, None);
        let mut friends: Vec<u16> = Vec::new();
        for (i, token) in story.iter().take(story.len().saturating_sub(1)).enumerate() {
            if i > 0 {
                let from = self.begins(at, *token).unwrap_or(at);
                at = self.nodes.get(from).and_then(|n| n.next.get(token)).copied().unwrap_or(SPACED);
            }
            if hero.is_none() && has(&self.heroes, *token) {
                hero = Some(*token);
            }
            if has(&self.friends, *token) && !friends.contains(token) {
                friends.push(*token);
            }
            let start = out.len();
            out.extend(self.may.get(at).into_iter().flatten());
            let row = out.get_mut(start..).unwrap_or_default();
            let mut keep = |names: &[u64], free: &[u16]| {
                row.iter_mut().zip(names).for_each(|(r, n)| *r &= !n);
                free.iter().for_each(|t| put(row, *t));
            };
            let before: Set = self.may.get(at).cloned().unwrap_or_default();
            let allowed = |list: &[u16]| list.iter().copied().filter(|t| has(&before, *t)).collect::<Vec<_>>();
            if let Some(hero) = hero {
                keep(&self.heroes, &allowed(&[hero]));
            }
            if friends.len() >= 2 {
                keep(&self.friends, &allowed(&friends));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{Split, story};

    #[test]
    fn every_story_is_possible_and_nonsense_is_not() {
        let lines: Vec<String> = (0..300).map(|i| story(1, Split::Train, i).unwrap().line()).collect();
        let vocab = Vocab::train(lines.iter().map(String::as_str), 700);
        let stories = Stories::encode(&vocab, 1, Split::Train, 300, 600).unwrap();
        let rules = Rules::of(&vocab, &stories);
        let words = vocab.pieces.len().div_ceil(64);
        let mut open = 0;
        for i in 0..stories.len() {
            let story = stories.get(i);
            let rows = rules.possible(story);
            assert_eq!(rows.len(), (story.len() - 1) * words);
            for (row, next) in rows.chunks(words).zip(&story[1..]) {
                assert!(
                    has(row, *next),
                    "{:?}",
                    vocab.decode(&story.iter().map(|t| u32::from(*t)).collect::<Vec<_>>())
                );
                open += row.iter().map(|x| x.count_ones()).sum::<u32>();
            }
        }
        // Far fewer than all are possible.
        let all = stories.total_tokens() as u32 * vocab.pieces.len() as u32;
        assert!(open < all / 2, "{open} of {all}");
        let ids = |text: &str| {
            let mut ids = vec![crate::vocab::BOS as u16];
            ids.extend(vocab.encode(text).iter().map(|t| *t as u16));
            ids
        };
        let after = |text: &str, token: u16| {
            let mut story = ids(text);
            story.push(token);
            let rows = rules.possible(&story);
            has(&rows[rows.len() - words..], token)
        };
        let whole = |list: &[(&'static str, bool)]| -> Vec<(&str, u16)> {
            list.iter()
                .filter_map(|(n, _)| ids(n).get(1..2).filter(|_| ids(n).len() == 2).map(|t| (*n, t[0])))
                .collect()
        };
        let (heroes, friends) = (whole(&HEROES), whole(&FRIENDS));
        let ((one, a), (_, b)) = (heroes[0], heroes[1]);
        assert!(after("Then", a) && after("Then", b));
        assert!(after(&format!("Then {one} met"), a) && !after(&format!("Then {one} met"), b));
        let ((x, i), (y, j), (_, k)) = (friends[0], friends[1], friends[2]);
        let met = format!("Then {x} met {y} and");
        assert!(after(&format!("Then {x} met"), k) && after(&met, i) && after(&met, j) && !after(&met, k));
        let ed = vocab.pieces.iter().position(|p| p.text == "ed").unwrap() as u16;
        assert!(!after("Then the", ed));
    }
}
