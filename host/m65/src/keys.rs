//! From text with escapes to keyboard events.
//!
//! `<RETURN>`, `<F5>`, `<RUN/STOP>`, `<DEL>`, `<UP>` … name keys; `<CTRL-C>`, `<MEGA-A>`,
//! `<SHIFT-RETURN>` add modifiers; `<LT>` is the character `<`; a line feed is RETURN.

use crate::io::keyboard::{Key, modifier};
use crate::io::matrix;
use thiserror::Error;

/// Text that names no key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyError {
    /// An escape that is not known.
    #[error(
        "unknown key <{0}>: known are RETURN, DEL, INST, HOME, CLR, UP, DOWN, LEFT, RIGHT, ESC, TAB, HELP, RUN/STOP, F1 to F14, LT and CTRL-, SHIFT-, MEGA-, ALT- before a key"
    )]
    UnknownKey(String),
    /// An escape without `>`.
    #[error("`<` without `>` (write <LT> for the character)")]
    Unclosed,
    /// A character that the keyboard does not have.
    #[error("the MEGA65 keyboard has no key for `{0}`")]
    NoKey(char),
}

/// Name, ASCII, PETSCII and modifiers.
const NAMED: [(&str, u8, u8, u8); 31] = [
    ("RETURN", 0x0d, 0x0d, 0),
    ("DEL", 0x14, 0x14, 0),
    ("INST", 0x94, 0x94, modifier::SHIFT),
    ("HOME", 0x13, 0x13, 0),
    ("CLR", 0x93, 0x93, modifier::SHIFT),
    ("RIGHT", 0x1d, 0x1d, 0),
    ("LEFT", 0x9d, 0x9d, modifier::SHIFT),
    ("DOWN", 0x11, 0x11, 0),
    ("UP", 0x91, 0x91, modifier::SHIFT),
    ("ESC", 0x1b, 0x1b, 0),
    ("TAB", 0x09, 0x09, 0),
    ("RUN/STOP", 0x03, 0x03, 0),
    ("STOP", 0x03, 0x03, 0),
    ("RUN", 0xa3, 0x83, modifier::SHIFT),
    ("HELP", 0x1f, 0x84, 0),
    ("LT", b'<', b'<', modifier::SHIFT),
    ("SPACE", b' ', b' ', 0),
    ("F1", 0xf1, 0x85, 0),
    ("F2", 0xf2, 0x89, modifier::SHIFT),
    ("F3", 0xf3, 0x86, 0),
    ("F4", 0xf4, 0x8a, modifier::SHIFT),
    ("F5", 0xf5, 0x87, 0),
    ("F6", 0xf6, 0x8b, modifier::SHIFT),
    ("F7", 0xf7, 0x88, 0),
    ("F8", 0xf8, 0x8c, modifier::SHIFT),
    ("F9", 0xf9, 0x10, 0),
    ("F10", 0xfa, 0x15, modifier::SHIFT),
    ("F11", 0xfb, 0x16, 0),
    ("F12", 0xfc, 0x17, modifier::SHIFT),
    ("F13", 0xfd, 0x19, 0),
    ("F14", 0xfe, 0x1a, modifier::SHIFT),
];

/// The event of a named key without modifiers before it.
pub fn named(name: &str) -> Option<Key> {
    NAMED.iter().find(|(n, ..)| n.eq_ignore_ascii_case(name)).map(|&(_, ascii, petscii, modifiers)| Key {
        ascii,
        petscii,
        modifiers,
    })
}

/// The event of a character.
pub fn character(c: char) -> Option<Key> {
    let key = |ascii, petscii, modifiers| Some(Key { ascii, petscii, modifiers });
    match c {
        '\n' | '\r' => named("RETURN"),
        'a'..='z' => key(c as u8, c as u8 - 0x20, 0),
        'A'..='Z' => key(c as u8, c as u8 + 0x80, modifier::SHIFT),
        '!'..=')' | '<' | '>' | '?' | '[' | ']' => key(c as u8, c as u8, modifier::SHIFT),
        ' '..='@' => key(c as u8, c as u8, 0),
        '_' => key(b'_', 0x5f, 0),
        '`' => key(b'`', 0xff, modifier::SHIFT),
        '{' | '}' | '|' | '~' | '\\' => key(c as u8, 0xff, modifier::MEGA),
        '£' => key(0xa3, 0x5c, 0),
        '↑' | '^' => key(0xaf, 0x5e, 0),
        '←' => key(0x5f, 0x5f, 0),
        _ => None,
    }
}

/// Adds modifiers to a key as the keyboard's tables do.
pub(crate) fn modified(key: Key, modifiers: u8) -> Key {
    let mut key = Key { modifiers: key.modifiers | modifiers, ..key };
    if modifiers & modifier::CTRL != 0 && key.ascii.is_ascii_alphabetic() {
        key.ascii &= 0x1f;
        key.petscii = key.ascii;
    } else if modifiers & modifier::ALT != 0 && key.ascii == 0x14 {
        key.ascii = 0x7f;
    } else if modifiers & modifier::MEGA != 0 && key.ascii == 0x1d {
        key.ascii = 0xed;
    } else if modifiers & modifier::MEGA != 0 && key.ascii == 0x11 {
        key.ascii = 0xee;
    } else if modifiers & (modifier::SHIFT | modifier::RIGHT_SHIFT) != 0
        && let Some(upper) = char::from(key.ascii).is_ascii_lowercase().then(|| key.ascii.to_ascii_uppercase())
    {
        key.petscii = upper + 0x80;
        key.ascii = upper;
    } else if let Some(other) = with_modifier(key.ascii, modifiers) {
        key = Key { modifiers: key.modifiers, ..other };
    }
    key
}

/// Keys whose code with shift or MEGA is another one.
fn with_modifier(code: u8, modifiers: u8) -> Option<Key> {
    let code = if modifiers & modifier::MEGA != 0 {
        matrix::with_mega(code)?
    } else if modifiers & (modifier::SHIFT | modifier::RIGHT_SHIFT) != 0 {
        matrix::with_shift(code)?
    } else {
        return None;
    };
    let (_, ascii, petscii, modifiers) =
        *NAMED.iter().find(|n| n.1 == code).unwrap_or(&("", code, if code < 0x5b { code } else { 0xff }, 0));
    Some(Key { ascii, petscii, modifiers })
}

fn escape(name: &str) -> Result<Key, KeyError> {
    let mut rest = name;
    let mut modifiers = 0;
    'prefixes: loop {
        for (prefix, bit) in
            [("CTRL", modifier::CTRL), ("SHIFT", modifier::SHIFT), ("MEGA", modifier::MEGA), ("ALT", modifier::ALT)]
        {
            let after = rest.get(prefix.len()..).filter(|_| rest[..prefix.len()].eq_ignore_ascii_case(prefix));
            if let Some(after) = after.and_then(|a| a.strip_prefix(['-', '+'])) {
                modifiers |= bit;
                rest = after;
                continue 'prefixes;
            }
        }
        break;
    }
    let mut single = rest.chars();
    let key = match (single.next(), single.next()) {
        (Some(c), None) => character(c.to_ascii_lowercase()),
        _ => named(rest),
    };
    key.map(|k| modified(k, modifiers)).ok_or_else(|| KeyError::UnknownKey(name.to_owned()))
}

/// Reads a text.
///
/// # Errors
/// See [`KeyError`].
pub fn parse(text: &str) -> Result<Vec<Key>, KeyError> {
    let mut keys = vec![];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '<' {
            let end = rest.find('>').ok_or(KeyError::Unclosed)?;
            keys.push(escape(&rest[1..end])?);
            rest = &rest[end + 1..];
        } else {
            keys.push(character(c).ok_or(KeyError::NoKey(c))?);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_escapes() {
        let ascii: Vec<u8> =
            parse("aB1<RETURN><F5><F14><RUN/STOP><del><CTRL-C><LT><up>\n").unwrap().iter().map(|k| k.ascii).collect();
        assert_eq!(ascii, [b'a', b'B', b'1', 0x0d, 0xf5, 0xfe, 3, 0x14, 3, b'<', 0x91, 0x0d]);
        let key = parse("<CTRL-U>").unwrap()[0];
        assert_eq!(key, Key { ascii: 0x15, petscii: 0x15, modifiers: modifier::CTRL });
        assert_eq!(parse("<ALT-DEL>").unwrap()[0].ascii, 0x7f);
        assert_eq!(parse("<SHIFT-a>").unwrap()[0], character('A').unwrap());
        for (modified, name) in
            [("<SHIFT-1>", "!"), ("<SHIFT-RIGHT>", "<LEFT>"), ("<SHIFT-F5>", "<F6>"), ("<MEGA-:>", "{")]
        {
            assert_eq!(parse(modified).unwrap(), parse(name).unwrap(), "{modified}");
        }
    }

    #[test]
    fn what_is_no_key_is_an_error() {
        assert_eq!(parse("<F15>"), Err(KeyError::UnknownKey("F15".into())));
        assert_eq!(parse("a<b"), Err(KeyError::Unclosed));
        assert_eq!(parse("é"), Err(KeyError::NoKey('é')));
        assert_eq!(parse("<é>"), Err(KeyError::UnknownKey("é".into())));
    }

    #[test]
    fn every_printable_character_has_a_key() {
        for c in ' '..='~' {
            let key = character(c).unwrap();
            if c != '^' {
                assert_eq!(key.ascii, c as u8);
            }
        }
    }
}
