//! Tokenizer tables of an image: pieces, sorted index, priorities, byte table (spec section 5).

use std::collections::HashMap;

use ssnail_gguf::{Gguf, Vocab};
use ssnail_shared::header::{NO_TOKEN, TOKENIZER_LOWERCASE, TOKENIZER_NO_SPACE_PREFIX, TOKENIZER_WIDE, TokenizerKind};
use ssnail_shared::tokenizer::Split;
use ssnail_text::pre_tokenizer;

use crate::error::ConvertError;
use crate::model::Model;
use crate::notes::Note;
use crate::pieces::{byte_map, byte_token, in_index, mapped, piece, special};
use ssnail_shared::header::Architecture;

/// Largest priority that still fits with 16 bits; all ones means none.
const MAX_NARROW: u32 = 65534;

/// The tables, ready to be placed, and the ids that the block and the header need.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) kind: TokenizerKind,
    pub(crate) flags: u8,
    /// Rule for splitting text; 0 stands for GPT-2's, as the reference tools write it.
    pub(crate) split: u16,
    /// Rows of the embedding: tokens beyond the list have no text.
    pub(crate) n_vocab: u32,
    pub(crate) pieces: Vec<u8>,
    pub(crate) index: Vec<u8>,
    pub(crate) index_len: u32,
    pub(crate) priorities: Vec<u8>,
    pub(crate) byte_table: Vec<u8>,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) unknown: u32,
    /// Header fields.
    pub(crate) bos: u32,
    pub(crate) eos: u32,
}

/// Builds the tables for a model from the vocabulary of its file.
pub(crate) fn build(gguf: &Gguf<'_>, model: &Model, notes: &mut Vec<Note>) -> Result<Tables, ConvertError> {
    let vocab = gguf.vocab()?;
    let kind = match vocab.model {
        Some("llama") | None => TokenizerKind::Spm,
        Some("gpt2") => TokenizerKind::Bpe,
        Some("bert") => TokenizerKind::WordPiece,
        Some(other) => {
            return Err(ConvertError::Unsupported {
                what: format!("tokenizer.ggml.model = {other}"),
                reason: "llama (SentencePiece), gpt2 (byte pairs) and bert (WordPiece) are known".into(),
            });
        }
    };
    let tokens = vocab.tokens.len();
    if tokens == 0 {
        return Err(ConvertError::NoVocabulary);
    }
    let rows = model.dims.vocab;
    if tokens as u64 > u64::from(rows) {
        return Err(ConvertError::TooManyTokens { tokens: tokens as u64, rows: u64::from(rows) });
    }
    if (tokens as u64) < u64::from(rows) {
        notes.push(Note::PaddedVocabulary { tokens: tokens as u32, rows });
    }

    let unmap = byte_map();
    let is_special: Vec<bool> = (0..tokens).map(|id| special(&vocab, id)).collect();
    let mut pieces: Vec<Vec<u8>> =
        (0..tokens).map(|id| if is_special[id] { Vec::new() } else { piece(kind, vocab.tokens[id], &unmap) }).collect();
    let is_byte: Vec<bool> =
        (0..tokens).map(|id| kind == TokenizerKind::Spm && byte_token(vocab.tokens[id]).is_some()).collect();

    // Sorted by text, then id; the lowest id of equal texts stays.
    let mut index: Vec<u32> =
        (0..tokens as u32).filter(|&id| !is_byte[id as usize] && in_index(&pieces[id as usize])).collect();
    index.sort_by(|&a, &b| pieces[a as usize].cmp(&pieces[b as usize]));
    index.dedup_by(|b, a| pieces[*a as usize] == pieces[*b as usize]);
    let by_text: HashMap<&[u8], u32> = index.iter().map(|&id| (pieces[id as usize].as_slice(), id)).collect();

    let mut byte_table = [NO_TOKEN; 256];
    for (byte, entry) in byte_table.iter_mut().enumerate() {
        if let Some(&id) = by_text.get([byte as u8].as_slice()) {
            *entry = id;
        }
    }
    for id in 0..tokens {
        if let (true, Some(byte)) = (is_byte[id] && !is_special[id], byte_token(vocab.tokens[id])) {
            let entry = &mut byte_table[usize::from(byte)];
            if *entry == NO_TOKEN {
                *entry = id as u32;
            }
        }
    }

    let mut priorities = vec![NO_TOKEN; rows as usize];
    match kind {
        TokenizerKind::Bpe => bpe_priorities(gguf, &vocab, &unmap, &by_text, &mut priorities)?,
        TokenizerKind::Spm => spm_priorities(&vocab, &index, &pieces, &mut priorities),
        TokenizerKind::WordPiece => {}
    }
    if kind != TokenizerKind::WordPiece {
        notes.extend(Note::untypable(|byte| byte_table[usize::from(byte)] != NO_TOKEN));
        let orphans = orphans(kind, &index, &pieces, &by_text, &byte_table, &priorities);
        if !orphans.is_empty() {
            notes.push(Note::orphans(&orphans, &pieces));
        }
    }

    let mut flags = 0;
    // A vocabulary with capitals is one whose text was not lower-cased.
    if kind == TokenizerKind::WordPiece && !pieces.iter().flatten().any(u8::is_ascii_uppercase) {
        flags |= TOKENIZER_LOWERCASE;
    }
    if kind == TokenizerKind::Spm && vocab.add_space_prefix == Some(false) {
        flags |= TOKENIZER_NO_SPACE_PREFIX;
    }
    let split = match vocab.pre.and_then(pre_tokenizer) {
        Some(pre) if kind == TokenizerKind::Bpe && pre.split != Split::Gpt2 => pre.split as u16,
        _ => Split::Reference as u16,
    };
    if let Some(name) = vocab.pre.filter(|name| kind == TokenizerKind::Bpe && pre_tokenizer(name).is_none()) {
        notes.push(Note::UnknownPreTokenizer(name.to_owned()));
    }
    let largest = priorities.iter().copied().filter(|&p| p != NO_TOKEN).max().unwrap_or(0);
    let wide = rows > MAX_NARROW || largest > MAX_NARROW;
    if wide {
        flags |= TOKENIZER_WIDE;
    }
    let priorities =
        if wide { words(&priorities) } else { priorities.iter().flat_map(|&p| (p as u16).to_le_bytes()).collect() };
    let ids = special_ids(&vocab, kind, model, notes)?;
    pieces.resize(rows as usize, Vec::new());
    Ok(Tables {
        kind,
        flags,
        split,
        n_vocab: rows,
        pieces: piece_table(&pieces),
        index_len: index.len() as u32,
        index: words(&index),
        priorities,
        byte_table: words(&byte_table),
        begin: ids.begin,
        end: ids.end,
        unknown: ids.unknown,
        bos: ids.bos,
        eos: ids.eos,
    })
}

fn words(list: &[u32]) -> Vec<u8> {
    list.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Offsets relative to the table, one more than there are pieces, then the bytes.
fn piece_table(pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut offset = 4 * (pieces.len() as u32 + 1);
    let mut table = Vec::new();
    for piece in pieces {
        table.extend(offset.to_le_bytes());
        offset = offset.saturating_add(piece.len() as u32);
    }
    table.extend(offset.to_le_bytes());
    for piece in pieces {
        table.extend_from_slice(piece);
    }
    table
}

fn bpe_priorities(
    gguf: &Gguf<'_>,
    vocab: &Vocab<'_>,
    unmap: &HashMap<char, u8>,
    by_text: &HashMap<&[u8], u32>,
    priorities: &mut [u32],
) -> Result<(), ConvertError> {
    for (rank, merge) in vocab.merges.iter().enumerate() {
        // The first character may be a space itself in vocabularies that do not use the character map.
        let space = merge.iter().skip(1).position(|&b| b == b' ').map(|at| at + 1);
        let Some((left, right)) = space.and_then(|at| Some((merge.get(..at)?, merge.get(at + 1..)?))) else {
            return Err(gguf
                .bad_value(
                    "tokenizer.ggml.merges",
                    format!("merge {rank} is \"{}\": two texts with a space between expected", merge.escape_ascii()),
                )
                .into());
        };
        let (Some(mut text), Some(right)) = (mapped(left, unmap), mapped(right, unmap)) else { continue };
        text.extend(right);
        if let Some(&id) = by_text.get(text.as_slice())
            && let Some(priority) = priorities.get_mut(id as usize)
        {
            *priority = (*priority).min(rank as u32);
        }
    }
    Ok(())
}

fn spm_priorities(vocab: &Vocab<'_>, index: &[u32], pieces: &[Vec<u8>], priorities: &mut [u32]) {
    let score = |id: u32| vocab.scores.get(id as usize).copied().unwrap_or(0.0);
    let mut order: Vec<u32> = index.iter().copied().filter(|&id| pieces[id as usize].len() > 1).collect();
    order.sort_by(|&a, &b| score(b).partial_cmp(&score(a)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(&b)));
    for (position, id) in order.into_iter().enumerate() {
        priorities[id as usize] = position as u32;
    }
}

/// Tokens of the index that no merge can make: their text is always split otherwise.
fn orphans(
    kind: TokenizerKind,
    index: &[u32],
    pieces: &[Vec<u8>],
    by_text: &HashMap<&[u8], u32>,
    byte_table: &[u32; 256],
    priorities: &[u32],
) -> Vec<u32> {
    let known = |text: &[u8]| match text {
        [byte] => byte_table[usize::from(*byte)] != NO_TOKEN,
        _ => by_text.contains_key(text),
    };
    index
        .iter()
        .copied()
        .filter(|&id| {
            let text = pieces[id as usize].as_slice();
            text.len() > 1
                && match kind {
                    TokenizerKind::Bpe => priorities[id as usize] == NO_TOKEN,
                    _ => !(1..text.len()).any(|at| known(&text[..at]) && known(&text[at..])),
                }
        })
        .collect()
}

struct Ids {
    begin: u32,
    end: u32,
    unknown: u32,
    bos: u32,
    eos: u32,
}

fn special_ids(
    vocab: &Vocab<'_>,
    kind: TokenizerKind,
    model: &Model,
    notes: &mut Vec<Note>,
) -> Result<Ids, ConvertError> {
    let rows = model.dims.vocab;
    // An id beyond the vocabulary is as good as none; the user hears of it.
    let mut check = |key: &'static str, id: Option<u32>| match id {
        Some(id) if id >= rows => {
            notes.push(Note::IdOutsideVocabulary { key, id, rows });
            None
        }
        id => id,
    };
    let bos = check("tokenizer.ggml.bos_token_id", vocab.bos);
    let eos = check("tokenizer.ggml.eos_token_id", vocab.eos);
    let unknown = check("tokenizer.ggml.unknown_token_id", vocab.unknown);
    let cls = check("tokenizer.ggml.cls_token_id", vocab.cls);
    let separator = check("tokenizer.ggml.seperator_token_id", vocab.separator);
    let by_text = |text: &[u8]| vocab.tokens.iter().position(|t| *t == text).map(|id| id as u32);
    let inside = |id: u32| if id < rows { id } else { NO_TOKEN };

    let family_begins = kind == TokenizerKind::Bpe && vocab.pre.and_then(pre_tokenizer).is_some_and(|pre| pre.begins);
    let wants_bos = vocab.add_bos.unwrap_or(kind == TokenizerKind::Spm || family_begins);
    let (begin, end) = if kind == TokenizerKind::WordPiece {
        let need = |id: Option<u32>, text: &'static str, key: &str| {
            id.or_else(|| by_text(text.as_bytes())).ok_or_else(|| ConvertError::Key {
                key: key.into(),
                reason: format!("it is missing or outside the vocabulary, and there is no token {text}"),
            })
        };
        (
            need(cls.or(bos), "[CLS]", "tokenizer.ggml.cls_token_id")?,
            need(separator.or(eos), "[SEP]", "tokenizer.ggml.seperator_token_id")?,
        )
    } else {
        let begin = match kind {
            TokenizerKind::Spm => bos.or(if vocab.bos.is_none() { Some(inside(1)) } else { None }),
            _ => bos,
        };
        (if wants_bos { begin.unwrap_or(NO_TOKEN) } else { NO_TOKEN }, NO_TOKEN)
    };
    // Without a key: 1 and 2 as ever, but for gpt2 its own end-of-text where the vocabulary has it, and
    // nothing where it has not: an ordinary token must not end a text.
    let default_eos = match model.architecture() {
        Architecture::Gpt2 if vocab.eos.is_none() => inside(50256),
        Architecture::Llama if vocab.eos.is_none() => inside(2),
        Architecture::Bert => 2,
        _ => NO_TOKEN,
    };
    Ok(Ids {
        begin,
        end,
        unknown: unknown.or_else(|| by_text(b"[UNK]")).unwrap_or(0),
        bos: bos.unwrap_or(1),
        eos: eos.unwrap_or(default_eos),
    })
}
