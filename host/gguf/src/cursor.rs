//! Reading forward through the header without ever trusting a length in it.

use crate::error::{Error, Item};
use crate::value::{Array, Value, ValueType};

/// Longest key or tensor name that is read: the format allows keys of 65535 bytes.
const MAX_NAME: u64 = 65535;

/// A position in the bytes at hand, which may be the first part of a longer file.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Length of the whole file; `bytes.len()` or more.
    total: u64,
    at: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], total: u64) -> Self {
        Cursor { bytes, total, at: 0 }
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of the file that lie ahead, present or not.
    pub(crate) fn remaining(&self) -> u64 {
        self.total.saturating_sub(self.at)
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: u64, item: &Item) -> Result<&'a [u8], Error> {
        if len > self.remaining() {
            return Err(malformed(
                item,
                self.at,
                format!("{len} bytes expected, the file ends after {}", self.remaining()),
            ));
        }
        let end = self.at.saturating_add(len);
        let range = usize::try_from(self.at).ok().zip(usize::try_from(end).ok());
        match range.and_then(|(start, end)| self.bytes.get(start..end)) {
            Some(found) => {
                self.at = end;
                Ok(found)
            }
            None => Err(Error::PrefixTooShort {
                item: item.clone(),
                offset: self.at,
                have: self.bytes.len() as u64,
                need: end,
            }),
        }
    }

    fn chunk<const N: usize>(&mut self, item: &Item) -> Result<[u8; N], Error> {
        let at = self.at;
        let bytes = self.take(N as u64, item)?;
        bytes.try_into().map_err(|_| malformed(item, at, format!("{N} bytes expected")))
    }

    pub(crate) fn u32(&mut self, item: &Item) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.chunk(item)?))
    }

    pub(crate) fn u64(&mut self, item: &Item) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.chunk(item)?))
    }

    /// Length and bytes of a string.
    pub(crate) fn string(&mut self, item: &Item) -> Result<&'a [u8], Error> {
        let at = self.at;
        let len = self.u64(item)?;
        if len > self.remaining() {
            return Err(malformed(
                item,
                at,
                format!("a string of {len} bytes, but only {} bytes of the file are left", self.remaining()),
            ));
        }
        self.take(len, item)
    }

    /// A key or tensor name: not empty, UTF-8, of sensible length.
    pub(crate) fn name(&mut self, what: &str, item: &Item) -> Result<&'a str, Error> {
        let at = self.at;
        let bytes = self.string(item)?;
        if bytes.is_empty() {
            return Err(malformed(item, at, format!("the {what} is empty")));
        }
        if bytes.len() as u64 > MAX_NAME {
            return Err(malformed(
                item,
                at,
                format!("the {what} is {} bytes long, {MAX_NAME} at most are allowed", bytes.len()),
            ));
        }
        std::str::from_utf8(bytes)
            .map_err(|e| malformed(item, at.saturating_add(8), format!("the {what} is not UTF-8 ({e})")))
    }

    /// A value of the given type. `item` names the key.
    pub(crate) fn value(&mut self, kind: ValueType, item: &Item) -> Result<Value<'a>, Error> {
        match kind {
            ValueType::String => Ok(Value::String(self.string(item)?)),
            ValueType::Array => Ok(Value::Array(self.array(item)?)),
            _ => self.scalar(kind, item),
        }
    }

    fn scalar(&mut self, kind: ValueType, item: &Item) -> Result<Value<'a>, Error> {
        let at = self.at;
        let bytes = self.take(kind.size().unwrap_or(0), item)?;
        Value::scalar(kind, bytes).ok_or_else(|| {
            let found = bytes.first().copied().unwrap_or(0);
            malformed(item, at, format!("a bool is 0 or 1, {found} found"))
        })
    }

    fn array(&mut self, item: &Item) -> Result<Array<'a>, Error> {
        let at = self.at;
        let number = self.u32(item)?;
        let kind = value_type(number, at, item)?;
        let len_at = self.at;
        let len = self.u64(item)?;
        let too_long = |minimum: u64, left: u64| {
            malformed(
                item,
                len_at,
                format!(
                    "an array of {len} elements of {minimum} bytes or more, but only {left} bytes of the file are left"
                ),
            )
        };
        if let Some(size) = kind.size() {
            let bytes = match len.checked_mul(size) {
                Some(total) if total <= self.remaining() => self.take(total, item)?,
                _ => return Err(too_long(size, self.remaining())),
            };
            if kind == ValueType::Bool
                && let Some(n) = bytes.iter().position(|&b| b > 1)
            {
                return Err(malformed(
                    item,
                    len_at.saturating_add(8).saturating_add(n as u64),
                    format!("element {n} is a bool and should be 0 or 1"),
                ));
            }
            return Ok(Array { kind, len, bytes });
        }
        if kind == ValueType::Array {
            // No model uses them, and reading them invites unbounded recursion.
            return Err(malformed(item, at, "arrays of arrays are not supported".into()));
        }
        if len > self.remaining() / 8 {
            return Err(too_long(8, self.remaining()));
        }
        let start = self.at;
        for _ in 0..len {
            self.string(item)?;
        }
        let bytes = usize::try_from(start)
            .ok()
            .zip(usize::try_from(self.at).ok())
            .and_then(|(s, e)| self.bytes.get(s..e))
            .unwrap_or(&[]);
        Ok(Array { kind, len, bytes })
    }
}

/// Looks up a value type number read at `at`.
pub(crate) fn value_type(number: u32, at: u64, item: &Item) -> Result<ValueType, Error> {
    ValueType::from_number(number)
        .ok_or_else(|| malformed(item, at, format!("value type {number} is not defined (0 to 12 are)")))
}

pub(crate) fn malformed(item: &Item, offset: u64, reason: String) -> Error {
    Error::Malformed { item: item.clone(), offset, reason }
}
