//! Comparing the tokenizer of an image with that of the file that it was made from.
//!
//! Lines on which they differ are explained by imitation: the file's tokenizer takes on the habits of an image one by
//! one ([`Imitate`]), and the smallest set of habits that gives the image's ids is the reason.

use std::fmt;

use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::header::{NO_TOKEN, TOKENIZER_NO_SPACE_PREFIX, TokenizerKind};
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::tokenizer::{self as image, NonAscii, Place, Rules, Tables, WORDS_PER_BYTE};

use crate::imitate::Imitate;
use crate::tokenizer::{Model, Options, Tokenizer};

/// Why an image gives other ids than the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Characters outside ASCII.
    NonAscii,
    /// Carriage returns, other controls and bytes without a token, which the image drops.
    MissingBytes,
    /// Another rule for splitting the text before merging.
    Splitting,
    /// The image merges by what is made, the file by the pair that makes it.
    MergeByProduct,
    /// The file takes whole chunks that are tokens without merging.
    WholeChunks,
    /// Equal scores: the image takes the lower id, the file the leftmost pair.
    EqualScores,
    /// The space before the text.
    SpacePrefix,
    /// Tokens that the file looks for before it tokenizes.
    AddedTokens,
    /// What makes a word in WordPiece: `_`, control characters, words of more than 100 characters.
    Words,
    /// The text is lower-cased, or not.
    Case,
    /// The begin and end tokens.
    BeginEnd,
    /// None of these: tables of another vocabulary, or a damaged image.
    Unexplained,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonAscii => "characters outside ASCII, which the image has no pieces for",
            Self::MissingBytes => {
                "carriage return, another control character or a byte without a token, which the image drops"
            }
            Self::Splitting => "the text is split by another rule before merging (blank lines, tabs, digits)",
            Self::MergeByProduct => "the image merges by the token made, the model by the pair that makes it",
            Self::WholeChunks => "the model takes a chunk that is a token whole, the image merges it",
            Self::EqualScores => "pairs of equal score: the image merges the lower id, the model the leftmost",
            Self::SpacePrefix => "the space before the text",
            Self::AddedTokens => "a token of the model that is matched before the text is tokenized",
            Self::Words => "what makes a word: `_`, control characters, more than 100 characters",
            Self::Case => "capital letters",
            Self::BeginEnd => "the token before or behind the text",
            Self::Unexplained => "no known cause: tables of another vocabulary, or a damaged image",
        })
    }
}

/// A line on which image and file differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Line number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// Ids from the image.
    pub image: Vec<u32>,
    /// Ids from the file.
    pub gguf: Vec<u32>,
    /// Why, all that were needed to explain it.
    pub causes: Vec<Cause>,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines compared; blank ones are not.
    pub lines: usize,
    /// Ids from the image.
    pub tokens: usize,
    /// Index entries that the image's tokenizer looked at.
    pub probes: u64,
    /// The lines that differ.
    pub differences: Vec<Difference>,
}

impl Report {
    /// Index entries looked at for each token made.
    #[must_use]
    pub fn probes_per_token(&self) -> f64 {
        if self.tokens == 0 { 0.0 } else { self.probes as f64 / self.tokens as f64 }
    }

    /// How many lines each cause has a part in, the most frequent first.
    #[must_use]
    pub fn causes(&self) -> Vec<(Cause, usize)> {
        let mut counts: Vec<(Cause, usize)> = Vec::new();
        for cause in self.differences.iter().flat_map(|d| &d.causes) {
            match counts.iter_mut().find(|(c, _)| c == cause) {
                Some((_, n)) => *n += 1,
                None => counts.push((*cause, 1)),
            }
        }
        counts.sort_by_key(|&(cause, n)| (std::cmp::Reverse(n), cause));
        counts
    }
}

/// Tokenizes a text with the tables of an image, with as much scratch as it needs.
///
/// # Errors
/// Damaged tables.
pub fn image_ids<M: ReadMemory + ?Sized>(
    tables: &mut Tables<'_, M>,
    text: &str,
    place: Place,
    rules: Rules,
) -> Result<Vec<u32>, image::Error> {
    // Folding makes four bytes of two at most; a space may come in front.
    let bytes = text.len().saturating_mul(2).saturating_add(8);
    let mut scratch = vec![0; bytes.saturating_mul(WORDS_PER_BYTE as usize)];
    let mut ids = Vec::new();
    image::encode(tables, text.as_bytes(), place, rules, &mut scratch[..], |id| {
        ids.push(id);
        Ok(())
    })?;
    Ok(ids)
}

/// Compares line by line, each as the beginning of a context.
///
/// # Errors
/// Damaged tables.
pub fn check<M: ReadMemory + ?Sized>(
    tables: &mut Tables<'_, M>,
    tokenizer: &Tokenizer,
    text: &str,
    rules: Rules,
) -> Result<Report, image::Error> {
    let mut report = Report::default();
    let before = tables.probes();
    // `lines` would take a carriage return for part of the line's end.
    for (number, line) in (1..).zip(text.split('\n')) {
        if line.trim().is_empty() {
            continue;
        }
        let image = image_ids(tables, line, Place::First, rules)?;
        let gguf = tokenizer.encode(line, Options::default()).ids;
        report.lines += 1;
        report.tokens += image.len();
        if image != gguf {
            let causes = explain(tables, tokenizer, line, rules, &image);
            report.differences.push(Difference { line: number, text: line.to_owned(), image, gguf, causes });
        }
    }
    report.probes = u64::from(tables.probes().wrapping_sub(before));
    Ok(report)
}

/// The habits that can apply, each with what it is called.
fn habits(model: Model) -> &'static [Cause] {
    match model {
        Model::Spm => &[Cause::BeginEnd, Cause::AddedTokens, Cause::SpacePrefix, Cause::EqualScores, Cause::NonAscii],
        Model::Bpe => &[
            Cause::BeginEnd,
            Cause::AddedTokens,
            Cause::WholeChunks,
            Cause::Splitting,
            Cause::MergeByProduct,
            Cause::MissingBytes,
            Cause::NonAscii,
        ],
        Model::WordPiece => &[Cause::BeginEnd, Cause::AddedTokens, Cause::Words, Cause::Case, Cause::NonAscii],
    }
}

fn explain<M: ReadMemory + ?Sized>(
    tables: &Tables<'_, M>,
    tokenizer: &Tokenizer,
    line: &str,
    rules: Rules,
    image: &[u32],
) -> Vec<Cause> {
    let mut causes = habits(tokenizer.model()).to_vec();
    let explains = |causes: &[Cause]| imitation(tables, tokenizer, line, rules, causes) == image;
    if !explains(&causes) {
        return vec![Cause::Unexplained];
    }
    let mut i = 0;
    while i < causes.len() {
        let cause = causes.remove(i);
        if !explains(&causes) {
            causes.insert(i, cause);
            i += 1;
        }
    }
    causes
}

/// The file's ids with the habits named by `causes`.
fn imitation<M: ReadMemory + ?Sized>(
    tables: &Tables<'_, M>,
    tokenizer: &Tokenizer,
    line: &str,
    rules: Rules,
    causes: &[Cause],
) -> Vec<u32> {
    let has = |cause| causes.contains(&cause);
    let block = tables.block();
    let text =
        if has(Cause::NonAscii) { seen_by_image(line, rules.non_ascii.for_kind(block.kind)) } else { line.to_owned() };
    let imitate = Imitate {
        split: has(Cause::Splitting).then(|| match tables.split() {
            image::Split::Reference if rules.true_split => image::Split::Gpt2,
            split => split,
        }),
        products: has(Cause::MergeByProduct),
        no_whole_chunks: has(Cause::WholeChunks),
        lower_id: has(Cause::EqualScores),
        space: has(Cause::SpacePrefix).then_some(block.flags & TOKENIZER_NO_SPACE_PREFIX == 0),
        ascii_pieces: has(Cause::NonAscii),
        drop_bytes: has(Cause::MissingBytes) && !rules.keep_bytes,
        missing: (has(Cause::MissingBytes) && block.kind == TokenizerKind::Bpe)
            .then(|| tables.substitute().ok().flatten().filter(|_| rules.keep_bytes)),
        words: has(Cause::Words) && !rules.true_words,
        no_added: has(Cause::AddedTokens),
        no_normal_form: has(Cause::NonAscii),
        lowercase: has(Cause::Case).then_some(block.flags & ssnail_shared::header::TOKENIZER_LOWERCASE != 0),
    };
    let special = !has(Cause::BeginEnd);
    let mut ids = tokenizer.encode_like(&text, Options { special, ..Options::default() }, imitate).ids;
    if !special {
        if block.begin != NO_TOKEN {
            ids.insert(0, block.begin);
        }
        if block.end != NO_TOKEN && block.kind == TokenizerKind::WordPiece {
            ids.push(block.end);
        }
    }
    ids
}

/// A text with its characters outside ASCII as the image reads them.
fn seen_by_image(text: &str, non_ascii: NonAscii) -> String {
    match non_ascii {
        NonAscii::Bytes => text.to_owned(),
        NonAscii::Question => text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect(),
        NonAscii::Fold => {
            let mut folder = AsciiFolder::new();
            let mut out = String::new();
            for c in text.chars() {
                let mut utf8 = [0; 4];
                if c.is_ascii() {
                    out.push(c);
                    continue;
                }
                for &byte in c.encode_utf8(&mut utf8).as_bytes() {
                    out.extend(folder.push(byte).as_bytes().iter().map(|&b| char::from(b)));
                }
            }
            out
        }
    }
}
