//! From text to ids.

use super::error::SinkFull;
use super::merge::Unit;
use super::scratch::{Field, NO_SLOT, Scratch, Slots};
use super::tables::Tables;
use super::wordpiece;
use super::{Error, NonAscii, Rules, Split, Splitter};
use crate::fold::AsciiFolder;
use crate::header::{NO_TOKEN, TOKENIZER_LOWERCASE, TOKENIZER_NO_SPACE_PREFIX, TokenizerKind};
use crate::mem::ReadMemory;
use crate::utf8::Utf8Stream;

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It begins the context: the begin token goes before it, if the vocabulary has one.
    First,
    /// It goes on from what is there: no begin token.
    Later,
}

/// What was made of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Ids handed over.
    pub tokens: u32,
    /// Bytes that no token stands for: dropped, or replaced by the unknown token ([`Rules::keep_bytes`]).
    pub lost: u32,
}

/// Tokenizes `text` (UTF-8, invalid bytes as one replacement character each) and hands the ids to `sink` in order.
///
/// # Errors
/// [`Error::TextTooLong`] where `scratch` has fewer than [`super::WORDS_PER_BYTE`] words for each byte,
/// [`Error::TooManyTokens`] where `sink` refuses one, the others where the tables are damaged or cannot be read.
pub fn encode<M: ReadMemory + ?Sized, S: Scratch + ?Sized>(
    tables: &mut Tables<'_, M>,
    text: &[u8],
    place: Place,
    rules: Rules,
    scratch: &mut S,
    mut sink: impl FnMut(u32) -> Result<(), SinkFull>,
) -> Result<Encoded, Error> {
    let block = *tables.block();
    let mut out = Encoded::default();
    let mut emit = |id: u32, out: &mut Encoded| {
        sink(id).map_err(|SinkFull| Error::TooManyTokens { taken: out.tokens })?;
        out.tokens += 1;
        Ok(())
    };
    let mut slots = Slots::new(scratch);
    let len = fill(&mut slots, text, place, rules, block.kind, block.flags)?;
    let begins = matches!(place, Place::First) || matches!(block.kind, TokenizerKind::WordPiece);
    if begins && block.begin != NO_TOKEN {
        emit(block.begin, &mut out)?;
    }
    match block.kind {
        TokenizerKind::Spm => unit(tables, &mut slots, 0, len, rules, &mut out, &mut emit)?,
        TokenizerKind::Bpe => {
            let split = match tables.split() {
                Split::Reference if rules.true_split => Split::Gpt2,
                split => split,
            };
            let mut splitter = Splitter::new(split, len);
            while let Ok(Some((start, end))) = splitter.next(&mut slots) {
                unit(tables, &mut slots, start, end, rules, &mut out, &mut emit)?;
            }
        }
        TokenizerKind::WordPiece => {
            let lost = wordpiece::words(&mut slots, len, tables, rules.true_words, |id| emit(id, &mut out))?;
            out.lost += lost;
        }
    }
    if matches!(block.kind, TokenizerKind::WordPiece) && block.end != NO_TOKEN {
        emit(block.end, &mut out)?;
    }
    if let Some(fault) = slots.fault() {
        return Err(Error::Memory(fault));
    }
    Ok(out)
}

/// Writes the text into the slots, as the tables want it: SentencePiece's space, ASCII only, lower case.
fn fill<S: Scratch + ?Sized>(
    slots: &mut Slots<'_, S>,
    text: &[u8],
    place: Place,
    rules: Rules,
    kind: TokenizerKind,
    flags: u8,
) -> Result<u32, Error> {
    let mut len = 0;
    let lower = matches!(kind, TokenizerKind::WordPiece) && flags & TOKENIZER_LOWERCASE != 0;
    let mut put = |slots: &mut Slots<'_, S>, byte: u8| {
        slots.set_byte(len, if lower { byte.to_ascii_lowercase() } else { byte })?;
        len += 1;
        Ok::<(), Error>(())
    };
    let spaced = matches!(kind, TokenizerKind::Spm)
        && flags & TOKENIZER_NO_SPACE_PREFIX == 0
        && (rules.space_on_later || matches!(place, Place::First))
        && (rules.space_on_empty || !text.is_empty());
    if spaced {
        put(slots, b' ')?;
    }
    let non_ascii = rules.non_ascii.for_kind(kind);
    let mut folder = AsciiFolder::new();
    let mut decoder = Utf8Stream::new();
    let mut failed = Ok(());
    for &byte in text {
        match non_ascii {
            NonAscii::Bytes => put(slots, byte)?,
            NonAscii::Fold => {
                let folded = folder.push(byte);
                // The folder would make a question mark of a control, which some vocabularies have a token for.
                let control = byte < 0x20 || byte == 0x7f;
                let keep = folded.as_bytes().len() - usize::from(control);
                for &byte in folded.as_bytes().iter().take(keep) {
                    put(slots, byte)?;
                }
                if control {
                    put(slots, byte)?;
                }
            }
            NonAscii::Question => decoder.push(byte, |c| {
                if failed.is_ok() {
                    failed = put(slots, if c.is_ascii() { c as u8 } else { b'?' });
                }
            }),
        }
    }
    if non_ascii == NonAscii::Question {
        decoder.finish(|_| {
            if failed.is_ok() {
                failed = put(slots, b'?');
            }
        });
    }
    failed?;
    if folder.is_pending() {
        put(slots, b'?')?;
    }
    Ok(len)
}

/// Gives the bytes in `start..end` their tokens, merges them, and hands the ids over.
fn unit<M: ReadMemory + ?Sized, S: Scratch + ?Sized>(
    tables: &mut Tables<'_, M>,
    slots: &mut Slots<'_, S>,
    start: u32,
    end: u32,
    rules: Rules,
    out: &mut Encoded,
    emit: &mut impl FnMut(u32, &mut Encoded) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut len = 0;
    for slot in start..end {
        let byte = slots.byte(slot);
        let mut token = tables.byte_token(byte)?;
        if token.is_none() && rules.keep_bytes {
            token = tables.search_byte(byte)?;
        }
        if token.is_none() {
            out.lost += 1;
            if rules.keep_bytes {
                token = tables.substitute()?;
            }
        }
        if let Some(id) = token {
            slots.set_byte(start + len, byte)?;
            slots.set(start + len, Field::Id, id);
            len += 1;
        }
    }
    Unit { slots, tables, base: start, len }.merge()?;
    if let Some(fault) = slots.fault() {
        return Err(Error::Memory(fault));
    }
    let mut slot = if len == 0 { NO_SLOT } else { start };
    while slot != NO_SLOT {
        emit(slots.get(slot, Field::Id), out)?;
        slot = slots.next(slot);
    }
    Ok(())
}
