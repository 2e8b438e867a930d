//! Splitting a text into the chunks that byte-level BPE merges inside.
//!
//! The rules are the regular expressions that vocabularies name in `tokenizer.ggml.pre`, written out by hand. They see a
//! character as a code and a [`class`]; so the same rules serve the ASCII of an image and the Unicode of a GGUF file.

use super::stage::Stage;

/// General categories of a character, as far as a rule asks for them; any number of bits.
pub mod class {
    /// White space (the property, not a category): in ASCII 9 to 13 and 32.
    pub const SPACE: u8 = 1;
    /// Upper-case and title-case letters (Lu, Lt).
    pub const UPPER: u8 = 2;
    /// Lower-case letters (Ll).
    pub const LOWER: u8 = 4;
    /// Letters without case (Lm, Lo).
    pub const UNCASED: u8 = 8;
    /// Marks (M).
    pub const MARK: u8 = 16;
    /// Numbers (N).
    pub const NUMBER: u8 = 32;
    /// Punctuation (P).
    pub const PUNCTUATION: u8 = 64;
    /// Symbols (S).
    pub const SYMBOL: u8 = 128;
    /// Letters (L).
    pub const LETTER: u8 = UPPER | LOWER | UNCASED;

    /// The classes of an ASCII character; none above 126 and for the controls that are not space.
    #[must_use]
    pub const fn of_ascii(byte: u8) -> u8 {
        match byte {
            9..=13 | 32 => SPACE,
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            b'0'..=b'9' => NUMBER,
            b'$' | b'+' | b'<' | b'=' | b'>' | b'^' | b'`' | b'|' | b'~' => SYMBOL,
            33..=126 => PUNCTUATION,
            _ => 0,
        }
    }
}

/// One character of a text: its code point and its [`class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Unicode scalar value.
    pub code: u32,
    /// Bits of [`class`].
    pub class: u8,
}

impl Letter {
    /// An ASCII character.
    #[must_use]
    pub const fn ascii(byte: u8) -> Self {
        Self { code: byte as u32, class: class::of_ascii(byte) }
    }

    pub(super) const fn is(self, classes: u8) -> bool {
        self.class & classes != 0
    }
}

/// A text that can be read anywhere, one character at a position.
pub trait Letters {
    /// Why a character could not be read.
    type Error;

    /// The character at `at`, which is below the length that the [`Splitter`] was made with.
    ///
    /// # Errors
    /// Where the text lies in memory that cannot be read.
    fn letter(&mut self, at: u32) -> Result<Letter, Self::Error>;
}

/// A rule for splitting a text; the number stands in the image's tokenizer block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Split {
    /// GPT-2's rule as the reference tools have it: of a white-space run before a word only a space is left over, so that
    /// two line feeds stay together.
    Reference = 0,
    /// GPT-2: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
    Gpt2 = 1,
    /// Every `\p{N}` alone, then GPT-2 (`smollm`, `starcoder`, `command-r`).
    Digits = 2,
    /// Llama 3: numbers in threes, any character before a word, line feeds with what precedes them.
    Llama3 = 3,
    /// Qwen 2: Llama 3's with single numbers.
    Qwen2 = 4,
    /// llama.cpp's `default`: punctuation, then GPT-2, then numbers in threes.
    Default = 5,
    /// Falcon: punctuation, then GPT-2, then digits in threes.
    Falcon = 6,
    /// GPT-4o: words split where the case rises, contractions attached.
    Gpt4o = 7,
    /// Tekken (Mistral): as GPT-4o, single numbers, no contractions.
    Tekken = 8,
    /// Qwen 3.5: Qwen 2's with marks inside words.
    Qwen35 = 9,
    /// DeepSeek V3: numbers in threes, Han and kana apart, punctuation with the word behind it.
    DeepSeek3 = 10,
}

impl Split {
    /// Reads the number of a tokenizer block.
    #[must_use]
    pub const fn from_u16(number: u16) -> Option<Self> {
        Some(match number {
            0 => Self::Reference,
            1 => Self::Gpt2,
            2 => Self::Digits,
            3 => Self::Llama3,
            4 => Self::Qwen2,
            5 => Self::Default,
            6 => Self::Falcon,
            7 => Self::Gpt4o,
            8 => Self::Tekken,
            9 => Self::Qwen35,
            10 => Self::DeepSeek3,
            _ => return None,
        })
    }

    /// The expressions, each applied inside the pieces that the one before it left.
    const fn stages(self) -> &'static [Stage] {
        match self {
            Self::Reference => &[Stage::Reference],
            Self::Gpt2 => &[Stage::Gpt2],
            Self::Digits => &[Stage::Numbers(1), Stage::Gpt2],
            Self::Llama3 => &[Stage::Llama3 { numbers: 3, marks: false }],
            Self::Qwen2 => &[Stage::Llama3 { numbers: 1, marks: false }],
            Self::Default => {
                &[Stage::Signs { grave: false }, Stage::Gpt2, Stage::Numbers(u32::MAX), Stage::ThreeDigits]
            }
            Self::Falcon => &[Stage::Signs { grave: true }, Stage::Gpt2, Stage::ThreeDigits],
            Self::Gpt4o => &[Stage::Cased { numbers: 3, contractions: true }],
            Self::Tekken => &[Stage::Cased { numbers: 1, contractions: false }],
            Self::Qwen35 => &[Stage::Llama3 { numbers: 1, marks: true }],
            Self::DeepSeek3 => &[Stage::Numbers(3), Stage::HanKana, Stage::DeepSeek3],
        }
    }
}

const MAX_STAGES: usize = 4;

/// Walks a text chunk by chunk.
#[derive(Clone, Debug)]
pub struct Splitter {
    stages: &'static [Stage],
    at: u32,
    len: u32,
    /// Where the piece that each stage is in ends.
    ends: [u32; MAX_STAGES],
}

impl Splitter {
    /// Starts on a text of `len` characters.
    #[must_use]
    pub const fn new(split: Split, len: u32) -> Self {
        Self { stages: split.stages(), at: 0, len, ends: [0; MAX_STAGES] }
    }

    /// The next chunk, as first position and the position behind the last; the chunks cover the text without gaps.
    ///
    /// # Errors
    /// Those of `text`.
    pub fn next<T: Letters>(&mut self, text: &mut T) -> Result<Option<(u32, u32)>, T::Error> {
        if self.at >= self.len {
            return Ok(None);
        }
        let start = self.at;
        let mut limit = self.len;
        for (stage, end) in self.stages.iter().zip(&mut self.ends) {
            if *end <= start {
                *end = stage.piece(text, start, limit)?;
            }
            limit = *end;
        }
        self.at = limit;
        Ok(Some((start, limit)))
    }
}
