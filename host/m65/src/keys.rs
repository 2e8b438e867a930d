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

/// Names, positions in the matrix, modifiers.
const NAMED: [(&str, u8, u8); 31] = [
    ("RETURN", 1, 0),
    ("DEL", 0, 0),
    ("INST", 0, modifier::SHIFT),
    ("HOME", 51, 0),
    ("CLR", 51, modifier::SHIFT),
    ("RIGHT", 2, 0),
    ("LEFT", 2, modifier::SHIFT),
    ("DOWN", 7, 0),
    ("UP", 7, modifier::SHIFT),
    ("ESC", 71, 0),
    ("TAB", 65, 0),
    ("RUN/STOP", 63, 0),
    ("STOP", 63, 0),
    ("RUN", 63, modifier::SHIFT),
    ("HELP", 67, 0),
    ("LT", 47, modifier::SHIFT),
    ("SPACE", 60, 0),
    ("F1", 4, 0),
    ("F2", 4, modifier::SHIFT),
    ("F3", 5, 0),
    ("F4", 5, modifier::SHIFT),
    ("F5", 6, 0),
    ("F6", 6, modifier::SHIFT),
    ("F7", 3, 0),
    ("F8", 3, modifier::SHIFT),
    ("F9", 68, 0),
    ("F10", 68, modifier::SHIFT),
    ("F11", 69, 0),
    ("F12", 69, modifier::SHIFT),
    ("F13", 70, 0),
    ("F14", 70, modifier::SHIFT),
];
/// The key with the arrow upwards, which stands where ASCII has `^`.
const ARROW: u8 = 54;

/// The event of a named key without modifiers before it.
pub fn named(name: &str) -> Option<Key> {
    NAMED.iter().find(|n| n.0.eq_ignore_ascii_case(name)).and_then(|&(_, at, modifiers)| matrix::event(at, modifiers))
}

/// The event of a character.
pub fn character(c: char) -> Option<Key> {
    match c {
        '\n' | '\r' => named("RETURN"),
        '^' => matrix::event(ARROW, 0),
        ' '..='~' => matrix::typed(c as u8),
        _ => None,
    }
}

/// Adds modifiers to a key.
fn modified(key: Key, modifiers: u8) -> Option<Key> {
    if modifiers == 0 { Some(key) } else { matrix::event(matrix::position(&key)?, key.modifiers | modifiers) }
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
    key.and_then(|k| modified(k, modifiers)).ok_or_else(|| KeyError::UnknownKey(name.to_owned()))
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
