//! Reading the header: magic, version, metadata, tensor directory.

use std::collections::HashMap;

use crate::cursor::{Cursor, malformed, value_type};
use crate::error::{Error, Item};
use crate::file::{Entry, Stored};
use crate::tensor::{TensorInfo, place, read_tensor};
use crate::value::{Value, ValueType};

const MAGIC: [u8; 4] = *b"GGUF";
const ALIGNMENT_KEY: &str = "general.alignment";
const DEFAULT_ALIGNMENT: u64 = 32;
/// Smallest metadata entry: a key of one byte and a value of one byte.
const MIN_ENTRY: u64 = 8 + 1 + 4 + 1;
/// Smallest tensor entry: a name of one byte and no dimensions.
const MIN_TENSOR: u64 = 8 + 1 + 4 + 4 + 8;

/// All that stands before the data.
pub(crate) struct Header {
    pub(crate) version: u32,
    pub(crate) entries: Vec<Entry>,
    pub(crate) keys: HashMap<String, usize>,
    pub(crate) tensors: Vec<TensorInfo>,
    pub(crate) names: HashMap<String, usize>,
    pub(crate) alignment: u64,
    pub(crate) metadata_end: u64,
    pub(crate) data_start: u64,
    pub(crate) data_end: u64,
}

/// Reads the header from `bytes`, the whole or the first part of a file of `total` bytes.
pub(crate) fn read_header(bytes: &[u8], total: u64) -> Result<Header, Error> {
    let mut cursor = Cursor::new(bytes, total);
    let version = read_version(&mut cursor, bytes)?;
    let tensor_count = read_count(&mut cursor, "tensors", MIN_TENSOR)?;
    let entry_count = read_count(&mut cursor, "metadata entries", MIN_ENTRY)?;

    // The lists grow as entries are really read: a count in the file reserves nothing.
    let mut entries = Vec::new();
    let mut keys = HashMap::new();
    for n in 0..entry_count {
        let at = cursor.at();
        let entry = read_entry(&mut cursor, n)?;
        if let Some(first) = keys.insert(entry.key.clone(), entries.len()) {
            let first: &Entry = entries.get(first).unwrap_or(&entry);
            return Err(malformed(
                &Item::Key(entry.key.clone()),
                at,
                format!("the key was there already, with its value at byte {}", first.at),
            ));
        }
        entries.push(entry);
    }
    let metadata_end = cursor.at();
    let alignment = match keys.get(ALIGNMENT_KEY).and_then(|&i| entries.get(i)) {
        Some(entry) => alignment(entry)?,
        None => DEFAULT_ALIGNMENT,
    };

    let mut tensors: Vec<TensorInfo> = Vec::new();
    let mut names = HashMap::new();
    for n in 0..tensor_count {
        let at = cursor.at();
        let tensor = read_tensor(&mut cursor, n, alignment)?;
        if names.insert(tensor.name.clone(), tensors.len()).is_some() {
            let item = Item::Tensor(tensor.name);
            return Err(malformed(&item, at, "a tensor of this name was there already".into()));
        }
        tensors.push(tensor);
    }
    let data_start = cursor.at().next_multiple_of(alignment);
    let data_end = place(&mut tensors, data_start, total)?;
    Ok(Header { version, entries, keys, tensors, names, alignment, metadata_end, data_start, data_end })
}

fn read_version(cursor: &mut Cursor<'_>, bytes: &[u8]) -> Result<u32, Error> {
    let refuse = |offset, reason: String| Err(malformed(&Item::Header, offset, reason));
    if cursor.remaining() == 0 {
        return refuse(0, "the file is empty".into());
    }
    if !bytes.starts_with(&MAGIC) {
        return refuse(0, not_gguf(bytes));
    }
    cursor.take(MAGIC.len() as u64, &Item::Header)?;
    let version = cursor.u32(&Item::Header)?;
    match version {
        2 | 3 => Ok(version),
        1 => refuse(4, "GGUF version 1 (32-bit lengths, 2023) is no longer supported; convert the model again".into()),
        _ if (1..=3).contains(&version.swap_bytes()) => refuse(
            4,
            format!("big-endian GGUF (version {}) is not supported; use the little-endian file", version.swap_bytes()),
        ),
        _ => refuse(4, format!("GGUF version {version} is unknown (2 and 3 are supported)")),
    }
}

/// What a file without the magic probably is.
fn not_gguf(bytes: &[u8]) -> String {
    let start = bytes.get(..64).unwrap_or(bytes);
    let text = start.trim_ascii_start().to_ascii_lowercase();
    if text.starts_with(b"<!doctype") || text.starts_with(b"<html") || text.starts_with(b"<?xml") {
        return "this is a web page (a failed download?), not a GGUF file".into();
    }
    if text.starts_with(b"version https://git-lfs") {
        return "this is a Git LFS pointer, not the model itself; fetch the file with git lfs pull".into();
    }
    if start.starts_with(b"FUGG") {
        return "the magic is reversed (FUGG): a big-endian file is not supported".into();
    }
    if start.len() < MAGIC.len() {
        return format!("the file has {} bytes, too few for a GGUF file", start.len());
    }
    let found = start.get(..4).unwrap_or(start).escape_ascii();
    format!("not a GGUF file: it begins with \"{found}\" instead of \"GGUF\"")
}

fn read_count(cursor: &mut Cursor<'_>, what: &str, minimum: u64) -> Result<u64, Error> {
    let at = cursor.at();
    let count = cursor.u64(&Item::Header)?;
    if count > cursor.remaining() / minimum {
        return Err(malformed(
            &Item::Header,
            at,
            format!(
                "{count} {what} of {minimum} bytes or more, but only {} bytes of the file are left",
                cursor.remaining()
            ),
        ));
    }
    Ok(count)
}

fn read_entry(cursor: &mut Cursor<'_>, n: u64) -> Result<Entry, Error> {
    let key = cursor.name("key", &Item::Entry(n))?.to_owned();
    let item = Item::Key(key.clone());
    let type_at = cursor.at();
    let number = cursor.u32(&item)?;
    let kind = value_type(number, type_at, &item)?;
    let at = cursor.at();
    let value = cursor.value(kind, &item)?;
    // Strings and arrays are the last thing that was read.
    let end = cursor.at() as usize;
    let stored = match value {
        Value::Unsigned(v, _) => Stored::Unsigned(v),
        Value::Signed(v, _) => Stored::Signed(v),
        Value::Float(v, _) => Stored::Float(v),
        Value::Bool(v) => Stored::Bool(v),
        Value::String(s) => Stored::String(end - s.len()..end),
        Value::Array(a) => Stored::Array { kind: a.kind, len: a.len, range: end - a.bytes.len()..end },
    };
    Ok(Entry { key, kind, at, stored })
}

fn alignment(entry: &Entry) -> Result<u64, Error> {
    let item = Item::Key(entry.key.clone());
    match entry.stored {
        Stored::Unsigned(n) if entry.kind == ValueType::U32 => {
            if n.is_power_of_two() && (8..=65536).contains(&n) {
                Ok(n)
            } else {
                Err(malformed(
                    &item,
                    entry.at,
                    format!("the alignment is {n}; a power of two from 8 to 65536 is expected"),
                ))
            }
        }
        _ => Err(malformed(&item, entry.at, format!("the alignment should be a u32, {} found", entry.kind))),
    }
}
