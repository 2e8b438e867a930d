//! GPT-2's map between bytes and the characters that stand for them in byte-level vocabularies: printable Latin-1
//! characters stand for themselves, the other 68 bytes are U+0100 onwards in order.

/// Whether a byte stands for itself.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, 33..=126 | 161..=172 | 174..=255)
}

/// The character for a byte.
pub(crate) fn char_of(byte: u8) -> char {
    if is_plain(byte) {
        return byte as char;
    }
    let rank = (0..byte).filter(|&b| !is_plain(b)).count();
    char::from_u32(0x100 + rank as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte for a character, if it stands for one.
pub(crate) fn byte_of(c: char) -> Option<u8> {
    match c as u32 {
        code @ 0..=255 => is_plain(code as u8).then_some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),
        code @ 0x121..=0x142 => Some((code - 0x121) as u8 + 127),
        0x143 => Some(173),
        _ => None,
    }
}

/// The bytes that a token's text stands for; none if any character stands for no byte.
pub(crate) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    text.chars().map(byte_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_its_own_inverse_and_has_the_known_points() {
        for byte in 0..=255 {
            assert_eq!(byte_of(char_of(byte)), Some(byte));
        }
        assert_eq!((char_of(b' '), char_of(b'\n'), char_of(0), char_of(127), char_of(173)), ('Ġ', 'Ċ', 'Ā', 'ġ', 'Ń'));
        assert_eq!(char::from_u32(0x144).and_then(byte_of), None);
        assert_eq!(byte_of(' '), None);
    }
}
