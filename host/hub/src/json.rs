//! Answers of the API as JSON, read so that unknown, missing and odd fields do no harm.

use crate::retry::Failure;
use crate::{Client, HubError, Result, Url};
use serde_json::Value;

/// Longest answer that is read.
const LIMIT: u64 = 32 << 20;

/// One page of JSON and the address of the next.
pub fn page(client: &Client, url: &Url) -> Result<(Value, Option<Url>)> {
    client.page(url, LIMIT, |bytes| parse(url, bytes))
}

fn parse(url: &Url, bytes: &[u8]) -> std::result::Result<Value, Failure> {
    let not_json = |why: String| HubError::NotJson { url: url.to_string(), why };
    let error = match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if bytes.trim_ascii_start().starts_with(b"<") {
        let why = "the answer is a web page, not JSON (a login page, a proxy, a wrong base URL?)";
        return Err(not_json(why.to_owned()).into());
    }
    if error.is_eof() {
        // Cut off on the way: the next attempt may be whole.
        let why = format!("the answer ends too early, after {} bytes of JSON", bytes.len());
        return Err(Failure::Again { error: not_json(why), wait: None });
    }
    let place = format!("line {}, column {}", error.line(), error.column());
    Err(not_json(format!("the answer is not JSON ({place})")).into())
}

/// A text field.
pub fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// A whole, non-negative number; one written with a fraction or as text counts as well.
pub fn number(value: &Value, field: &str) -> Option<u64> {
    let value = value.get(field)?;
    value.as_u64().or_else(|| {
        let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        (0.0..1e18).contains(&number).then_some(number as u64)
    })
}
