//! Names in PETSCII.
//!
//! The rule: letters of either case become the unshifted letters that a MEGA65 shows as capitals and that its
//! keyboard types without SHIFT; digits and punctuation stay; accents are dropped (`é` is `E`, `ß` is `SS`).
//! A name that was given has to fit this rule and 16 characters; a name taken from a file of the host is made
//! to fit: what has no PETSCII or means something to the DOS becomes `-`, and what is too long is cut before
//! its extension.

use super::image::PAD;
use std::fmt;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Most characters in a name.
const MAX: usize = 16;

/// Why text is no name for a disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left.
    #[error("an empty name; give one of 1 to 16 characters")]
    Empty,
    /// Too long.
    #[error("\"{name}\" has {length} characters, a name on a D81 has at most 16; shorten it")]
    TooLong {
        /// The name.
        name: String,
        /// Its length after conversion.
        length: usize,
    },
    /// A character that PETSCII does not have.
    #[error("\"{name}\": there is no {character:?} in PETSCII; use A-Z, 0-9 and ordinary punctuation")]
    NoPetscii {
        /// The name.
        name: String,
        /// The character.
        character: char,
    },
    /// A character with a meaning for the DOS.
    #[error("\"{name}\": the DOS takes {character:?} for something else than a part of a name; leave it out")]
    Syntax {
        /// The name.
        name: String,
        /// The character.
        character: char,
    },
}

/// What a name is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameUse {
    /// A file, which has to be loadable by its name.
    File,
    /// The name of a disk or a line of the directory: everything but quotes.
    Decoration,
}

/// A name of up to 16 bytes, padded with $A0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PetsciiName([u8; MAX]);

/// The PETSCII of one character, after accents are gone.
fn petscii(c: char) -> Option<u8> {
    Some(match c {
        'a'..='z' => u8::try_from(c).ok()? - 0x20,
        ' '..='[' | ']' => u8::try_from(c).ok()?,
        '£' | '\\' => 0x5C,
        '↑' | '^' => 0x5E,
        '←' | '_' => 0x5F,
        'π' => 0xFF,
        '–' | '—' | '‐' | '‑' => b'-',
        '‘' | '’' | '`' => b'\'',
        _ => return None,
    })
}

/// Letters that do not come apart by decomposition.
fn spelled(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' | 'ẞ' => "SS",
        'æ' | 'Æ' => "AE",
        'œ' | 'Œ' => "OE",
        'ø' | 'Ø' => "O",
        'ð' | 'Ð' | 'đ' | 'Đ' => "D",
        'þ' | 'Þ' => "TH",
        'ł' | 'Ł' => "L",
        'ı' => "I",
        _ => return None,
    })
}

/// Each character as PETSCII, or as it is when there is none.
fn convert(text: &str) -> impl Iterator<Item = Result<u8, char>> + '_ {
    text.nfkd().filter(|&c| !is_combining_mark(c)).flat_map(|c| match spelled(c) {
        Some(s) => s.chars().map(|c| petscii(c).ok_or(c)).collect::<Vec<_>>(),
        None => vec![petscii(c).ok_or(c)],
    })
}

/// Whether a byte at that place of a name means something else to the DOS.
fn is_syntax(byte: u8, at: usize, used: NameUse) -> bool {
    match used {
        NameUse::Decoration => byte == b'"',
        // Quotes end a name, `,` begins a type, `:` ends a drive number, `*` and `?` match, `=` renames;
        // `$` is the directory, `@` replaces, `#` is a buffer, `&` a program for the drive.
        NameUse::File => b"\",:*?=".contains(&byte) || at == 0 && b"$@#&".contains(&byte),
    }
}

impl PetsciiName {
    /// A name as stored.
    #[must_use]
    pub fn from_raw(raw: [u8; MAX]) -> Self {
        Self(raw)
    }

    /// A name that was given.
    ///
    /// # Errors
    /// [`NameError`] says what does not fit.
    pub fn new(text: &str, used: NameUse) -> Result<Self, NameError> {
        let name = || text.to_owned();
        let mut bytes = Vec::new();
        for c in convert(text) {
            let byte = c.map_err(|character| NameError::NoPetscii { name: name(), character })?;
            if is_syntax(byte, bytes.len(), used) {
                return Err(NameError::Syntax { name: name(), character: char::from(byte) });
            }
            bytes.push(byte);
        }
        match bytes.len() {
            0 => Err(NameError::Empty),
            1..=MAX => Ok(Self::from_bytes(&bytes)),
            length => Err(NameError::TooLong { name: name(), length }),
        }
    }

    /// Up to 16 bytes, padded.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut raw = [PAD; MAX];
        for (to, &from) in raw.iter_mut().zip(bytes) {
            *to = from;
        }
        Self(raw)
    }

    /// All 16 bytes.
    #[must_use]
    pub fn padded(&self) -> &[u8; MAX] {
        &self.0
    }

    /// The bytes before the padding.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&b| b == PAD).unwrap_or(MAX);
        self.0.get(..end).unwrap_or_default()
    }

    /// Whether `text` names this file, shifted and unshifted letters being the same.
    #[must_use]
    pub fn is_named(&self, text: &str) -> bool {
        if self.to_string() == text {
            return true;
        }
        let wanted: Option<Vec<u8>> = convert(text).map(Result::ok).collect();
        wanted.is_some_and(|w| w == self.folded())
    }

    /// The name with all letters unshifted.
    #[must_use]
    pub fn folded(&self) -> Vec<u8> {
        self.bytes().iter().map(|&b| if matches!(b, 0x61..=0x7A | 0xC1..=0xDA) { b & 0x1F | 0x40 } else { b }).collect()
    }
}

impl fmt::Display for PetsciiName {
    /// Unshifted letters as capitals, shifted ones as small letters, graphics as U+FFFD.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self
            .bytes()
            .iter()
            .map(|&b| match b {
                0x5C => '£',
                0x20..=0x5F => char::from(b),
                0x61..=0x7A => char::from(b),
                0xC1..=0xDA => char::from(b - 0x60),
                0x60 | 0xC0 => '─',
                0x7D | 0xDD => '│',
                0xFF => 'π',
                _ => char::REPLACEMENT_CHARACTER,
            })
            .collect();
        f.pad(&text)
    }
}

impl fmt::Debug for PetsciiName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// The name for a file of the host, without its folder: always possible, see the rule of this module.
#[must_use]
pub fn name_from_host(file_name: &str) -> PetsciiName {
    let fit = |text: &str| -> Vec<u8> {
        let mut out = Vec::new();
        for c in convert(text.trim()) {
            let byte = c.unwrap_or(b'-');
            out.push(if is_syntax(byte, out.len(), NameUse::File) { b'-' } else { byte });
        }
        out
    };
    let (stem, extension) = match file_name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension),
        _ => (file_name, ""),
    };
    let extension = if extension.eq_ignore_ascii_case("ssnail") { "SSN" } else { extension };
    let mut extension = fit(extension);
    if !extension.is_empty() {
        extension.insert(0, b'.');
    }
    let mut bytes = fit(stem);
    // An extension longer than that is a part of the name like any other.
    if extension.len() <= 5 {
        bytes.truncate(MAX - extension.len());
    }
    bytes.extend(extension);
    bytes.truncate(MAX);
    if bytes.is_empty() {
        bytes.push(b'-');
    }
    PetsciiName::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_names_fit_or_are_refused() {
        let name = |t: &str| PetsciiName::new(t, NameUse::File).map(|n| n.to_string());
        assert_eq!(name("Ssnail").unwrap(), "SSNAIL");
        assert_eq!(name("größe é 16 ch!").unwrap(), "GROSSE E 16 CH!");
        assert!(matches!(name("seventeen letters"), Err(NameError::TooLong { length: 17, .. })));
        assert_eq!(name(""), Err(NameError::Empty));
        for bad in ["a\"b", "a,b", "a:b", "a*", "a?b", "a=b", "$a", "@a", "#a"] {
            assert!(matches!(name(bad), Err(NameError::Syntax { .. })), "{bad}");
        }
        assert!(matches!(name("Жук"), Err(NameError::NoPetscii { character: 'Ж', .. })));
        assert!(PetsciiName::new("a:b*=?", NameUse::Decoration).is_ok());
    }

    #[test]
    fn host_names_are_made_to_fit() {
        let name = |t: &str| name_from_host(t).to_string();
        assert_eq!(name("stories260K-Q8_0.ssnail"), "STORIES260K-.SSN");
        assert_eq!(name("autoboot.c65"), "AUTOBOOT.C65");
        assert_eq!(name("a \"b\", c:*?.txt"), "A -B-- C---.TXT");
        assert_eq!(name("Привет.txt"), "------.TXT");
        assert_eq!(name("a.verylongextension"), "A.VERYLONGEXTENS");
        assert_eq!(name(""), "-");
        assert_eq!(name("é"), "E");
    }

    #[test]
    fn shifted_names_are_found_by_either_case() {
        let mut raw = [PAD; 16];
        raw[..3].copy_from_slice(&[0xC1, 0x42, 0x63]);
        let name = PetsciiName::from_raw(raw);
        assert_eq!(name.to_string(), "aBc");
        assert!(name.is_named("ABC") && name.is_named("abc") && name.is_named("aBc") && !name.is_named("ab"));
    }
}
