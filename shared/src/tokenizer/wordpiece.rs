//! WordPiece: the longest pieces of each word from its front.

use super::Error;
use super::merge::SlotKey;
use super::scratch::{Field, Scratch, Slots};
use super::tables::Tables;
use crate::header::NO_TOKEN;
use crate::mem::ReadMemory;

/// BERT gives up on longer words.
const MAX_WORD: u32 = 100;

/// What a byte of text does to words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    Between,
    Alone,
    Absent,
}

const fn role(byte: u8, true_words: bool) -> Role {
    match byte {
        9 | 10 | 13 | b' ' => Role::Between,
        0..=8 | 11..=31 | 127 if true_words => Role::Absent,
        11 | 12 => Role::Between,
        b'_' if true_words => Role::Alone,
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80..=0xff => Role::Word,
        _ => Role::Alone,
    }
}

/// Splits `len` slots into words, hands the ids of their pieces to `emit`, and counts the bytes of words that neither
/// have pieces nor an unknown token to stand for them.
pub(super) fn words<S: Scratch + ?Sized, M: ReadMemory + ?Sized>(
    slots: &mut Slots<'_, S>,
    len: u32,
    tables: &mut Tables<'_, M>,
    true_words: bool,
    mut emit: impl FnMut(u32) -> Result<(), Error>,
) -> Result<u32, Error> {
    let unknown = tables.block().unknown;
    let mut lost = 0;
    let mut at = 0;
    while at < len {
        // A word is moved together, over the bytes that are not there.
        let start = at;
        let mut n = 0;
        while at < len {
            let byte = slots.byte(at);
            match role(byte, true_words) {
                Role::Absent => {}
                Role::Word => {
                    slots.set_byte(start + n, byte)?;
                    n += 1;
                }
                Role::Between | Role::Alone if n != 0 => break,
                Role::Between => {
                    at += 1;
                    break;
                }
                Role::Alone => {
                    slots.set_byte(start, byte)?;
                    n = 1;
                    at += 1;
                    break;
                }
            }
            at += 1;
        }
        if n == 0 {
            continue;
        }
        let found = if true_words && n > MAX_WORD { None } else { pieces(slots, start, n, tables)? };
        match found {
            Some((space, count)) => {
                if let Some(id) = space {
                    emit(id)?;
                }
                for i in 0..count {
                    emit(slots.get(start + i, Field::Id))?;
                }
            }
            None if unknown == NO_TOKEN => lost += n,
            None => emit(unknown)?,
        }
    }
    Ok(lost)
}

/// Writes the ids of a word's pieces into its slots and counts them; before them may stand a piece that is only the
/// space before the word. None if some part of the word has no piece.
fn pieces<S: Scratch + ?Sized, M: ReadMemory + ?Sized>(
    slots: &mut Slots<'_, S>,
    start: u32,
    len: u32,
    tables: &mut Tables<'_, M>,
) -> Result<Option<(Option<u32>, u32)>, Error> {
    let mut space = None;
    let mut done = 0;
    let mut count = 0;
    let mut spaced = true;
    while done < len {
        let key = SlotKey { slots, start: start + done, len: len - done, spaced };
        let Some((id, n)) = tables.longest_prefix(&key)? else { return Ok(None) };
        if spaced && n == 1 {
            space = Some(id);
        } else {
            slots.set(start + count, Field::Id, id);
            count += 1;
        }
        done += n - u32::from(spaced);
        spaced = false;
    }
    Ok(Some((space, count)))
}
