//! The template language of the grammar and its expansion to text.
//!
//! | written | becomes |
//! |---|---|
//! | `[a\|b\|]` | one of the parts, each equally likely; parts nest |
//! | `<list>` | one entry of a list in [`words::LISTS`]; `<place>` is a place the story has not used yet |
//! | `{X}` | the value bound to `X`, see [`Scene`] |
//! | `(X: text)` | direct speech of character `X`; the last mark of the text decides between said, asked and cried |
//!
//! "a" becomes "an" before a vowel and sentences get their capitals afterwards, in [`polish`].

use super::words;
use crate::rng::Rng;

/// A character of a story.
#[derive(Clone, Debug)]
pub struct Character {
    /// "Tilly"
    pub name: &'static str,
    /// Pronouns "she, her, her" or "he, him, his".
    pub she: bool,
    /// "snail", "bee"
    pub kind: &'static str,
    /// How the character moves, past tense.
    pub moved: &'static [&'static str],
}

impl Character {
    fn form(&self, which: &str, rng: &mut Rng) -> Option<&'static str> {
        Some(match (which, self.she) {
            ("", _) => self.name,
            ("s", true) => "she",
            ("s", false) => "he",
            ("o", true) | ("p", true) => "her",
            ("o", false) => "him",
            ("p", false) => "his",
            ("k", _) => self.kind,
            ("m", _) => rng.pick(self.moved)?,
            _ => return None,
        })
    }
}

/// What the templates of one story may name: `H` the hero, `F` and `G` the friends (with `.s .o .p .k .m` for
/// she, her, her, kind, moved), `P` where the story starts, `Q` where it leads, `O` and `L` the thing and its look,
/// `C` the food, `A` the hero's manner.
#[derive(Clone, Debug)]
pub struct Scene {
    /// H, F, G.
    pub cast: [Character; 3],
    /// P, Q.
    pub places: [&'static str; 2],
    /// O, L.
    pub thing: [&'static str; 2],
    /// C.
    pub food: &'static str,
    /// A.
    pub manner: &'static str,
    /// Places named so far by `<place>`.
    pub used: Vec<&'static str>,
}

/// A template that the grammar's author got wrong; the tests expand every template.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("template {template:?}: {what}")]
pub struct TemplateError {
    /// The template or the part of it that could not be expanded.
    pub template: String,
    /// What is wrong with it.
    pub what: &'static str,
}

fn wrong(template: &str, what: &'static str) -> TemplateError {
    TemplateError { template: template.to_owned(), what }
}

/// The text up to the bracket that closes the one `s` starts with, and the text after it.
fn bracketed(s: &str, open: char, close: char) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (i, c) in s.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some((s.get(open.len_utf8()..i)?, s.get(i + close.len_utf8()..)?));
            }
        }
    }
    None
}

fn alternatives(s: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (i, c) in s.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '|' if depth == 0 => {
                parts.extend(s.get(start..i));
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.extend(s.get(start..));
    parts
}

impl Scene {
    /// Expands one template, drawing every choice from `rng`.
    ///
    /// # Errors
    /// [`TemplateError`] for unbalanced brackets and unknown names.
    pub fn expand(&mut self, template: &str, rng: &mut Rng) -> Result<String, TemplateError> {
        let mut out = String::new();
        let mut rest = template;
        while let Some(c) = rest.chars().next() {
            let close = match c {
                '[' => ']',
                '<' => '>',
                '{' => '}',
                '(' => ')',
                _ => {
                    out.push(c);
                    rest = rest.get(c.len_utf8()..).unwrap_or("");
                    continue;
                }
            };
            let (inner, after) = bracketed(rest, c, close).ok_or_else(|| wrong(rest, "bracket not closed"))?;
            rest = after;
            match c {
                '[' => {
                    let part = rng.pick(&alternatives(inner)).copied().unwrap_or("");
                    out.push_str(&self.expand(part, rng)?);
                }
                '<' if inner == "place" => out.push_str(self.fresh_place(rng)),
                '<' => {
                    let list =
                        words::LISTS.iter().find(|l| l.0 == inner).ok_or_else(|| wrong(inner, "no such list"))?;
                    let entry = rng.pick(list.1).copied().unwrap_or("");
                    out.push_str(&self.expand(entry, rng)?);
                }
                '{' => out.push_str(self.bound(inner, rng).ok_or_else(|| wrong(inner, "nothing bound"))?),
                _ => out.push_str(&self.speech(inner, rng)?),
            }
        }
        Ok(out)
    }

    fn character(&self, letter: &str) -> Option<&Character> {
        let [h, f, g] = &self.cast;
        match letter {
            "H" => Some(h),
            "F" => Some(f),
            "G" => Some(g),
            _ => None,
        }
    }

    fn bound(&self, name: &str, rng: &mut Rng) -> Option<&'static str> {
        let (letter, form) = name.split_once('.').unwrap_or((name, ""));
        if let Some(c) = self.character(letter) {
            return c.form(form, rng);
        }
        let ([p, q], [o, l]) = (self.places, self.thing);
        Some(match name {
            "P" => p,
            "Q" => q,
            "O" => o,
            "L" => l,
            "C" => self.food,
            "A" => self.manner,
            _ => return None,
        })
    }

    fn fresh_place(&mut self, rng: &mut Rng) -> &'static str {
        let free: Vec<_> =
            words::PLACES.iter().copied().filter(|p| !self.places.contains(p) && !self.used.contains(p)).collect();
        let place = rng.pick(&free).copied().unwrap_or("garden");
        self.used.push(place);
        place
    }

    /// `X: text.` as speech with one of several tags.
    fn speech(&mut self, inner: &str, rng: &mut Rng) -> Result<String, TemplateError> {
        let (letter, text) = inner.split_once(": ").ok_or_else(|| wrong(inner, "speech needs a speaker"))?;
        let text = self.expand(text, rng)?;
        let who = self.character(letter).ok_or_else(|| wrong(inner, "no such speaker"))?.clone();
        let named = match rng.below(4) {
            0 => format!("the {}", who.kind),
            _ => who.name.to_owned(),
        };
        let pronoun = if who.she { "she" } else { "he" };
        let (body, mark) = text.split_at(text.len().saturating_sub(1));
        let (quoted, verbs): (String, &[&str]) = match mark {
            "." => (format!("{body},"), &["said", "said", "answered", "whispered"]),
            "?" => (text.clone(), &["asked", "asked", "said"]),
            "!" => (text.clone(), &["cried", "called", "said", "shouted"]),
            _ => return Err(wrong(inner, "speech must end in . ? or !")),
        };
        let verb = rng.pick(verbs).copied().unwrap_or("said");
        let plain = matches!(verb, "said" | "asked" | "answered");
        let adverb = match (plain, rng.below(2)) {
            (true, 0) => format!(" {}", self.expand("<softly>", rng)?),
            _ => String::new(),
        };
        Ok(match rng.below(5) {
            0 | 1 => format!("\"{quoted}\" {verb} {named}{adverb}."),
            2 => format!("{named} {verb}{adverb}, \"{text}\""),
            3 => {
                let act = self.expand("[smiled|nodded|looked up|came closer|stopped|turned around|thought for a moment|waited a little|took a deep breath|blinked]", rng)?;
                format!("{named} {act}. \"{quoted}\" {pronoun} {verb}.")
            }
            _ => format!("\"{quoted}\" {named} {verb}{adverb}."),
        })
    }
}

const TAGS: [&str; 7] = ["said", "asked", "cried", "called", "shouted", "answered", "whispered"];

/// Capitals at the start of sentences and of speech, "an" before vowels, single spaces.
pub fn polish(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut out = String::with_capacity(text.len());
    // `lead` is the end of the word before: it decides whether this one begins a sentence.
    let mut lead = ".";
    for (i, word) in words.iter().enumerate() {
        let next = words.get(i + 1).copied().unwrap_or("");
        let after = words.get(i + 2).copied().unwrap_or("");
        let bare = |w: &str| w.trim_end_matches([',', '.']).to_owned();
        let tag = TAGS.contains(&word.trim_end_matches(['.', ',']))
            || TAGS.contains(&bare(next).as_str())
            || (*word == "the" && TAGS.contains(&bare(after).as_str()));
        let starts = lead.ends_with(['.', '!', '?'])
            || lead.ends_with(".\"")
            || ((lead.ends_with("!\"") || lead.ends_with("?\"")) && !tag);
        let (quote, body) = word.strip_prefix('"').map_or(("", *word), |b| ("\"", b));
        let body = match body {
            "a" | "A" if next.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("{body}n"),
            _ => body.to_owned(),
        };
        if i > 0 {
            out.push(' ');
        }
        out.push_str(quote);
        let mut chars = body.chars();
        match chars.next() {
            Some(c) if starts || !quote.is_empty() => {
                out.push(c.to_ascii_uppercase());
                out.push_str(chars.as_str());
            }
            _ => out.push_str(&body),
        }
        lead = word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_articles_and_spaces() {
        assert_eq!(
            polish("a  old toad sat. \"oh no!\" he said. \"where?\" then it rained."),
            "An old toad sat. \"Oh no!\" he said. \"Where?\" Then it rained."
        );
        assert_eq!(
            polish("\"go!\" the toad cried. \"yes.\" the sun set."),
            "\"Go!\" the toad cried. \"Yes.\" The sun set."
        );
    }

    #[test]
    fn nested_alternatives_are_split_at_the_top_only() {
        assert_eq!(alternatives("a|[b|c]|"), ["a", "[b|c]", ""]);
        assert_eq!(bracketed("[a[b]c]d", '[', ']'), Some(("a[b]c", "d")));
    }
}
