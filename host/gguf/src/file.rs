//! An open GGUF file: metadata by key, tensors by name.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;

use crate::error::Error;
use crate::parse::{Header, read_header};
use crate::stream::{STREAM_LIMIT, read_stream};
use crate::tensor::TensorInfo;
use crate::value::{Array, Value, ValueType};

/// A metadata value, with what is long left in the file.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    String(Range<usize>),
    Array { kind: ValueType, len: u64, range: Range<usize> },
}

/// A metadata entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) kind: ValueType,
    /// Where its value begins in the file.
    pub(crate) at: u64,
    pub(crate) stored: Stored,
}

enum Source<'a> {
    Mapped(Mmap),
    Owned(Vec<u8>),
    Borrowed(&'a [u8]),
}

impl Source<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Source::Mapped(map) => map,
            Source::Owned(bytes) => bytes,
            Source::Borrowed(bytes) => bytes,
        }
    }
}

/// A GGUF file whose header has been read and checked completely.
///
/// Nothing of the weights is read before [`Gguf::data`] is asked for them; strings, arrays and weights
/// are slices of the file. `'a` is the lifetime of the bytes given to [`Gguf::parse`], `'static` for
/// files opened here.
///
/// ```no_run
/// let gguf = ssnail_gguf::Gguf::open("model.gguf")?;
/// let dim = gguf.need_u32("llama.embedding_length")?;
/// let embedding = gguf.need_tensor("token_embd.weight")?;
/// assert_eq!(embedding.columns(), u64::from(dim));
/// let bytes: &[u8] = gguf.data(embedding)?;
/// # Ok::<(), ssnail_gguf::Error>(())
/// ```
pub struct Gguf<'a> {
    source: Source<'a>,
    total: u64,
    version: u32,
    alignment: u64,
    pub(crate) metadata_end: u64,
    data_start: u64,
    data_end: u64,
    entries: Vec<Entry>,
    keys: HashMap<String, usize>,
    tensors: Vec<TensorInfo>,
    names: HashMap<String, usize>,
}

impl Gguf<'static> {
    /// Maps a file into memory and reads its header. What cannot be mapped (a pipe) is read instead.
    ///
    /// # Errors
    /// [`Error::Io`] from the system; otherwise as [`Gguf::parse`], with the path in front.
    pub fn open(path: impl AsRef<Path>) -> Result<Gguf<'static>, Error> {
        let path = path.as_ref();
        let named = |e| match e {
            Error::Io { .. } => e,
            e => Error::InFile { path: path.into(), source: Box::new(e) },
        };
        let source = open_source(path).map_err(named)?;
        let total = source.bytes().len() as u64;
        Gguf::from_source(source, total).map_err(named)
    }

    /// Reads a model from a stream, which need not end: its own header says how far it is read. `name` stands for it in
    /// messages.
    ///
    /// # Errors
    /// [`Error::Io`] from the system, also where a model would take more memory than a stream is given (4 GiB);
    /// otherwise as [`Gguf::parse`].
    pub fn from_stream(reader: impl Read, name: &Path) -> Result<Gguf<'static>, Error> {
        Gguf::from_vec(read_stream(reader, name, STREAM_LIMIT)?)
    }

    /// Reads the header of a file held in memory, for example one that came through a pipe.
    ///
    /// # Errors
    /// As [`Gguf::parse`].
    pub fn from_vec(bytes: Vec<u8>) -> Result<Gguf<'static>, Error> {
        let total = bytes.len() as u64;
        Gguf::from_source(Source::Owned(bytes), total)
    }
}

impl<'a> Gguf<'a> {
    /// Reads the header of a complete file.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the key or tensor, the byte and the reason.
    pub fn parse(bytes: &'a [u8]) -> Result<Gguf<'a>, Error> {
        Gguf::from_source(Source::Borrowed(bytes), bytes.len() as u64)
    }

    /// Reads the header from the first bytes of a file of `total` bytes. Tensors are checked against
    /// `total`; [`Gguf::data`] serves those whose data is among the bytes given.
    ///
    /// # Errors
    /// [`Error::PrefixTooShort`] if the header goes on beyond the bytes given (see
    /// [`Error::bytes_needed`]); otherwise as [`Gguf::parse`].
    pub fn parse_prefix(bytes: &'a [u8], total: u64) -> Result<Gguf<'a>, Error> {
        Gguf::from_source(Source::Borrowed(bytes), total.max(bytes.len() as u64))
    }

    fn from_source(source: Source<'a>, total: u64) -> Result<Gguf<'a>, Error> {
        let Header { version, entries, keys, tensors, names, alignment, metadata_end, data_start, data_end } =
            read_header(source.bytes(), total)?;
        Ok(Gguf {
            source,
            total,
            version,
            alignment,
            metadata_end,
            data_start,
            data_end,
            entries,
            keys,
            tensors,
            names,
        })
    }

    /// Format version: 2 or 3.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Alignment of the tensor data in bytes.
    pub fn alignment(&self) -> u64 {
        self.alignment
    }

    /// Length of the whole file in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Where the data section begins: the header takes the bytes before it.
    pub fn data_start(&self) -> u64 {
        self.data_start
    }

    /// Where the last tensor ends.
    pub(crate) fn data_end(&self) -> u64 {
        self.data_end
    }

    /// Bytes after the last tensor: padding, or something that does not belong there.
    pub fn trailing_bytes(&self) -> u64 {
        self.total.saturating_sub(self.data_end)
    }

    /// The keys in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.key.as_str())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Value<'_>> {
        self.entry(key).map(|e| self.value(e))
    }

    /// The tensor directory in the order of the file.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// The tensor of this name.
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.names.get(name).and_then(|&i| self.tensors.get(i))
    }

    /// The tensor of this name.
    ///
    /// # Errors
    /// [`Error::MissingTensor`].
    pub fn need_tensor(&self, name: &str) -> Result<&TensorInfo, Error> {
        self.tensor(name).ok_or_else(|| Error::MissingTensor { name: name.to_owned() })
    }

    /// The data of a tensor of this file: `tensor.bytes()` bytes, rows one after the other.
    ///
    /// # Errors
    /// [`Error::DataNotLoaded`] if only a prefix of the file was given.
    pub fn data(&self, tensor: &TensorInfo) -> Result<&[u8], Error> {
        let end = tensor.offset.saturating_add(tensor.bytes);
        let range = usize::try_from(tensor.offset).ok().zip(usize::try_from(end).ok());
        range.and_then(|(s, e)| self.source.bytes().get(s..e)).ok_or_else(|| Error::DataNotLoaded {
            name: tensor.name.clone(),
            start: tensor.offset,
            end,
        })
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.keys.get(key).and_then(|&i| self.entries.get(i))
    }

    pub(crate) fn value(&self, entry: &Entry) -> Value<'_> {
        let slice = |range: &Range<usize>| self.source.bytes().get(range.clone()).unwrap_or(&[]);
        match &entry.stored {
            Stored::Unsigned(v) => Value::Unsigned(*v, entry.kind),
            Stored::Signed(v) => Value::Signed(*v, entry.kind),
            Stored::Float(v) => Value::Float(*v, entry.kind),
            Stored::Bool(v) => Value::Bool(*v),
            Stored::String(range) => Value::String(slice(range)),
            Stored::Array { kind, len, range } => Value::Array(Array { kind: *kind, len: *len, bytes: slice(range) }),
        }
    }
}

impl std::fmt::Debug for Gguf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gguf")
            .field("version", &self.version)
            .field("keys", &self.entries.len())
            .field("tensors", &self.tensors.len())
            .finish_non_exhaustive()
    }
}

/// Where the bytes of `path` come from: a regular file is mapped, anything else is read as a stream.
fn open_source(path: &Path) -> Result<Source<'static>, Error> {
    let io = |source| Error::Io { path: path.into(), source };
    let file = File::open(path).map_err(io)?;
    let meta = file.metadata().map_err(io)?;
    if meta.is_file() && meta.len() > 0 {
        return Ok(Source::Mapped(crate::map::map(&file).map_err(io)?));
    }
    read_stream(file, path, STREAM_LIMIT).map(Source::Owned)
}
