//! Emission: where everything lies, and the script that runs over it.

mod bert;
mod decoder;
mod gpt2;
pub(crate) mod layout;
mod llama;
mod script;

use ssnail_shared::header::TokenizerBlock;
use ssnail_shared::isa::INSTRUCTION_LEN;
use ssnail_shared::map::{MEMORY_BASE, OUTPUT};

use crate::error::ConvertError;
use crate::model::{Body, Model};
use crate::options::{KvFormat, Options, WeightPolicy};
use crate::policy::MatrixPlan;
use crate::vocab::Tables;
use layout::{Content, Layout, Segment, Table};
use script::Script;

/// A layout with its script: an image except for the bytes of the weights.
pub(crate) struct Image {
    pub(crate) segments: Vec<Segment>,
    pub(crate) matrices: Vec<MatrixPlan>,
    pub(crate) instructions: u32,
    /// Addresses and lengths that the header repeats.
    pub(crate) vocab: u64,
    pub(crate) tokenizer: u64,
    pub(crate) payload_end: u64,
    pub(crate) end: u64,
    pub(crate) output: u64,
    pub(crate) output_len: u32,
}

impl Image {
    /// Bytes needed from $8000000.
    pub(crate) fn memory_needed(&self) -> u64 {
        self.end - u64::from(MEMORY_BASE)
    }
}

/// What emission needs to know besides the model.
pub(crate) struct Context<'a> {
    pub(crate) model: &'a Model,
    pub(crate) ctx: u32,
    pub(crate) kv: KvFormat,
    pub(crate) eos: u32,
}

/// Lays out an image and writes its script. Sizes are exact whether they fit into the memory or not.
///
/// # Errors
/// [`ConvertError::TablesTooBig`].
pub(crate) fn build(
    model: &Model,
    tables: &Tables,
    options: &Options,
    policy: WeightPolicy,
    ctx: u32,
) -> Result<Image, ConvertError> {
    let mut l = Layout::new(options, policy);
    // Room for 64 instructions and as many for each block (spec section 4).
    let slots = 64 + 64 * u64::from(model.dims.layers);
    let script = l.blob("script", u64::from(INSTRUCTION_LEN) * slots, 16, Content::Pending);
    let vocab = l.blob("vocabulary", tables.pieces.len() as u64, 32, Content::Table(Table::Pieces));
    let index = l.blob("index", tables.index.len() as u64, 32, Content::Table(Table::Index));
    let priorities = l.blob("priorities", tables.priorities.len() as u64, 32, Content::Table(Table::Priorities));
    let bytes = l.blob("byte table", tables.byte_table.len() as u64, 32, Content::Table(Table::Bytes));
    let block = TokenizerBlock {
        kind: tables.kind,
        flags: tables.flags,
        split: tables.split,
        n_vocab: tables.n_vocab,
        index: index.address as u32,
        index_len: tables.index_len,
        priorities: priorities.address as u32,
        bytes: bytes.address as u32,
        begin: tables.begin,
        end: tables.end,
        unknown: tables.unknown,
    }
    .encode();
    let tokenizer = l.blob("tokenizer", block.len() as u64, 32, Content::Bytes(block.to_vec()));
    if l.at() > u64::from(options.boundary) && tokenizer.address < u64::from(options.boundary) {
        return Err(ConvertError::TablesTooBig { end: l.at(), boundary: u64::from(options.boundary) });
    }

    let c = Context { model, ctx, kv: options.kv, eos: tables.eos };
    let mut s = Script::new();
    let (output, output_len) = match &model.body {
        Body::Llama(m) => (llama::emit(m, &c, &mut l, &mut s), model.dims.vocab),
        Body::Gpt2(m) => (gpt2::emit(m, &c, &mut l, &mut s), model.dims.vocab),
        Body::Bert(m) => {
            bert::emit(m, &c, &mut l, &mut s);
            (OUTPUT, model.dims.dim)
        }
    };
    let code = s.finish();
    let instructions = (code.len() / INSTRUCTION_LEN as usize) as u32;
    l.fill(&script, code);
    let (payload_end, end) = (l.payload_end(), l.at());
    let (segments, matrices) = l.finish();
    Ok(Image {
        segments,
        matrices,
        instructions,
        vocab: vocab.address,
        tokenizer: tokenizer.address,
        payload_end,
        end,
        output: u64::from(output),
        output_len,
    })
}
