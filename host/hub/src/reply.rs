//! An answer: what its headers, and those of the redirects before it, say about the file.

use std::io::Read;
use ureq::Body;
use ureq::http::HeaderMap;

/// An answer with status 200, 206 or 416, its body not read yet.
pub struct Reply {
    /// 200, 206 or 416.
    pub status: u16,
    /// SHA-256 that the hub states for a large file (`X-Linked-ETag`), 64 hexadecimal digits.
    pub sha256: Option<String>,
    /// Whole size of the file in bytes, if stated anywhere.
    pub size: Option<u64>,
    /// First byte of a partial answer (206).
    pub start: u64,
    /// What identifies this version of the file: an entity tag or a date.
    pub validator: Option<String>,
    pub(crate) next: Option<String>,
    body: Body,
}

impl Reply {
    /// The body; a silence longer than the limit is an error.
    pub fn reader(self) -> impl Read {
        self.body.into_reader()
    }
}

/// What the hub says of a large file before it points to where the bytes are.
#[derive(Default)]
pub(crate) struct Linked {
    etag: Option<String>,
    size: Option<u64>,
}

impl Linked {
    /// Takes over what these headers say.
    pub(crate) fn note(&mut self, headers: &HeaderMap) {
        if let Some(etag) = text(headers, "x-linked-etag") {
            self.etag = Some(etag);
        }
        if let Some(size) = text(headers, "x-linked-size").and_then(|size| size.parse().ok()) {
            self.size = Some(size);
        }
    }

    /// The answer with everything that was said on the way to it.
    pub(crate) fn reply(self, status: u16, headers: &HeaderMap, body: Body) -> Reply {
        let range = text(headers, "content-range").unwrap_or_default();
        let (start, total) = content_range(&range);
        let length = text(headers, "content-length").and_then(|length| length.parse().ok());
        let sha256 = self.etag.as_deref().map(bare_tag).filter(|tag| is_sha256(tag));
        Reply {
            status,
            sha256: sha256.map(str::to_ascii_lowercase),
            size: self.size.or(total).or(length.filter(|_| status == 200)),
            start,
            validator: self.etag.or_else(|| text(headers, "etag")).or_else(|| text(headers, "last-modified")),
            next: next_page(headers),
            body,
        }
    }
}

/// First byte and whole size of `bytes 5-9/10`, `bytes 5-9/*`, `bytes */10`.
fn content_range(header: &str) -> (u64, Option<u64>) {
    let rest = header.trim().strip_prefix("bytes").unwrap_or_default().trim_start();
    let (range, total) = rest.split_once('/').unwrap_or((rest, ""));
    let start = range.split('-').next().and_then(|start| start.trim().parse().ok());
    (start.unwrap_or(0), total.trim().parse().ok())
}

fn bare_tag(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/").trim_matches('"')
}

/// True for 64 hexadecimal digits.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The `rel="next"` address of a `Link` header.
fn next_page(headers: &HeaderMap) -> Option<String> {
    text(headers, "link")?.split(',').find_map(|link| {
        let (address, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        rest.contains("rel=\"next\"").then(|| address.to_owned())
    })
}

/// A header as text.
pub(crate) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_read() {
        assert_eq!(content_range("bytes 5-9/10"), (5, Some(10)));
        assert_eq!(content_range("bytes 5-9/*"), (5, None));
        assert_eq!(content_range("bytes */10"), (0, Some(10)));
        assert_eq!(content_range("rows 1"), (0, None));
        assert_eq!(content_range("bytes 99999999999999999999-1/2"), (0, Some(2)));
    }
}
