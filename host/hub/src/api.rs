//! The two questions that the hub answers: which repositories match, and which files one holds.

use crate::json::{number, page, text};
use crate::url::escape;
use crate::{Client, HubError, Result, Url};
use serde_json::Value;

/// Pages of a file list that are followed.
const PAGES: usize = 20;

/// A repository as the search shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// `owner/name`.
    pub id: String,
    /// Downloads of the last month.
    pub downloads: u64,
    /// Likes.
    pub likes: u64,
    /// Architecture as read from one of its GGUF files by the hub.
    pub architecture: Option<String>,
    /// Parameters, likewise.
    pub parameters: Option<u64>,
    /// Licence by its short name.
    pub license: Option<String>,
    /// True if the files are given only to accounts that accepted the terms.
    pub gated: bool,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Path inside the repository.
    pub path: String,
    /// Bytes, if the list says so.
    pub size: Option<u64>,
    /// SHA-256 of a large file.
    pub sha256: Option<String>,
}

/// The repositories with GGUF files that match `query`, most downloaded first, at most `limit`.
///
/// # Errors
/// The network's, or an answer that is no list.
pub fn search(client: &Client, query: &str, limit: usize) -> Result<Vec<Repository>> {
    let mut path =
        format!("api/models?search={}&filter=gguf&sort=downloads&direction=-1&limit={limit}", escape(query, false));
    for field in ["gguf", "downloads", "likes", "gated", "tags"] {
        path.push_str(&format!("&expand%5B%5D={field}"));
    }
    let url = client.endpoint().join(&path)?;
    let (answer, _) = page(client, &url)?;
    Ok(list(&url, &answer)?.iter().filter_map(repository).collect())
}

/// The GGUF files of a repository, in the order of its list.
///
/// # Errors
/// The network's, or an answer that is no list.
pub fn files(client: &Client, repo: &str, revision: &str) -> Result<Vec<RemoteFile>> {
    let path = format!("api/models/{}/tree/{}?recursive=true", escape(repo, true), escape(revision, false));
    let mut url = client.endpoint().join(&path)?;
    let mut found = Vec::new();
    for _ in 0..PAGES {
        let (answer, next) = page(client, &url)?;
        found.extend(list(&url, &answer)?.iter().filter_map(remote_file));
        match next {
            Some(next) => url = next,
            None => return Ok(found),
        }
    }
    Ok(found)
}

/// Address from which a file of a repository is downloaded.
///
/// # Errors
/// The name cannot stand in an address.
pub fn download_url(client: &Client, repo: &str, revision: &str, path: &str) -> Result<Url> {
    let (repo, revision) = (escape(repo, true), escape(revision, false));
    client.endpoint().join(&format!("{repo}/resolve/{revision}/{}", escape(path, true)))
}

fn list<'a>(url: &Url, answer: &'a Value) -> Result<&'a Vec<Value>> {
    answer.as_array().ok_or_else(|| {
        let why = match text(answer, "error") {
            Some(error) => format!("the server says: {}", error.chars().take(200).collect::<String>()),
            None => "the answer is not a list".to_owned(),
        };
        HubError::NotJson { url: url.to_string(), why }
    })
}

fn repository(entry: &Value) -> Option<Repository> {
    let gguf = entry.get("gguf").unwrap_or(&Value::Null);
    let tags = entry.get("tags").and_then(Value::as_array);
    let license =
        tags.and_then(|tags| tags.iter().filter_map(Value::as_str).find_map(|tag| tag.strip_prefix("license:")));
    Some(Repository {
        id: text(entry, "id").or_else(|| text(entry, "modelId"))?.to_owned(),
        downloads: number(entry, "downloads").unwrap_or(0),
        likes: number(entry, "likes").unwrap_or(0),
        architecture: text(gguf, "architecture").map(str::to_owned),
        parameters: number(gguf, "total").filter(|&total| total > 0),
        license: license.map(str::to_owned),
        gated: gated(entry.get("gated")),
    })
}

/// `false`, `"auto"` or `"manual"`.
fn gated(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(gated)) => *gated,
        Some(Value::String(kind)) => !kind.is_empty() && kind != "false",
        _ => false,
    }
}

fn remote_file(entry: &Value) -> Option<RemoteFile> {
    let path = text(entry, "path")?;
    let folder = text(entry, "type") == Some("directory");
    if folder || !path.to_ascii_lowercase().ends_with(".gguf") {
        return None;
    }
    let lfs = entry.get("lfs").unwrap_or(&Value::Null);
    let sha256 = text(lfs, "oid").map(|oid| oid.trim_start_matches("sha256:"));
    Some(RemoteFile {
        path: path.to_owned(),
        // A pointer's own size stands in `size` of some mirrors: the large file's comes first.
        size: number(lfs, "size").or_else(|| number(entry, "size")),
        sha256: sha256.filter(|oid| crate::reply::is_sha256(oid)).map(str::to_ascii_lowercase),
    })
}
