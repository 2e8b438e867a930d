//! A vocabulary ready for use.

use ssnail_gguf::{Gguf, Vocab};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::added::{Added, Part};
use crate::bpe::Bpe;
use crate::imitate::Imitate;
use crate::pieces::{Kind, Pieces};
use crate::pre::{PreTokenizer, pre_tokenizer};
use crate::spm::Spm;
use crate::wordpiece::WordPiece;

/// The families of tokenizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// SentencePiece BPE (`llama`).
    Spm,
    /// Byte-level BPE (`gpt2`).
    Bpe,
    /// WordPiece (`bert`).
    WordPiece,
}

/// Why a vocabulary cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The tokenizer is of a family that is not known here.
    #[error("tokenizer.ggml.model is {0:?}; known are llama (SentencePiece), gpt2 (BPE) and bert (WordPiece)")]
    UnknownModel(String),
    /// The file has no token list.
    #[error("tokenizer.ggml.tokens is missing or empty: the file has no vocabulary")]
    NoTokens,
    /// The keys could not be read.
    #[error("{0}")]
    Gguf(String),
}

/// Something about a vocabulary that its user should know.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Warning {
    /// The splitting rule is not known.
    #[error(
        "pre-tokenizer {0:?} (tokenizer.ggml.pre) is not known; text is split as for gpt-2, which may give other ids"
    )]
    UnknownPreTokenizer(String),
    /// The splitting rule is not named.
    #[error("the file names no pre-tokenizer (tokenizer.ggml.pre); text is split as for gpt-2")]
    NoPreTokenizer,
    /// SentencePiece without byte tokens.
    #[error("{0} of 256 byte tokens are missing: characters outside the vocabulary become the unknown token")]
    MissingBytes(usize),
    /// The vocabulary asks for a token before every text and does not say which.
    #[error("tokenizer.ggml.add_bos_token is set, but there is no bos_token_id: nothing is put before the text")]
    NoBos,
    /// A token id of a key lies outside the list: as good as none, as for the converter.
    #[error("tokenizer.ggml.{key} is {id}, but the vocabulary has {n} tokens; ignored")]
    OutsideVocabulary {
        /// Key, without its prefix.
        key: &'static str,
        /// The id found.
        id: u32,
        /// Tokens in the list.
        n: usize,
    },
}

/// What to do with a text besides tokenizing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Put begin and end tokens around it, as the vocabulary wants.
    pub special: bool,
    /// Find special tokens written out in the text; otherwise what a person types stays text.
    pub parse_special: bool,
    /// The text begins the context: SentencePiece puts a space before it.
    pub first: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { special: true, parse_special: false, first: true }
    }
}

/// A tokenized text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// The ids.
    pub ids: Vec<u32>,
    /// Bytes (WordPiece: words) for which there is no token; the unknown token stands for each if there is one, then `?`,
    /// and nothing if there is neither.
    pub lost: usize,
    /// The text began with the begin token already, and now has two.
    pub double_begin: bool,
}

#[derive(Clone, Debug)]
enum Algorithm {
    Spm(Box<Spm>),
    Bpe(Box<Bpe>),
    WordPiece(WordPiece),
}

/// The tokenizer of a vocabulary.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    algorithm: Algorithm,
    pieces: Pieces,
    added: Added,
    begin: Option<u32>,
    end: Option<u32>,
    unknown: Option<u32>,
    /// What stands for bytes without a token.
    substitute: Option<u32>,
    space_prefix: bool,
    warnings: Vec<Warning>,
}

impl Tokenizer {
    /// Reads the vocabulary of a file and prepares it.
    ///
    /// # Errors
    /// As [`Tokenizer::new`]; [`Error::Gguf`] for keys of the wrong type.
    pub fn from_gguf(file: &Gguf<'_>) -> Result<Self, Error> {
        Self::new(&file.vocab().map_err(|error| Error::Gguf(error.to_string()))?)
    }

    /// Prepares a vocabulary.
    ///
    /// # Errors
    /// An unknown family, or no tokens.
    pub fn new(vocab: &Vocab<'_>) -> Result<Self, Error> {
        let model = match vocab.model {
            None | Some("llama") => Model::Spm,
            Some("gpt2") => Model::Bpe,
            Some("bert") => Model::WordPiece,
            Some(other) => return Err(Error::UnknownModel(other.to_owned())),
        };
        if vocab.tokens.is_empty() {
            return Err(Error::NoTokens);
        }
        let mut warnings = Vec::new();
        let mut inside = |key: &'static str, id: Option<u32>| match id {
            Some(id) if id as usize >= vocab.tokens.len() => {
                warnings.push(Warning::OutsideVocabulary { key, id, n: vocab.tokens.len() });
                None
            }
            id => id,
        };
        let bos = inside("bos_token_id", vocab.bos);
        let eos = inside("eos_token_id", vocab.eos);
        let unknown = inside("unknown_token_id", vocab.unknown);
        let separator = inside("seperator_token_id", vocab.separator);
        let cls = inside("cls_token_id", vocab.cls);
        let named = |name: &[u8]| vocab.tokens.iter().position(|&t| t == name).and_then(|id| u32::try_from(id).ok());
        let pieces = Pieces::new(vocab, model);
        let algorithm = match model {
            Model::Spm => {
                let spm = Spm::new(vocab, &pieces);
                if spm.missing_bytes() != 0 {
                    warnings.push(Warning::MissingBytes(spm.missing_bytes()));
                }
                Algorithm::Spm(Box::new(spm))
            }
            Model::Bpe => {
                let pre = vocab.pre.map_or_else(
                    || Err(Warning::NoPreTokenizer),
                    |name| pre_tokenizer(name).ok_or_else(|| Warning::UnknownPreTokenizer(name.to_owned())),
                );
                let pre = pre.unwrap_or_else(|warning| {
                    warnings.push(warning);
                    PreTokenizer::GPT2
                });
                Algorithm::Bpe(Box::new(Bpe::new(vocab, pre)))
            }
            Model::WordPiece => Algorithm::WordPiece(WordPiece::new(&pieces)),
        };
        let (begin, end) = if model == Model::WordPiece {
            (cls.or(bos).or_else(|| named(b"[CLS]")), separator.or(eos).or_else(|| named(b"[SEP]")))
        } else {
            let first = Some(1).filter(|_| model == Model::Spm && vocab.bos.is_none() && vocab.tokens.len() > 1);
            (bos.or(first), eos)
        };
        let begins = match &algorithm {
            Algorithm::Bpe(bpe) => bpe.pre().begins && begin.is_some(),
            Algorithm::Spm(_) | Algorithm::WordPiece(_) => true,
        };
        let adds_begin = vocab.add_bos.unwrap_or(begins);
        let adds_end = vocab.add_eos.unwrap_or(model == Model::WordPiece);
        if adds_begin && begin.is_none() {
            warnings.push(Warning::NoBos);
        }
        let added = Added::new(vocab, &pieces);
        let unknown = unknown.or_else(|| named(b"[UNK]")).or_else(|| named(b"<unk>"));
        let question = || pieces.kinds().find(|&(id, kind)| kind == Kind::Normal && pieces.get(id) == b"?");
        let substitute = unknown.or_else(|| question().map(|(id, _)| id));
        Ok(Self {
            algorithm,
            pieces,
            added,
            begin: begin.filter(|_| adds_begin),
            end: end.filter(|_| adds_end),
            unknown,
            substitute,
            space_prefix: vocab.add_space_prefix.unwrap_or(true),
            warnings,
        })
    }

    /// The family.
    #[must_use]
    pub fn model(&self) -> Model {
        match self.algorithm {
            Algorithm::Spm(_) => Model::Spm,
            Algorithm::Bpe(_) => Model::Bpe,
            Algorithm::WordPiece(_) => Model::WordPiece,
        }
    }

    /// How BPE splits a text; none for the other families.
    #[must_use]
    pub fn pre_tokenizer(&self) -> Option<PreTokenizer> {
        if let Algorithm::Bpe(bpe) = &self.algorithm { Some(bpe.pre()) } else { None }
    }

    /// Whether WordPiece lower-cases and takes accents off; false for the other families.
    #[must_use]
    pub fn lowercases(&self) -> bool {
        matches!(&self.algorithm, Algorithm::WordPiece(words) if words.lowercase())
    }

    /// What the user of this vocabulary should know.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Bytes and kinds of all tokens.
    #[must_use]
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Token put before a text.
    #[must_use]
    pub fn begin(&self) -> Option<u32> {
        self.begin
    }

    /// Token put behind a text.
    #[must_use]
    pub fn end(&self) -> Option<u32> {
        self.end
    }

    /// Token for what the vocabulary cannot say.
    #[must_use]
    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Tokenizes a text.
    #[must_use]
    pub fn encode(&self, text: &str, options: Options) -> Encoding {
        self.encode_like(text, options, Imitate::default())
    }

    /// Tokenizes a text with some of the habits of an image's tokenizer.
    #[must_use]
    pub fn encode_like(&self, text: &str, options: Options, imitate: Imitate) -> Encoding {
        let mut out = Encoding::default();
        let parts = if imitate.no_added && !options.parse_special {
            vec![Part::Text(text)]
        } else {
            self.added.parts(text, options.parse_special)
        };
        let space = options.first && imitate.space.unwrap_or(self.space_prefix);
        for (i, part) in parts.into_iter().enumerate() {
            match part {
                Part::Token(id) => out.ids.push(id),
                Part::Text(text) => self.part(text, space && i == 0, imitate, &mut out),
            }
        }
        if options.special {
            if let Some(begin) = self.begin {
                out.double_begin = out.ids.first() == Some(&begin);
                out.ids.insert(0, begin);
            }
            out.ids.extend(self.end);
        }
        out
    }

    fn part(&self, text: &str, spaced: bool, imitate: Imitate, out: &mut Encoding) {
        let substitute = imitate.missing.unwrap_or(self.substitute);
        let mut emit = |id: Option<u32>| {
            if id.is_none() {
                out.lost += 1;
            }
            out.ids.extend(id.or(substitute));
        };
        match &self.algorithm {
            Algorithm::Spm(spm) => spm.encode(text, spaced, &self.pieces, imitate, &mut emit),
            Algorithm::Bpe(bpe) if bpe.pre().nfc && !imitate.no_normal_form && !text.is_ascii() => {
                let text: String = text.nfc().collect();
                bpe.encode(&text, &self.pieces, imitate, &mut emit);
            }
            Algorithm::Bpe(bpe) => bpe.encode(text, &self.pieces, imitate, &mut emit),
            Algorithm::WordPiece(words) => words.encode(text, &self.pieces, imitate, &mut emit),
        }
    }

    /// The bytes of some tokens, one after the other; special tokens have none.
    #[must_use]
    pub fn decode(&self, ids: &[u32]) -> Vec<u8> {
        ids.iter().flat_map(|&id| self.pieces.get(id)).copied().collect()
    }

    /// Tokens of text that no text becomes: no merges lead to them. They are decoded but never made.
    #[must_use]
    pub fn orphans(&self) -> Vec<u32> {
        let Algorithm::Bpe(bpe) = &self.algorithm else { return Vec::new() };
        let is_orphan = |&(id, kind): &(u32, Kind)| {
            let mut ids = Vec::new();
            bpe.chunk(self.pieces.get(id), &self.pieces, Imitate::default(), &mut |id| ids.push(id));
            kind == Kind::Normal && ids != [Some(id)]
        };
        self.pieces.kinds().filter(is_orphan).map(|(id, _)| id).collect()
    }
}
