//! From a model and options to everything about the image but the bytes of its weights.

use ssnail_gguf::Gguf;
use ssnail_quant::GgmlType;
use ssnail_shared::header::{DESCRIPTION_LEN, FLAG_ENCODER, Header};
use ssnail_shared::isa::INSTRUCTION_LEN;
use ssnail_shared::map::{ADDRESS_END, BOARD_TOP, HEADER_LEN, MAX_CONTEXT, MEMORY_BASE, OUTPUT_LEN, PAYLOAD, TOKENS};

use crate::advice::TooBig;
use crate::error::ConvertError;
use crate::image::layout::Content;
use crate::image::{self, Image};
use crate::model::{Architecture, Body, Model};
use crate::notes::{Lossy, Note};
use crate::options::{Options, WeightPolicy};
use crate::policy::MatrixPlan;
use crate::vocab::{self, Tables};

/// Contexts that are taken when none is asked for.
const DEFAULT_CTX: u32 = 256;
const DEFAULT_CTX_ENCODER: u32 = 128;
/// The context that the advice on big models proposes.
const SHORT_CTX: u32 = 128;

/// An image that is completely decided but not yet written. Borrows the model file for its weights.
pub struct Plan<'g> {
    pub(crate) gguf: &'g Gguf<'g>,
    pub(crate) model: Model,
    pub(crate) tables: Tables,
    pub(crate) image: Image,
    header: Header,
    policy: WeightPolicy,
    notes: Vec<Note>,
    lossy: Option<Lossy>,
}

/// A piece of the payload, for listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo<'p> {
    /// What it is: a tensor's name, `script`, `vocabulary`, `index`, `priorities`, `byte table`, `tokenizer`,
    /// `rope table` or `attention block N`.
    pub name: &'p str,
    /// First address.
    pub address: u32,
    /// Bytes.
    pub len: u32,
}

/// Decides everything about the image: formats, addresses, script. Reads the header of the file, and of its
/// weights only the RoPE factors.
///
/// # Errors
/// Everything in [`ConvertError`] except unreadable and damaged weights, which [`Plan::write`] finds.
pub fn plan<'g>(gguf: &'g Gguf<'g>, options: &Options) -> Result<Plan<'g>, ConvertError> {
    let limit = memory_limit(options)?;
    let draft = Draft::read(gguf, options)?;
    let attempts: &[WeightPolicy] =
        if options.wtype == WeightPolicy::Auto { &WeightPolicy::AUTO } else { &[options.wtype] };
    for &policy in attempts {
        let image = image::build(&draft.model, &draft.tables, options, policy, draft.ctx)?;
        if image.end <= limit {
            return draft.finish(gguf, options, policy, image);
        }
    }
    Err(draft.too_big(options, limit))
}

/// Bytes of memory from $8000000 that an image needs with each policy that auto tries, in that order;
/// computed from the header of the model file alone (see [`Gguf::parse_prefix`]). `options.wtype` and the
/// memory size do not matter.
///
/// # Errors
/// As [`plan`], but never [`ConvertError::TooBig`].
pub fn memory_needs(gguf: &Gguf<'_>, options: &Options) -> Result<Vec<(WeightPolicy, u64)>, ConvertError> {
    Draft::read(gguf, options)?.needs(options)
}

/// What does not depend on the policy.
struct Draft {
    model: Model,
    tables: Tables,
    ctx: u32,
    notes: Vec<Note>,
}

impl Draft {
    fn read(gguf: &Gguf<'_>, options: &Options) -> Result<Draft, ConvertError> {
        let model = Model::read(gguf)?;
        let mut notes = Vec::new();
        let ctx = context(&model, options.ctx, &mut notes)?;
        if let Body::Bert(bert) = &model.body {
            if 4 * model.dims.dim > OUTPUT_LEN {
                return Err(ConvertError::Unsupported {
                    what: format!("a width of {}", model.dims.dim),
                    reason: format!("the output window of encoders holds {} numbers", OUTPUT_LEN / 4),
                });
            }
            if !bert.pooling_given {
                notes.push(Note::PoolingAssumed);
            }
        }
        let tables = vocab::build(gguf, &model, &mut notes)?;
        if gguf.trailing_bytes() > gguf.alignment() {
            notes.push(Note::TrailingBytes(gguf.trailing_bytes()));
        }
        Ok(Draft { model, tables, ctx, notes })
    }

    fn needs(&self, options: &Options) -> Result<Vec<(WeightPolicy, u64)>, ConvertError> {
        WeightPolicy::AUTO
            .into_iter()
            .map(|policy| {
                let image = image::build(&self.model, &self.tables, options, policy, self.ctx)?;
                Ok((policy, image.memory_needed()))
            })
            .collect()
    }

    fn too_big(&self, options: &Options, limit: u64) -> ConvertError {
        let needed = |policy, ctx| {
            image::build(&self.model, &self.tables, options, policy, ctx).map(|image| image.memory_needed())
        };
        // For auto the last attempt, the smallest, is the one to talk about.
        let policy = match options.wtype {
            WeightPolicy::Auto => WeightPolicy::Named(GgmlType::Q4_0),
            policy => policy,
        };
        let short = (self.ctx > SHORT_CTX).then(|| needed(WeightPolicy::Named(GgmlType::Q4_0), SHORT_CTX));
        match (needed(policy, self.ctx), self.needs(options)) {
            (Ok(bytes), Ok(needs)) => ConvertError::TooBig(Box::new(TooBig {
                needed: bytes,
                available: limit - u64::from(MEMORY_BASE),
                policy,
                ctx: self.ctx,
                needs,
                short_context: short.and_then(Result::ok),
            })),
            (Err(e), _) | (_, Err(e)) => e,
        }
    }

    fn finish<'g>(
        mut self,
        gguf: &'g Gguf<'g>,
        options: &Options,
        policy: WeightPolicy,
        image: Image,
    ) -> Result<Plan<'g>, ConvertError> {
        for m in &image.matrices {
            if let Some(wanted) = m.wanted {
                self.notes.push(Note::BecameF16 { tensor: m.name.clone(), columns: m.columns, wanted });
            }
        }
        let header = header(&self, &image, options);
        let lossy = lossy(&image.matrices);
        Ok(Plan { gguf, model: self.model, tables: self.tables, image, header, policy, notes: self.notes, lossy })
    }
}

fn memory_limit(options: &Options) -> Result<u64, ConvertError> {
    let mem_mb = options.mem_mb;
    let board = f64::from((BOARD_TOP - MEMORY_BASE) >> 20);
    let space = f64::from((ADDRESS_END - MEMORY_BASE) >> 20);
    let refuse = |reason: String| Err(ConvertError::Memory { mem_mb, reason });
    if !(mem_mb.is_finite() && mem_mb >= 0.0) {
        return refuse("a number of megabytes is expected".into());
    }
    if mem_mb > space {
        return refuse(format!("the address space ends after {space} MB"));
    }
    if mem_mb > board && !options.emulator_only {
        return refuse(format!(
            "no board has more than {board} MB; --emulator-only allows up to {space} MB for images that only the emulator runs"
        ));
    }
    Ok(u64::from(MEMORY_BASE) + (mem_mb * f64::from(1u32 << 20)) as u64)
}

fn context(model: &Model, asked: Option<i64>, notes: &mut Vec<Note>) -> Result<u32, ConvertError> {
    let trained = model.dims.trained_ctx;
    let architecture = model.architecture();
    let Some(ctx) = asked else {
        let default = if architecture == Architecture::Bert { DEFAULT_CTX_ENCODER } else { DEFAULT_CTX };
        return Ok(default.min(trained));
    };
    let refuse = |reason: String| Err(ConvertError::Context { ctx, reason });
    let in_range = u32::try_from(ctx).ok().filter(|n| (1..=MAX_CONTEXT).contains(n));
    let Some(n) = in_range else {
        return refuse(format!("1 to {MAX_CONTEXT} positions fit into the token buffer"));
    };
    if n > trained {
        if architecture != Architecture::Llama {
            return refuse(format!("the model has learned {trained} positions"));
        }
        notes.push(Note::ContextBeyondTraining { ctx: n, trained });
    }
    Ok(n)
}

/// The description: who, what family, which type; never cut inside a character.
fn description(model: &Model, type_text: &str) -> [u8; DESCRIPTION_LEN] {
    let family = model.architecture().name();
    let d = &model.dims;
    let text = match &model.name {
        Some(name) => format!("{name} ({family}) [{type_text}]"),
        None => format!("{family} {}d {}L {}H [{type_text}]", d.dim, d.layers, d.heads),
    };
    let mut out = [0; DESCRIPTION_LEN];
    let mut at = 0;
    for c in text.chars() {
        // Line ends and the like would break the screens that show it.
        let c = if c.is_control() { ' ' } else { c };
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        if at + bytes.len() > DESCRIPTION_LEN - 1 {
            break;
        }
        if let Some(place) = out.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        at += bytes.len();
    }
    out
}

/// The header of an image that fits, so that every number fits into its field.
fn header(draft: &Draft, image: &Image, options: &Options) -> Header {
    let d = &draft.model.dims;
    let architecture = draft.model.architecture();
    Header {
        flags: if architecture == Architecture::Bert { FLAG_ENCODER } else { 0 },
        code: PAYLOAD,
        data: PAYLOAD + INSTRUCTION_LEN * (64 + 64 * d.layers),
        scratch: image.payload_end as u32,
        tokens: TOKENS,
        vocab: image.vocab as u32,
        n_vocab: draft.tables.n_vocab,
        context: draft.ctx,
        bos: draft.tables.bos,
        eos: draft.tables.eos,
        payload_len: image.payload_end as u32 - PAYLOAD,
        output: image.output as u32,
        output_len: image.output_len,
        memory_needed: image.memory_needed() as u32,
        architecture,
        tokenizer: image.tokenizer as u32,
        description: description(&draft.model, &options.type_text),
    }
}

fn lossy(matrices: &[MatrixPlan]) -> Option<Lossy> {
    let lost: Vec<&MatrixPlan> = matrices.iter().filter(|m| m.lossy).collect();
    if lost.is_empty() {
        return None;
    }
    let mut formats: Vec<(GgmlType, GgmlType)> = lost.iter().map(|m| (m.source, m.target)).collect();
    formats.sort_unstable();
    formats.dedup();
    let all: u64 = matrices.iter().map(MatrixPlan::elements).sum();
    let part: u64 = lost.iter().map(|m| m.elements()).sum();
    Some(Lossy { matrices: lost.len() as u32, share: part as f64 / all as f64, formats })
}

impl Plan<'_> {
    /// The header of the image.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The policy in effect: what auto chose, otherwise what was asked for.
    pub fn policy(&self) -> WeightPolicy {
        self.policy
    }

    /// The matrices in the order of the image, with source and target formats.
    pub fn matrices(&self) -> &[MatrixPlan] {
        &self.image.matrices
    }

    /// Every piece of the payload in the order of addresses.
    pub fn segments(&self) -> impl Iterator<Item = SegmentInfo<'_>> {
        self.image.segments.iter().map(|s| SegmentInfo { name: &s.name, address: s.address as u32, len: s.len as u32 })
    }

    /// Instructions in the script.
    pub fn instructions(&self) -> u32 {
        self.image.instructions
    }

    /// The script's bytes.
    pub fn script(&self) -> &[u8] {
        match self.image.segments.first().map(|s| &s.content) {
            Some(Content::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    /// Remarks for the user.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What is lost of an already quantised model; with auto, the user should agree first.
    pub fn lossy(&self) -> Option<&Lossy> {
        self.lossy.as_ref()
    }

    /// Bytes of memory from $8000000 while the image runs.
    pub fn memory_needed(&self) -> u32 {
        self.header.memory_needed
    }

    /// Length of the image file.
    pub fn file_len(&self) -> u64 {
        u64::from(HEADER_LEN) + u64::from(self.header.payload_len)
    }
}
