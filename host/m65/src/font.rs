//! An 8x8 font of our own, in the order of screen codes.

/// Glyphs of the ASCII characters $20-$7E, drawn as text: see `font.txt`.
const DRAWING: &str = include_str!("font.txt");

/// First drawn character.
const FIRST: u8 = 0x20;
/// Number of drawn characters.
const COUNT: usize = 95;
/// Glyphs beside each other in the drawing.
const PER_BAND: usize = 8;

/// The eight rows of an ASCII character's glyph; blank outside $20-$7E.
pub fn glyph(ascii: u8) -> [u8; 8] {
    let index = usize::from(ascii.wrapping_sub(FIRST));
    if index >= COUNT {
        return [0; 8];
    }
    // Bands of eight rows, separated by an empty line; nine columns to a glyph.
    let (band, column) = (index / PER_BAND, index % PER_BAND * 9);
    let mut rows = [0; 8];
    for (row, line) in rows.iter_mut().zip(DRAWING.lines().skip(band * 9)) {
        let bytes = line.as_bytes().get(column..).unwrap_or(&[]);
        *row = bytes.iter().take(8).enumerate().filter(|(_, b)| **b == b'#').fold(0, |r, (n, _)| r | 0x80 >> n);
    }
    rows
}

/// Glyph of a screen code below $80: `lower` selects the lower/upper case set.
fn screen_glyph(code: u8, lower: bool) -> [u8; 8] {
    match (code, lower) {
        (0x00, _) => glyph(b'@'),
        (0x01..=0x1a, true) => glyph(code + 0x60),
        (0x01..=0x1a, false) => glyph(code + 0x40),
        (0x1b..=0x1f, _) => glyph(code + 0x40),
        (0x20..=0x3f, _) => glyph(code),
        (0x41..=0x5a, true) => glyph(code),
        (0x5b..=0x5e, true) => glyph(code + 0x20),
        _ => graphic(code),
    }
}

/// Lines, corners and blocks of the graphics half.
fn graphic(code: u8) -> [u8; 8] {
    // Which of the four arms of a line character are drawn: up, right, down, left.
    let arms = |up: bool, right: bool, down: bool, left: bool| {
        let mut rows = [0u8; 8];
        for (n, row) in rows.iter_mut().enumerate() {
            if up && n < 5 || down && n > 2 {
                *row |= 0x18;
            }
            if n == 3 || n == 4 {
                *row |= if right { 0x1f } else { 0 } | if left { 0xf8 } else { 0 };
            }
        }
        rows
    };
    match code {
        0x40 => arms(false, true, false, true),
        0x5d | 0x42 => arms(true, false, true, false),
        0x5b => arms(true, true, true, true),
        0x6e => arms(false, false, true, true),
        0x70 => arms(false, true, true, false),
        0x6d => arms(true, true, false, false),
        0x7d => arms(true, false, false, true),
        0x6b => arms(true, true, true, false),
        0x73 => arms(true, false, true, true),
        0x71 => arms(true, true, false, true),
        0x72 => arms(false, true, true, true),
        0x61 => [0xf0; 8],
        0x62 => [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        0x63 => [0xff, 0, 0, 0, 0, 0, 0, 0],
        0x64 => [0, 0, 0, 0, 0, 0, 0, 0xff],
        0x65 => [0x80; 8],
        0x66 => [0xcc, 0xcc, 0x33, 0x33, 0xcc, 0xcc, 0x33, 0x33],
        0x67 => [0x01; 8],
        0x51 => [0x3c, 0x7e, 0xff, 0xff, 0xff, 0xff, 0x7e, 0x3c],
        0x53 => [0x36, 0x7f, 0x7f, 0x7f, 0x3e, 0x1c, 0x08, 0x00],
        _ => [0; 8],
    }
}

/// 4 KB of character RAM: upper case and graphics, then lower and upper case; each set followed by
/// its inverse.
pub fn char_ram() -> Vec<u8> {
    let mut ram = Vec::with_capacity(0x1000);
    for lower in [false, true] {
        let set: Vec<u8> = (0..0x80).flat_map(|code| screen_glyph(code, lower)).collect();
        ram.extend(&set);
        ram.extend(set.iter().map(|row| !row));
    }
    ram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_drawn_and_different() {
        let glyphs: Vec<[u8; 8]> = (0x20..0x7f).map(glyph).collect();
        assert_eq!(glyphs[0], [0; 8]);
        for (a, first) in glyphs.iter().enumerate() {
            assert!(a == 0 || *first != [0; 8], "{}", a + 0x20);
            for (b, second) in glyphs.iter().enumerate().skip(a + 1) {
                assert_ne!(first, second, "{} {}", a + 0x20, b + 0x20);
            }
        }
    }

    #[test]
    fn drawing_is_regular() {
        let lines: Vec<&str> = DRAWING.lines().collect();
        for band in lines.chunks(9) {
            assert!(band.len() >= 8);
            assert!(band.get(8).is_none_or(|l| l.is_empty()));
            for line in &band[..8] {
                assert!(line.bytes().enumerate().all(|(n, b)| matches!(b, b'#' | b'.') || n % 9 == 8 && b == b' '));
            }
        }
    }
}
