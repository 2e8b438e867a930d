//! Which file a request means: the one named, or the finest of a repository.

use crate::api::{self, RemoteFile};
use crate::names::{self, Model};
use crate::source::Source;
use crate::{Client, HubError, Result, Url};

/// What is wanted, once it is known.
pub struct Wanted {
    /// Where it is.
    pub url: Url,
    /// Plain file name for it.
    pub name: String,
    /// Bytes, if promised.
    pub size: Option<u64>,
    /// Checksum, if promised.
    pub sha256: Option<String>,
}

/// Finds out which file is meant.
///
/// # Errors
/// The network's; [`HubError::NoFile`] where there is no such file, or more than one.
pub fn choose(client: &Client, source: &Source) -> Result<Wanted> {
    let (repo, revision, file) = match source {
        Source::Url(url) => {
            let name = local_name(url.path());
            return Ok(Wanted { url: url.clone(), name, size: None, sha256: None });
        }
        Source::Repository { repo, revision, file } => (repo, revision, file),
    };
    let files = api::files(client, repo, revision)?;
    let file = match file {
        Some(path) => named(repo, &files, path)?,
        None => preferred(repo, &files)?,
    };
    if let Some((_, _, parts)) = names::split_name(&file.path) {
        let why = format!("{} is one of {parts} parts; split models are not supported", file.path);
        return Err(HubError::NoFile { repo: repo.clone(), why });
    }
    Ok(Wanted {
        url: api::download_url(client, repo, revision, &file.path)?,
        name: local_name(&crate::url::escape(&file.path, true)),
        size: file.size,
        sha256: file.sha256,
    })
}

fn named(repo: &str, files: &[RemoteFile], path: &str) -> Result<RemoteFile> {
    let found = files
        .iter()
        .find(|file| file.path == path)
        .or_else(|| files.iter().find(|file| file.path.eq_ignore_ascii_case(path)));
    found.cloned().ok_or_else(|| HubError::NoFile {
        repo: repo.to_owned(),
        why: format!("it has no file {path}; it has {}", listed(files)),
    })
}

fn preferred(repo: &str, files: &[RemoteFile]) -> Result<RemoteFile> {
    let all = names::models(files);
    let whole: Vec<Model> = all.iter().filter(|model| model.parts == 1).cloned().collect();
    let untagged = whole.iter().filter(|model| model.bits.is_none()).count();
    match names::best(&whole) {
        Some(best) if best.bits.is_some() || untagged == 1 => Ok(best.first.clone()),
        Some(_) => Err(HubError::NoFile {
            repo: repo.to_owned(),
            why: format!("which of its files? write {repo}:FILE; it has {}", listed(files)),
        }),
        None => Err(HubError::NoFile {
            repo: repo.to_owned(),
            why: match all.first() {
                Some(model) => {
                    format!("its model is split into {} files, which is not supported", model.parts)
                }
                None => "it has no GGUF file; look for a repository with GGUF in its name".to_owned(),
            },
        }),
    }
}

fn listed(files: &[RemoteFile]) -> String {
    const SHOWN: usize = 12;
    if files.is_empty() {
        return "no GGUF files".to_owned();
    }
    let names: Vec<_> = files.iter().take(SHOWN).map(|file| file.path.as_str()).collect();
    let more = if files.len() > SHOWN { format!(" and {} more", files.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// A plain file name from the end of an escaped path.
fn local_name(path: &str) -> String {
    let last = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default();
    let name: String = crate::url::unescape(last)
        .chars()
        .map(|c| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c })
        .collect();
    match name.trim_matches('.') {
        "" => "model.gguf".to_owned(),
        _ if name.starts_with('.') => name.trim_start_matches('.').to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_name_stays_in_its_folder() {
        assert_eq!(local_name("/a/b/model%20x.gguf"), "model x.gguf");
        assert_eq!(local_name("/a/..%2f..%2fetc%2fpasswd"), "_.._etc_passwd");
        assert_eq!(local_name("/a/.."), "model.gguf");
        assert_eq!(local_name("/"), "model.gguf");
        assert_eq!(local_name("/.bashrc"), "bashrc");
        assert_eq!(local_name("/a/b/"), "b");
    }
}
