//! Copying models into a folder: a card in the computer's reader, or anything mounted like one.
//!
//! The system, not this program, chooses the clusters there. What can be done is done: space is asked for in
//! one piece before writing, and afterwards the pieces are counted, where `filefrag` can.

use crate::fat::{FatError, ShortName, short_name_text};
use crate::source::{self, SourceError};
use crate::spec::{CardItem, is_d81};
use std::any::Any;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Largest file on FAT32.
const MAX_FILE: u64 = u32::MAX as u64;
/// Bytes copied and compared at once.
const PIECE: usize = 1 << 20;
/// Where a copy stands until it is complete and compared.
const TEMPORARY: &str = "SSNTEMP.TMP";
/// The folder for models.
const MODEL_FOLDER: &str = "SSNAIL";

/// Why a file was not installed. Nothing of it is left in the folder.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The file cannot be taken.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The name cannot be stored.
    #[error(transparent)]
    Name(#[from] FatError),
    /// The folder is not there.
    #[error("{} is no folder; mount the card and name the folder where it is mounted", dir.display())]
    NoFolder {
        /// What was named.
        dir: PathBuf,
    },
    /// FAT32 cannot hold it.
    #[error("{} has {size} bytes, a file on a card has at most {MAX_FILE}", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// Its size.
        size: u64,
    },
    /// Not enough room.
    #[error("{} needs {size} bytes, {} has {free} free; delete something there", file.display(), dir.display())]
    Full {
        /// The file.
        file: PathBuf,
        /// The folder.
        dir: PathBuf,
        /// Its size.
        size: u64,
        /// Bytes free.
        free: u64,
    },
    /// Another file has that name.
    #[error("{} exists and is another file; give --force to replace it, or another name with FILE=PATH", target.display())]
    Exists {
        /// The file that exists.
        target: PathBuf,
    },
    /// The system failed.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was read back is not what was written.
    #[error("{}: byte {offset} reads back as another one than was written; the card or the reader is faulty, use another card", target.display())]
    Verify {
        /// The copy.
        target: PathBuf,
        /// First byte that differs.
        offset: u64,
    },
}

/// In how many pieces a file lies on the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// Counted by `filefrag`.
    Known(u32),
    /// `filefrag` is not installed, or cannot tell for this file system and user.
    Unknown,
}

/// A file in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Where it is.
    pub target: PathBuf,
    /// Its bytes.
    pub size: u64,
    /// Whether it was there already, byte for byte.
    pub unchanged: bool,
    /// In how many pieces it lies.
    pub pieces: Pieces,
    /// What to tell the user.
    pub warnings: Vec<String>,
}

/// Told the path of an unfinished copy; what it returns is dropped when the copy has its name or is gone.
type Guard = Box<dyn Fn(&Path) -> Box<dyn Any>>;

/// Copies files into the card mounted at a folder.
pub struct Installer {
    dir: PathBuf,
    force: bool,
    guard: Guard,
    /// What this run has put there.
    done: Vec<PathBuf>,
}

impl Installer {
    /// For the card mounted at `dir`, which may also be its folder SSNAIL. With `force`, other files of the
    /// same name are replaced.
    ///
    /// # Errors
    /// [`InstallError::NoFolder`].
    pub fn new(dir: &Path, force: bool) -> Result<Self, InstallError> {
        if !dir.is_dir() {
            return Err(InstallError::NoFolder { dir: dir.to_path_buf() });
        }
        Ok(Self { dir: dir.to_path_buf(), force, guard: Box::new(|_| Box::new(())), done: Vec::new() })
    }

    /// Has `guard` watch over unfinished copies, for example to delete them when the program is interrupted.
    pub fn guard_unfinished(&mut self, guard: impl Fn(&Path) -> Box<dyn Any> + 'static) {
        self.guard = Box::new(guard);
    }

    /// Copies a file to its path, under an upper-case 8.3 name, and reads the copy back. A file that is there
    /// already with the same content is left alone. `progress` gets the bytes of each step.
    ///
    /// # Errors
    /// [`InstallError`]; then nothing new is in the folder.
    pub fn install(&mut self, item: &CardItem, progress: &mut dyn FnMut(u64)) -> Result<Installed, InstallError> {
        let file = &item.file;
        let mut source = source::open(file)?;
        if source.size > MAX_FILE {
            return Err(InstallError::TooLarge { file: file.clone(), size: source.size });
        }
        let (folder, name) = self.folder_for(&item.path)?;
        let (target, unchanged) = self.target_for(&folder, name, &mut source.file)?;
        let mut warnings: Vec<String> = source.warning.into_iter().collect();
        if !unchanged {
            let _guard = (self.guard)(&folder.join(TEMPORARY));
            copy(file, &mut source.file, source.size, &folder, &target, progress)?;
        }
        self.done.push(target.clone());
        let pieces = count_pieces(&target, source.size);
        warnings.extend(about_pieces(&target, pieces));
        Ok(Installed { target, size: source.size, unchanged, pieces, warnings })
    }

    /// The folder of a path of the card, made if it is not there, and the last part of the path.
    /// Folders whose names differ only in case are taken.
    fn folder_for<'a>(&self, path: &'a str) -> Result<(PathBuf, &'a str), InstallError> {
        let failed = |what, path: &Path, source| InstallError::Io { what, path: path.to_path_buf(), source };
        let mut parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        let name = parts.pop().unwrap_or_default();
        // Someone who names the model folder itself does not want another one inside.
        if parts.first() == Some(&MODEL_FOLDER)
            && self.dir.file_name().is_some_and(|n| n.eq_ignore_ascii_case(MODEL_FOLDER))
        {
            parts.remove(0);
        }
        let mut folder = self.dir.clone();
        for part in parts {
            let short = short_name_text(&ShortName::for_name(part, &|_| false)?.bytes);
            let existing = fs::read_dir(&folder)
                .map_err(|e| failed("cannot read the folder", &folder, e))?
                .filter_map(Result::ok)
                .find(|e| e.file_name().eq_ignore_ascii_case(part) && e.path().is_dir());
            folder = existing.map_or_else(|| folder.join(short), |e| e.path());
            fs::create_dir_all(&folder).map_err(|e| failed("cannot make the folder", &folder, e))?;
        }
        Ok((folder, name))
    }

    /// Where the file goes, and whether it is there already.
    fn target_for(&self, folder: &Path, name: &str, source: &mut File) -> Result<(PathBuf, bool), InstallError> {
        let failed = |what, path: &Path, source| InstallError::Io { what, path: path.to_path_buf(), source };
        let entries: Vec<PathBuf> = fs::read_dir(folder)
            .map_err(|e| failed("cannot read the folder", folder, e))?
            .filter_map(Result::ok)
            .map(|e| e.path())
            .collect();
        let named = |text: &str| entries.iter().find(|p| p.file_name().is_some_and(|n| n.eq_ignore_ascii_case(text)));
        // Two files of one run may come down to the same 8.3 name: the second gets a number.
        let of_this_run =
            |short: &[u8; 11]| named(&short_name_text(short)).is_some_and(|path| self.done.contains(path));
        let short = ShortName::for_name(name, &of_this_run)?;
        let text = short_name_text(&short.bytes);
        let Some(target) = named(&text) else { return Ok((folder.join(text), false)) };
        if same_content(source, target).map_err(|e| failed("cannot read", target, e))? {
            return Ok((target.clone(), true));
        }
        if target.is_file() && self.force {
            return Ok((target.clone(), false));
        }
        Err(InstallError::Exists { target: target.clone() })
    }
}

fn same_content(source: &mut File, target: &Path) -> io::Result<bool> {
    let mut existing = File::open(target)?;
    if !existing.metadata()?.is_file() || existing.metadata()?.len() != source.metadata()?.len() {
        return Ok(false);
    }
    let difference = first_difference(source, &mut existing)?;
    source.rewind()?;
    Ok(difference.is_none())
}

/// Offset of the first byte in which two files differ, from their starts on.
fn first_difference(a: &mut (impl Read + Seek), b: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
    a.rewind()?;
    b.rewind()?;
    let (mut x, mut y) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    let mut at = 0;
    loop {
        x.clear();
        y.clear();
        Read::by_ref(a).take(PIECE as u64).read_to_end(&mut x)?;
        Read::by_ref(b).take(PIECE as u64).read_to_end(&mut y)?;
        if x != y {
            let equal = x.iter().zip(&y).take_while(|(x, y)| x == y).count();
            return Ok(Some(at + equal as u64));
        }
        if x.is_empty() {
            return Ok(None);
        }
        at += x.len() as u64;
    }
}

/// Copies, reads back, and only then gives the copy its name.
fn copy(
    file: &Path,
    source: &mut File,
    size: u64,
    folder: &Path,
    target: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), InstallError> {
    if let Some(free) = free_bytes(folder)
        && free < size
    {
        let (file, dir) = (file.to_path_buf(), folder.to_path_buf());
        return Err(InstallError::Full { file, dir, size, free });
    }
    let temporary = folder.join(TEMPORARY);
    let result = copy_to(&temporary, source, size, target, progress);
    if result.is_err() {
        // Whatever failed first is what matters.
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn copy_to(
    temporary: &Path,
    source: &mut File,
    size: u64,
    target: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), InstallError> {
    let failed = |what, source| InstallError::Io { what, path: target.to_path_buf(), source };
    let mut out = File::create(temporary).map_err(|e| failed("cannot write", e))?;
    reserve(&out, size);
    let mut counted = source::Counted::new(&mut *source, progress);
    let mut buf = vec![0; PIECE];
    loop {
        let n = counted.read(&mut buf).map_err(|e| failed("cannot read the source of", e))?;
        if n == 0 {
            break;
        }
        out.write_all(buf.get(..n).unwrap_or_default()).map_err(|e| failed("cannot write", e))?;
    }
    out.sync_all().map_err(|e| failed("cannot write", e))?;
    forget_cached(&out);
    drop(out);
    let mut back = File::open(temporary).map_err(|e| failed("cannot read back", e))?;
    if let Some(offset) = first_difference(source, &mut back).map_err(|e| failed("cannot read back", e))? {
        return Err(InstallError::Verify { target: target.to_path_buf(), offset });
    }
    drop(back);
    fs::rename(temporary, target).map_err(|e| failed("cannot name the copy", e))?;
    // The name is on the medium when the folder is; where folders cannot be synced, unmounting does it.
    if let Some(folder) = target.parent() {
        let _ = File::open(folder).and_then(|f| f.sync_all());
    }
    Ok(())
}

/// Asks for the room in one piece. Where the system cannot, it allocates as it writes.
#[cfg(target_os = "linux")]
fn reserve(file: &File, size: u64) {
    let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, 0, size);
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) {}

/// Has the system drop its own copy of what was written, so that reading back reads the medium.
#[cfg(target_os = "linux")]
fn forget_cached(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
fn forget_cached(_: &File) {}

/// Bytes free for this user; `None` where the system does not say.
#[cfg(unix)]
fn free_bytes(dir: &Path) -> Option<u64> {
    let s = rustix::fs::statvfs(dir).ok()?;
    // No file system has no blocks: one that says so cannot tell.
    if s.f_blocks == 0 { None } else { s.f_bavail.checked_mul(s.f_frsize) }
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Has `filefrag` count the pieces. It knows the system calls, and this program has no unsafe code for them.
fn count_pieces(path: &Path, size: u64) -> Pieces {
    let output = Command::new("filefrag").arg("--").arg(path).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = match output {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).into_owned(),
        _ => return Pieces::Unknown,
    };
    // "PATH: 3 extents found"
    let words: Vec<&str> = text.split_whitespace().collect();
    let count = words.iter().rposition(|w| w.starts_with("extent")).and_then(|i| words.get(i.checked_sub(1)?));
    // None at all of a file with contents: a file system that cannot tell.
    let count = count.and_then(|n| n.parse().ok()).filter(|&n| n > 0 || size == 0);
    count.map_or(Pieces::Unknown, Pieces::Known)
}

/// What follows from the pieces, for the user.
fn about_pieces(target: &Path, pieces: Pieces) -> Option<String> {
    let name = target.display();
    match (pieces, is_d81(target)) {
        (Pieces::Known(0 | 1), _) => None,
        (Pieces::Known(n), true) => Some(format!(
            "{name} lies in {n} pieces: MOUNT refuses it (error $8B). Copy it onto the empty card before all other files"
        )),
        (Pieces::Known(n), false) => {
            Some(format!("{name} lies in {n} pieces: it loads, but D81 images copied now will be refused by MOUNT"))
        }
        (Pieces::Unknown, true) => Some(format!(
            "cannot tell whether {name} lies in one piece (no filefrag, or not allowed): if MOUNT says error $8B, copy it onto the empty card before all other files"
        )),
        (Pieces::Unknown, false) => None,
    }
}
