//! Bringing one GGUF file home: resumed after a break, checked, whole under its name or not at all.

use crate::choose::{Wanted, choose};
use crate::client::broken;
use crate::partial::{Partial, Version};
use crate::reply::Reply;
use crate::retry::Failure;
use crate::source::Source;
use crate::{Client, HubError, Result, Url};
use sha2::{Digest, Sha256};
use ssnail_gguf::Gguf;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// So many bytes decide whether a download is worth continuing.
const ENOUGH_TO_JUDGE: u64 = 4096;
/// No header of a model is longer.
const LONGEST_HEADER: u64 = 256 << 20;
/// Bytes behind the last tensor that a file may have where nobody states its size.
const BEHIND: u64 = 1 << 20;

/// How to fetch.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// File to write, or a folder to write into; the current folder if absent.
    pub output: Option<PathBuf>,
    /// Replace an existing file.
    pub force: bool,
    /// Checksum that the file must have (64 hexadecimal digits).
    pub sha256: Option<String>,
}

/// What is told while fetching.
#[derive(Debug)]
pub enum Progress<'a> {
    /// This file is fetched, of which `have` bytes were there already.
    Begin {
        /// Its address.
        url: &'a Url,
        /// Where it will be.
        target: &'a Path,
        /// Bytes there already.
        have: u64,
        /// Bytes in all, if known.
        size: Option<u64>,
    },
    /// So many bytes are there now.
    At(u64),
    /// The checksum is being computed.
    Checking,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Checksum.
    pub sha256: String,
    /// True if the checksum was compared with a promised one.
    pub verified: bool,
    /// Bytes that an earlier attempt had left.
    pub resumed: u64,
}

/// Fetches a file.
///
/// # Errors
/// See [`HubError`]. After a break of the connection or a full disk the partial file stays, and
/// the next call continues; a file that is refused is removed.
pub fn fetch(
    client: &Client,
    source: &Source,
    options: &Options,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Fetched> {
    let mut wanted = choose(client, source)?;
    if let Some(sha256) = &options.sha256 {
        wanted.sha256 = Some(sha256.to_ascii_lowercase());
    }
    let target = match &options.output {
        Some(path) if path.is_dir() => path.join(&wanted.name),
        Some(path) => path.clone(),
        None => PathBuf::from(&wanted.name),
    };
    if !options.force && target.exists() {
        return Err(HubError::Exists(target));
    }
    let mut partial = Partial::open(&target)?;
    let resumed = partial.length();
    match download(client, &mut wanted, &mut partial, &target, progress)
        .and_then(|()| check(&wanted, &partial, progress))
    {
        Ok(sha256) => {
            let (size, verified) = (partial.written(), wanted.sha256.is_some());
            partial.publish(&target, options.force)?;
            Ok(Fetched { path: target, size, sha256, verified, resumed })
        }
        Err(error) => {
            let useless = matches!(error, HubError::NotGguf { .. } | HubError::Mismatch { .. });
            if useless || partial.length() == 0 {
                partial.discard();
            }
            Err(error)
        }
    }
}

/// Downloads until the file is whole, over breaks as long as there is progress.
fn download(
    client: &Client,
    wanted: &mut Wanted,
    partial: &mut Partial,
    target: &Path,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<()> {
    let mut idle = 0;
    // A server that cannot continue begins anew each time: only what goes beyond every earlier attempt is progress.
    let mut farthest = partial.length();
    let mut pause = client.patience().first_wait;
    loop {
        let Some(reply) = open(client, wanted, partial)? else { return Ok(()) };
        let before = partial.written();
        let (url, size) = (&wanted.url, wanted.size);
        progress(&Progress::Begin { url, target, have: before, size });
        let error = match receive(wanted, reply, partial, progress)? {
            None => return Ok(()),
            Some(error) => error,
        };
        if partial.written() > farthest {
            farthest = partial.written();
            idle = 0;
            pause = client.patience().first_wait;
        }
        idle += 1;
        if idle >= client.patience().attempts {
            return Err(error);
        }
        client.tell(&error, pause);
        std::thread::sleep(pause);
        pause = pause.saturating_mul(2).min(client.patience().longest_wait);
    }
}

/// Asks for what is missing; nothing if the partial file is whole already.
fn open(client: &Client, wanted: &mut Wanted, partial: &mut Partial) -> Result<Option<Reply>> {
    let have = partial.length();
    let mut reply = client.get(&wanted.url, have, None)?;
    let same = |reply: &Reply| {
        partial.version().is_some_and(|known| {
            Some(&known.validator) == reply.validator.as_ref()
                && (known.size.is_none() || reply.size.is_none() || known.size == reply.size)
        })
    };
    if have > 0 && same(&reply) {
        match reply.status {
            206 if reply.start == have => {
                promised(wanted, &reply)?;
                return Ok(Some(reply));
            }
            416 if reply.size == Some(have) => {
                promised(wanted, &reply)?;
                return Ok(None);
            }
            _ => {}
        }
    }
    if have > 0 && reply.status != 200 {
        // Another version than the one we have a part of: from the beginning.
        reply = client.get(&wanted.url, 0, None)?;
    }
    if reply.status == 416 || reply.start != 0 {
        let status = reply.status;
        return Err(HubError::Status { url: wanted.url.to_string(), status });
    }
    promised(wanted, &reply)?;
    let version = reply.validator.clone().map(|validator| Version { validator, size: reply.size });
    partial.restart(version)?;
    Ok(Some(reply))
}

/// Takes over what the answer promises, and compares it with what the file list promised.
fn promised(wanted: &mut Wanted, reply: &Reply) -> Result<()> {
    if let (Some(listed), Some(stated)) = (wanted.size, reply.size)
        && listed != stated
    {
        return Err(HubError::Mismatch {
            name: wanted.name.clone(),
            what: "the size",
            expected: format!("{listed} bytes by the repository's list"),
            got: format!("{stated}"),
            next: "nothing was kept; the repository may be changing, try again later",
        });
    }
    wanted.size = wanted.size.or(reply.size);
    wanted.sha256 = wanted.sha256.take().or_else(|| reply.sha256.clone());
    Ok(())
}

/// Reads a body into the partial file. `Some` is a break after which one can go on.
fn receive(
    wanted: &Wanted,
    reply: Reply,
    partial: &mut Partial,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Option<HubError>> {
    let mut look = ENOUGH_TO_JUDGE;
    let mut end = None;
    let mut reader = reply.reader();
    let mut chunk = vec![0; CHUNK];
    loop {
        let ended = match reader.read(&mut chunk) {
            Ok(0) => match wanted.size {
                Some(size) if partial.written() < size => Some(broken(&wanted.url, &ErrorKind::UnexpectedEof.into())),
                _ => return Ok(None),
            },
            Ok(count) => {
                partial.append(chunk.get(..count).unwrap_or_default())?;
                None
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => None,
            Err(error) => Some(broken(&wanted.url, &error)),
        };
        progress(&Progress::At(partial.written()));
        if let Some(Failure::Again { error, .. } | Failure::Final(error)) = ended {
            return Ok(Some(error));
        }
        if wanted.size.is_some_and(|size| partial.written() > size) {
            return Err(HubError::Mismatch {
                name: wanted.name.clone(),
                what: "the size",
                expected: format!("{} bytes", wanted.size.unwrap_or(0)),
                got: "more".to_owned(),
                next: "the partial file was removed; fetch it again",
            });
        }
        // Each look reads all there is: once where the size is known, else at each doubling until the end is known.
        if end.is_none() && partial.written() >= look {
            end = judge(wanted, partial, look)?.or(wanted.size);
            look = look.saturating_mul(2);
        }
        if wanted.size.is_none() && end.is_some_and(|end| partial.written() > end.saturating_add(BEHIND)) {
            return Err(HubError::NotGguf {
                name: wanted.name.clone(),
                why: format!("refused and removed: its last tensor ends at byte {}, and it goes on", end.unwrap_or(0)),
            });
        }
    }
}

/// Looks at the first `length` bytes, so that a web page does not run to its end; gives back where the last tensor ends,
/// once the header is whole.
fn judge(wanted: &Wanted, partial: &Partial, length: u64) -> Result<Option<u64>> {
    let file = File::open(partial.path()).map_err(HubError::io("read", partial.path()))?;
    let mut start = Vec::new();
    file.take(length).read_to_end(&mut start).map_err(HubError::io("read", partial.path()))?;
    match Gguf::parse_prefix(&start, wanted.size.unwrap_or(u64::MAX)) {
        Ok(header) => Ok(Some(header.total_bytes().saturating_sub(header.trailing_bytes()))),
        Err(error) if error.bytes_needed().is_none() || length >= LONGEST_HEADER => Err(not_gguf(wanted, error)),
        Err(_) => Ok(None),
    }
}

/// Checks the whole file; gives back its checksum.
fn check(wanted: &Wanted, partial: &Partial, progress: &mut dyn FnMut(&Progress<'_>)) -> Result<String> {
    progress(&Progress::Checking);
    Gguf::open(partial.path()).map_err(|error| not_gguf(wanted, error))?;
    let got = sha256(partial.path())?;
    match &wanted.sha256 {
        Some(expected) if *expected != got => Err(HubError::Mismatch {
            name: wanted.name.clone(),
            what: "the SHA-256",
            expected: expected.clone(),
            got,
            next: "the partial file was removed; fetch it again",
        }),
        _ => Ok(got),
    }
}

fn not_gguf(wanted: &Wanted, error: ssnail_gguf::Error) -> HubError {
    let why = match error {
        ssnail_gguf::Error::InFile { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    HubError::NotGguf { name: wanted.name.clone(), why: format!("refused and removed: {why}") }
}

fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(HubError::io("read", path))?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash).map_err(HubError::io("read", path))?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
