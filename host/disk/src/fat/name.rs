//! Names on the card.
//!
//! HYPPO finds files by upper-case names only and does not assemble long names unless told to. So every file
//! gets an 8.3 name of capitals, digits and `_`; a long name is added only where the 8.3 name loses something
//! other than the case of its letters.

use super::FatError;
use super::entry::LONG_MAX;

/// Upper case letter by letter, so that a name keeps its length in characters.
#[must_use]
pub fn upper(name: &str) -> String {
    name.chars()
        .map(|c| {
            let mut up = c.to_uppercase();
            match (up.next(), up.next()) {
                (Some(u), None) => u,
                _ => c,
            }
        })
        .collect()
}

/// The two names a file gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortName {
    /// 8 + 3 bytes, padded with blanks.
    pub bytes: [u8; 11],
    /// Whether the name as given has to be stored as a long name too.
    pub needs_long: bool,
}

/// Characters that long names may not have on any system that reads the card.
const FORBIDDEN: [char; 9] = ['"', '*', '/', ':', '<', '>', '?', '\\', '|'];

/// Checks that a name can be stored as a long name.
///
/// # Errors
/// [`FatError::Name`] with the reason.
pub fn check_long_name(name: &str) -> Result<(), FatError> {
    let bad = |reason| Err(FatError::Name { name: name.to_owned(), reason });
    if name.is_empty() || name == "." || name == ".." {
        return bad("it is no file name");
    }
    if name.encode_utf16().count() > LONG_MAX {
        return bad("it is longer than 255 characters");
    }
    if name.chars().any(|c| c.is_control() || FORBIDDEN.contains(&c)) {
        return bad("it has one of the characters \" * / : < > ? \\ | or a control character");
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return bad("it begins with a blank or ends in a dot or blank");
    }
    Ok(())
}

/// The name under which a file of the host goes onto the card when none is given: characters that the card
/// cannot hold become `_`, blanks and dots at the ends are dropped, and a long name is cut before its extension.
#[must_use]
pub fn card_name_from_host(host: &str) -> String {
    let clean: String = host
        .chars()
        .map(|c| if c.is_control() || c == char::REPLACEMENT_CHARACTER || FORBIDDEN.contains(&c) { '_' } else { c })
        .collect();
    let clean = clean.trim_start_matches(' ').trim_end_matches(['.', ' ']);
    if clean.is_empty() {
        return "_".to_owned();
    }
    let units = |s: &str| s.encode_utf16().count();
    if units(clean) <= LONG_MAX {
        return clean.to_owned();
    }
    let (base, extension) = match clean.rsplit_once('.') {
        Some((b, e)) if !b.is_empty() && units(e) <= 16 => (b, format!(".{e}")),
        _ => (clean, String::new()),
    };
    let mut out = String::new();
    for c in base.chars() {
        if units(&out) + c.len_utf16() + units(&extension) > LONG_MAX {
            break;
        }
        out.push(c);
    }
    out + &extension
}

/// Letters of generated 8.3 names: nothing that is hard to type on a MEGA65.
fn plain(c: char) -> Option<u8> {
    let c = u8::try_from(c.to_ascii_uppercase()).ok()?;
    matches!(c, b'A'..=b'Z' | b'0'..=b'9' | b'_').then_some(c)
}

/// Further characters that an 8.3 name may have when it was given so.
fn allowed(c: char) -> Option<u8> {
    plain(c).or_else(|| u8::try_from(c).ok().filter(|c| b"!#$%&'()-@^`{}~".contains(c)))
}

impl ShortName {
    /// The 8.3 name for `name` in a folder where `taken` says which names exist.
    ///
    /// A name that is 8.3 apart from the case of its letters is stored in capitals, without a long name.
    /// Others are cut to letters, digits and `_`, and numbered `_2`, `_3`… until they are free.
    ///
    /// # Errors
    /// [`FatError::Name`] when the name cannot be stored; [`FatError::Exists`] when an exact 8.3 name is taken.
    pub fn for_name(name: &str, taken: &dyn Fn(&[u8; 11]) -> bool) -> Result<Self, FatError> {
        check_long_name(name)?;
        if let Some(bytes) = exact(name) {
            return if taken(&bytes) {
                Err(FatError::Exists { path: name.to_owned() })
            } else {
                Ok(Self { bytes, needs_long: false })
            };
        }
        let (base, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let mut stem: Vec<u8> = base.chars().filter_map(plain).collect();
        if stem.is_empty() {
            stem = b"FILE".to_vec();
        }
        let extension: Vec<u8> = extension.chars().filter_map(plain).take(3).collect();
        for number in 1..=999_999u32 {
            let tail = if number == 1 { String::new() } else { format!("_{number}") };
            let kept = stem.iter().copied().take(8 - tail.len());
            let stem: Vec<u8> = kept.chain(tail.bytes()).collect();
            let bytes = padded(&stem, &extension);
            if !taken(&bytes) {
                return Ok(Self { bytes, needs_long: true });
            }
        }
        Err(FatError::Name { name: name.to_owned(), reason: "all of its 8.3 names are taken in this folder" })
    }
}

/// The 8.3 form of a name that loses nothing but the case of its letters.
fn exact(name: &str) -> Option<[u8; 11]> {
    let (base, extension) = name.split_once('.').unwrap_or((name, ""));
    let valid = |s: &str| -> Option<Vec<u8>> { s.chars().map(allowed).collect() };
    let (base_bytes, extension_bytes) = (valid(base)?, valid(extension)?);
    let fits = (1..=8).contains(&base_bytes.len()) && extension_bytes.len() <= 3 && !name.ends_with('.');
    fits.then(|| padded(&base_bytes, &extension_bytes))
}

fn padded(base: &[u8], extension: &[u8]) -> [u8; 11] {
    let mut out = [b' '; 11];
    for (o, &b) in out.iter_mut().zip(base.iter().take(8)) {
        *o = b;
    }
    for (o, &b) in out.iter_mut().skip(8).zip(extension.iter().take(3)) {
        *o = b;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fat::short_name_text;

    fn short(name: &str, taken: &[&str]) -> (String, bool) {
        let s = ShortName::for_name(name, &|b| taken.contains(&short_name_text(b).as_str())).unwrap();
        (short_name_text(&s.bytes), s.needs_long)
    }

    #[test]
    fn names_that_fit_are_stored_in_capitals_without_a_long_name() {
        assert_eq!(short("foo.ssn", &[]), ("FOO.SSN".into(), false));
        assert_eq!(short("MEGA65.D81", &[]), ("MEGA65.D81".into(), false));
        assert_eq!(short("a-b~1", &[]), ("A-B~1".into(), false));
    }

    #[test]
    fn other_names_are_cut_and_numbered() {
        assert_eq!(short("stories15M.q8_0.ssnail", &[]), ("STORIES1.SSN".into(), true));
        assert_eq!(short("stories15M.q8_0.ssnail", &["STORIES1.SSN"]), ("STORIE_2.SSN".into(), true));
        assert_eq!(short("foo.ssnail", &["FOO.SSN"]), ("FOO_2.SSN".into(), true));
        assert_eq!(short("Привет", &[]), ("FILE".into(), true));
        assert_eq!(short(".hidden", &[]), ("FILE.HID".into(), true));
        assert_eq!(short("a, b; c", &[]), ("ABC".into(), true));
    }

    #[test]
    fn an_exact_name_is_never_renumbered() {
        assert!(matches!(ShortName::for_name("foo.ssn", &|_| true), Err(FatError::Exists { .. })));
    }

    #[test]
    fn names_no_card_can_hold_are_refused() {
        for bad in ["", ".", "..", "a:b", "a\"b", "a*", "a?", "x/y", "dot.", "blank ", " lead", "tab\t"] {
            assert!(matches!(check_long_name(bad), Err(FatError::Name { .. })), "{bad:?}");
        }
        assert!(check_long_name(&"x".repeat(256)).is_err());
        assert!(check_long_name(&"x".repeat(255)).is_ok());
    }

    #[test]
    fn host_names_become_card_names() {
        assert_eq!(card_name_from_host("a:b\"c*.ssnail"), "a_b_c_.ssnail");
        assert_eq!(card_name_from_host("..."), "_");
        let long = card_name_from_host(&("x".repeat(400) + ".ssnail"));
        assert_eq!(long.len(), 255);
        assert!(long.ends_with(".ssnail"));
        assert!(check_long_name(&long).is_ok());
    }
}
