//! Typed access to the metadata. A key that is absent is `None`; a key of another type is an error that
//! names it.

use crate::error::Error;
use crate::file::{Entry, Gguf};
use crate::value::{Array, Value};

impl Gguf<'_> {
    /// Text as its bytes.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is no string.
    pub fn bytes(&self, key: &str) -> Result<Option<&[u8]>, Error> {
        self.typed(key, "a string", |v| match v {
            Value::String(s) => Some(s),
            _ => None,
        })
    }

    /// Text that is UTF-8.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is no string, [`Error::BadValue`] if it is not UTF-8.
    pub fn str(&self, key: &str) -> Result<Option<&str>, Error> {
        let Some(bytes) = self.bytes(key)? else {
            return Ok(None);
        };
        std::str::from_utf8(bytes).map(Some).map_err(|e| self.bad_value(key, format!("not UTF-8 ({e})")))
    }

    /// An integer of any type in the file.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is no integer, [`Error::BadValue`] if it is negative or too large.
    pub fn u32(&self, key: &str) -> Result<Option<u32>, Error> {
        let Some(n) = self.typed(key, "an integer", |v| v.as_integer())? else {
            return Ok(None);
        };
        u32::try_from(n)
            .map(Some)
            .map_err(|_| self.bad_value(key, format!("{n} is not in the range 0 to {}", u32::MAX)))
    }

    /// A floating-point number of either type in the file.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is no floating-point number.
    pub fn f64(&self, key: &str) -> Result<Option<f64>, Error> {
        self.typed(key, "a floating-point number", |v| match v {
            Value::Float(x, _) => Some(x),
            _ => None,
        })
    }

    /// As [`Gguf::f64`], rounded to single precision.
    ///
    /// # Errors
    /// As [`Gguf::f64`].
    pub fn f32(&self, key: &str) -> Result<Option<f32>, Error> {
        Ok(self.f64(key)?.map(|x| x as f32))
    }

    /// A truth value.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is no bool.
    pub fn bool(&self, key: &str) -> Result<Option<bool>, Error> {
        self.typed(key, "a bool", |v| match v {
            Value::Bool(b) => Some(b),
            _ => None,
        })
    }

    /// A list.
    ///
    /// # Errors
    /// [`Error::WrongType`] if the key is no array.
    pub fn array(&self, key: &str) -> Result<Option<Array<'_>>, Error> {
        self.typed(key, "an array", |v| match v {
            Value::Array(a) => Some(a),
            _ => None,
        })
    }

    /// As [`Gguf::str`] for a key that must be there.
    ///
    /// # Errors
    /// As [`Gguf::str`], and [`Error::MissingKey`].
    pub fn need_str(&self, key: &str) -> Result<&str, Error> {
        self.str(key)?.ok_or_else(|| self.missing_key(key))
    }

    /// As [`Gguf::u32`] for a key that must be there.
    ///
    /// # Errors
    /// As [`Gguf::u32`], and [`Error::MissingKey`].
    pub fn need_u32(&self, key: &str) -> Result<u32, Error> {
        self.u32(key)?.ok_or_else(|| self.missing_key(key))
    }

    /// As [`Gguf::array`] for a key that must be there.
    ///
    /// # Errors
    /// As [`Gguf::array`], and [`Error::MissingKey`].
    pub fn need_array(&self, key: &str) -> Result<Array<'_>, Error> {
        self.array(key)?.ok_or_else(|| self.missing_key(key))
    }

    /// An error about the value of `key`, with its place in the file; for checks made by callers.
    pub fn bad_value(&self, key: &str, reason: String) -> Error {
        let offset = self.entry(key).map_or(0, |e| e.at);
        Error::BadValue { key: key.to_owned(), offset, reason }
    }

    /// An error about a key that is not there; for checks made by callers.
    pub fn missing_key(&self, key: &str) -> Error {
        Error::MissingKey { key: key.to_owned(), end: self.metadata_end }
    }

    fn typed<'s, T>(
        &'s self,
        key: &str,
        expected: &'static str,
        pick: impl FnOnce(Value<'s>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        match pick(self.value(entry)) {
            Some(value) => Ok(Some(value)),
            None => Err(wrong_type(entry, expected)),
        }
    }

    /// The elements of an array as `pick` takes them, or an error naming the key.
    pub(crate) fn list<T>(
        &self,
        key: &str,
        expected: &'static str,
        pick: impl FnOnce(Array<'_>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(array) = self.array(key)? else {
            return Ok(None);
        };
        match (pick(array), self.entry(key)) {
            (Some(list), _) => Ok(Some(list)),
            (None, Some(entry)) => {
                Err(Error::WrongType { key: key.to_owned(), offset: entry.at, expected, found: array.element_type() })
            }
            (None, None) => Err(self.missing_key(key)),
        }
    }
}

fn wrong_type(entry: &Entry, expected: &'static str) -> Error {
    Error::WrongType { key: entry.key.clone(), offset: entry.at, expected, found: entry.kind }
}
