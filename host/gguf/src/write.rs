//! Writing GGUF version 3, alignment 32.

use std::borrow::Cow;
use std::io::{self, Write};

use ssnail_quant::GgmlType;

use crate::value::ValueType;

const ALIGNMENT: usize = 32;

/// A metadata value to write.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the variants are the types of the format
pub enum OwnedValue {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
    String(Vec<u8>),
    U32s(Vec<u32>),
    I32s(Vec<i32>),
    F32s(Vec<f32>),
    Bools(Vec<bool>),
    Strings(Vec<Vec<u8>>),
}

impl From<&str> for OwnedValue {
    fn from(s: &str) -> Self {
        OwnedValue::String(s.as_bytes().to_vec())
    }
}
impl From<String> for OwnedValue {
    fn from(s: String) -> Self {
        OwnedValue::String(s.into_bytes())
    }
}
impl From<u32> for OwnedValue {
    fn from(n: u32) -> Self {
        OwnedValue::U32(n)
    }
}
impl From<f32> for OwnedValue {
    fn from(x: f32) -> Self {
        OwnedValue::F32(x)
    }
}
impl From<bool> for OwnedValue {
    fn from(b: bool) -> Self {
        OwnedValue::Bool(b)
    }
}
impl From<Vec<i32>> for OwnedValue {
    fn from(list: Vec<i32>) -> Self {
        OwnedValue::I32s(list)
    }
}
impl From<Vec<f32>> for OwnedValue {
    fn from(list: Vec<f32>) -> Self {
        OwnedValue::F32s(list)
    }
}
impl<T: AsRef<[u8]>> From<&[T]> for OwnedValue {
    fn from(list: &[T]) -> Self {
        OwnedValue::Strings(list.iter().map(|s| s.as_ref().to_vec()).collect())
    }
}

impl OwnedValue {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            OwnedValue::U8(v) => scalar(out, ValueType::U8, &v.to_le_bytes()),
            OwnedValue::I8(v) => scalar(out, ValueType::I8, &v.to_le_bytes()),
            OwnedValue::U16(v) => scalar(out, ValueType::U16, &v.to_le_bytes()),
            OwnedValue::I16(v) => scalar(out, ValueType::I16, &v.to_le_bytes()),
            OwnedValue::U32(v) => scalar(out, ValueType::U32, &v.to_le_bytes()),
            OwnedValue::I32(v) => scalar(out, ValueType::I32, &v.to_le_bytes()),
            OwnedValue::U64(v) => scalar(out, ValueType::U64, &v.to_le_bytes()),
            OwnedValue::I64(v) => scalar(out, ValueType::I64, &v.to_le_bytes()),
            OwnedValue::F32(v) => scalar(out, ValueType::F32, &v.to_le_bytes()),
            OwnedValue::F64(v) => scalar(out, ValueType::F64, &v.to_le_bytes()),
            OwnedValue::Bool(v) => scalar(out, ValueType::Bool, &[u8::from(*v)]),
            OwnedValue::String(s) => {
                out.extend((ValueType::String as u32).to_le_bytes());
                string(out, s);
            }
            OwnedValue::U32s(list) => {
                array(out, ValueType::U32, list, |out, v| out.extend(v.to_le_bytes()));
            }
            OwnedValue::I32s(list) => {
                array(out, ValueType::I32, list, |out, v| out.extend(v.to_le_bytes()));
            }
            OwnedValue::F32s(list) => {
                array(out, ValueType::F32, list, |out, v| out.extend(v.to_le_bytes()));
            }
            OwnedValue::Bools(list) => array(out, ValueType::Bool, list, |out, v| out.push(u8::from(*v))),
            OwnedValue::Strings(list) => array(out, ValueType::String, list, |out, s| string(out, s)),
        }
    }
}

fn scalar(out: &mut Vec<u8>, kind: ValueType, bytes: &[u8]) {
    out.extend((kind as u32).to_le_bytes());
    out.extend(bytes);
}

fn array<T>(out: &mut Vec<u8>, kind: ValueType, list: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    out.extend((ValueType::Array as u32).to_le_bytes());
    out.extend((kind as u32).to_le_bytes());
    out.extend((list.len() as u64).to_le_bytes());
    for item in list {
        put(out, item);
    }
}

fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

struct Tensor<'a> {
    name: String,
    dims: Vec<u64>,
    kind: GgmlType,
    data: Cow<'a, [u8]>,
}

/// Collects keys and tensors and writes them as one file.
///
/// ```
/// use ssnail_gguf::{Gguf, GgufWriter};
/// let mut w = GgufWriter::new();
/// w.key("general.architecture", "llama").key("llama.block_count", 2u32);
/// w.f32_tensor("output_norm.weight", &[3], &[1.0, 2.0, 3.0]);
/// let file = w.to_vec();
/// let gguf = Gguf::parse(&file)?;
/// assert_eq!(gguf.need_u32("llama.block_count")?, 2);
/// # Ok::<(), ssnail_gguf::Error>(())
/// ```
#[derive(Default)]
pub struct GgufWriter<'a> {
    keys: Vec<(String, OwnedValue)>,
    tensors: Vec<Tensor<'a>>,
}

impl<'a> GgufWriter<'a> {
    /// An empty file.
    pub fn new() -> Self {
        GgufWriter::default()
    }

    /// Sets a key, replacing an earlier value.
    pub fn key(&mut self, key: impl Into<String>, value: impl Into<OwnedValue>) -> &mut Self {
        let (key, value) = (key.into(), value.into());
        match self.keys.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.keys.push((key, value)),
        }
        self
    }

    /// Adds a tensor of any type: `dims` with the row length first, `data` as the type stores it.
    pub fn tensor(
        &mut self,
        name: impl Into<String>,
        dims: &[u64],
        kind: GgmlType,
        data: impl Into<Cow<'a, [u8]>>,
    ) -> &mut Self {
        self.tensors.push(Tensor { name: name.into(), dims: dims.to_vec(), kind, data: data.into() });
        self
    }

    /// Adds a tensor of singles.
    pub fn f32_tensor(&mut self, name: impl Into<String>, dims: &[u64], values: &[f32]) -> &mut Self {
        let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor(name, dims, GgmlType::F32, data)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if the data of a tensor is not as long as its dimensions and type
    /// ask; otherwise what `out` reports.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        for t in &self.tensors {
            let columns = t.dims.first().copied().unwrap_or(1);
            let rows = t.dims.iter().skip(1).try_fold(1u64, |a, &d| a.checked_mul(d));
            let expected = t.kind.row_bytes(columns).zip(rows).and_then(|(row, rows)| row.checked_mul(rows));
            if expected != Some(t.data.len() as u64) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("tensor {}: {} bytes do not make {:?} {}", t.name, t.data.len(), t.dims, t.kind),
                ));
            }
        }
        let header = self.header();
        out.write_all(&header)?;
        pad(out, header.len())?;
        for t in &self.tensors {
            out.write_all(&t.data)?;
            pad(out, t.data.len())?;
        }
        Ok(())
    }

    /// The file in memory, whether its tensors are consistent or not (so that tests can make bad ones).
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = self.header();
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        for t in &self.tensors {
            out.extend_from_slice(&t.data);
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        }
        out
    }

    fn header(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(b"GGUF");
        out.extend(3u32.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.keys.len() as u64).to_le_bytes());
        for (key, value) in &self.keys {
            string(&mut out, key.as_bytes());
            value.put(&mut out);
        }
        let mut offset = 0u64;
        for t in &self.tensors {
            string(&mut out, t.name.as_bytes());
            out.extend((t.dims.len() as u32).to_le_bytes());
            for d in &t.dims {
                out.extend(d.to_le_bytes());
            }
            out.extend(t.kind.number().to_le_bytes());
            out.extend(offset.to_le_bytes());
            offset += (t.data.len() as u64).next_multiple_of(ALIGNMENT as u64);
        }
        out
    }
}

fn pad(out: &mut impl Write, written: usize) -> io::Result<()> {
    let zeros = [0u8; ALIGNMENT];
    let missing = written.next_multiple_of(ALIGNMENT) - written;
    out.write_all(zeros.get(..missing).unwrap_or(&[]))
}
