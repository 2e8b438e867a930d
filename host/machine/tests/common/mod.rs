//! Where the test data lies, and how it is read.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// A file of the shared data; `None`, with a printed reason, where the data is absent.
pub fn data(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    if !root.is_dir() {
        println!("skipped: no test data at {} (set SSNAIL_DATA)", root.display());
        return None;
    }
    Some(root.join(name))
}

pub fn bytes(name: &str) -> Option<Vec<u8>> {
    let path = data(name)?;
    Some(fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

pub fn json(name: &str) -> Option<Value> {
    Some(serde_json::from_slice(&bytes(name)?).unwrap())
}

pub fn floats(name: &str) -> Option<Vec<f32>> {
    Some(bytes(name)?.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

pub fn hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|p| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap()).collect()
}

pub fn words(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

pub fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The entry of a manifest list whose key has this value.
pub fn find<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|e| e[key] == value).unwrap()
}
