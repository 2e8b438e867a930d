//! Byte-level BPE: the bytes of each chunk merged by the rank of the pair.

use std::collections::HashMap;
use std::sync::OnceLock;

use ssnail_gguf::Vocab;

use crate::bytes;
use crate::imitate::Imitate;
use crate::letters::chunks;
use crate::merge::Row;
use crate::pieces::{Kind, Pieces, is_indexed_byte};
use crate::pre::PreTokenizer;

#[derive(Clone, Debug)]
pub(crate) struct Bpe {
    pre: PreTokenizer,
    n_vocab: u32,
    /// Symbol of each byte. Symbols below `n_vocab` are tokens; those above are texts that merges make and no token has.
    bytes: [u32; 256],
    /// Rank and product of a pair of symbols.
    merges: HashMap<(u32, u32), (u32, u32)>,
    /// Token and lowest rank of what merges make, by piece; only whole chunks and imitation need it.
    products: OnceLock<HashMap<Vec<u8>, Product>>,
}

#[derive(Clone, Copy, Debug)]
struct Product {
    id: u32,
    rank: Option<u32>,
}

/// Texts and their symbols.
struct Symbols<'v> {
    ids: HashMap<&'v [u8], u32>,
    made: HashMap<Vec<u8>, u32>,
    next: u32,
}

impl<'v> Symbols<'v> {
    fn get(&mut self, text: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(text).or_else(|| self.made.get(text)) {
            return id;
        }
        let id = self.next;
        self.next += 1;
        self.made.insert(text.to_vec(), id);
        id
    }
}

/// The two texts of a merge line.
fn sides(line: &[u8]) -> Option<(&[u8], &[u8])> {
    // The left text is never empty, and a space may be its first character.
    let at = line.iter().skip(1).position(|&b| b == b' ')? + 1;
    Some((line.get(..at)?, line.get(at + 1..).filter(|right| !right.is_empty())?))
}

impl Bpe {
    pub(crate) fn new(vocab: &Vocab<'_>, pre: PreTokenizer) -> Self {
        let n_vocab = u32::try_from(vocab.tokens.len()).unwrap_or(u32::MAX);
        let mut ids = HashMap::with_capacity(vocab.tokens.len());
        for (id, &text) in (0..).zip(&vocab.tokens) {
            ids.entry(text).or_insert(id);
        }
        let mut symbols = Symbols { ids, made: HashMap::new(), next: n_vocab };
        let mut merges = HashMap::with_capacity(vocab.merges.len());
        for (rank, &line) in (0..).zip(&vocab.merges) {
            let Some((left, right)) = sides(line) else { continue };
            let product = symbols.get(&[left, right].concat());
            let pair = (symbols.get(left), symbols.get(right));
            merges.entry(pair).or_insert((rank, product));
        }
        let bytes = std::array::from_fn(|byte| {
            let mut text = [0; 4];
            symbols.get(bytes::char_of(byte as u8).encode_utf8(&mut text).as_bytes())
        });
        Self { pre, n_vocab, bytes, merges, products: OnceLock::new() }
    }

    /// The pre-tokenizer in use.
    pub(crate) fn pre(&self) -> PreTokenizer {
        self.pre
    }

    /// Tokenizes a stretch of text. Hands over ids, or none for a byte without a token.
    pub(crate) fn encode(&self, text: &str, pieces: &Pieces, imitate: Imitate, emit: &mut impl FnMut(Option<u32>)) {
        let split = imitate.split.unwrap_or(self.pre.split);
        for chunk in chunks(split, text) {
            self.chunk(chunk.as_bytes(), pieces, imitate, emit);
        }
    }

    /// Tokenizes one chunk.
    pub(crate) fn chunk(&self, chunk: &[u8], pieces: &Pieces, imitate: Imitate, emit: &mut impl FnMut(Option<u32>)) {
        let kept: Vec<u8>;
        let chunk = if imitate.drop_bytes {
            let has_token = |&b: &u8| is_indexed_byte(b) && self.is_text(self.byte(b), pieces);
            kept = chunk.iter().copied().filter(has_token).collect();
            &kept
        } else {
            chunk
        };
        let whole = self.pre.whole_chunks && !imitate.no_whole_chunks;
        if let Some(product) = whole.then(|| self.products(pieces).get(chunk)).flatten() {
            emit(Some(product.id));
            return;
        }
        let mut row = Row::new((1..).zip(chunk.iter().map(|&byte| self.byte(byte))));
        let known = |id: u32| !imitate.ascii_pieces || pieces.is_indexed(id);
        if imitate.products {
            let products = self.products(pieces);
            row.merge(|start, end, _, _| {
                let product = products.get(chunk.get(start..end)?)?;
                Some((product.rank.filter(|_| known(product.id))?, product.id))
            });
        } else {
            row.merge(|_, _, a, b| {
                let &(rank, product) = self.merges.get(&(a, b))?;
                known(product).then_some((rank, product))
            });
        }
        for (start, end, symbol) in row.symbols() {
            if self.is_text(symbol, pieces) {
                emit(Some(symbol));
                continue;
            }
            for &byte in chunk.get(start..end).unwrap_or(&[]) {
                emit(Some(self.byte(byte)).filter(|&id| self.is_text(id, pieces)));
            }
        }
    }

    fn byte(&self, byte: u8) -> u32 {
        self.bytes.get(usize::from(byte)).copied().unwrap_or(u32::MAX)
    }

    fn is_text(&self, symbol: u32, pieces: &Pieces) -> bool {
        symbol < self.n_vocab && pieces.kind(symbol) != Some(Kind::Special)
    }

    fn products(&self, pieces: &Pieces) -> &HashMap<Vec<u8>, Product> {
        self.products.get_or_init(|| {
            let mut ranks: HashMap<u32, u32> = HashMap::new();
            for &(rank, product) in self.merges.values() {
                let lowest = ranks.entry(product).or_insert(rank);
                *lowest = rank.min(*lowest);
            }
            let mut products = HashMap::new();
            for (id, kind) in pieces.kinds() {
                if kind != Kind::Special {
                    products.entry(pieces.get(id).to_vec()).or_insert(Product { id, rank: ranks.get(&id).copied() });
                }
            }
            products
        })
    }
}
