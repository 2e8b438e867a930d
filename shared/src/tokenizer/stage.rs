//! The single expressions that splitting rules are made of.

use super::split::class::{LETTER, LOWER, MARK, NUMBER, PUNCTUATION, SPACE, SYMBOL, UNCASED, UPPER};
use super::split::{Letter, Letters};

/// One regular expression. A text is cut into its matches and what lies between them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// GPT-2's as the reference tools have it.
    Reference,
    Gpt2,
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?W+|\p{N}{1,n}| ?[^\s W \p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    /// with W = `\p{L}`, or `[\p{L}\p{M}]` with marks.
    Llama3 {
        numbers: u32,
        marks: bool,
    },
    /// As `Llama3` with words of upper-case, then lower-case letters, and `/` beside line feeds behind punctuation.
    Cased {
        numbers: u32,
        contractions: bool,
    },
    /// `\p{N}{1,n}`
    Numbers(u32),
    /// `[0-9][0-9][0-9]`
    ThreeDigits,
    /// ``[\p{P}$+<=>^~|`]+``, the grave accent if `grave`.
    Signs {
        grave: bool,
    },
    /// Han from U+4E00 to U+9FA5, hiragana and katakana.
    HanKana,
    DeepSeek3,
}

const CR: u32 = 13;
const LF: u32 = 10;
const BLANK: u32 = 32;

/// A stretch of a text under one expression.
struct View<'t, T> {
    text: &'t mut T,
    end: u32,
}

impl<T: Letters> View<'_, T> {
    fn get(&mut self, at: u32) -> Result<Option<Letter>, T::Error> {
        if at < self.end { self.text.letter(at).map(Some) } else { Ok(None) }
    }

    fn is(&mut self, at: u32, classes: u8) -> Result<bool, T::Error> {
        Ok(self.get(at)?.is_some_and(|l| l.is(classes)))
    }

    /// End of the run from `at` whose characters satisfy `member`, at most `most` long.
    fn run(&mut self, at: u32, most: u32, member: impl Fn(Letter) -> bool) -> Result<u32, T::Error> {
        let mut i = at;
        while i - at < most {
            match self.get(i)? {
                Some(letter) if member(letter) => i += 1,
                _ => break,
            }
        }
        Ok(i)
    }

    /// End of a run of at least one.
    fn run1(&mut self, at: u32, member: impl Fn(Letter) -> bool) -> Result<Option<u32>, T::Error> {
        let end = self.run(at, u32::MAX, member)?;
        Ok((end > at).then_some(end))
    }

    /// `'s|'t|'re|'ve|'m|'ll|'d`
    fn contraction(&mut self, at: u32, any_case: bool) -> Result<Option<u32>, T::Error> {
        if self.get(at)?.is_none_or(|l| l.code != u32::from(b'\'')) {
            return Ok(None);
        }
        let lower = |l: Option<Letter>| match l {
            Some(Letter { code: code @ 65..=90, .. }) if any_case => code as u8 + 32,
            // The long s is the one other character whose simple case folding is an ASCII letter of the list.
            Some(Letter { code: 0x17f, .. }) if any_case => b's',
            Some(Letter { code: code @ 97..=122, .. }) => code as u8,
            _ => 0,
        };
        let first = lower(self.get(at + 1)?);
        if matches!(first, b's' | b't' | b'm' | b'd') {
            return Ok(Some(at + 2));
        }
        let second = lower(self.get(at + 2)?);
        Ok(matches!((first, second), (b'r', b'e') | (b'v', b'e') | (b'l', b'l')).then_some(at + 3))
    }

    /// `\s+(?!\S)|\s+`
    fn white(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        let Some(end) = self.run1(at, |l| l.is(SPACE))? else { return Ok(None) };
        Ok(Some(if end < self.end && end - at > 1 { end - 1 } else { end }))
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    fn lines(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        let mut last = None;
        let mut i = at;
        while let Some(letter) = self.get(i)? {
            if !letter.is(SPACE) {
                break;
            }
            i += 1;
            if is_line_end(letter) {
                last = Some(i);
            }
        }
        if last.is_some() { Ok(last) } else { self.white(at) }
    }

    /// `'s|… | ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+`, all but the white space of GPT-2's expression.
    fn gpt2_word(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        let contraction = self.contraction(at, false)?;
        if contraction.is_some() {
            return Ok(contraction);
        }
        let start = if self.get(at)?.is_some_and(|l| l.code == BLANK) { at + 1 } else { at };
        let Some(first) = self.get(start)? else { return Ok(None) };
        if first.is(SPACE) {
            return Ok(None);
        }
        let kind = first.class & (LETTER | NUMBER);
        self.run1(start, |l| {
            if kind == 0 {
                !l.is(SPACE | LETTER | NUMBER)
            } else {
                l.is(if kind & LETTER != 0 { LETTER } else { NUMBER })
            }
        })
    }

    /// White space of the reference rule: of a run before a word, a final space is left to the word, nothing else.
    fn reference_white(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        let Some(end) = self.run1(at, |l| l.is(SPACE))? else { return Ok(None) };
        let leave = end < self.end && end - at > 1 && self.get(end - 1)?.is_some_and(|l| l.code == BLANK);
        Ok(Some(if leave { end - 1 } else { end }))
    }

    fn llama3(&mut self, at: u32, numbers: u32, marks: bool) -> Result<Option<u32>, T::Error> {
        let contraction = self.contraction(at, true)?;
        if contraction.is_some() {
            return Ok(contraction);
        }
        let word = if marks { LETTER | MARK } else { LETTER };
        let Some(first) = self.get(at)? else { return Ok(None) };
        let prefix = !first.is(LETTER | NUMBER) && !is_line_end(first);
        if prefix && self.is(at + 1, word)? {
            return self.run1(at + 1, |l| l.is(word));
        }
        if first.is(word) {
            return self.run1(at, |l| l.is(word));
        }
        if first.is(NUMBER) {
            return self.run(at, numbers, |l| l.is(NUMBER)).map(Some);
        }
        let signs = self.signs(at, SPACE | word | NUMBER, is_line_end)?;
        if signs.is_some() { Ok(signs) } else { self.lines(at) }
    }

    /// ` ?[^ not ]+ tail*`
    fn signs(&mut self, at: u32, not: u8, tail: impl Fn(Letter) -> bool) -> Result<Option<u32>, T::Error> {
        let start = if self.get(at)?.is_some_and(|l| l.code == BLANK) { at + 1 } else { at };
        match self.run1(start, |l| !l.is(not))? {
            Some(end) => self.run(end, u32::MAX, tail).map(Some),
            None => Ok(None),
        }
    }

    fn cased(&mut self, at: u32, numbers: u32, contractions: bool) -> Result<Option<u32>, T::Error> {
        let Some(first) = self.get(at)? else { return Ok(None) };
        let prefix = !first.is(LETTER | NUMBER) && !is_line_end(first);
        // A mark can be the free character before the word or the word's first letter; the former is tried first.
        for rising in [true, false] {
            for skip in [1, 0] {
                if skip == 1 && !prefix {
                    continue;
                }
                let word = if rising { self.rising(at + skip)? } else { self.falling(at + skip)? };
                if let Some(end) = word {
                    let tail = if contractions { self.contraction(end, true)? } else { None };
                    return Ok(Some(tail.unwrap_or(end)));
                }
            }
        }
        if first.is(NUMBER) {
            return self.run(at, numbers, |l| l.is(NUMBER)).map(Some);
        }
        let signs = self.signs(at, SPACE | LETTER | NUMBER, |l| is_line_end(l) || l.code == u32::from(b'/'))?;
        if signs.is_some() { Ok(signs) } else { self.lines(at) }
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
    fn rising(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        let upper = self.run(at, u32::MAX, |l| l.is(CASED_UPPER))?;
        if self.is(upper, CASED_LOWER)? {
            return self.run1(upper, |l| l.is(CASED_LOWER));
        }
        // The first run has eaten what the second needs: give back up to a character that both take.
        let mut i = upper;
        while i > at {
            if self.is(i - 1, CASED_LOWER)? {
                return Ok(Some(i));
            }
            i -= 1;
        }
        Ok(None)
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
    fn falling(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        match self.run1(at, |l| l.is(CASED_UPPER))? {
            Some(upper) => self.run(upper, u32::MAX, |l| l.is(CASED_LOWER)).map(Some),
            None => Ok(None),
        }
    }

    /// `[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    fn deepseek3(&mut self, at: u32) -> Result<Option<u32>, T::Error> {
        let Some(first) = self.get(at)? else { return Ok(None) };
        if first.code < 127 && first.is(PUNCTUATION | SYMBOL) {
            let word = self.run1(at + 1, |l| matches!(l.code, 65..=90 | 97..=122))?;
            if word.is_some() {
                return Ok(word);
            }
        }
        let prefix = !first.is(LETTER | PUNCTUATION | SYMBOL) && !is_line_end(first);
        if prefix && self.is(at + 1, LETTER | MARK)? {
            return self.run1(at + 1, |l| l.is(LETTER | MARK));
        }
        if first.is(LETTER | MARK) {
            return self.run1(at, |l| l.is(LETTER | MARK));
        }
        let start = if first.code == BLANK { at + 1 } else { at };
        if let Some(end) = self.run1(start, |l| l.is(PUNCTUATION | SYMBOL))? {
            return self.run(end, u32::MAX, is_line_end).map(Some);
        }
        self.lines(at)
    }
}

const CASED_UPPER: u8 = UPPER | UNCASED | MARK;
const CASED_LOWER: u8 = LOWER | UNCASED | MARK;

fn is_line_end(letter: Letter) -> bool {
    letter.code == CR || letter.code == LF
}

impl Stage {
    /// End of the piece that begins at `at`: a match, or what lies before the next one. Always behind `at`.
    pub(super) fn piece<T: Letters>(self, text: &mut T, at: u32, end: u32) -> Result<u32, T::Error> {
        let mut view = View { text, end };
        if let Some(stop) = self.matched(&mut view, at)? {
            return Ok(stop);
        }
        let mut i = at + 1;
        while i < end && self.matched(&mut view, i)?.is_none() {
            i += 1;
        }
        Ok(i)
    }

    /// End of the match that begins at `at`; never an empty one.
    fn matched<T: Letters>(self, view: &mut View<'_, T>, at: u32) -> Result<Option<u32>, T::Error> {
        match self {
            Self::Reference => {
                let word = view.gpt2_word(at)?;
                if word.is_some() { Ok(word) } else { view.reference_white(at) }
            }
            Self::Gpt2 => {
                let word = view.gpt2_word(at)?;
                if word.is_some() { Ok(word) } else { view.white(at) }
            }
            Self::Llama3 { numbers, marks } => view.llama3(at, numbers, marks),
            Self::Cased { numbers, contractions } => view.cased(at, numbers, contractions),
            Self::Numbers(most) => {
                let end = view.run(at, most, |l| l.is(NUMBER))?;
                Ok((end > at).then_some(end))
            }
            Self::ThreeDigits => {
                let end = view.run(at, 3, |l| matches!(l.code, 48..=57))?;
                Ok((end - at == 3).then_some(end))
            }
            Self::Signs { grave } => view.run1(at, |l| {
                l.is(PUNCTUATION) || matches!(l.code, 36 | 43 | 60..=62 | 94 | 124 | 126) || grave && l.code == 96
            }),
            Self::HanKana => view.run1(at, |l| matches!(l.code, 0x4e00..=0x9fa5 | 0x3040..=0x30ff)),
            Self::DeepSeek3 => view.deepseek3(at),
        }
    }
}
