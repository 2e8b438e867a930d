//! Files without a length: pipes and devices, which may never end.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::error::Error;
use crate::file::Gguf;

/// Far more than any model that becomes an image has.
pub(crate) const STREAM_LIMIT: u64 = 4 << 30;
/// A header is tried when so many bytes are there, and then at each doubling.
const FIRST_TRY: u64 = 64 << 10;
/// Bytes behind the last tensor that are still read, so that what follows a model is noticed.
const BEHIND: u64 = 64 << 10;

/// Reads a file, or of what is none (a pipe, a device) at most `limit` bytes.
///
/// # Errors
/// It cannot be read, or has more than `limit` bytes.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_to_limit(std::fs::File::open(path)?, limit)
}

/// Reads to the end, which must come within `limit` bytes.
///
/// # Errors
/// It cannot be read, or goes on beyond `limit`.
pub fn read_to_limit(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)? as u64 > limit {
        return Err(too_long(limit));
    }
    Ok(bytes)
}

fn too_long(limit: u64) -> io::Error {
    let sentence = format!("it goes on after {} MB, more than anything that is read here has", limit >> 20);
    io::Error::new(ErrorKind::InvalidInput, sentence)
}

/// Reads a model of a stream: its header, and then as far as that says.
pub(crate) fn read_stream(mut reader: impl Read, name: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let io = |source| Error::Io { path: name.into(), source };
    let mut bytes = Vec::new();
    let end = loop {
        let more = FIRST_TRY.max(bytes.len() as u64);
        if reader.by_ref().take(more).read_to_end(&mut bytes).map_err(io)? as u64 != more {
            return Ok(bytes);
        }
        match Gguf::parse_prefix(&bytes, u64::MAX) {
            Ok(header) => break header.data_end(),
            Err(Error::PrefixTooShort { .. }) if bytes.len() as u64 <= limit / 4 => {}
            Err(Error::PrefixTooShort { .. }) => return Err(io(too_long(limit / 4))),
            Err(error) => return Err(error),
        }
    };
    let have = bytes.len() as u64;
    if end > limit {
        // Not one byte of it is worth waiting for.
        return Err(io(too_long(limit)));
    }
    if end.saturating_add(BEHIND) > have {
        reader.take(end + BEHIND - have).read_to_end(&mut bytes).map_err(io)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::GgufWriter;
    use ssnail_quant::GgmlType;

    /// Counts what is read of something that never ends.
    struct Endless<'a> {
        start: &'a [u8],
        read: u64,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.start.read(buffer)?;
            buffer[count..].fill(0x41);
            self.read += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    fn model(elements: u64) -> Vec<u8> {
        let mut writer = GgufWriter::new();
        writer.key("general.architecture", "llama");
        writer.tensor("t", &[elements], GgmlType::F32, vec![1; elements as usize * 4]);
        writer.to_vec()
    }

    fn read(start: &[u8], limit: u64) -> (Result<Vec<u8>, Error>, u64) {
        let mut endless = Endless { start, read: 0 };
        let result = read_stream(&mut endless, Path::new("pipe"), limit);
        (result, endless.read)
    }

    #[test]
    fn what_is_no_model_is_not_read_on() {
        for start in [&b""[..], b"GGUF", b"GGUF\x03\0\0\0", b"SSNL"] {
            let (result, bytes) = read(start, STREAM_LIMIT);
            assert!(matches!(result, Err(Error::Malformed { .. })), "{start:?}: {result:?}");
            assert!(bytes <= FIRST_TRY, "{start:?}: {bytes} bytes were read");
        }
    }

    #[test]
    fn a_model_is_read_to_its_end_and_not_much_further() {
        for elements in [1, 100, 20_000, 200_000] {
            let whole = model(elements);
            let (result, bytes) = read(&whole, STREAM_LIMIT);
            assert!(result.unwrap().starts_with(&whole));
            assert!(bytes <= whole.len() as u64 + 2 * FIRST_TRY, "{bytes} of {}", whole.len());
            assert_eq!(read_stream(whole.as_slice(), Path::new("pipe"), STREAM_LIMIT).unwrap(), whole);
        }
    }

    #[test]
    fn a_header_or_a_tensor_without_an_end_is_refused() {
        // One string as long as the stream.
        let mut endless = b"GGUF\x03\0\0\0".to_vec();
        for number in [0_u64, 1, 1 << 40] {
            endless.extend_from_slice(&number.to_le_bytes());
        }
        let (result, bytes) = read(&endless, 4 << 20);
        assert!(matches!(&result, Err(Error::Io { .. })), "{result:?}");
        assert!(bytes <= 4 << 20, "{bytes}");
        let large = model(1 << 20);
        let (result, bytes) = read(&large, 1 << 20);
        assert!(result.unwrap_err().to_string().contains("goes on after 1 MB"));
        assert!(bytes <= 1 << 20, "{bytes}");
    }

    #[test]
    fn a_limit_holds_for_what_is_read_whole() {
        assert_eq!(read_to_limit(&[7; 100][..], 100).unwrap(), [7; 100]);
        assert!(read_to_limit(&[7; 101][..], 100).is_err());
        let mut endless = Endless { start: &[], read: 0 };
        assert!(read_to_limit(&mut endless, 5 << 20).unwrap_err().to_string().contains("after 5 MB"));
        assert!(endless.read <= 6 << 20);
    }
}
