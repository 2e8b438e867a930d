//! Images.

use super::{formats, megabytes};
use crate::anatomy::Anatomy;
use crate::image::{ImageFile, description};
use serde_json::{Value, json};
use ssnail_shared::header::{NO_TOKEN, TOKENIZER_BLOCK_LEN, TokenizerBlock, TokenizerKind};
use ssnail_shared::mem::ReadMemory;
use std::fmt::Write;

/// For people.
pub fn text(image: &ImageFile, anatomy: &Anatomy) -> String {
    let header = &image.header;
    let mut text = String::new();
    let kind = if header.is_encoder() { "encoder" } else { "decoder" };
    let Anatomy { dim, layers, heads: [heads, kv_heads, width], hidden, .. } = anatomy;
    let cache = if anatomy.half_cache { "F16" } else { "F32" };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", description(header));
    let _ = writeln!(
        text,
        "{} {kind}: width {dim}, {layers} layers, {heads} heads ({kv_heads} for keys) of {width}, feed-forward {hidden}",
        header.architecture.name()
    );
    let _ = writeln!(
        text,
        "context {}, vocabulary {} ({}), {cache} caches",
        header.context,
        header.n_vocab,
        block(image).map_or("?", |block| tokenizer(block.kind))
    );
    let _ = writeln!(text, "file {} bytes, memory {:.2} MB", image.bytes.len(), megabytes(header.memory_needed.into()));
    let counts = anatomy.parts.iter().filter_map(|part| part.matrix);
    let counts = counts.map(|(format, rows, columns)| (format.name().to_owned(), u64::from(rows) * u64::from(columns)));
    let list: Vec<String> = formats(counts).into_iter().map(|(name, count)| format!("{count} in {name}")).collect();
    let _ = writeln!(text, "weights: {}", list.join(", "));
    let _ = writeln!(text, "\nmemory map:");
    for part in &anatomy.parts {
        let _ = write!(text, "  ${:07X} {:>10}  {}", part.address, part.bytes, part.name);
        if let Some((format, rows, columns)) = part.matrix {
            let _ = write!(text, "  {format} {columns} x {rows}");
        }
        text.push('\n');
    }
    text
}

/// For programs.
pub fn json(image: &ImageFile, anatomy: &Anatomy) -> Value {
    let header = &image.header;
    let [heads, kv_heads, width] = anatomy.heads;
    let id = |token: u32| if token == NO_TOKEN { Value::Null } else { token.into() };
    let tokenizer = block(image).map(|block| {
        json!({
            "kind": tokenizer(block.kind),
            "begin": id(block.begin),
            "end": id(block.end),
            "unknown": id(block.unknown),
            "index_length": block.index_len,
        })
    });
    let parts = |matrices: bool| -> Vec<Value> {
        let wanted = anatomy.parts.iter().filter(|part| !matrices || part.matrix.is_some());
        wanted
            .map(|part| match part.matrix {
                Some((format, rows, columns)) => json!({
                    "name": part.name, "address": part.address, "bytes": part.bytes,
                    "format": format.name(), "rows": rows, "columns": columns,
                }),
                None => json!({ "name": part.name, "address": part.address, "bytes": part.bytes }),
            })
            .collect()
    };
    json!({
        "kind": "image",
        "description": description(header),
        "architecture": header.architecture.name(),
        "encoder": header.is_encoder(),
        "context": header.context,
        "vocabulary": header.n_vocab,
        "width": anatomy.dim,
        "layers": anatomy.layers,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_width": width,
        "feed_forward": anatomy.hidden,
        "cache_format": if anatomy.half_cache { "F16" } else { "F32" },
        "bos": header.bos,
        "eos": header.eos,
        "tokenizer": tokenizer,
        "file_bytes": image.bytes.len(),
        "memory_needed": header.memory_needed,
        "header": {
            "code": header.code, "data": header.data, "scratch": header.scratch, "tokens": header.tokens,
            "vocab": header.vocab, "payload_len": header.payload_len, "output": header.output,
            "output_len": header.output_len, "tokenizer": header.tokenizer,
        },
        "tensors": parts(true),
        "memory_map": parts(false),
    })
}

fn block(image: &ImageFile) -> Option<TokenizerBlock> {
    let mut bytes = [0; TOKENIZER_BLOCK_LEN as usize];
    image.memory().read(image.header.tokenizer, &mut bytes).ok()?;
    TokenizerBlock::decode(&bytes)
}

fn tokenizer(kind: TokenizerKind) -> &'static str {
    match kind {
        TokenizerKind::Spm => "SentencePiece",
        TokenizerKind::Bpe => "byte pairs",
        TokenizerKind::WordPiece => "WordPiece",
    }
}
