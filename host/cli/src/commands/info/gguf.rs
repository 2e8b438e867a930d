//! GGUF files.

use super::{formats, megabytes};
use serde_json::{Map, Value, json};
use ssnail_convert::{ConvertError, Model, Options, WeightPolicy, memory_needs};
use ssnail_gguf::Gguf;
use std::fmt::Write;

/// Longest text of a key that is shown to people.
const SHOWN: usize = 60;

type Needs = Result<(Model, Vec<(WeightPolicy, u64)>), ConvertError>;

/// What converting will need, or why it is refused.
fn needs(file: &Gguf<'_>) -> Needs {
    Ok((Model::read(file)?, memory_needs(file, &Options::default())?))
}

/// For people.
pub fn text(file: &Gguf<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let name = file.str("general.name").ok().flatten().unwrap_or("(no name)");
    let architecture = file.str("general.architecture").ok().flatten().unwrap_or_default();
    let _ = writeln!(text, "{name}: {architecture}, GGUF version {}, {} bytes", file.version(), file.total_bytes());
    match needs(file) {
        Ok((model, needs)) => {
            let d = &model.dims;
            let _ = writeln!(
                text,
                "width {}, {} layers, {} heads ({} for keys) of {}, feed-forward {}, vocabulary {}, context {}",
                d.dim, d.layers, d.heads, d.kv_heads, d.head_dim, d.hidden, d.vocab, d.trained_ctx
            );
            let sizes: Vec<String> =
                needs.iter().map(|(policy, bytes)| format!("{policy} {:.2} MB", megabytes(*bytes))).collect();
            let _ = writeln!(text, "memory as an image with the default context: {}", sizes.join(", "));
        }
        Err(error) => {
            let _ = writeln!(text, "cannot be converted: {error}");
        }
    }
    let counts = file.tensors().iter().map(|tensor| (tensor.ggml_type().name().to_owned(), tensor.elements()));
    let list: Vec<String> = formats(counts).into_iter().map(|(name, count)| format!("{count} in {name}")).collect();
    let _ = writeln!(text, "weights: {}", list.join(", "));
    let _ = writeln!(text, "\nkeys:");
    for key in file.keys() {
        let mut value = file.get(key).map_or(Value::Null, |value| plain(&value)).to_string();
        if value.chars().count() > SHOWN {
            value = value.chars().take(SHOWN).chain("...".chars()).collect();
        }
        let _ = writeln!(text, "  {key} = {value}");
    }
    let _ = writeln!(text, "\ntensors:");
    for tensor in file.tensors() {
        let dims: Vec<String> = tensor.dims().iter().map(u64::to_string).collect();
        let _ = writeln!(text, "  {:40} {:6} {}", tensor.name(), tensor.ggml_type(), dims.join(" x "));
    }
    text
}

/// For programs.
pub fn json(file: &Gguf<'_>) -> Value {
    let keys: Map<String, Value> =
        file.keys().map(|key| (key.to_owned(), file.get(key).map_or(Value::Null, |value| plain(&value)))).collect();
    let tensors: Vec<Value> = file
        .tensors()
        .iter()
        .map(|tensor| {
            json!({
                "name": tensor.name(), "type": tensor.ggml_type().name(), "dims": tensor.dims(),
                "bytes": tensor.bytes(), "offset": tensor.file_offset(),
            })
        })
        .collect();
    let (dims, memory, refused) = match needs(file) {
        Ok((model, needs)) => {
            let d = &model.dims;
            let dims = json!({
                "width": d.dim, "layers": d.layers, "heads": d.heads, "kv_heads": d.kv_heads,
                "head_width": d.head_dim, "feed_forward": d.hidden, "vocabulary": d.vocab, "context": d.trained_ctx,
            });
            let memory: Map<String, Value> =
                needs.iter().map(|(policy, bytes)| (policy.to_string(), (*bytes).into())).collect();
            (dims, Value::Object(memory), Value::Null)
        }
        Err(error) => (Value::Null, Value::Null, error.to_string().into()),
    };
    json!({
        "kind": "gguf",
        "version": file.version(),
        "name": file.str("general.name").ok().flatten(),
        "architecture": file.str("general.architecture").ok().flatten(),
        "file_bytes": file.total_bytes(),
        "dims": dims,
        "memory_needed": memory,
        "refused": refused,
        "keys": keys,
        "tensors": tensors,
    })
}

/// A value as JSON; of an array its type and length.
fn plain(value: &ssnail_gguf::Value<'_>) -> Value {
    use ssnail_gguf::Value as V;
    match value {
        V::Unsigned(n, _) => (*n).into(),
        V::Signed(n, _) => (*n).into(),
        V::Float(x, _) => (*x).into(),
        V::Bool(b) => (*b).into(),
        V::String(bytes) => String::from_utf8_lossy(bytes).into(),
        V::Array(array) => format!("[{} of {}]", array.len(), array.element_type()).into(),
    }
}
