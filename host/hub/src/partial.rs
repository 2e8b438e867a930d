//! An unfinished download: `NAME.partial`, and beside it what version of the file it is a part of.

use crate::{HubError, Result};
use serde_json::{Value, json};
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The note beside it has an entity tag and a number.
const LONGEST_NOTE: u64 = 64 << 10;

/// The partial file, locked against a second download.
#[derive(Debug)]
pub struct Partial {
    file: File,
    path: PathBuf,
    note: PathBuf,
    length: u64,
    known: Option<Version>,
}

/// What identifies a version of a remote file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Entity tag or date.
    pub validator: String,
    /// Whole size in bytes.
    pub size: Option<u64>,
}

impl Partial {
    /// Opens or creates the partial file of `target`.
    ///
    /// # Errors
    /// [`HubError::Locked`] if another process writes it; otherwise the disk's.
    pub fn open(target: &Path) -> Result<Self> {
        let path = beside(target, ".partial");
        let note = beside(target, ".partial.json");
        let file = locked(&path)?;
        // Between opening and locking another download may have given the file its final name: it is not ours to change.
        if !is_still(&file, &path) {
            return Err(HubError::Locked(path));
        }
        let length = file.metadata().map_err(HubError::io("read", &path))?.len();
        let known = ssnail_gguf::read_bounded(&note, LONGEST_NOTE).ok().and_then(|bytes| read_version(&bytes));
        Ok(Self { file, path, note, length, known })
    }

    /// Bytes that are there and belong to a known version.
    pub fn length(&self) -> u64 {
        if self.known.is_some() { self.length } else { 0 }
    }

    /// The version that the bytes belong to.
    pub fn version(&self) -> Option<&Version> {
        self.known.as_ref()
    }

    /// Empties the file; what follows belongs to `version` (without one it cannot be resumed).
    pub fn restart(&mut self, version: Option<Version>) -> Result<()> {
        self.file.set_len(0).map_err(write_error(&self.path))?;
        self.length = 0;
        match &version {
            Some(Version { validator, size }) => {
                let note = json!({ "validator": validator, "size": size }).to_string();
                fs::write(&self.note, note).map_err(write_error(&self.note))?;
            }
            None => drop(fs::remove_file(&self.note)),
        }
        self.known = version;
        Ok(())
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let result = self.file.seek(SeekFrom::Start(self.length)).and_then(|_| self.file.write_all(bytes));
        result.map_err(HubError::io("write", &self.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.length
    }

    /// Where the bytes are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes everything.
    pub fn discard(self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.note);
    }

    /// Gives the finished file its name; what has that name is replaced only if `force`.
    ///
    /// # Errors
    /// [`HubError::Exists`], or the disk's.
    pub fn publish(self, target: &Path, force: bool) -> Result<()> {
        self.file.sync_all().map_err(write_error(&self.path))?;
        if force {
            fs::rename(&self.path, target).map_err(write_error(target))?;
        } else {
            // A link fails if the name is taken, also by somebody who was faster.
            match fs::hard_link(&self.path, target) {
                Ok(()) => fs::remove_file(&self.path).map_err(write_error(&self.path))?,
                Err(_) if target.exists() => return Err(HubError::Exists(target.to_path_buf())),
                Err(_) => fs::rename(&self.path, target).map_err(write_error(target))?,
            }
        }
        let _ = fs::remove_file(&self.note);
        Ok(())
    }
}

/// Opens or creates a file that nobody else has locked.
fn locked(path: &Path) -> Result<File> {
    let mut options = File::options();
    let file = options.read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(HubError::io("write", path))?;
    match file.try_lock() {
        // A file system without locks: the rename at the end is still safe.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(HubError::Locked(path.to_path_buf())),
    }
}

/// Whether an open file is the one that has this name now.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (open, named) = (file.metadata(), fs::metadata(path));
    open.ok().zip(named.ok()).is_some_and(|(open, named)| (open.dev(), open.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_still(_: &File, path: &Path) -> bool {
    path.exists()
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> HubError {
    HubError::io("write", path)
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn read_version(bytes: &[u8]) -> Option<Version> {
    let note: Value = serde_json::from_slice(bytes).ok()?;
    let validator = note.get("validator")?.as_str()?.to_owned();
    Some(Version { validator, size: note.get("size").and_then(Value::as_u64) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_published_while_it_was_waited_for_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("m.gguf");
        let path = beside(&target, ".partial");
        let mut first = Partial::open(&target).unwrap();
        first.append(b"whole").unwrap();
        // Another process opens the file now, and has it locked only when it is finished.
        let second = File::open(&path).unwrap();
        assert!(is_still(&second, &path));
        first.publish(&target, false).unwrap();
        assert!(!is_still(&second, &path), "the finished file would be taken for an unfinished one");
        fs::write(&path, b"a new one").unwrap();
        assert!(!is_still(&second, &path));
    }
}
