//! ASCII folding of a UTF-8 byte stream for a display without other letters (spec section 13).
//!
//! One character gives one to four ASCII bytes; a character that has no likeness gives one `?`, and so does every
//! stretch of bytes that is no character. Overlong forms are not told apart: they fold like the character they spell.

/// At most this many bytes come out for one byte in (`(TM)`).
pub const FOLD_MAX: usize = 4;

/// What one input byte put out: zero to [`FOLD_MAX`] ASCII bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Folded {
    bytes: [u8; FOLD_MAX],
    len: u8,
}

impl Folded {
    /// The bytes put out, possibly none.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len as usize).unwrap_or(&[])
    }

    fn put(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len as usize) {
            *slot = byte;
            self.len += 1;
        }
    }
}

/// The folding state machine: bytes of UTF-8 in, ASCII out, holding an unfinished character between calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsciiFolder {
    code: u32,
    missing: u8,
}

impl AsciiFolder {
    /// A folder at the start of a text.
    pub const fn new() -> Self {
        Self { code: 0, missing: 0 }
    }

    /// Takes the next byte of the text.
    pub fn push(&mut self, byte: u8) -> Folded {
        let mut out = Folded::default();
        if self.missing != 0 {
            if byte & 0xc0 == 0x80 {
                self.code = self.code << 6 | u32::from(byte & 0x3f);
                self.missing -= 1;
                if self.missing == 0 {
                    fold_char(self.code, &mut out);
                }
                return out;
            }
            self.missing = 0;
            out.put(b'?');
        }
        if byte < 0x80 {
            fold_char(u32::from(byte), &mut out);
        } else if !(0xc0..0xf8).contains(&byte) {
            out.put(b'?');
        } else if byte < 0xe0 {
            self.begin(byte & 0x1f, 1);
        } else if byte < 0xf0 {
            self.begin(byte & 0x0f, 2);
        } else {
            self.begin(byte & 0x07, 3);
        }
        out
    }

    /// Ends the text. A character that was never finished puts out nothing.
    pub fn finish(&mut self) -> Folded {
        self.reset();
        Folded::default()
    }

    /// Whether a character has begun and not ended.
    pub const fn is_pending(&self) -> bool {
        self.missing != 0
    }

    /// Forgets a half-read character, as at the start of another text.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    fn begin(&mut self, bits: u8, missing: u8) {
        self.code = u32::from(bits);
        self.missing = missing;
    }
}

/// U+00C0 to U+00FF by base letter; 0 marks those that need more than one letter.
const LATIN1: &[u8; 64] = b"AAAAAA\0CEEEEIIIIDNOOOOOxOUUUUYT\0aaaaaa\0ceeeeiiiidnooooo/ouuuuyty";

fn fold_char(code: u32, out: &mut Folded) {
    let one = match code {
        9 | 10 | 32..=126 => code as u8,
        0xa0 => b' ',
        0xb7 => b'.',
        0x2018..=0x201b | 0x2032 => b'\'',
        0xab | 0xbb | 0x201c..=0x201e | 0x2033 => b'"',
        0x2010..=0x2015 | 0x2212 => b'-',
        0x2022 => b'*',
        0xc0..=0xff => LATIN1.get((code - 0xc0) as usize).copied().unwrap_or(0),
        0xa9 | 0xae | 0x152 | 0x153 | 0x2026 | 0x2122 => 0,
        _ => b'?',
    };
    if one != 0 {
        out.put(one);
        return;
    }
    let many: &[u8] = match code {
        0xa9 => b"(c)",
        0xae => b"(R)",
        0xc6 => b"AE",
        0xdf => b"ss",
        0xe6 => b"ae",
        0x152 => b"OE",
        0x153 => b"oe",
        0x2026 => b"...",
        _ => b"(TM)",
    };
    for &byte in many {
        out.put(byte);
    }
}
