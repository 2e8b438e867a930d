//! UTF-8 decoding of a byte stream whose characters may be split anywhere, as they are over tokens.
//!
//! The characters are those of `String::from_utf8_lossy` over the whole stream: one U+FFFD for every stretch that
//! cannot be continued. What is not yet decided is held until the next byte or [`Utf8Stream::finish`].

/// Stands for bytes that are no character.
pub const REPLACEMENT: char = '\u{fffd}';

/// The decoding state: at most one unfinished character.
#[derive(Clone, Copy, Debug)]
pub struct Utf8Stream {
    code: u32,
    missing: u8,
    /// Range of the next continuation byte; narrower than 80..=BF after E0, ED, F0 and F4, which keeps out overlong
    /// forms, surrogates and values above U+10FFFF.
    low: u8,
    high: u8,
}

impl Default for Utf8Stream {
    fn default() -> Self {
        Self::new()
    }
}

impl Utf8Stream {
    /// A decoder at the start of a text.
    pub const fn new() -> Self {
        Self { code: 0, missing: 0, low: 0x80, high: 0xbf }
    }

    /// Takes the next byte and hands over the characters that it completes: none, one, or two when it ends a broken
    /// character and is one itself.
    pub fn push(&mut self, byte: u8, mut emit: impl FnMut(char)) {
        if self.missing != 0 {
            if byte >= self.low && byte <= self.high {
                self.code = self.code << 6 | u32::from(byte & 0x3f);
                self.missing -= 1;
                self.low = 0x80;
                self.high = 0xbf;
                if self.missing == 0 {
                    emit(char::from_u32(self.code).unwrap_or(REPLACEMENT));
                }
                return;
            }
            self.reset();
            emit(REPLACEMENT);
        }
        match byte {
            0x00..=0x7f => emit(byte as char),
            0xc2..=0xdf => self.begin(byte & 0x1f, 1, 0x80, 0xbf),
            0xe0 => self.begin(0, 2, 0xa0, 0xbf),
            0xed => self.begin(0x0d, 2, 0x80, 0x9f),
            0xe1..=0xef => self.begin(byte & 0x0f, 2, 0x80, 0xbf),
            0xf0 => self.begin(0, 3, 0x90, 0xbf),
            0xf1..=0xf3 => self.begin(byte & 0x07, 3, 0x80, 0xbf),
            0xf4 => self.begin(4, 3, 0x80, 0x8f),
            _ => emit(REPLACEMENT),
        }
    }

    /// Ends the text: an unfinished character becomes one U+FFFD.
    pub fn finish(&mut self, mut emit: impl FnMut(char)) {
        if self.missing != 0 {
            self.reset();
            emit(REPLACEMENT);
        }
    }

    /// Whether a character has begun and not ended.
    pub const fn is_pending(&self) -> bool {
        self.missing != 0
    }

    /// Forgets an unfinished character.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    fn begin(&mut self, bits: u8, missing: u8, low: u8, high: u8) {
        *self = Self { code: u32::from(bits), missing, low, high };
    }
}
