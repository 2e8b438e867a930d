//! What `fetch` is asked for: an address, or a repository with or without a file.

use crate::url::unescape;
use crate::{HubError, Result, Url};

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file at an address.
    Url(Url),
    /// A repository of the hub.
    Repository {
        /// `owner/name`.
        repo: String,
        /// Branch, tag or commit.
        revision: String,
        /// Path of the file in it; the best one if absent.
        file: Option<String>,
    },
}

impl Source {
    /// Reads `https://...`, `owner/name`, `owner/name:file.gguf` or `owner/name@revision:file`.
    /// Addresses of pages of the hub (a repository, a file's page) are understood too.
    ///
    /// # Errors
    /// [`HubError::BadUrl`] with what is expected.
    pub fn parse(text: &str) -> Result<Self> {
        if text.contains("://") {
            let url = Url::parse(text)?;
            return Ok(if is_hub(&url) { hub_page(url)? } else { Self::Url(url) });
        }
        let (place, file) = match text.split_once(':') {
            Some((place, file)) => (place, Some(file)),
            None => (text, None),
        };
        let (repo, revision) = place.split_once('@').unwrap_or((place, "main"));
        let valid = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            part.chars().all(plain) && !part.trim_matches('.').is_empty()
        };
        let parts: Vec<&str> = repo.split('/').collect();
        let named = (1..=2).contains(&parts.len()) && parts.iter().all(|part| valid(part));
        if !named || revision.is_empty() || file.is_some_and(str::is_empty) {
            let why = "expected an https:// address, OWNER/NAME or OWNER/NAME:FILE.gguf";
            return Err(HubError::BadUrl { url: text.to_owned(), why });
        }
        Ok(Self::Repository { repo: repo.to_owned(), revision: revision.to_owned(), file: file.map(str::to_owned) })
    }
}

fn is_hub(url: &Url) -> bool {
    ["huggingface.co", "www.huggingface.co", "hf.co"].iter().any(|host| url.authority().eq_ignore_ascii_case(host))
}

/// `/owner/name`, `/owner/name/tree/REV`, `/owner/name/blob/REV/FILE`, `/owner/name/resolve/...`.
fn hub_page(url: Url) -> Result<Source> {
    let path = url.path().to_owned();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    Ok(match parts.as_slice() {
        [owner, name] => Source::parse(&format!("{owner}/{name}"))?,
        [owner, name, "tree", revision] => Source::parse(&format!("{owner}/{name}@{}", unescape(revision)))?,
        [owner, name, "blob", revision, file @ ..] if !file.is_empty() => {
            let file = file.join("/");
            let address = format!("https://{}/{owner}/{name}/resolve/{revision}/{file}", url.authority());
            Source::Url(Url::parse(&address)?)
        }
        _ => Source::Url(url),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn repository(repo: &str, revision: &str, file: Option<&str>) -> Source {
        Source::Repository { repo: repo.to_owned(), revision: revision.to_owned(), file: file.map(str::to_owned) }
    }

    #[test]
    fn repositories_and_files_are_told_apart() {
        let read = |text| Source::parse(text).unwrap();
        assert_eq!(read("a/b"), repository("a/b", "main", None));
        assert_eq!(read("gpt2"), repository("gpt2", "main", None));
        assert_eq!(read("a/b:c/d.gguf"), repository("a/b", "main", Some("c/d.gguf")));
        assert_eq!(read("a/b@v1:d.gguf"), repository("a/b", "v1", Some("d.gguf")));
        assert_eq!(read("https://huggingface.co/a/b"), repository("a/b", "main", None));
        assert_eq!(read("https://huggingface.co/a/b/tree/x"), repository("a/b", "x", None));
        for bad in ["", "a/b/c", "../b", "a/b:", "a b/c", "/etc/passwd", "http://h.co/a.gguf"] {
            assert!(Source::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_page_of_a_file_leads_to_the_file() {
        let page = Source::parse("https://huggingface.co/a/b/blob/main/x%20y.gguf").unwrap();
        let file = Url::parse("https://huggingface.co/a/b/resolve/main/x%20y.gguf").unwrap();
        assert_eq!(page, Source::Url(file));
    }
}
