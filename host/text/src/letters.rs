//! Unicode characters as the splitting rules see them.

use std::convert::Infallible;

use ssnail_shared::tokenizer::{Letter, Letters, Split, Splitter, class};
use unicode_properties::{GeneralCategory as C, UnicodeGeneralCategory};

/// The classes of a character.
pub(crate) fn class_of(c: char) -> u8 {
    if c.is_ascii() {
        return class::of_ascii(c as u8);
    }
    let class = match c.general_category() {
        C::UppercaseLetter | C::TitlecaseLetter => class::UPPER,
        C::LowercaseLetter => class::LOWER,
        C::ModifierLetter | C::OtherLetter => class::UNCASED,
        C::NonspacingMark | C::SpacingMark | C::EnclosingMark => class::MARK,
        C::DecimalNumber | C::LetterNumber | C::OtherNumber => class::NUMBER,
        C::ConnectorPunctuation
        | C::DashPunctuation
        | C::OpenPunctuation
        | C::ClosePunctuation
        | C::InitialPunctuation
        | C::FinalPunctuation
        | C::OtherPunctuation => class::PUNCTUATION,
        C::MathSymbol | C::CurrencySymbol | C::ModifierSymbol | C::OtherSymbol => class::SYMBOL,
        _ => 0,
    };
    if c.is_whitespace() { class | class::SPACE } else { class }
}

/// Splits a text into the chunks that BPE merges inside.
#[must_use]
pub fn chunks(split: Split, text: &str) -> Vec<&str> {
    let mut letters = Text::new(text);
    let mut splitter = Splitter::new(split, letters.len());
    let mut chunks = Vec::new();
    while let Ok(Some((start, end))) = splitter.next(&mut letters) {
        chunks.extend(text.get(letters.offset(start)..letters.offset(end)));
    }
    chunks
}

/// A text taken apart into characters, with the byte offset of each and of the end.
pub(crate) struct Text {
    letters: Vec<Letter>,
    offsets: Vec<usize>,
}

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let letters = text.chars().map(|c| Letter { code: c as u32, class: class_of(c) }).collect();
        let offsets = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Self { letters, offsets }
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.letters.len()).unwrap_or(u32::MAX)
    }

    /// Byte offset of character `at`, or of the end.
    pub(crate) fn offset(&self, at: u32) -> usize {
        self.offsets.get(at as usize).or(self.offsets.last()).copied().unwrap_or(0)
    }
}

impl Letters for Text {
    type Error = Infallible;

    fn letter(&mut self, at: u32) -> Result<Letter, Infallible> {
        Ok(self.letters.get(at as usize).copied().unwrap_or(Letter { code: 0, class: 0 }))
    }
}
