//! What the user should hear about a conversion that succeeds.

use std::fmt;

use ssnail_quant::GgmlType;

/// A remark; printed by the caller, one line each.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// A matrix whose rows are no multiple of the block length is stored as F16.
    BecameF16 {
        /// The tensor.
        tensor: String,
        /// Its row length.
        columns: u32,
        /// The format that the policy asked for.
        wanted: GgmlType,
    },
    /// The embedding has more rows than there are tokens.
    PaddedVocabulary {
        /// Tokens in the list.
        tokens: u32,
        /// Rows of the embedding.
        rows: u32,
    },
    /// Tokens that no merge makes; other tokenizers may produce them.
    OrphanTokens {
        /// How many.
        count: u32,
        /// The texts of a few.
        examples: Vec<String>,
    },
    /// Characters of the keyboard that no token stands for; the image's tokenizer leaves them out.
    UntypableCharacters {
        /// How many of 97 (the printable ones, tab and line feed).
        count: u32,
        /// A few of them, escaped.
        examples: String,
    },
    /// A token id of the file that the vocabulary does not have; treated as absent.
    IdOutsideVocabulary {
        /// The key.
        key: &'static str,
        /// Its value.
        id: u32,
        /// Size of the vocabulary.
        rows: u32,
    },
    /// The context is longer than the model was trained with.
    ContextBeyondTraining {
        /// The context of the image.
        ctx: u32,
        /// That of the training.
        trained: u32,
    },
    /// The file names a splitting rule (`tokenizer.ggml.pre`) that is not known; GPT-2's is used.
    UnknownPreTokenizer(String),
    /// The file does not say how to pool; the mean is taken.
    PoolingAssumed,
    /// The file goes on behind its last tensor.
    TrailingBytes(u64),
}

/// Characters that [`Note::UntypableCharacters`] lists.
const UNTYPABLE_SHOWN: usize = 8;

impl Note {
    /// A note about the typable characters without an entry in the byte table, if there are any.
    pub(crate) fn untypable(has_token: impl Fn(u8) -> bool) -> Option<Note> {
        let missing: Vec<u8> = (0..=126).filter(|&b| matches!(b, 9 | 10 | 32..) && !has_token(b)).collect();
        let shown: Vec<String> = missing.iter().take(UNTYPABLE_SHOWN).map(|b| b.escape_ascii().to_string()).collect();
        (!missing.is_empty())
            .then(|| Note::UntypableCharacters { count: missing.len() as u32, examples: shown.join(" ") })
    }

    pub(crate) fn orphans(ids: &[u32], pieces: &[Vec<u8>]) -> Note {
        let text = |id: &u32| pieces.get(*id as usize).map(|p| p.escape_ascii().to_string()).unwrap_or_default();
        Note::OrphanTokens { count: ids.len() as u32, examples: ids.iter().take(5).map(text).collect() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::BecameF16 { tensor, columns, wanted } => write!(
                f,
                "{tensor} is stored as F16: its rows of {columns} are not a multiple of 32, as {wanted} needs"
            ),
            Note::PaddedVocabulary { tokens, rows } => {
                write!(f, "the vocabulary has {tokens} tokens, the model {rows} rows; the rest has no text")
            }
            Note::OrphanTokens { count, examples } => write!(
                f,
                "{count} tokens are not made by any merge, so typed text never becomes them (\"{}\"{})",
                examples.join("\", \""),
                if *count as usize > examples.len() { ", …" } else { "" }
            ),
            Note::UnknownPreTokenizer(name) => {
                write!(
                    f,
                    "the pre-tokenizer {name:?} is not known; text is split as for gpt-2, which may give other tokens"
                )
            }
            Note::UntypableCharacters { count, examples } => write!(
                f,
                "{count} characters of the keyboard have no token and are left out of typed text ({examples}{})",
                if *count as usize > UNTYPABLE_SHOWN { " …" } else { "" }
            ),
            Note::IdOutsideVocabulary { key, id, rows } => {
                write!(f, "{key} is {id}, but the vocabulary has {rows} tokens; ignored")
            }
            Note::ContextBeyondTraining { ctx, trained } => {
                write!(f, "the context of {ctx} is longer than the {trained} positions of the training")
            }
            Note::PoolingAssumed => write!(f, "bert.pooling_type is missing; the mean of all positions is taken"),
            Note::TrailingBytes(n) => write!(f, "{n} bytes behind the last tensor are ignored"),
        }
    }
}

/// How much a conversion loses of an already quantised model.
#[derive(Clone, Debug, PartialEq)]
pub struct Lossy {
    /// Matrices stored in fewer bits than their source.
    pub matrices: u32,
    /// Their share of all matrix weights, 0 to 1.
    pub share: f64,
    /// Pairs of source and target format, each once.
    pub formats: Vec<(GgmlType, GgmlType)>,
}

impl fmt::Display for Lossy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.formats.iter().map(|(a, b)| format!("{a} to {b}")).collect();
        write!(
            f,
            "{} matrices with {:.0} % of the weights are stored in fewer bits than the file has ({})",
            self.matrices,
            self.share * 100.0,
            pairs.join(", ")
        )
    }
}
