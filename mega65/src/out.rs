//! Text without `core::fmt`, whose code would fill half the program.

use ssnail_shared::catalogue::Megabytes;
use ssnail_shared::command::Thousandths;

/// A line being put together; what does not fit is cut.
pub struct Line {
    bytes: [u8; Self::MAX],
    len: u8,
}

impl Line {
    const MAX: usize = 160;

    /// Nothing yet.
    pub const fn new() -> Self {
        Self { bytes: [0; Self::MAX], len: 0 }
    }

    /// What has been put in.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Adds text.
    #[inline(never)]
    pub fn text(&mut self, text: &[u8]) -> &mut Self {
        for b in text {
            if usize::from(self.len) < Self::MAX {
                self.bytes[usize::from(self.len)] = *b;
                self.len += 1;
            }
        }
        self
    }

    /// Adds a template whose marks stand for the next number or text: `%n` whole number, `%t` tenths, `%m` bytes as
    /// megabytes, `%h` two hexadecimal digits, `%x` eight, `%d` the bits of an F32, `%c` those of a cosine, `%s` text,
    /// `%%` itself.
    /// One call is a fraction of the code that a chain of calls would be.
    #[inline(never)]
    pub fn put(&mut self, template: &[u8], numbers: &[u32], texts: &[&[u8]]) -> &mut Self {
        let (mut numbers, mut texts) = (numbers.iter(), texts.iter());
        let mut mark = false;
        for b in template {
            if !mark {
                if *b == b'%' {
                    mark = true;
                } else {
                    self.text(&[*b]);
                }
                continue;
            }
            mark = false;
            if *b == b'%' {
                self.text(b"%");
                continue;
            }
            if *b == b's' {
                if let Some(text) = texts.next() {
                    self.text(text);
                }
                continue;
            }
            let Some(&n) = numbers.next() else { continue };
            match *b {
                b't' => self.number(n / 10).text(b".").number(n % 10),
                b'm' => self.megabytes(n),
                b'h' => self.hex(n, 2),
                b'x' => self.hex(n, 8),
                b'd' => self.decimal(f32::from_bits(n)),
                b'c' => self.cosine(f32::from_bits(n)),
                _ => self.number(n),
            };
        }
        self
    }

    /// Adds a whole number.
    fn number(&mut self, value: u32) -> &mut Self {
        self.padded(value, 1)
    }

    /// Adds a whole number with at least so many digits.
    fn padded(&mut self, value: u32, digits: u8) -> &mut Self {
        let mut text = [b'0'; 10];
        let (mut left, mut at) = (value, 10);
        while left > 0 || at > 10 - usize::from(digits) {
            at -= 1;
            text[at] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        self.text(&text[at..])
    }

    /// Adds an address or code in hexadecimal.
    fn hex(&mut self, value: u32, digits: u8) -> &mut Self {
        self.text(b"$");
        let mut i = digits;
        while i > 0 {
            i -= 1;
            let n = (value >> (4 * i)) as u8 & 15;
            self.text(&[if n < 10 { b'0' + n } else { b'A' + n - 10 }]);
        }
        self
    }

    /// Adds a size in megabytes.
    fn megabytes(&mut self, bytes: u32) -> &mut Self {
        let (whole, tenths) = Megabytes(bytes).parts();
        self.number(whole).text(b".").number(tenths).text(b" MB")
    }

    /// Adds a setting as it was typed.
    fn decimal(&mut self, value: f32) -> &mut Self {
        let (negative, whole, part) = Thousandths(value).parts();
        if negative {
            self.text(b"-");
        }
        self.number(whole);
        if part == 0 {
            self
        } else if part % 100 == 0 {
            self.text(b".").number(part / 100)
        } else if part % 10 == 0 {
            self.text(b".").padded(part / 10, 2)
        } else {
            self.text(b".").padded(part, 3)
        }
    }

    /// Adds a value from -1 to 1 with a sign and three places.
    fn cosine(&mut self, value: f32) -> &mut Self {
        let (negative, whole, part) = Thousandths(value).parts();
        self.text(if negative { b"-" } else { b"+" }).number(whole).text(b".").padded(part, 3)
    }
}
