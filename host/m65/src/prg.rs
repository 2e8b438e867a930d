//! PRG files and the SYS line of their BASIC stub.

use crate::board::{Board, CHIP_RAM};

/// Start of BASIC programs.
pub const BASIC_START: u16 = 0x2001;

const TOKEN_SYS: u8 = 0x9e;

/// Why a PRG file cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrgError {
    /// No load address.
    #[error("a PRG file begins with a two-byte load address; this one has {0} bytes")]
    TooShort(usize),
    /// LOAD stays inside one bank.
    #[error("{length} bytes from ${address:04X} on leave the 64 KB of bank 0")]
    TooLong {
        /// Load address.
        address: u16,
        /// Bytes behind the load address.
        length: usize,
    },
    /// The BASIC program has no line with SYS.
    #[error("the BASIC program at $2001 has no SYS line that could be run")]
    NoSys,
}

/// Copies the file into bank 0 and returns the address that RUN would start.
///
/// # Errors
/// See [`PrgError`].
pub fn load(board: &mut Board, file: &[u8]) -> Result<u16, PrgError> {
    let Some((&[low, high], data)) = file.split_first_chunk() else {
        return Err(PrgError::TooShort(file.len()));
    };
    let address = u16::from_le_bytes([low, high]);
    let start = usize::from(address);
    let end = start + data.len();
    if end > 0x1_0000 || end > CHIP_RAM as usize {
        return Err(PrgError::TooLong { address, length: data.len() });
    }
    board.chip_ram_mut()[start..end].copy_from_slice(data);
    if address == BASIC_START { find_sys(data).ok_or(PrgError::NoSys) } else { Ok(address) }
}

/// The operand of the first SYS statement; `data` begins at [`BASIC_START`].
pub(crate) fn find_sys(data: &[u8]) -> Option<u16> {
    let mut at = 0usize;
    loop {
        let link = u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]);
        if link == 0 {
            return None;
        }
        let line = data.get(at + 4..)?;
        let line = &line[..line.iter().position(|&b| b == 0)?];
        if let Some(found) = line.iter().position(|&b| b == TOKEN_SYS) {
            return number(&line[found + 1..]);
        }
        let next = usize::from(link.checked_sub(BASIC_START)?);
        if next <= at {
            return None;
        }
        at = next;
    }
}

/// A decimal or `$` hexadecimal number behind blanks and an opening parenthesis.
fn number(text: &[u8]) -> Option<u16> {
    let text: String = text.iter().map(|&b| char::from(b)).collect();
    let text = text.trim_start_matches([' ', '(']);
    let (digits, radix) = match text.strip_prefix('$') {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u16::from_str_radix(&digits[..end], radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 BANK 0 / 20 SYS 8210
    const STUB: [u8; 22] = [
        0x01, 0x20, 0x09, 0x20, 10, 0, 0xfe, 0x02, b'0', 0, 0x13, 0x20, 20, 0, 0x9e, b' ', b'8', b'2', b'1', b'0', 0, 0,
    ];

    #[test]
    fn finds_the_sys_line_behind_others() {
        let mut file = STUB.to_vec();
        file.extend([0, 0]);
        assert_eq!(find_sys(&file[2..]), Some(8210));
        assert_eq!(number(b"$2012:REM"), Some(0x2012));
        assert_eq!(number(b" (8208)"), Some(8208));
        assert_eq!(number(b"99999"), None);
    }

    #[test]
    fn broken_programs_are_errors() {
        let mut board = Board::new(crate::Model::R3);
        assert_eq!(load(&mut board, &[1]), Err(PrgError::TooShort(1)));
        assert_eq!(load(&mut board, &[0x01, 0x20, 0, 0]), Err(PrgError::NoSys));
        assert_eq!(load(&mut board, &[0x01, 0x20, 0x09, 0x20, 1]), Err(PrgError::NoSys));
        // A link that points backwards must not loop.
        assert_eq!(load(&mut board, &[0x01, 0x20, 0x01, 0x20, 10, 0, 0x99, 0, 0]), Err(PrgError::NoSys));
        let long = vec![0; 0x1_0000];
        assert!(matches!(load(&mut board, &long), Ok(0) | Err(_)));
        let mut long = vec![0x01, 0xff];
        long.resize(0x102, 0);
        assert_eq!(load(&mut board, &long), Err(PrgError::TooLong { address: 0xff01, length: 0x100 }));
    }
}
