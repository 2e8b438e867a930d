//! Metadata values, borrowed from the file.

use std::fmt;

/// The type of a metadata value, as numbered in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ValueType {
    /// 8-bit unsigned.
    U8 = 0,
    /// 8-bit signed.
    I8 = 1,
    /// 16-bit unsigned.
    U16 = 2,
    /// 16-bit signed.
    I16 = 3,
    /// 32-bit unsigned.
    U32 = 4,
    /// 32-bit signed.
    I32 = 5,
    /// IEEE single.
    F32 = 6,
    /// One byte, 0 or 1.
    Bool = 7,
    /// u64 length, then bytes (UTF-8 by the format, not always in the wild).
    String = 8,
    /// Element type, u64 length, then the elements.
    Array = 9,
    /// 64-bit unsigned.
    U64 = 10,
    /// 64-bit signed.
    I64 = 11,
    /// IEEE double.
    F64 = 12,
}

impl ValueType {
    /// The type with this number.
    pub const fn from_number(number: u32) -> Option<ValueType> {
        Some(match number {
            0 => ValueType::U8,
            1 => ValueType::I8,
            2 => ValueType::U16,
            3 => ValueType::I16,
            4 => ValueType::U32,
            5 => ValueType::I32,
            6 => ValueType::F32,
            7 => ValueType::Bool,
            8 => ValueType::String,
            9 => ValueType::Array,
            10 => ValueType::U64,
            11 => ValueType::I64,
            12 => ValueType::F64,
            _ => return None,
        })
    }

    /// Bytes of a value of this type; `None` where the length is in the file.
    pub const fn size(self) -> Option<u64> {
        match self {
            ValueType::U8 | ValueType::I8 | ValueType::Bool => Some(1),
            ValueType::U16 | ValueType::I16 => Some(2),
            ValueType::U32 | ValueType::I32 | ValueType::F32 => Some(4),
            ValueType::U64 | ValueType::I64 | ValueType::F64 => Some(8),
            ValueType::String | ValueType::Array => None,
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ValueType::U8 => "u8",
            ValueType::I8 => "i8",
            ValueType::U16 => "u16",
            ValueType::I16 => "i16",
            ValueType::U32 => "u32",
            ValueType::I32 => "i32",
            ValueType::F32 => "f32",
            ValueType::Bool => "bool",
            ValueType::String => "string",
            ValueType::Array => "array",
            ValueType::U64 => "u64",
            ValueType::I64 => "i64",
            ValueType::F64 => "f64",
        })
    }
}

/// A metadata value. Text stays bytes: real vocabularies hold tokens that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Any of the unsigned types.
    Unsigned(u64, ValueType),
    /// Any of the signed types.
    Signed(i64, ValueType),
    /// Single or double.
    Float(f64, ValueType),
    /// A truth value.
    Bool(bool),
    /// Text, as its bytes.
    String(&'a [u8]),
    /// A list.
    Array(Array<'a>),
}

impl<'a> Value<'a> {
    /// The type in the file.
    pub fn value_type(&self) -> ValueType {
        match self {
            Value::Unsigned(_, t) | Value::Signed(_, t) | Value::Float(_, t) => *t,
            Value::Bool(_) => ValueType::Bool,
            Value::String(_) => ValueType::String,
            Value::Array(_) => ValueType::Array,
        }
    }

    /// The value as an integer, whatever integer type it has.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Value::Unsigned(v, _) => Some(i128::from(*v)),
            Value::Signed(v, _) => Some(i128::from(*v)),
            _ => None,
        }
    }

    /// Decodes a value of a fixed-size type; `None` for strings, arrays, wrong lengths and
    /// truth values other than 0 and 1.
    pub(crate) fn scalar(kind: ValueType, bytes: &'a [u8]) -> Option<Value<'a>> {
        Some(match kind {
            ValueType::U8 => Value::Unsigned(u64::from(*bytes.first()?), kind),
            ValueType::I8 => Value::Signed(i64::from(i8::from_le_bytes(bytes.try_into().ok()?)), kind),
            ValueType::U16 => Value::Unsigned(u64::from(u16::from_le_bytes(bytes.try_into().ok()?)), kind),
            ValueType::I16 => Value::Signed(i64::from(i16::from_le_bytes(bytes.try_into().ok()?)), kind),
            ValueType::U32 => Value::Unsigned(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)), kind),
            ValueType::I32 => Value::Signed(i64::from(i32::from_le_bytes(bytes.try_into().ok()?)), kind),
            ValueType::U64 => Value::Unsigned(u64::from_le_bytes(bytes.try_into().ok()?), kind),
            ValueType::I64 => Value::Signed(i64::from_le_bytes(bytes.try_into().ok()?), kind),
            ValueType::F32 => Value::Float(f64::from(f32::from_le_bytes(bytes.try_into().ok()?)), kind),
            ValueType::F64 => Value::Float(f64::from_le_bytes(bytes.try_into().ok()?), kind),
            ValueType::Bool => match bytes.first()? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                _ => return None,
            },
            ValueType::String | ValueType::Array => return None,
        })
    }
}

/// A list in the metadata, checked when the file was read and decoded element by element on demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array<'a> {
    pub(crate) kind: ValueType,
    pub(crate) len: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Array<'a> {
    /// Type of the elements.
    pub fn element_type(&self) -> ValueType {
        self.kind
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in order.
    pub fn iter(&self) -> ArrayIter<'a> {
        ArrayIter { kind: self.kind, left: self.len, bytes: self.bytes }
    }

    /// The elements as byte strings; `None` if they are not strings.
    pub fn strings(&self) -> Option<Vec<&'a [u8]>> {
        // Every element takes 8 bytes of the file at least, so the list is bounded by the file.
        self.iter()
            .map(|v| match v {
                Value::String(s) => Some(s),
                _ => None,
            })
            .collect()
    }

    /// The elements as singles, from either floating type; `None` if they are not numbers of these types.
    pub fn floats(&self) -> Option<Vec<f32>> {
        self.iter()
            .map(|v| match v {
                Value::Float(x, _) => Some(x as f32),
                _ => None,
            })
            .collect()
    }

    /// The elements as 64-bit integers; `None` if they are not integers or do not fit.
    pub fn integers(&self) -> Option<Vec<i64>> {
        self.iter().map(|v| i64::try_from(v.as_integer()?).ok()).collect()
    }

    /// The elements as truth values; `None` if they are of another type.
    pub fn bools(&self) -> Option<Vec<bool>> {
        self.iter()
            .map(|v| match v {
                Value::Bool(b) => Some(b),
                _ => None,
            })
            .collect()
    }
}

impl<'a> IntoIterator for Array<'a> {
    type Item = Value<'a>;
    type IntoIter = ArrayIter<'a>;

    fn into_iter(self) -> ArrayIter<'a> {
        self.iter()
    }
}

/// Iterator over the elements of an [`Array`].
#[derive(Clone, Debug)]
pub struct ArrayIter<'a> {
    kind: ValueType,
    left: u64,
    bytes: &'a [u8],
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let (item, rest) = match self.kind.size() {
            Some(size) => {
                let (item, rest) = self.bytes.split_at_checked(size as usize)?;
                (Value::scalar(self.kind, item)?, rest)
            }
            None => {
                let (len, rest) = self.bytes.split_first_chunk::<8>()?;
                let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
                let (item, rest) = rest.split_at_checked(len)?;
                (Value::String(item), rest)
            }
        };
        self.bytes = rest;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // The length was checked against the bytes present when the file was read.
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left.min(self.bytes.len()), Some(left))
    }
}
